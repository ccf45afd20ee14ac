//! Recall@10 of a search that stands on the columns and factors of a fit, beside the fit's free lists, rescoring of their best at equal calls, and
//! a search that knows nothing.
//!
//! ```text
//! cargo run -p landmark-neighbours --example known_search -- K.f64 n [VECTORS.f64 d]
//! ```
//! Reads the score (n·n) and, where there are some, the proxy's vectors (n·d) as little-endian f64 in rows.

use std::collections::HashMap;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, ShiftRidgeParams};
use landmark_core::approximation::Known as Nothing;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{AsymmetryPolicy, EmbeddingProxy, Oracle, OracleShape, Pair, Precomputed, block_of};
use landmark_core::stream::stream;
use landmark_neighbours::nearest::{Found, Known, Neighbour, RoundsParams, Search, factors};
use ndarray::Array2;

type Failure = Box<dyn std::error::Error>;

const K: usize = 10;
const DRAWS: u64 = 3;

fn read(path: &str, rows: usize, columns: usize) -> Result<Array2<f64>, Failure> {
    let bytes = std::fs::read(path)?;
    let numbers: Vec<f64> = bytes
        .chunks_exact(8)
        .map(|bytes| Ok(f64::from_le_bytes(bytes.try_into()?)))
        .collect::<Result<_, std::array::TryFromSliceError>>()?;
    Ok(Array2::from_shape_vec((rows, columns), numbers)?)
}

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

fn items(list: &[Neighbour]) -> Vec<usize> {
    list.iter().map(|one| one.item).collect()
}

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let n: usize = arguments.get(1).ok_or("wanted: K.f64 n [VECTORS.f64 d]")?.parse()?;
    let oracle = Precomputed::new(read(&arguments[0], n, n)?, AsymmetryPolicy::Mean)?;
    let all: Vec<usize> = (0..n).collect();
    let truth = block_of(&oracle, &all, &all)?;
    let proxy = match arguments.get(2..4) {
        Some([file, d]) => Some(Arc::new(EmbeddingProxy::cosine(read(file, n, d.parse()?)?)?) as Arc<dyn Oracle>),
        _ => None,
    };
    println!("s b  free rescored | cold known | cold+proxy known+proxy");
    for s in [20, 100] {
        for b in [10, 20, 50] {
            let mut sums = [0.0; 6];
            for draw in 0..DRAWS {
                let landmarks = Landmarks::uniform(n, &mut stream(draw, "known search", "landmarks", 0));
                let method = ShiftRidgeParams::default().check()?;
                let mut rng = stream(draw, "known search", "fit", 0);
                let fit = method.fit(&oracle, &landmarks, s, Nothing::NOTHING, &mut rng)?;
                let columns = fit.landmarks().to_vec();
                let embedding = fit.into_embedding()?;
                let seed = factors(embedding.vectors, embedding.signature.as_slice().ok_or("contiguous")?)?;
                let mut estimate = block_of(seed.as_ref(), &all, &all)?;
                let pairs: Vec<(Pair, f64)> = (columns.iter())
                    .flat_map(|&l| all.iter().filter(move |&&i| i != l).map(move |&i| (i, l)))
                    .map(|pair| (pair, truth[pair]))
                    .collect();
                pairs.iter().for_each(|&((i, j), score)| {
                    estimate[[i, j]] = score;
                    estimate[[j, i]] = score;
                });
                sums[0] += recall(&truth, |i| best(&estimate, i, K));
                // pairs in order of their place in a list, until the calls are spent
                let mut known: HashMap<Pair, f64> =
                    pairs.iter().map(|&((i, j), score)| ((i.min(j), i.max(j)), score)).collect();
                let mut left = n * b;
                let lists: Vec<Vec<usize>> = all.iter().map(|&i| best(&estimate, i, n - 1)).collect();
                'spent: for place in 0..n - 1 {
                    for (i, list) in lists.iter().enumerate() {
                        let pair = (i.min(list[place]), i.max(list[place]));
                        if known.contains_key(&pair) {
                            continue;
                        }
                        if left == 0 {
                            break 'spent;
                        }
                        left -= 1;
                        known.insert(pair, truth[pair]);
                    }
                }
                let mut rescored = Array2::from_elem((n, n), f64::NEG_INFINITY);
                known.iter().for_each(|(&(i, j), &score)| {
                    rescored[[i, j]] = score;
                    rescored[[j, i]] = score;
                });
                sums[1] += recall(&truth, |i| best(&rescored, i, K));
                let shape = OracleShape::of(&oracle);
                for (place, proxies) in [(2, Vec::new()), (4, proxy.iter().cloned().collect())] {
                    let rounds = RoundsParams { k: K, calls_per_item: b, ..RoundsParams::default() }.check()?;
                    let cold = run(Search::new(rounds.clone(), shape, proxies.clone(), &landmarks)?, &truth)?;
                    sums[place] += recall(&truth, |i| items(&cold.lists[i]));
                    let known = Known { columns: columns.clone(), pairs: pairs.clone(), seed: Some(Arc::clone(&seed)) };
                    let found = run(Search::knowing(rounds, shape, proxies, &landmarks, known)?, &truth)?;
                    sums[place + 1] += recall(&truth, |i| items(&found.lists[i]));
                }
            }
            let [free, rescored, cold, known, cold_proxy, known_proxy] = sums.map(|sum| sum / DRAWS as f64);
            println!("{s} {b}  {free:.3} {rescored:.3} | {cold:.3} {known:.3} | {cold_proxy:.3} {known_proxy:.3}");
        }
    }
    Ok(())
}
