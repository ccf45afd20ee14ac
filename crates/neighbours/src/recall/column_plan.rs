//! How many pairs to evaluate in the order of their estimates before the rest is audited, and how many to audit, from uniform landmark columns before the
//! first call. Only the price depends on it, never the guarantee.
//!
//! ```text
//! T = positives seen in s columns, outside of them, with estimates of fits that have not seen them; Off = T (n − s)/(2s) expected without a landmark
//! cuts θ at those estimates, at most 60; c(θ) = unknown pairs of estimate ≥ θ; N = unknown pairs
//! M̂(θ) = Off (T_below(θ) + ½)/(T + 1) misses to expect below; u from In + Off − M̂; f_x = BetaInv(1 − δ; x + 1, u)
//! the cheapest c + f_x (N − c) with P(Bin(M̂, f_x) ≤ x) ≥ ½; f is its f_x
//! c is lowered to the highest cut at which an audit of the same share passes with probability ≥ .1; m = f (N − c)
//! ```
//! The ½ is for a miss that no column saw. Cost: 60 cuts, a few beta quantiles each.

use super::Target;
use super::beta::{beta_quantile, regularized_beta};
use super::hypergeometric::{binomial_tail, least_wrong};

/// Cuts that are looked at.
const MOST_CUTS: usize = 60;
/// Sampled positives that a plan tolerates at most.
const MOST_TOLERATED: u64 = 40;
/// Columns per item from which such a plan is cheaper than one by yield.
const LEAST_COLUMNS: f64 = 1.0 / 16.0;
/// Positives that must have been seen.
const LEAST_SEEN: usize = 10;
/// Least probability of passing at the first cut.
const LEAST_CHANCE: f64 = 0.1;

/// What uniform landmark columns show of the positives.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenPairs {
    /// Items, n.
    pub items: usize,
    /// Landmarks, s.
    pub landmarks: usize,
    /// Positives with a landmark.
    pub found: u64,
    /// Estimates of those with one landmark, by fits that have not seen its column.
    pub estimates: Vec<f64>,
}

/// Pairs to evaluate and to audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnPlan {
    /// Pairs to evaluate in the order of their estimates, c.
    pub first: u64,
    /// Pairs to audit, m.
    pub sample: u64,
}

impl SeenPairs {
    /// True if columns of so many landmarks that show `seen` positives outside of them are enough for a plan that is worth it.
    pub fn are_enough(items: usize, landmarks: usize, seen: usize) -> bool {
        seen >= LEAST_SEEN && landmarks as f64 >= LEAST_COLUMNS * items as f64
    }

    /// Cuts on the estimate, highest first; none if the columns are too few, or show too little, for a plan that is worth it.
    pub fn cuts(&self) -> Vec<f64> {
        if !Self::are_enough(self.items, self.landmarks, self.estimates.len()) {
            return Vec::new();
        }
        let mut sorted: Vec<f64> = self.estimates.iter().copied().filter(|estimate| !estimate.is_nan()).collect();
        sorted.sort_by(|one, other| other.total_cmp(one));
        let count = sorted.len().min(MOST_CUTS);
        let mut cuts: Vec<f64> = (1..=count).map(|place| sorted[place * sorted.len() / count - 1]).collect();
        cuts.dedup();
        cuts
    }

    /// The cheapest plan for `pairs` unknown pairs, `above[i]` of which have an estimate of at least the i-th of the [`cuts`](Self::cuts); `None` if
    /// evaluating all pairs is as cheap. A list that ends early leaves out the cuts beyond.
    pub fn plan(&self, target: Target, pairs: u64, above: &[u64]) -> Option<ColumnPlan> {
        let seen = self.estimates.len() as f64;
        let off = seen * (self.items - self.landmarks) as f64 / (2.0 * self.landmarks as f64);
        let at = |(cut, &evaluated): (f64, &u64)| {
            let below = self.estimates.iter().filter(|&&estimate| estimate < cut || estimate.is_nan()).count() as f64;
            let misses = off * (below + 0.5) / (seen + 1.0);
            // positives that are found at this cut, far below 2⁵²
            let found = (self.found as f64 + off - misses).max(0.0).floor() as u64;
            Cut { evaluated: evaluated.min(pairs), misses, unseen: least_wrong(found, target.recall()) as f64 }
        };
        let cuts: Vec<Cut> = self.cuts().into_iter().zip(above).map(at).collect();
        let all = pairs as f64;
        let priced = cuts.iter().filter_map(|cut| {
            let share = cut.cheapest(target.delta())?;
            let done = cut.evaluated as f64;
            Some((done + share * (all - done), share))
        });
        let (price, share) = priced.min_by(|one, other| one.0.total_cmp(&other.0))?;
        if price >= all {
            return None;
        }
        let first = cuts.iter().find(|cut| cut.chance(share, target.delta()) >= LEAST_CHANCE)?.evaluated;
        // a number of pairs, far below 2⁵²
        let sample = (share * (all - first as f64)).ceil() as u64;
        Some(ColumnPlan { first, sample: sample.min(pairs - first) })
    }
}

/// A cut, and what is expected of it.
struct Cut {
    evaluated: u64,
    /// M̂.
    misses: f64,
    /// u.
    unseen: f64,
}

impl Cut {
    /// Share of the others that an audit tolerating `tolerated` positives must look at.
    fn share(&self, tolerated: u64, delta: f64) -> f64 {
        beta_quantile(1.0 - delta, tolerated as f64 + 1.0, self.unseen)
    }

    /// The least share that is likely to pass.
    fn cheapest(&self, delta: f64) -> Option<f64> {
        (0..MOST_TOLERATED)
            .map(|x| (x, self.share(x, delta)))
            .find(|&(x, share)| binomial_tail(self.misses, share, x) >= 0.5)
            .map(|(_, share)| share)
    }

    /// Probability that an audit of this share passes.
    fn chance(&self, share: f64, delta: f64) -> f64 {
        // the share that is needed rises with the positives that are tolerated; rounding is not to lose the plan's own
        let share = (share * (1.0 + 1e-9)).min(1.0);
        let is_enough = |x: &u64| regularized_beta(share, *x as f64 + 1.0, self.unseen) >= 1.0 - delta;
        let tolerated = (0..MOST_TOLERATED).take_while(is_enough).last();
        tolerated.map_or(0.0, |x| binomial_tail(self.misses, share, x))
    }
}
