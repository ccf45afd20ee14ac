//! Cost of the tile store: seconds and peak memory of storing, reading again and opening, on a score that is nearly free.
//!
//! ```text
//! cargo run --release -p landmark-store --example store_times -- FOLDER [N] [S] [MEMORY in MiB]
//! ```

use std::time::Instant;

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair};
use landmark_store::{OracleLabel, TileStore};
use ndarray::Array2;

/// f(i, j) = sin(i) sin(j), a few nanoseconds.
struct Cheap(Vec<f64>);

impl Oracle for Cheap {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.0.len())
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"cheap"), ("n", &self.0.len().to_le_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        for (&(i, j), score) in pairs.iter().zip(out) {
            *score = self.0[i] * self.0[j];
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().ok_or("name an empty folder for the store")?;
    let number = |k: usize, default: u64| arguments.get(k).map_or(Ok(default), |text| text.parse());
    let (n, s) = (usize::try_from(number(1, 100_000)?)?, usize::try_from(number(2, 1000)?)?);
    let store = TileStore::open(folder)?.with_memory(number(3, 1024)? << 20);
    let bytes = 8.0 * n as f64 * s as f64;
    eprintln!("n = {n}, s = {s}: C has {:.0} MB", bytes / 1e6);

    let start = Instant::now();
    let oracle = Cheap((0..n).map(|i| (i as f64).sin()).collect());
    let stored = store.attach(oracle, OracleLabel::new("cheap", "sin(i) sin(j)"))?;
    report("open", start, stored.entries() as f64 * 8.0);

    let cols: Vec<usize> = (0..s).map(|k| k * (n / s)).collect();
    for pass in ["first", "again"] {
        let start = Instant::now();
        // the corner, then blocks of rows, as the approximators ask
        stored.block(&cols, &cols, Array2::zeros((s, s)).view_mut())?;
        let all: Vec<usize> = (0..n).collect();
        for rows in all.chunks(((1 << 22) / s).max(1)) {
            stored.block(rows, &cols, Array2::zeros((rows.len(), s)).view_mut())?;
        }
        stored.flush()?;
        report(pass, start, bytes);
    }
    eprintln!("bought {} of {} entries held", stored.bought(), stored.entries());
    Ok(())
}

fn report(what: &str, start: Instant, bytes: f64) {
    let seconds = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
    eprintln!("{what:>8}: {seconds:8.2} s, {:6.0} MB/s, peak memory {peak}", bytes / 1e6 / seconds);
}
