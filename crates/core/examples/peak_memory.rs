//! Peak memory of a fit at n = 100,000, s = 1,000 from a cheap oracle, against the bytes of C (n × s).
//!
//! `cargo run --release -p landmark-core --example peak_memory [METHOD] [N] [S] [known]`. Prints VmHWM as the kernel
//! counts it (Linux) and the ratio to 8·n·s bytes, which is to stay below 2.2: C is never held beside its product, blocks
//! of rows stream through. With `known` the evaluated columns are kept as well, which costs their own bytes once more.

#![allow(clippy::print_stdout)] // it is a command-line tool

use std::error::Error;
use std::time::Instant;

use landmark_core::approximate::{
    Approximate, Nystrom, ShiftRidgeParams, SiCurParams, Skeleton, SmsNystromParams, StaCur,
};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair};
use landmark_core::stream::stream;
use ndarray::ArrayViewMut2;

/// exp(−|x − y|) of points on a line, plus a little that is not positive semi-definite.
struct Line {
    len: usize,
}

impl Line {
    fn similarity(&self, i: usize, j: usize) -> f64 {
        let (x, y) = (i as f64 / self.len as f64, j as f64 / self.len as f64);
        (-8.0 * (x - y).abs()).exp() - 0.05 * (9.0 * (x + y)).cos()
    }
}

impl Oracle for Line {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.len)
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"line"), ("len", &(self.len as u64).to_le_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        pairs.iter().zip(out).for_each(|(&(i, j), out)| *out = self.similarity(i, j));
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        out.indexed_iter_mut().for_each(|((a, b), out)| *out = self.similarity(rows[a], cols[b]));
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |k: usize, default: &str| arguments.get(k).cloned().unwrap_or_else(|| default.to_owned());
    let (id, n, s) = (argument(0, "shift_ridge"), argument(1, "100000").parse()?, argument(2, "1000").parse()?);
    let known = if argument(3, "") == "known" { Known::LANDMARKS } else { Known::NOTHING };
    let (method, rank): (Box<dyn Approximate>, usize) = match id.as_str() {
        "nystrom" => (Box::new(Nystrom), s),
        "sms_nystrom" => (Box::new(SmsNystromParams::default().check()?), s),
        "sicur" => (Box::new(SiCurParams::default().check()?), s / 2),
        "skeleton" => (Box::new(Skeleton), s / 2),
        "stacur" => (Box::new(StaCur::default()), s),
        "shift_ridge" => (Box::new(ShiftRidgeParams::default().check()?), s),
        other => return Err(format!("no method `{other}` here").into()),
    };
    let landmarks = Landmarks::uniform(n, &mut stream(2022, "line", "landmarks", 0));
    let start = Instant::now();
    let mut rng = stream(2022, "line", "fit", 0);
    let fit = method.fit(&Line { len: n }, &landmarks, rank, known, &mut rng)?;
    let seconds = start.elapsed().as_secs_f64();
    let (peak, columns) = (peak_bytes()?, 8.0 * n as f64 * s as f64);
    let ratio = peak / columns;
    println!("{id} n={n} s={s} rank={} {seconds:.1} s, peak {:.0} MB, {ratio:.2} × C", fit.rank(), peak / 1e6);
    Ok(())
}

/// VmHWM: the most memory this process ever held.
fn peak_bytes() -> Result<f64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("`/proc/self/status` has no VmHWM")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).ok_or("an empty VmHWM")?.parse()?;
    Ok(kilobytes * 1024.0)
}
