//! How many pairs to evaluate in the order of their estimates before the rest is audited. Only the price depends on it, never the guarantee.
//!
//! ```text
//! batches of n/2, growing by 15 %; y = positives of the last four, ȳ = mean of their later half
//! r = ((ȳ + .1)/(mean of the earlier half + .1))^(1/length of the later half), at most .97
//! M̂ = .65 min(ȳ r/(1 − r), ȳ ln(N/c)/ln 1.15) + .3      misses to expect below the cut; .65 (positives so far + .7) + .3 before two batches
//! x = least x with P(Bin(M̂, f_x) ≤ x) ≥ ½, f_x = BetaInv(1 − δ; x + 1, u(G)); price = c + f_x (N − c)
//! ```
//! The audit starts after the first batch without a lower price. If no x below 40 does, all pairs are evaluated. An audit that starts early continues
//! in the order of the estimates, pair by pair, until it passes; a plan that goes on for too long evaluates whole batches. So M̂ is two thirds of what
//! yields say: at recall .9 the whole of it takes 265 calls per item in place of 186 on tweets, and two batches in place of one 308.

use super::Target;
use super::hypergeometric::{binomial_tail, least_wrong};
use landmark_core::stats::beta_quantile;

/// Sampled positives that a plan tolerates at most.
const MOST_TOLERATED: u64 = 40;
/// Growth of the batches.
const GROWTH: f64 = 1.15;
/// Share of the misses that yields say to expect.
const EXPECTED: f64 = 0.65;
/// A price counts as lower from this share on.
const LOWER: f64 = 0.999;

/// What to do after a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Evaluate another batch.
    Batch,
    /// Audit the rest by a sample that tolerates so many positives.
    Audit(u64),
}

/// The plan so far.
#[derive(Debug)]
pub(super) struct YieldPlan {
    /// Unknown pairs.
    pairs: u64,
    target: Target,
    batch: u64,
    evaluated: u64,
    yields: Vec<f64>,
    lowest: f64,
}

impl YieldPlan {
    /// For `pairs` unknown pairs of `items`.
    pub(super) fn new(pairs: u64, items: usize, target: Target) -> Self {
        let batch = (items as u64 / 2).max(1);
        Self { pairs, target, batch, evaluated: 0, yields: Vec::new(), lowest: f64::INFINITY }
    }

    /// Size of the next batch.
    pub(super) fn batch(&self) -> u64 {
        self.batch.min(self.pairs - self.evaluated)
    }

    /// Takes the positives of a batch; `found` counts all positives that are known.
    pub(super) fn note(&mut self, positives: u64, found: u64) -> Next {
        self.evaluated += self.batch();
        self.batch = (self.batch + 3 * self.batch / 20).max(self.batch + 1);
        self.yields.push(positives as f64);
        let cost = self.cheapest(self.expected(), found);
        let (price, tolerated) = cost.unwrap_or((self.pairs as f64, 0));
        let is_lower = price < LOWER * self.lowest;
        if is_lower {
            self.lowest = price;
        }
        if cost.is_some() && !is_lower { Next::Audit(tolerated) } else { Next::Batch }
    }

    /// M̂.
    fn expected(&self) -> f64 {
        EXPECTED * self.by_yields() + 0.3
    }

    fn by_yields(&self) -> f64 {
        let all: f64 = self.yields.iter().sum();
        if self.yields.len() < 2 {
            return all + 0.7;
        }
        let last = &self.yields[self.yields.len().saturating_sub(4)..];
        let half = last.len() / 2;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (earlier, later) = (mean(&last[..half]), mean(&last[last.len() - half..]));
        let ratio = ((later + 0.1) / (earlier + 0.1)).powf(1.0 / half as f64).min(0.97);
        let batches_left = (self.pairs as f64 / self.evaluated as f64).ln() / GROWTH.ln();
        (later * ratio / (1.0 - ratio)).min(later * batches_left)
    }

    /// Price and tolerated misses of an audit from here; `None` if only all pairs would do.
    fn cheapest(&self, misses: f64, found: u64) -> Option<(f64, u64)> {
        let unseen = least_wrong(found, self.target.recall()) as f64;
        let share = |x: u64| beta_quantile(1.0 - self.target.delta(), x as f64 + 1.0, unseen);
        let tolerated = (0..MOST_TOLERATED).find(|&x| binomial_tail(misses, share(x), x) >= 0.5)?;
        let (done, all) = (self.evaluated as f64, self.pairs as f64);
        Some((done + share(tolerated) * (all - done), tolerated))
    }
}
