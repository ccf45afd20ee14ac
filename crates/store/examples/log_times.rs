//! Cost of the log of calls: calls a second of a score that takes so many microseconds a call, without a log, with one, and with one that waits for the disk.
//!
//! ```text
//! cargo run --release -p landmark-store --example log_times -- FOLDER [CALLS] [MICROSECONDS] [TIMES]
//! ```
//!
//! The three are measured in turn, TIMES times, and each time is printed: the machine may have other work.

use std::time::{Duration, Instant};

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry};
use landmark_store::{OracleLabel, SyncPolicy, TileStore};

/// A score that takes its time and no processor.
struct Slow {
    len: usize,
    each: Duration,
}

impl Oracle for Slow {
    fn shape(&self) -> OracleShape {
        OracleShape::new(self.len, Symmetry::Asymmetric)
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"slow"), ("n", &self.len.to_le_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        std::thread::sleep(self.each * u32::try_from(pairs.len()).unwrap_or(u32::MAX));
        for (&(i, j), score) in pairs.iter().zip(out) {
            *score = (i * self.len + j) as f64;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().ok_or("name an empty folder for the stores")?;
    let number = |k: usize, default: u64| arguments.get(k).map_or(Ok(default), |text| text.parse());
    let (calls, micros, times) = (usize::try_from(number(1, 30_000)?)?, number(2, 100)?, number(3, 3)?);
    let each = Duration::from_micros(micros);
    let len = calls.isqrt() + 1;
    let pairs: Vec<Pair> = (0..calls).map(|k| (k % len, k / len)).collect();
    for time in 0..times {
        let place = |name: &str| format!("{folder}/{name}{time}");
        for (name, address, sync) in [
            ("no log", "memory://".to_owned(), SyncPolicy::Second),
            ("second", place("second"), SyncPolicy::Second),
            ("batch", place("batch"), SyncPolicy::Batch),
        ] {
            let store = TileStore::open(&address)?.with_sync(sync);
            let stored = store.attach(Slow { len, each }, OracleLabel::new("slow", ""))?;
            let start = Instant::now();
            stored.evaluate(&pairs, &mut vec![0.0; calls])?;
            stored.flush()?;
            let seconds = start.elapsed().as_secs_f64();
            let alone = each.as_secs_f64() * calls as f64;
            let (rate, above) = (calls as f64 / seconds, 100.0 * (seconds / alone - 1.0));
            eprintln!("{name:>8}: {seconds:6.3} s, {rate:6.0} calls/s, {above:4.1} % above the score alone");
        }
    }
    Ok(())
}
