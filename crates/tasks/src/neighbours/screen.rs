//! Pairs that are worth a look, by products in single precision.
//!
//! Most pairs of a block are there to be passed over, and seven digits say so. With u = 2⁻²⁴ and in whatever order the r products are added,
//!
//! ```text
//! |fl(x·y) − x·y| ≤ γ ‖x‖ ‖y‖,   γ = (r + 3) u / (1 − (r + 3) u)
//! ```
//! (Higham 2002, section 3.1; three for the rounding of x, of y, and of the lengths). A pair within that of what it has to reach is computed in
//! double precision, so that the answer is that of double precision.

use std::ops::{Range, RangeInclusive};

use landmark_core::linalg;
use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use rayon::prelude::*;

use super::{BLOCK, ScoredPair, SignedVectors};

/// Unit roundoff of single precision.
const ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;
/// Lengths of vectors whose products neither overflow nor, by more than [`UNDERFLOW`] each, underflow.
const LENGTHS: RangeInclusive<f64> = 1e-9..=1e9;
/// What a product loses at most by underflow.
const UNDERFLOW: f64 = 1e-35;
/// Pairs of a block from which on a product in double precision is as fast as looking at each.
const MANY: usize = BLOCK * BLOCK / 32;
/// Scores that are passed over at once.
const AT_ONCE: usize = 64;

/// Vectors of the items in single precision, n × r: 4nr bytes, and half the time of double precision a product.
pub struct Screen<'a> {
    vectors: SignedVectors<'a>,
    single: Array2<f32>,
    signature: Array1<f32>,
    lengths: Vec<f64>,
}

impl<'a> Screen<'a> {
    /// `None` where the longest vector is too long or too short for products of single precision.
    pub(super) fn new(vectors: SignedVectors<'a>) -> Option<Self> {
        let length = |row: ArrayView1<'_, f64>| row.dot(&row).sqrt();
        let lengths: Vec<f64> = vectors.vectors.axis_iter(Axis(0)).into_par_iter().map(length).collect();
        // a length that is not a number is in no range
        let longest = lengths
            .iter()
            .fold(0.0, |longest: f64, &length| if length > longest || length.is_nan() { length } else { longest });
        if !LENGTHS.contains(&longest) {
            return None;
        }
        // what is left of a number in single precision is what the bound allows for
        #[expect(clippy::cast_possible_truncation)]
        let round = |value: &f64| *value as f32;
        Some(Self { vectors, single: vectors.vectors.map(round), signature: vectors.signature.map(round), lengths })
    }

    /// Pairs of the rows `a..b` and `c..d` that reach the bound of one of their two items, the smaller item first, and perhaps others; `None` where
    /// they are too many, or where an item has no bound.
    pub(super) fn pairs(
        &self,
        (a, b): (usize, usize),
        (c, d): (usize, usize),
        bound: impl Fn(usize) -> f64,
    ) -> Option<Vec<ScoredPair>> {
        let slack = self.slack(a..b, c..d);
        let bounds = |items: Range<usize>| items.map(|item| below(bound(item) - slack)).collect::<Vec<f32>>();
        let (of_rows, of_cols) = (bounds(a..b), bounds(c..d));
        if of_rows.iter().chain(&of_cols).any(|bound| *bound == f32::NEG_INFINITY) {
            return None;
        }
        let left = &self.single.slice(s![a..b, ..]) * &self.signature;
        let block = linalg::single_product(left.view(), self.single.slice(s![c..d, ..]).t());
        let of_row = |(row, (scores, &of_row)): (usize, (ArrayView1<'_, f32>, &f32))| {
            // a block is row-major
            let scores = scores.to_slice().unwrap_or_default();
            reaching(scores, of_row, &of_cols).into_iter().map(move |col| (a + row, c + col))
        };
        let rows = block.axis_iter(Axis(0)).into_par_iter().zip(&of_rows).enumerate();
        let found: Vec<(usize, usize)> =
            rows.flat_map_iter(of_row).filter(|&(i, j)| i < j && !self.is_scattered(i, j)).collect();
        if found.len() > MANY {
            return None;
        }
        let score =
            |&(first, second): &(usize, usize)| ScoredPair { first, second, score: self.vectors.score(first, second) };
        let mut pairs: Vec<ScoredPair> = found.par_iter().map(score).collect();
        pairs.extend(self.scattered(a..b, c..d));
        Some(pairs)
    }

    /// What no product of two of these rows is off by more than.
    fn slack(&self, rows: Range<usize>, cols: Range<usize>) -> f64 {
        let longest = |items: Range<usize>| self.lengths[items].iter().copied().fold(0.0, f64::max);
        let r = self.single.ncols() as f64;
        let steps = (r + 3.0) * ROUNDOFF;
        steps / (1.0 - steps) * longest(rows) * longest(cols) + r * UNDERFLOW
    }

    fn is_scattered(&self, i: usize, j: usize) -> bool {
        self.vectors.scattered.is_some_and(|scattered| scattered.contains(i, j))
    }

    /// Pairs whose score no vectors hold.
    fn scattered(&self, rows: Range<usize>, cols: Range<usize>) -> Vec<ScoredPair> {
        let Some(scattered) = self.vectors.scattered else { return Vec::new() };
        let of_row = |first: usize| {
            let here = scattered.row(first).filter(|(second, _)| first < *second && cols.contains(second));
            here.map(move |(second, score)| ScoredPair { first, second, score }).collect::<Vec<_>>()
        };
        rows.flat_map(of_row).collect()
    }
}

/// Columns of a row that reach the bound of the row or their own.
fn reaching(scores: &[f32], of_row: f32, of_cols: &[f32]) -> Vec<usize> {
    let reaches = |(score, of_col): (&f32, &f32)| *score >= of_row || score >= of_col;
    let mut found = Vec::new();
    let runs = scores.chunks(AT_ONCE).zip(of_cols.chunks(AT_ONCE)).enumerate();
    for (run, (scores, of_cols)) in runs {
        // without a way out early, so that it is done several at a time: an eighth of the time of top-k at rank 300
        if scores.iter().zip(of_cols).fold(false, |any, pair| any | reaches(pair)) {
            let here = scores.iter().zip(of_cols).enumerate().filter(|(_, pair)| reaches(*pair));
            found.extend(here.map(|(col, _)| run * AT_ONCE + col));
        }
    }
    found
}

/// The largest number of single precision that is smaller.
#[expect(clippy::cast_possible_truncation)]
fn below(bound: f64) -> f32 {
    (bound as f32).next_down()
}
