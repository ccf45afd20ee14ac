//! Agreement of K̃ with K at sampled pairs that the fit did not evaluate: the error of large scores, and the correlation of all.
//!
//! ‖K − K̃‖_F weighs every pair alike, and uses of a matrix look at its large scores: neighbors, clusters, duplicates.

use std::borrow::Cow;

use crate::balance::{balancing, largest};
use crate::oracle::Pair;
use crate::rank::RankCmp;
use crate::stats::pearson;

const LARGE_SHARE: usize = 100;

/// Large pairs at least; with fewer than twice as many drawn, none is separated from the rest.
const FEWEST_LARGE: usize = 10;

const ROUNDING: f64 = 1e-12;

#[derive(Debug, Clone, Copy)]
pub(super) struct DrawnPair {
    pub(super) pair: Pair,
    /// K.
    pub(super) score: f64,
    /// K̃, the mean of both orders where they differ.
    pub(super) ours: f64,
    pub(super) apart: f64,
    /// (K − K̃)².
    pub(super) missed: f64,
}

/// Agreement at sampled pairs; none of it where too few were drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Agreement {
    /// Relative error over the hundredth of the pairs whose K is largest, ten of them at least; none where K is 0 there.
    pub large_scores: Option<f64>,
    /// Pearson correlation of K̃ with K; none where either is constant.
    pub correlation: Option<f64>,
}

impl Agreement {
    pub(super) fn of(drawn: &[DrawnPair]) -> Self {
        let drawn = &balanced(drawn)[..];
        if drawn.len() < 2 * FEWEST_LARGE {
            return Self::default();
        }
        let mut by_score: Vec<&DrawnPair> = drawn.iter().collect();
        by_score.sort_unstable_by(|a, b| b.score.rank_cmp(&a.score).then(a.pair.cmp(&b.pair)));
        let large = &by_score[..(drawn.len() / LARGE_SHARE).max(FEWEST_LARGE)];
        let missed: f64 = large.iter().map(|pair| pair.missed).sum();
        let total: f64 = large.iter().map(|pair| pair.score * pair.score).sum();
        Self { large_scores: (total > 0.0).then(|| (missed / total).sqrt()), correlation: correlation(drawn) }
    }
}

/// The same pairs, multiplied by a power of two if their squares could leave the range of f64.
fn balanced(drawn: &[DrawnPair]) -> Cow<'_, [DrawnPair]> {
    let scale = balancing(largest(drawn.iter().flat_map(|pair| [&pair.score, &pair.ours])));
    if scale == 1.0 {
        return Cow::Borrowed(drawn);
    }
    let scaled = |pair: &DrawnPair| {
        let [score, ours, apart] = [pair.score, pair.ours, pair.apart].map(|number| scale * number);
        DrawnPair { score, ours, apart, missed: (score - ours).powi(2) + apart.powi(2), ..*pair }
    };
    drawn.iter().map(scaled).collect()
}

fn correlation(drawn: &[DrawnPair]) -> Option<f64> {
    let list = |of: fn(&DrawnPair) -> f64| drawn.iter().map(of).collect::<Vec<f64>>();
    let (scores, ours) = (list(|pair| pair.score), list(|pair| pair.ours));
    // what is constant differs from its mean by rounding
    let varies = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        squares > values.len() as f64 * (ROUNDING * mean).powi(2)
    };
    if varies(&scores) && varies(&ours) { pearson(&scores, &ours) } else { None }
}
