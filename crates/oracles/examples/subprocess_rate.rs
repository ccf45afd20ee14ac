//! How many pairs a second the protocol of scoring programs carries, with a scorer that does nothing worth mentioning.
//!
//! ```text
//! cargo run --release -p landmark-oracles --no-default-features --example subprocess_rate [pairs] [processes] [batch]
//! ```
//! The example is its own scorer: started with `--score FORM` it answers pairs in that form. Prints pairs a second for texts
//! of 20 words and for numbers; the aim is 200,000.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::Instant;

use landmark_core::oracle::{Oracle, Pair};
use landmark_oracles::subprocess::{ScoredItems, Subprocess, SubprocessParams};
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
        Some("--score") => serve(&arguments[1]),
        _ => {
            let number = |place: usize, default: usize| arguments.get(place).map_or(Ok(default), |text| text.parse());
            measure(number(0, 2_000_000)?, number(1, 1)?, number(2, 4096)?)
        }
    }
}

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn measure(count: usize, processes: usize, batch: usize) -> Outcome {
    let words = ["landmark", "column", "matrix", "score", "pair"];
    let text = |i: usize| (0..20).map(|k| words[(i + k * k) % words.len()]).collect::<Vec<_>>().join(" ");
    let ids = (0..ITEMS).map(|i| i.to_string()).collect();
    let items = Arc::new(ScoredItems::new(ids, (0..ITEMS).map(text).collect())?);
    let pairs: Vec<Pair> = (0..count).map(|k| (k % ITEMS, (k / ITEMS * 37) % ITEMS)).collect();
    let mut scores = vec![0.0; count];
    for form in ["text", "index"] {
        let command = vec![std::env::current_exe()?.display().to_string(), "--score".into(), form.into()];
        let params = SubprocessParams { command, processes, batch, ..SubprocessParams::default() };
        let oracle = Subprocess::start(params, Arc::clone(&items))?;
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

fn serve(form: &str) -> Outcome {
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
        serde_json::to_writer(&mut out, &serde_json::json!({ "batch": batch, "scores": scores }))?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}
