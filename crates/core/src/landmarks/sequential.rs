//! Policies that choose one landmark after the other, each from the columns of those before.
//!
//! ```text
//! rpcholesky  P(i) ∝ d_i, the diagonal of K − F Fᵀ, F the Cholesky factor of the landmarks so far
//! kmeans++    P(i) ∝ min_t (K_ii + K_tt − 2 K_it), the squared distance to the nearest landmark
//! farthest    the i with the least max_t K_it; the first at random
//! ```
//! The first two read the diagonal and clip at 0 what an indefinite K turns negative; once nothing is left above rounding, the rest
//! is drawn uniformly and no further column evaluated.

use ndarray::{Array1, Array2, Axis, s};
use rand::Rng as _;

use super::LandmarkError;
use crate::oracle::{Oracle, OracleError, Pair, ask_pairs, block_of};
use crate::stream::Rng;

/// Weights whose sum is below this fraction of the first ones' are rounding.
const EXHAUSTED: f64 = 1e-12;

pub(super) trait Rule {
    /// The next landmark among those not chosen; `None` when nothing is left that distinguishes them.
    fn next(&self, is_chosen: &[bool], rng: &mut Rng) -> Option<usize>;

    fn update(&mut self, landmark: usize, column: &Array1<f64>);
}

/// `longest` landmarks by a rule, those beyond `size` without moving `rng`. The column of the last one is not read.
pub(super) fn choose(
    oracle: &dyn Oracle,
    mut rule: impl Rule,
    size: usize,
    longest: usize,
    rng: &mut Rng,
) -> Result<Vec<usize>, LandmarkError> {
    let all: Vec<usize> = (0..oracle.len()).collect();
    let mut is_chosen = vec![false; all.len()];
    let mut order = Vec::with_capacity(longest);
    let mut is_exhausted = false;
    let mut beyond = None;
    while order.len() < longest {
        let rng = if order.len() < size { &mut *rng } else { beyond.get_or_insert_with(|| rng.clone()) };
        let chosen = if is_exhausted { None } else { rule.next(&is_chosen, rng) };
        is_exhausted |= chosen.is_none();
        let landmark = chosen.unwrap_or_else(|| any_other(&is_chosen, rng));
        is_chosen[landmark] = true;
        order.push(landmark);
        if order.len() < longest && !is_exhausted {
            let column = block_of(oracle, &all, &[landmark])?;
            rule.update(landmark, &column.index_axis_move(Axis(1), 0));
        }
    }
    Ok(order)
}

fn any_other(is_chosen: &[bool], rng: &mut Rng) -> usize {
    let others: Vec<usize> = (0..is_chosen.len()).filter(|&i| !is_chosen[i]).collect();
    others[rng.gen_range(0..others.len())]
}

/// Draws an item with probability ∝ its weight; `None` where the sum is not above `floor`.
fn draw_by_weight(weights: &Array1<f64>, is_chosen: &[bool], floor: f64, rng: &mut Rng) -> Option<usize> {
    let open = || weights.iter().zip(is_chosen).enumerate().filter(|(_, (weight, chosen))| !**chosen && **weight > 0.0);
    let total: f64 = open().map(|(_, (weight, _))| weight).sum();
    // one draw whatever happens, so that the state of the stream does not depend on it
    let mut left = rng.gen_range(0.0..1.0) * total;
    if total <= floor {
        return None;
    }
    let mut last = None;
    for (i, (weight, _)) in open() {
        last = Some(i);
        left -= weight;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// K_ii of every item; n evaluations where it is not known.
fn diagonal(oracle: &dyn Oracle) -> Result<Array1<f64>, OracleError> {
    let n = oracle.len();
    if let Some(value) = oracle.known_diagonal() {
        return Ok(Array1::from_elem(n, value));
    }
    let pairs: Vec<Pair> = (0..n).map(|i| (i, i)).collect();
    let mut scores = vec![0.0; n];
    ask_pairs(oracle, &pairs, &mut scores)?;
    Ok(Array1::from(scores))
}

pub(super) struct RpCholesky {
    left: Array1<f64>,
    floor: f64,
    /// Columns of F, one a row: k × n in use.
    factor: Array2<f64>,
    rank: usize,
}

impl RpCholesky {
    pub(super) fn new(oracle: &dyn Oracle) -> Result<Self, OracleError> {
        let left = diagonal(oracle)?.mapv(|d| d.max(0.0));
        let floor = EXHAUSTED * left.sum();
        Ok(Self { factor: Array2::zeros((0, left.len())), left, floor, rank: 0 })
    }
}

impl Rule for RpCholesky {
    fn next(&self, is_chosen: &[bool], rng: &mut Rng) -> Option<usize> {
        draw_by_weight(&self.left, is_chosen, self.floor, rng)
    }

    fn update(&mut self, landmark: usize, column: &Array1<f64>) {
        let used = self.factor.slice(s![..self.rank, ..]);
        let mut rest = column - &used.t().dot(&used.column(landmark));
        let pivot = rest[landmark];
        if pivot <= 0.0 {
            // rounding, or an indefinite K: this direction explains nothing
            self.left[landmark] = 0.0;
            return;
        }
        rest /= pivot.sqrt();
        self.left.zip_mut_with(&rest, |left, f| *left = (*left - f * f).max(0.0));
        self.left[landmark] = 0.0;
        if self.rank == self.factor.nrows() {
            let mut wider = Array2::zeros(((2 * self.rank).max(16), column.len()));
            wider.slice_mut(s![..self.rank, ..]).assign(&self.factor);
            self.factor = wider;
        }
        self.factor.row_mut(self.rank).assign(&rest);
        self.rank += 1;
    }
}

/// k-means++ seeding with kernel distances.
pub(super) struct KMeansPlusPlus {
    diagonal: Array1<f64>,
    /// Squared distance to the nearest landmark; equal for all before there is one.
    nearest: Array1<f64>,
    floor: f64,
}

impl KMeansPlusPlus {
    pub(super) fn new(oracle: &dyn Oracle) -> Result<Self, OracleError> {
        let diagonal = diagonal(oracle)?;
        let floor = EXHAUSTED * diagonal.iter().map(|d| d.abs()).sum::<f64>();
        Ok(Self { nearest: Array1::from_elem(diagonal.len(), f64::INFINITY), diagonal, floor })
    }
}

impl Rule for KMeansPlusPlus {
    fn next(&self, is_chosen: &[bool], rng: &mut Rng) -> Option<usize> {
        if is_chosen.contains(&true) {
            draw_by_weight(&self.nearest, is_chosen, self.floor, rng)
        } else {
            (!is_chosen.is_empty()).then(|| rng.gen_range(0..is_chosen.len()))
        }
    }

    fn update(&mut self, landmark: usize, column: &Array1<f64>) {
        let own = self.diagonal[landmark];
        for ((nearest, d), k) in self.nearest.iter_mut().zip(&self.diagonal).zip(column) {
            *nearest = nearest.min((d + own - 2.0 * k).max(0.0));
        }
    }
}

pub(super) struct Farthest {
    best: Array1<f64>,
}

impl Farthest {
    pub(super) fn new(len: usize) -> Self {
        Self { best: Array1::from_elem(len, f64::NEG_INFINITY) }
    }
}

impl Rule for Farthest {
    fn next(&self, is_chosen: &[bool], rng: &mut Rng) -> Option<usize> {
        if !is_chosen.contains(&true) {
            return (!is_chosen.is_empty()).then(|| rng.gen_range(0..is_chosen.len()));
        }
        (0..is_chosen.len()).filter(|&i| !is_chosen[i]).min_by(|&a, &b| self.best[a].total_cmp(&self.best[b]))
    }

    fn update(&mut self, _: usize, column: &Array1<f64>) {
        self.best.zip_mut_with(column, |best, &score| *best = best.max(score));
    }
}
