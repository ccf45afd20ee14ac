//! Hashed n-grams of a stream of synthetic utterances into a sketch: rows a second and peak memory.
//!
//! `cargo run --release -p landmark-features --example hashed_stream [UTTERANCES] [BITS] [L] [BUFFER]`; by default 100,000 utterances, d = 2¹⁶,
//! l = 200 and the default buffer. Prints rows a second, Σδ against ‖X‖²_F, and VmHWM as the kernel counts it (Linux).

#![allow(clippy::print_stdout)] // it is a command-line tool

use std::error::Error;
use std::time::Instant;

use landmark_data::feature_hashing::{HashedRow, NgramHashParams};
use landmark_data::synthetic::SyntheticUtterances;
use landmark_features::sketch::FrequentDirectionsParams;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |k: usize, default: &str| arguments.get(k).cloned().unwrap_or_else(|| default.to_owned());
    let (count, bits, rows): (u64, u32, usize) =
        (argument(0, "100000").parse()?, argument(1, "16").parse()?, argument(2, "200").parse()?);
    let buffer = arguments.get(3).map(|buffer| buffer.parse()).transpose()?;
    let hash = NgramHashParams { bits, ..NgramHashParams::default() }.check()?;
    let params = FrequentDirectionsParams { rows, buffer, ..FrequentDirectionsParams::default() };
    let mut sketch = params.check(hash.columns(), hash.identity())?;
    let synthetic = SyntheticUtterances::embedded()?;
    let (mut utterances, mut row) = (synthetic.block(2022, 0), HashedRow::default());
    let start = Instant::now();
    for number in 1..=count {
        hash.hash(utterances.next_text(), &mut row);
        sketch.append_sparse(row.columns(), row.values())?;
        if number % (count / 10).max(1) == 0 {
            println!("{number} utterances, {:.0} rows/s", number as f64 / start.elapsed().as_secs_f64());
        }
    }
    sketch.finish()?;
    let (seconds, bound) = (start.elapsed().as_secs_f64(), sketch.bound());
    println!(
        "d = {}, l = {rows}, buffer {}: {seconds:.1} s, {:.0} rows/s, {} shrinks, bound {:.5} of ‖X‖²_F, peak {:.0} MB",
        hash.columns(),
        sketch.buffer(),
        count as f64 / seconds,
        bound.shrinks,
        bound.relative(),
        peak_bytes()? / 1e6,
    );
    Ok(())
}

/// VmHWM: the most memory this process ever held.
fn peak_bytes() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("`/proc/self/status` has no VmHWM")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).ok_or("an empty VmHWM")?.parse()?;
    Ok(kilobytes * 1024.0)
}
