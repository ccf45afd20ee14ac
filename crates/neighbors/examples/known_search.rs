//! Prints recall@10 of a search that stands on a fit, next to the fit's free lists, to rescoring of the factors' best at equal calls, and to a search
//! without the fit; with and without a proxy.
//!
//! ```text
//! cargo run -p landmark-neighbors --example known_search -- DRAWS K.f64 n [VECTORS.f64 d]
//! ```
//! Reads the score (n·n) and, if there are some, the proxy's vectors (n·d) as little-endian f64 in rows. Every draw has its own landmarks, which all
//! methods share. A gain is the mean of paired differences between the search and the best of its baselines (free lists, rescoring, and the same
//! search without the fit), with the standard error of that mean.

use std::collections::HashMap;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, ShiftRidgeParams};
use landmark_core::approximation::Known as Nothing;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{AsymmetryPolicy, EmbeddingProxy, Oracle, OracleShape, Pair, Precomputed, block_of};
use landmark_core::stream::stream;
use landmark_neighbors::nearest::{Found, Known, Neighbor, RoundsParams, Search, factors};
use ndarray::Array2;

use matrix::read;

#[path = "common/matrix.rs"]
mod matrix;

type Failure = Box<dyn std::error::Error>;

const K: usize = 10;
const LANDMARKS: [usize; 2] = [20, 100];
const CALLS_PER_ITEM: [usize; 2] = [10, 20];

fn best(scores: &Array2<f64>, i: usize, k: usize) -> Vec<usize> {
    let mut others: Vec<usize> = (0..scores.nrows()).filter(|&j| j != i).collect();
    others.sort_by(|&a, &b| scores[[i, b]].total_cmp(&scores[[i, a]]).then(a.cmp(&b)));
    others.truncate(k);
    others
}

fn recall(truth: &Array2<f64>, list: impl Fn(usize) -> Vec<usize>) -> f64 {
    let n = truth.nrows();
    let hits = |i: usize| {
        let found = list(i);
        best(truth, i, K).iter().filter(|item| found.contains(item)).count()
    };
    (0..n).map(hits).sum::<usize>() as f64 / (K * n) as f64
}

fn run(mut search: Search, truth: &Array2<f64>) -> Result<Found, Failure> {
    while let Some(batch) = search.next_batch()? {
        let scores: Vec<f64> = batch.pairs.iter().map(|&pair| truth[pair]).collect();
        search.record(&batch.pairs, &scores)?;
    }
    Ok(search.finish()?)
}

fn items(list: &[Neighbor]) -> Vec<usize> {
    list.iter().map(|one| one.item).collect()
}

/// A fit, and what is known from it.
struct Fit {
    landmarks: Landmarks,
    known: Known,
    /// The factors' scores, evaluated ones in their place.
    estimate: Array2<f64>,
}

impl Fit {
    fn of(oracle: &dyn Oracle, truth: &Array2<f64>, s: usize, draw: u64) -> Result<Self, Failure> {
        let all: Vec<usize> = (0..oracle.len()).collect();
        let landmarks = Landmarks::uniform(all.len(), &mut stream(draw, "known search", "landmarks", 0));
        let method = ShiftRidgeParams::default().check()?;
        let fit = method.fit(oracle, &landmarks, s, Nothing::NOTHING, &mut stream(draw, "known search", "fit", 0))?;
        let columns = fit.landmarks().to_vec();
        let embedding = fit.into_embedding()?;
        let seed = factors(embedding.vectors, embedding.signature.as_slice().ok_or("contiguous")?)?;
        let mut estimate = block_of(seed.as_ref(), &all, &all)?;
        let of_column = |&l: &usize| all.iter().filter(move |&&i| i != l).map(move |&i| (i, l)).collect::<Vec<Pair>>();
        let pairs: Vec<Pair> = columns.iter().flat_map(of_column).collect();
        for &(i, j) in &pairs {
            estimate[[i, j]] = truth[[i, j]];
            estimate[[j, i]] = truth[[i, j]];
        }
        let pairs = pairs.into_iter().map(|pair| (pair, truth[pair])).collect();
        Ok(Self { landmarks, known: Known { columns, pairs, seed: Some(seed) }, estimate })
    }

    /// Recall of the factors' best after as many further calls, in order of their places in the lists.
    fn rescored(&self, truth: &Array2<f64>, mut left: usize) -> f64 {
        let n = truth.nrows();
        let mut known: HashMap<Pair, f64> =
            self.known.pairs.iter().map(|&((i, j), score)| ((i.min(j), i.max(j)), score)).collect();
        let lists: Vec<Vec<usize>> = (0..n).map(|i| best(&self.estimate, i, n - 1)).collect();
        for (i, place) in (0..n - 1).flat_map(|place| (0..n).map(move |i| (i, place))) {
            let pair = (i.min(lists[i][place]), i.max(lists[i][place]));
            if left > 0 && !known.contains_key(&pair) {
                left -= 1;
                known.insert(pair, truth[pair]);
            }
        }
        let mut rescored = Array2::from_elem((n, n), f64::NEG_INFINITY);
        known.iter().for_each(|(&(i, j), &score)| {
            rescored[[i, j]] = score;
            rescored[[j, i]] = score;
        });
        recall(truth, |i| best(&rescored, i, K))
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// Recall by draw of the search, its gain on the best baseline, and the standard error of that.
fn gain(search: &[f64], baselines: &[&[f64]]) -> (f64, f64) {
    let of = |baseline: &&&[f64]| mean(baseline.iter().copied());
    let Some(best) = baselines.iter().max_by(|one, other| of(one).total_cmp(&of(other))) else { return (0.0, 0.0) };
    let differences: Vec<f64> = search.iter().zip(*best).map(|(search, other)| search - other).collect();
    let gain = mean(differences.iter().copied());
    let variance = differences.iter().map(|one| (one - gain).powi(2)).sum::<f64>() / (differences.len() as f64 - 1.0);
    (gain, (variance / differences.len() as f64).sqrt())
}

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [draws, file, n, proxy @ ..] = &arguments[..] else { return Err("DRAWS K.f64 n [VECTORS.f64 d]".into()) };
    let (draws, n): (u64, usize) = (draws.parse()?, n.parse()?);
    let oracle = Precomputed::new(read(file, n)?, AsymmetryPolicy::Mean)?;
    let all: Vec<usize> = (0..n).collect();
    let (truth, shape) = (block_of(&oracle, &all, &all)?, OracleShape::of(&oracle));
    let proxy: Vec<Arc<dyn Oracle>> = match proxy {
        [file, _] => vec![Arc::new(EmbeddingProxy::cosine(read(file, n)?)?)],
        _ => Vec::new(),
    };
    let ways = if proxy.is_empty() { vec![Vec::new()] } else { vec![Vec::new(), proxy] };
    println!("| landmarks | calls per item | proxy | free lists | rescored | without the fit | search | gain (s.e.) |");
    println!("|---|---|---|---|---|---|---|---|");
    for s in LANDMARKS {
        let fits: Vec<Fit> = (0..draws).map(|draw| Fit::of(&oracle, &truth, s, draw)).collect::<Result<_, _>>()?;
        let free: Vec<f64> = fits.iter().map(|fit| recall(&truth, |i| best(&fit.estimate, i, K))).collect();
        for b in CALLS_PER_ITEM {
            let rescored: Vec<f64> = fits.iter().map(|fit| fit.rescored(&truth, n * b)).collect();
            for proxies in &ways {
                let rounds = RoundsParams { k: K, calls_per_item: b, ..RoundsParams::default() }.check()?;
                let (mut cold, mut found) = (Vec::new(), Vec::new());
                for fit in &fits {
                    let (rounds, proxies) = (rounds.clone(), proxies.clone());
                    let search = Search::new(rounds.clone(), shape, proxies.clone(), &fit.landmarks)?;
                    let lists = run(search, &truth)?.lists;
                    cold.push(recall(&truth, |i| items(&lists[i])));
                    let search = Search::knowing(rounds, shape, proxies, &fit.landmarks, fit.known.clone())?;
                    let lists = run(search, &truth)?.lists;
                    found.push(recall(&truth, |i| items(&lists[i])));
                }
                let (gain, error) = gain(&found, &[&free, &rescored, &cold]);
                let means = [&free, &rescored, &cold, &found].map(|one| format!("{:.3}", mean(one.iter().copied())));
                let with = if proxies.is_empty() { "no" } else { "yes" };
                println!("| {s} | {b} | {with} | {} | {gain:+.3} ({error:.3}) |", means.join(" | "));
            }
        }
    }
    Ok(())
}
