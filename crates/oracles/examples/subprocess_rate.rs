//! Pairs a second that the protocol of scoring programs carries, with a scorer that does nothing worth mentioning.
//!
//! ```text
//! cargo run --release -p landmark-oracles --no-default-features --example subprocess_rate [pairs] [processes] [batch] [milliseconds]
//! ```
//! The example is its own scorer: started with `--score FORM MILLISECONDS` it answers pairs in that form, each in that time. Prints pairs a
//! second for texts of 20 words and for numbers; the aim is 200,000 with none. With milliseconds the pairs go through a store, as in a
//! run; the aim is as many times the rate of one process as there are processes.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use landmark_core::oracle::{Oracle, Pair};
use landmark_oracles::subprocess::{ScoredItems, Subprocess, SubprocessParams};
use landmark_store::{OracleLabel, TileStore};
use serde::Deserialize;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const ITEMS: usize = 10_000;

#[derive(Deserialize)]
struct Batch<P> {
    batch: u64,
    pairs: Vec<(P, P)>,
}

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("--score") => serve(&arguments[1], arguments[2].parse()?),
        _ => {
            let number = |place: usize, default: usize| arguments.get(place).map_or(Ok(default), |text| text.parse());
            measure(number(0, 2_000_000)?, number(1, 1)?, number(2, 4096)?, number(3, 0)?)
        }
    }
}

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn measure(count: usize, processes: usize, batch: usize, milliseconds: usize) -> Outcome {
    let words = ["landmark", "column", "matrix", "score", "pair"];
    let text = |i: usize| (0..20).map(|k| words[(i + k * k) % words.len()]).collect::<Vec<_>>().join(" ");
    let ids = (0..ITEMS).map(|i| i.to_string()).collect();
    let items = Arc::new(ScoredItems::new(ids, (0..ITEMS).map(text).collect())?);
    let pairs: Vec<Pair> = (0..count).map(|k| (k % ITEMS, (k / ITEMS * 37) % ITEMS)).collect();
    let mut scores = vec![0.0; count];
    for form in ["text", "index"] {
        let command = vec![
            std::env::current_exe()?.display().to_string(),
            "--score".into(),
            form.into(),
            milliseconds.to_string(),
        ];
        let params = SubprocessParams { command, processes, batch, ..SubprocessParams::default() };
        let program = Subprocess::start(params, Arc::clone(&items))?;
        let folder = tempfile::tempdir()?;
        let oracle: Box<dyn Oracle> = if milliseconds > 0 {
            let store = TileStore::open(&folder.path().display().to_string())?;
            Box::new(store.attach(program, OracleLabel::new("subprocess", form))?)
        } else {
            Box::new(program)
        };
        let start = Instant::now();
        oracle.evaluate(&pairs, &mut scores)?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{form}: {count} pairs in {seconds:.2} s, {:.0} pairs/s, {processes} processes, batches of {batch}",
            count as f64 / seconds
        );
    }
    Ok(())
}

fn serve(form: &str, milliseconds: u64) -> Outcome {
    let mut lines = io::stdin().lock().lines();
    lines.next().transpose()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, r#"{{"landmark":1,"identity":"trivial","symmetric":true,"pairs":"{form}"}}"#)?;
    out.flush()?;
    for line in lines {
        let line = line?;
        let (batch, scores): (u64, Vec<f64>) = if form == "index" {
            let Batch::<usize> { batch, pairs } = serde_json::from_str(&line)?;
            (batch, pairs.iter().map(|(i, j)| 1.0 / (1.0 + i.abs_diff(*j) as f64)).collect())
        } else {
            let Batch::<&str> { batch, pairs } = serde_json::from_str(&line)?;
            (batch, pairs.iter().map(|(a, b)| 1.0 / (1.0 + a.len().abs_diff(b.len()) as f64)).collect())
        };
        std::thread::sleep(Duration::from_millis(milliseconds * scores.len() as u64));
        serde_json::to_writer(&mut out, &serde_json::json!({ "batch": batch, "scores": scores }))?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}
