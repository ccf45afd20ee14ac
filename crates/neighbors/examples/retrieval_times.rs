//! Neighbors at a number of calls an item, timed for `scripts/peers/retrieval.py`.
//!
//! ```text
//! cargo run --release -p landmark-neighbors --example retrieval_times -- K.f64 VECTORS.f64 n d b k OUT
//! ```
//! Reads the score (n·n) and the proxy's vectors (n·d) as little-endian f64 in rows, writes n·k little-endian u64 (the neighbors), prints
//! user and system seconds of the search without the score, and the calls.

use std::sync::Arc;

use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{AsymmetryPolicy, EmbeddingProxy, Oracle, OracleShape, Precomputed};
use landmark_core::stream::stream;
use landmark_neighbors::nearest::{RoundsParams, Search};

use matrix::read;
use time::cpu_seconds;

#[path = "common/matrix.rs"]
mod matrix;
#[path = "common/time.rs"]
mod time;

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [score, vectors, n, _, b, k, out] = arguments.as_slice() else {
        return Err("wanted: K.f64 VECTORS.f64 n d b k OUT".into());
    };
    let (n, calls_per_item, k): (usize, usize, usize) = (n.parse()?, b.parse()?, k.parse()?);
    let score = Precomputed::new(read(score, n)?, AsymmetryPolicy::Mean)?;
    let proxy: Arc<dyn Oracle> = Arc::new(EmbeddingProxy::cosine(read(vectors, n)?)?);

    let before = cpu_seconds();
    let rounds = RoundsParams { k, calls_per_item, ..RoundsParams::default() }.check()?;
    let landmarks = Landmarks::uniform(n, &mut stream(2022, "retrieval times", "landmarks", 0));
    let mut search = Search::new(rounds, OracleShape::of(&score), vec![proxy], &landmarks)?;
    let mut calls = 0;
    while let Some(batch) = search.next_batch()? {
        let mut scores = vec![0.0; batch.pairs.len()];
        score.evaluate(&batch.pairs, &mut scores)?;
        calls += batch.pairs.len();
        search.record(&batch.pairs, &scores)?;
    }
    let found = search.finish()?;
    println!("{:.3} {calls}", cpu_seconds() - before);
    let items = found.lists.iter().flatten().flat_map(|near| (near.item as u64).to_le_bytes());
    std::fs::write(out, items.collect::<Vec<u8>>())?;
    Ok(())
}
