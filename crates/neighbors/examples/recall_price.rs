//! Calls per item that a guaranteed recall of pairs takes, and how often it was there, over draws of the audit; no columns are evaluated.
//!
//! ```text
//! cargo run --release -p landmark-neighbors --example recall_price -- K.f64 n PROXY.f64 PAIRS
//! ```
//! Reads the score and the proxy (n·n each) as little-endian f64 in rows. Similar pairs are the PAIRS with the highest scores.

use std::collections::HashSet;
use std::convert::Infallible;

use landmark_core::oracle::Pair;
use landmark_core::stream::stream;
use landmark_neighbors::recall::{Batch, PairQuery, PairSource, PairsEnd, Target, pairs_with_recall};
use ndarray::Array2;

use matrix::read;

#[path = "common/matrix.rs"]
mod matrix;

type Failure = Box<dyn std::error::Error>;

const DRAWS: u64 = 60;

/// A matrix whose pairs come in the order of a proxy.
struct Matrix<'a> {
    scores: &'a Array2<f64>,
    order: &'a [Pair],
    evaluated: HashSet<Pair>,
}

impl PairSource for Matrix<'_> {
    type Error = Infallible;

    fn is_known(&self, _: Pair) -> bool {
        false
    }

    fn best(&mut self, wanted: usize) -> Vec<Pair> {
        self.order[..wanted.min(self.order.len())].to_vec()
    }

    fn evaluate(&mut self, pairs: &[Pair]) -> Result<Vec<f64>, Infallible> {
        self.evaluated.extend(pairs);
        Ok(pairs.iter().map(|&pair| self.scores[pair]).collect())
    }

    fn may_evaluate(&mut self, _: &Batch<'_>) -> Result<bool, Infallible> {
        Ok(true)
    }
}

/// All pairs, the highest value first.
fn ordered(values: &Array2<f64>) -> Vec<Pair> {
    let n = values.nrows();
    let mut pairs: Vec<Pair> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
    pairs.sort_by(|&one, &other| values[other].total_cmp(&values[one]).then(one.cmp(&other)));
    pairs
}

#[allow(clippy::print_stdout, reason = "an example reports on standard output")]
fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scores, n, proxy, pairs] = arguments.as_slice() else {
        return Err("expected: K.f64 n PROXY.f64 PAIRS".into());
    };
    let (n, similar): (usize, usize) = (n.parse()?, pairs.parse()?);
    let scores = read(scores, n)?;
    let order = ordered(&read(proxy, n)?);
    let at_least = scores[ordered(&scores)[similar - 1]];
    let positives = order.iter().filter(|&&pair| scores[pair] >= at_least).count();
    println!("recall  delta  calls per item  held  reached, of {DRAWS}");
    for (recall, delta) in [(0.8, 0.2), (0.9, 0.1), (0.95, 0.05)] {
        let target = Target::new(recall, delta)?;
        let query = PairQuery { items: n, at_least, target, known: 0, known_positives: 0 };
        let (mut calls, mut held, mut reached) = (0, 0, 0);
        for draw in 0..DRAWS {
            let mut source = Matrix { scores: &scores, order: &order, evaluated: HashSet::new() };
            let mut rng = stream(draw, "recall price", pairs, 0);
            let found = pairs_with_recall(query, &mut source, &mut rng).unwrap_or_else(|never| match never {});
            calls += source.evaluated.len();
            held += u32::from(found.found.len() as f64 >= recall * positives as f64);
            reached += u32::from(matches!(found.end, PairsEnd::Reached | PairsEnd::Exact));
        }
        let calls = calls as f64 / (DRAWS as f64 * n as f64);
        println!("{recall:<6}  {delta:<5}  {calls:>14.1}  {held:>4}  {reached:>7}");
    }
    Ok(())
}
