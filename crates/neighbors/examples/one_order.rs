//! Recall of searches by an asymmetric score whose mean of both orders is wanted: both orders of each pair, and one order first, at equal calls.
//!
//! ```text
//! cargo run --release -p landmark-neighbors --example one_order -- K.f64 n VECTORS.f64
//! ```
//! Reads the score (n·n) and the vectors of the proxy (n·d; its cosine) as little-endian f64 in rows. A symmetric score is made asymmetric: f(i, j) = K_ij +
//! (a_i − a_j) + e_ij, of which the antisymmetric part has .2 of the standard deviation of K, half of its variance in the items. Calls are single
//! evaluations.

use std::sync::Arc;

use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{AsymmetryPolicy, EmbeddingProxy, Oracle, Precomputed, Symmetrization, Symmetrized};
use landmark_core::stream::stream;
use landmark_neighbors::nearest::{Found, RoundsParams, nearest};
use ndarray::Array2;
use rand::Rng as _;

use matrix::read;

#[path = "common/matrix.rs"]
mod matrix;

type Failure = Box<dyn std::error::Error>;

const DRAWS: u64 = 5;
const ASYMMETRY: f64 = 0.2;

fn recall(mean: &Array2<f64>, found: &Found, k: usize) -> f64 {
    let n = mean.nrows();
    let hits = |i: usize| {
        let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
        others.sort_by(|&a, &b| mean[[i, b]].total_cmp(&mean[[i, a]]).then(a.cmp(&b)));
        found.lists[i][..k].iter().filter(|one| others[..k].contains(&one.item)).count()
    };
    (0..n).map(hits).sum::<usize>() as f64 / (k * n) as f64
}

fn asymmetric(mean: &Array2<f64>) -> Array2<f64> {
    let n = mean.nrows();
    let mut rng = stream(17, "one order", "asymmetry", 0);
    // uniform numbers of variance 1; a difference of two has variance 2
    let mut unit = || rng.gen_range(-1.0..1.0) * 3.0_f64.sqrt();
    let (sides, noise) = ((0..n).map(|_| unit()).collect::<Vec<f64>>(), Array2::from_shape_fn((n, n), |_| unit()));
    let scale = ASYMMETRY * mean.std(0.0) / 2.0;
    Array2::from_shape_fn((n, n), |(i, j)| mean[[i, j]] + scale * (sides[i] - sides[j] + noise[[i, j]] - noise[[j, i]]))
}

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scores, n, vectors] = arguments.as_slice() else { return Err("expected K.f64 n VECTORS.f64".into()) };
    let n: usize = n.parse()?;
    let (scores, vectors) = (read(scores, n)?, read(vectors, n)?);
    let proxy: Arc<dyn Oracle> = Arc::new(EmbeddingProxy::cosine(vectors)?);
    let given = if scores == scores.t() { asymmetric(&scores) } else { scores };
    let mean = (&given + &given.t()) / 2.0;
    let given = Precomputed::new(given, AsymmetryPolicy::Keep)?;
    let both = Symmetrized::new(given.clone(), Symmetrization::Mean);
    println!("calls   both orders @1 @10   one order first @1 @10");
    for calls_per_item in [10, 20, 40] {
        let mut sums = [0.0; 4];
        for draw in 0..DRAWS {
            let landmarks = Landmarks::uniform(n, &mut stream(draw, "one order", "landmarks", 0));
            let rounds = RoundsParams { calls_per_item, ..RoundsParams::default() }.check()?;
            for (place, oracle) in [&both as &dyn Oracle, &given].into_iter().enumerate() {
                let found = nearest(oracle, &[Arc::clone(&proxy)], &rounds, &landmarks)?;
                sums[2 * place] += recall(&mean, &found, 1) / DRAWS as f64;
                sums[2 * place + 1] += recall(&mean, &found, 10) / DRAWS as f64;
            }
        }
        let [both_one, both_ten, one, ten] = sums;
        println!("{calls_per_item:>5}   {both_one:.3} {both_ten:.3}          {one:.3} {ten:.3}");
    }
    Ok(())
}
