//! Own time and peak memory of scattered entries and of the stack, without the score:
//! `cargo run --release -p landmark-core --example scattered_times [scattered|stack] [N] [S] [F] [NUMBERS] [NEAREST]`.
//!
//! The score is a cosine of 24 numbers, bent, with an item effect; the proxy one of a noisy copy among NUMBERS others. F is the part of
//! the calls that goes to columns. With NEAREST, pairs are searched for among that number of nearest items of each item under the proxy.

#![allow(clippy::print_stdout)] // it is a command-line tool

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use landmark_core::approximate::{Approximate, Link, Proxied, ScatteredParams, ShiftRidgeParams, StackParams};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{EmbeddingProxy, Identity, Oracle, OracleError, OracleShape, Pair, ask_block};
use landmark_core::stream::stream;
use ndarray::{Array2, ArrayViewMut2, s};
use rand::Rng as _;

const SEEN: usize = 24;

struct Score {
    cosine: EmbeddingProxy,
    effects: Vec<f64>,
}

impl Score {
    fn bend(&self, i: usize, j: usize, cosine: f64) -> f64 {
        cosine + 0.5 * cosine * cosine * cosine + self.effects[i] + self.effects[j]
    }
}

impl Oracle for Score {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.effects.len())
    }

    fn identity(&self) -> Identity {
        self.cosine.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.cosine.evaluate(pairs, out)?;
        pairs.iter().zip(out).for_each(|(&(i, j), out)| *out = self.bend(i, j, *out));
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        ask_block(&self.cosine, rows, cols, out.view_mut())?;
        out.indexed_iter_mut().for_each(|((a, b), out)| *out = self.bend(rows[a], cols[b], *out));
        Ok(())
    }
}

fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |place: usize, default: &str| arguments.get(place).cloned().unwrap_or_else(|| default.to_owned());
    let (kind, n, s) = (argument(0, "scattered"), argument(1, "100000").parse()?, argument(2, "500").parse()?);
    let (share, numbers): (f64, usize) = (argument(3, "0.5").parse()?, argument(4, "256").parse()?);
    let nearest = arguments.get(5).map(|count| count.parse()).transpose()?;

    let mut rng = stream(1, "scattered times", "vectors", 0);
    let mut vectors = Array2::from_shape_fn((n, numbers.max(SEEN)), |_| rng.gen_range(-1.0..1.0));
    let effects = (0..n).map(|_| rng.gen_range(-0.2..0.2)).collect();
    let score = Score { cosine: EmbeddingProxy::cosine(vectors.slice(s![.., ..SEEN]).to_owned())?, effects };
    vectors.slice_mut(s![.., ..SEEN]).mapv_inplace(|x| 3.0 * x);
    let proxy: Arc<dyn Oracle> = Arc::new(EmbeddingProxy::cosine(vectors)?);

    let bare = Arc::new(ShiftRidgeParams::default().check()?);
    let base: Arc<dyn Approximate> = Arc::new(Proxied::new(bare, Arc::clone(&proxy), Link::default()));
    let method: Arc<dyn Approximate> = match kind.as_str() {
        "scattered" => {
            let params = ScatteredParams { columns: share, nearest, ..ScatteredParams::default() };
            Arc::new(params.around(Arc::clone(&base), vec![proxy])?)
        }
        "stack" => {
            let params = StackParams { columns: Some(share), ..StackParams::default() };
            Arc::new(params.check()?.with_proxies(vec![proxy]))
        }
        other => return Err(format!("there is no method `{other}` here: scattered or stack").into()),
    };
    let landmarks = Landmarks::uniform(n, &mut stream(1, "scattered times", "landmarks", 0));
    let calls = method.plan(OracleShape::of(&score), &landmarks, s)?.evaluations(OracleShape::of(&score));
    let before = peak_megabytes();
    let sample: Vec<Pair> = (0..100_000).map(|_| (rng.gen_range(0..n), rng.gen_range(0..n))).collect();
    for (name, method) in [("columns", &base), (kind.as_str(), &method)] {
        let start = Instant::now();
        let fit = method.fit(&score, &landmarks, s, Known::LANDMARKS, &mut stream(1, "scattered times", "fit", 0))?;
        let seconds = start.elapsed().as_secs_f64();
        let (mut ours, mut truth) = (vec![0.0; sample.len()], vec![0.0; sample.len()]);
        fit.pairs(&sample, &mut ours)?;
        score.evaluate(&sample, &mut truth)?;
        let square = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>();
        let error =
            (square(&mut ours.iter().zip(&truth).map(|(a, b)| a - b)) / square(&mut truth.iter().copied())).sqrt();
        let scattered = fit.scattered().map_or(0, landmark_core::approximation::ScatteredEntries::len);
        println!(
            "{name}: n {n}, s {s}, {calls} calls, {scattered} scattered: {seconds:.1} s, peak {:.0} MB ({:.0} before), error {error:.4} \
             of 100,000 sampled pairs",
            peak_megabytes().unwrap_or(f64::NAN),
            before.unwrap_or(f64::NAN),
        );
    }
    Ok(())
}
