//! Lower confidence bounds on recall, from items whose whole rows of K were evaluated.
//!
//! A list of neighbors, or of pairs, made from few entries misses some of the true ones. How many is known exactly for an item whose row
//! was evaluated, and such items, drawn uniformly, represent all: [`AuditPath`] bounds the recall of lists of neighbors from the shares
//! of audited rows. [`pairs_with_recall`] finds pairs above a threshold and guarantees their recall by a uniform sample of the pairs that it left
//! out. Both hold over the given items with uniform draws; not for each item, not for new items.
//!
//! [`nearest_to`] is the search that draws, hides and respects such rows.
//!
//! Cost of a bound: no call; a few thousand operations.

mod given;
mod held_out;
mod hypergeometric;
mod pair_audit;
mod search;
mod shares;
#[cfg(test)]
mod tests;
mod yield_plan;

pub use given::{GivenLists, GivenPairs};
pub use held_out::{depth_shares, folds, share_found, top_items};
pub use hypergeometric::{least_wrong, most_unseen, p_value, reachable_recall, sample_size};
pub use pair_audit::{AuditedPairs, Batch, PairQuery, PairSource, PairsEnd, pairs_with_recall};
pub use search::{
    Audit, AuditError, AuditStep, Audited, AuditedSearch, Enough, KnownLists, audited_items, growing, nearest_to,
};
pub use shares::{AuditPath, Bound, Recall, TooFewAudited};

use landmark_core::parameter::BadParameter;

/// Recall ρ to be reached with probability 1 − δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    recall: f64,
    delta: f64,
}

impl Target {
    /// Both between 0 and 1.
    ///
    /// # Errors
    /// ρ or δ outside (0, 1): no sample proves a recall of 1, and none is certain.
    ///
    /// ```
    /// use landmark_neighbors::recall::Target;
    /// let error = Target::new(1.0, 0.1).unwrap_err();
    /// assert_eq!(error.to_string(), "`recall` is 1, but must be above 0 and below 1: only all pairs prove a recall of 1");
    /// ```
    pub fn new(recall: f64, delta: f64) -> Result<Self, BadParameter> {
        let is_inside = |value: f64| value > 0.0 && value < 1.0;
        if !is_inside(recall) {
            return Err(BadParameter::new("recall", recall, "above 0 and below 1: only all pairs prove a recall of 1"));
        }
        if !is_inside(delta) {
            return Err(BadParameter::new("delta", delta, "above 0 and below 1: a sample leaves some doubt"));
        }
        Ok(Self { recall, delta })
    }

    /// ρ.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    /// δ.
    pub fn delta(&self) -> f64 {
        self.delta
    }
}
