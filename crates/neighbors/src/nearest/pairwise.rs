//! A Gaussian process over pairs: what the link leaves over of a pair, predicted from all known pairs.
//!
//! ```text
//! E = L + w_k · kriging + w_g · process
//! covariance of (i, j) and (k, l):  A_ik A_jl + A_il A_jk,   A = ½ (kernels of the proxies, their mean) + ½ (kernel of the rows of E) + diagonal
//! ```
//! Row kriging sees only the known pairs of one item. The process also learns from pairs of similar items, and its second kernel learns which items
//! are similar by the score itself: items whose estimated rows agree. It costs no call. On five matrices of 450 to 700 items recall@10 at 20 calls
//! an item rises by .03 to .14.
//!
//! The weights come from known pairs that were hidden from both ([`Weights`]); without this gate the process loses where there are few
//! calls. Known pairs are no sample of all pairs, and with these weights alone the process lost two to five points of recall on 3,097 tweets with two of
//! three proxies. So every round looks at what is found with the process and without it, and the better way gets the rest of the round
//! (`search/arms.rs`). With fewer than 500 known pairs there is nothing to choose weights by, and kriging works alone.
//!
//! Nothing is n²: with 512 nodes of which r = 256 directions are kept, T = 256 references, p known pairs and m proxies, a fit takes about 25(8pr + 4nr²)
//! operations, a round two fits, and two more where weights are chosen; memory about 40nr + 4nTm bytes. Above 20,000 items a round takes one fit of 15 products
//! from the second on, and weights are chosen in the first round and at the end.

use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array2, Axis, s};
use rayon::prelude::*;

use super::lists::by_rows;
use super::pool::Pool;
use super::{NeighborError, PROXY};
use kernel::{features, mixed};
use landmark_core::linalg;
use landmark_core::oracle::Oracle;
use solver::{Items, Residuals, Solution, solve};

mod kernel;
mod solver;
#[cfg(test)]
mod tests;

/// Items up to which a process is fitted: it takes 12 kB per item, 3.6 GB for as many, and three times as long as the rest of a search.
pub const MOST_ITEMS: usize = 300_000;

/// Of the known pairs, one in this number is hidden to choose weights.
const HIDDEN: u64 = 10;

/// Hidden pairs that weights can be chosen by.
const FEWEST_HIDDEN: usize = 50;

/// A weight, at most.
const MOST_WEIGHT: f64 = 1.2;

/// How strongly weights that the hidden pairs do not determine are drawn to 0 and 1.
const DRAW: f64 = 1e-6;

/// How thoroughly a fit is made.
struct Effort {
    /// Passes once there is a kernel of the rows: each makes that of the next.
    passes: usize,
    /// Products of a solution, at most.
    iterations: usize,
    /// Weights are chosen in every second round, and not in the first and at the end alone.
    weighs_often: bool,
}

impl Effort {
    /// Of many items a fit takes as long as everything else that a search does.
    fn of(is_large: bool) -> Self {
        let (passes, iterations) = if is_large { (1, 15) } else { (PASSES, 25) };
        Self { passes, iterations, weighs_often: !is_large }
    }
}

/// Passes of a fit: the kernel of the rows is made of the estimates of the pass before.
const PASSES: usize = 2;

/// Weights of kriging and of the process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weights {
    pub(super) kriging: f64,
    pub(super) process: f64,
}

impl Weights {
    /// Kriging alone.
    pub(super) const KRIGING: Self = Self { kriging: 1.0, process: 0.0 };

    /// The weights w ≥ 0 that minimize |d − w_k kr − w_g gp|² + ε² (w_k² + (w_g − 1)²) over hidden pairs, 1.2 at most each.
    pub(super) fn of(left: &[f64], kriged: &[f64], process: &[f64]) -> Self {
        let dot = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(one, other)| one * other).sum::<f64>();
        let draw = DRAW * (dot(kriged, kriged) + dot(process, process)) / 2.0;
        let (kk, gg, kg) = (dot(kriged, kriged) + draw, dot(process, process) + draw, dot(kriged, process));
        let (kd, gd) = (dot(kriged, left), dot(process, left) + draw);
        let alone = |square: f64, product: f64| if square > 0.0 { (product / square).max(0.0) } else { 0.0 };
        let determinant = kk * gg - kg * kg;
        let (kriging, process) = ((kd * gg - gd * kg) / determinant, (gd * kk - kd * kg) / determinant);
        let (kriging, process) = if determinant > 0.0 && kriging >= 0.0 && process >= 0.0 {
            (kriging, process)
        } else {
            // one of the two is 0; what a weight gains is its square times the square of its prediction
            let (only_kriging, only_process) = (alone(kk, kd), alone(gg, gd));
            if only_kriging.powi(2) * kk > only_process.powi(2) * gg {
                (only_kriging, 0.0)
            } else {
                (0.0, only_process)
            }
        };
        Self { kriging: kriging.min(MOST_WEIGHT), process: process.min(MOST_WEIGHT) }
    }
}

/// The process of a search: what it keeps from round to round.
#[derive(Clone)]
pub(super) struct Pairwise {
    nodes: Vec<usize>,
    references: Vec<usize>,
    /// Scores of every proxy with the references, n × T.
    proxies: Arc<Vec<Array2<f32>>>,
    of_proxy: Option<Arc<Array2<f32>>>,
    of_rows: Option<Arc<Array2<f32>>>,
    /// Decides which pairs are hidden.
    key: u64,
    weights: Weights,
    /// True if the weights were chosen while ranks were shown: they do not hold for scores.
    weighed_by_rank: bool,
    effort: Arc<Effort>,
    rounds: u64,
}

/// What the process predicts for any pair.
pub(super) struct Process {
    items: Items,
    solution: Solution,
    scale: f64,
}

impl Process {
    /// What it adds to the link at a pair without a score; the same in both orders.
    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        self.scale * self.solution.at(&self.items, i, j)
    }

    /// What it adds at all pairs of some rows and columns.
    pub(super) fn block(&self, rows: Range<usize>, columns: Range<usize>) -> Array2<f32> {
        let (phi, Solution { left, right }) = (&self.items.phi, &self.solution);
        let product = |one: &Array2<f32>, other: &Array2<f32>| {
            linalg::single_product(one.slice(s![rows.clone(), ..]), other.slice(s![columns.clone(), ..]).t())
        };
        let mut sum = product(left, phi);
        sum += &product(phi, right);
        sum *= self.scale as f32;
        sum
    }

    /// What it adds at the pairs of every item with some others, n × their number.
    fn columns(&self, others: &[usize]) -> Array2<f32> {
        let (phi, Solution { left, right }) = (&self.items.phi, &self.solution);
        let of = |matrix: &Array2<f32>| matrix.select(Axis(0), others);
        let mut sum = linalg::single_product(left.view(), of(phi).t());
        sum += &linalg::single_product(phi.view(), of(right).t());
        sum *= self.scale as f32;
        sum
    }
}

impl Pairwise {
    /// A process over the items of a pool: nodes and references are the first and the last of `order`, a uniform permutation, and the items are
    /// described by the mean of the kernels of all proxies, or by the proxy at place `only`.
    ///
    /// # Errors
    /// A proxy that fails or is not finite.
    pub(super) fn new(
        n: usize,
        order: &[usize],
        proxies: &[Arc<dyn Oracle>],
        only: Option<usize>,
        is_large: bool,
    ) -> Result<Self, NeighborError> {
        let nodes: Vec<usize> = order.iter().copied().take(kernel::nodes(n)).collect();
        let references: Vec<usize> = order.iter().rev().copied().take((nodes.len() / 2).max(1)).collect();
        let failed = |number: usize| move |source| NeighborError::Proxy { role: PROXY, number, source };
        let mut of_proxy: Option<Array2<f32>> = None;
        for (number, proxy) in (1..).zip(proxies) {
            if only.is_some_and(|only| only + 1 != number) {
                continue;
            }
            let kernel = kernel::of_proxy(&**proxy, &nodes).map_err(failed(number))?;
            match &mut of_proxy {
                Some(sum) => *sum += &kernel,
                None => of_proxy = Some(kernel),
            }
        }
        let count = if only.is_some() { 1 } else { proxies.len() };
        let of_proxy = of_proxy.map(|sum| Arc::new(sum / count as f32));
        let of_references = proxies
            .iter()
            .zip(1..)
            .map(|(proxy, number)| {
                kernel::columns_of(&**proxy, &references, |value| value as f32).map_err(failed(number))
            })
            .collect::<Result<_, _>>()?;
        // any function of the draw will do
        let key = order.iter().take(8).fold(0, |key, &item| mixed_bits(key ^ item as u64));
        let (proxies, weights, effort) = (Arc::new(of_references), Weights::KRIGING, Arc::new(Effort::of(is_large)));
        let (of_rows, weighed_by_rank, rounds) = (None, false, 0);
        Ok(Self { nodes, references, proxies, of_proxy, of_rows, key, weights, weighed_by_rank, effort, rounds })
    }

    pub(super) fn weights(&self) -> Weights {
        self.weights
    }

    /// True where this round chooses the weights again; always where it sees ranks and the last choice saw scores, or the other way round.
    pub(super) fn is_to_be_weighed(&self, is_last: bool, by_rank: bool) -> bool {
        let is_due = self.rounds == 0 || (self.effort.weighs_often && self.rounds.is_multiple_of(2));
        is_last || is_due || self.weighed_by_rank != by_rank
    }

    /// The known pairs that are hidden while weights are chosen, i and a slot of its row, i < j; none where they are too few.
    pub(super) fn hidden(&self, pool: &Pool) -> Vec<(usize, usize)> {
        let salt = mixed_bits(self.key ^ mixed_bits(self.rounds));
        let is_hidden = |i: usize, j: usize| mixed_bits(salt ^ ((i as u64) << 32 | j as u64)).is_multiple_of(HIDDEN);
        let of_row = |i: usize| {
            let taught = pool.upper(i).filter(move |&slot| pool.teaches(i, slot) && is_hidden(i, pool.other(slot)));
            taught.map(move |slot| (i, slot))
        };
        let hidden: Vec<(usize, usize)> = (0..pool.len()).flat_map(of_row).collect();
        if hidden.len() < FEWEST_HIDDEN { Vec::new() } else { hidden }
    }

    /// Weights for what is left over at hidden pairs, by what kriging and the process predict for them.
    pub(super) fn weigh(&mut self, left: &[f64], kriged: &[f64], process: &[f64], by_rank: bool) {
        (self.weights, self.weighed_by_rank) = (Weights::of(left, kriged, process), by_rank);
    }

    pub(super) fn end_round(&mut self) {
        self.rounds += 1;
    }

    /// Keeps the weights of no process: too few pairs are known.
    pub(super) fn weigh_nothing(&mut self) {
        self.weights = Weights::KRIGING;
    }

    /// A fit to the pairs that teach, `linked` being the link pair by pair and `link` at any pair with its proxies' scores; `None` where nothing
    /// is left over. `is_trial`: from the kernel of the proxy alone, and nothing is kept, for pairs are hidden.
    ///
    /// # Errors
    /// An eigenvalue problem of r × r that failed.
    pub(super) fn fit(
        &mut self,
        pool: &Pool,
        linked: &[f64],
        link: &(impl Fn(usize, usize, &[f64]) -> f64 + Sync),
        is_trial: bool,
    ) -> Result<Option<Process>, NeighborError> {
        let known = residuals(pool, linked);
        let scale = known.scale();
        if known.pairs.len() < 2 || scale == 0.0 || !scale.is_finite() {
            return Ok(None);
        }
        let n = pool.len();
        let mut of_rows = if is_trial { None } else { self.of_rows.clone() };
        let mut process = None;
        let passes = if of_rows.is_some() { self.effort.passes } else { PASSES };
        for pass in 0..passes {
            let kernel = mixed(self.of_proxy.as_ref(), of_rows.as_ref(), || kernel::of_nothing(n, &self.nodes));
            let items = Items::new(features(&kernel, &self.nodes)?);
            drop(kernel);
            let (solution, _) = solve(&items, &known, scale, self.effort.iterations)?;
            let fitted = Process { items, solution, scale };
            // the rows of the last pass are those of the next round
            if pass + 1 < passes || !is_trial {
                let rows = self.rows(pool, &fitted, link);
                of_rows = Some(Arc::new(kernel::of_rows(rows, &self.references, &self.nodes)));
            }
            process = Some(fitted);
        }
        if !is_trial {
            self.of_rows = of_rows;
        }
        Ok(process)
    }

    /// F at the references, n × T: scores where they are known, else the link and the process.
    fn rows(
        &self,
        pool: &Pool,
        process: &Process,
        link: &(impl Fn(usize, usize, &[f64]) -> f64 + Sync),
    ) -> Array2<f32> {
        let mut rows = process.columns(&self.references);
        rows.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(i, mut row)| {
            let mut proxies = vec![0.0; self.proxies.len()];
            for (place, &t) in self.references.iter().enumerate() {
                if i == t {
                    continue;
                }
                proxies.iter_mut().zip(self.proxies.iter()).for_each(|(one, all)| *one = f64::from(all[[i, place]]));
                row[place] += link(i, t, &proxies) as f32;
            }
        });
        for (place, &t) in self.references.iter().enumerate() {
            for slot in pool.row(t).filter(|&slot| pool.score(slot).is_finite()) {
                rows[[pool.other(slot), place]] = pool.score(slot) as f32;
            }
        }
        rows
    }
}

/// What the link leaves over at every pair that teaches.
fn residuals(pool: &Pool, linked: &[f64]) -> Residuals {
    let (mut pairs, mut values) = (Vec::new(), Vec::new());
    for i in 0..pool.len() {
        for slot in pool.upper(i).filter(|&slot| pool.teaches(i, slot)) {
            // a pool has fewer items than fit
            pairs.push((i as u32, pool.other(slot) as u32));
            values.push(pool.score(slot) - linked[pool.number(slot)]);
        }
    }
    Residuals::new(pool.len(), pairs, values)
}

/// What the process predicts for every pair without a score; 0 of the others.
pub(super) fn predict(process: &Process, pool: &Pool) -> Vec<f64> {
    let mut predicted = vec![0.0; pool.pair_count()];
    by_rows(pool.firsts(), &mut predicted).enumerate().for_each(|(i, row)| {
        for (value, slot) in row.iter_mut().zip(pool.upper(i)).filter(|&(_, slot)| !pool.is_asked(slot)) {
            *value = process.at(i, pool.other(slot));
        }
    });
    predicted
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
pub(super) fn mixed_bits(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
