//! Top-k of all items from factors, timed for `scripts/peers/neighbors.py`.
//!
//! ```text
//! cargo run --release -p landmark-tasks --example time_neighbors -- VECTORS.f64 n r k OUT [index]
//! ```
//! Reads n·r little-endian f64 in rows, writes n·k little-endian u64 (the neighbors), prints seconds. `index`: by an index of clusters.

use std::time::Instant;

use landmark_tasks::neighbors::{ApproximateParams, SignedVectors, approximate_top_k, top_k};
use ndarray::{Array1, Array2};

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ([path, n, r, k, out] | [path, n, r, k, out, _]) = arguments.as_slice() else {
        return Err("wanted: VECTORS.f64 n r k OUT [index]".into());
    };
    let (n, r, k): (usize, usize, usize) = (n.parse()?, r.parse()?, k.parse()?);
    let bytes = std::fs::read(path)?;
    let numbers: Vec<f64> = bytes
        .chunks_exact(8)
        .map(|bytes| Ok(f64::from_le_bytes(bytes.try_into()?)))
        .collect::<Result<_, std::array::TryFromSliceError>>()?;
    let vectors = Array2::from_shape_vec((n, r), numbers)?;
    let signature = Array1::ones(r);
    let start = Instant::now();
    let signed = SignedVectors { vectors: vectors.view(), signature: &signature, scattered: None };
    let found = match arguments.get(5) {
        Some(_) => approximate_top_k(signed, k, ApproximateParams::default(), |_| {})?.lists,
        None => top_k(signed, k, |_| {}),
    };
    println!("{:.3}", start.elapsed().as_secs_f64());
    let items = found.iter().flatten().flat_map(|neighbor| (neighbor.item as u64).to_le_bytes());
    std::fs::write(out, items.collect::<Vec<u8>>())?;
    Ok(())
}
