//! Time of a plan besides its scores: storing n × s entries of a synthetic oracle in parts, and merging them into factors.
//!
//! ```text
//! cargo run --release -p landmark-store --example merge_times -- [n] [s] [tiles] [store]
//! ```
//! Prints seconds of storing, of reading the store, of the fit, and the largest memory so far. Default: 100,000 × 300 in 40 tiles, in
//! a scratch folder. The aim at 1,000,000 × 1,000 is ten minutes and 12 GB for reading and fitting.

use std::time::Instant;

use landmark_core::approximate::{Approximate, Nystrom};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair};
use landmark_core::stream::stream;
use landmark_store::{OracleLabel, TileStore};
use rayon::prelude::*;

/// 1 / (1 + |x_i − x_j|) of pseudo-random numbers: costs nothing, and has a spectrum that falls.
struct Synthetic(usize);

impl Synthetic {
    fn place(i: usize) -> f64 {
        // the fractional parts of multiples of the golden ratio fill [0, 1) evenly
        (i as f64 * 0.618_033_988_749_894_9).fract() * 10.0
    }
}

impl Oracle for Synthetic {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: Some(1.0), ..OracleShape::symmetric(self.0) }
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("synthetic", &(self.0 as u64).to_le_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        pairs
            .par_iter()
            .zip(out)
            .for_each(|(&(i, j), out)| *out = 1.0 / (1.0 + (Self::place(i) - Self::place(j)).abs()));
        Ok(())
    }
}

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default: usize| arguments.get(place).map_or(Ok(default), |text| text.parse());
    let (n, s, tiles) = (number(0, 100_000)?, number(1, 300)?, number(2, 40)?);
    let scratch = tempfile::tempdir()?;
    let address = arguments.get(3).cloned().unwrap_or_else(|| scratch.path().display().to_string());
    let store = TileStore::open(&address)?;
    let label = || OracleLabel::new("synthetic", "merge_times");
    let landmarks = Landmarks::uniform(n, &mut stream(1, "merge", "landmarks", 0));
    let columns = landmarks.order()[..s].to_vec();
    let mut is_column = vec![false; n];
    columns.iter().for_each(|&j| is_column[j] = true);
    let order: Vec<usize> = columns.iter().copied().chain((0..n).filter(|&i| !is_column[i])).collect();

    // a folder that holds something was filled by an earlier run, which was stopped
    let is_bought = std::fs::read_dir(&address).is_ok_and(|mut files| files.next().is_some());
    let start = Instant::now();
    for rows in order.chunks(n.div_ceil(tiles)).filter(|_| !is_bought) {
        let stored = store.attach(Synthetic(n), label())?;
        stored.stock(rows, &columns)?;
        stored.flush()?;
    }
    let entries = n as f64 * s as f64;
    let seconds = start.elapsed().as_secs_f64();
    println!("bought {n} × {s} in {tiles} tiles: {seconds:.1} s, {:.3} µs an entry", 1e6 * seconds / entries);

    let start = Instant::now();
    let stored = store.attach(Synthetic(n), label())?;
    println!("read the store: {:.1} s, {:.1} GB at most so far", start.elapsed().as_secs_f64(), peak());
    let start = Instant::now();
    let method = Nystrom;
    let approximation = method.fit(&stored, &landmarks, s, Known::NOTHING, &mut stream(1, "merge", "fit", 0))?;
    println!("fit: {:.1} s, {:.1} GB at most; rank {}", start.elapsed().as_secs_f64(), peak(), approximation.rank());
    assert_eq!(stored.bought(), 0, "everything was there");
    Ok(())
}

/// Largest resident memory of this process so far, in GB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1e6
}
