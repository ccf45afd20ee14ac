//! The approximators: from bought columns to a factored matrix.
//!
//! Every method is one file: raw parameters that a configuration can hold, `check()` that turns them into the method
//! itself, and one implementation of [`Approximate`]. Approximators of symmetric matrices only: an asymmetric score is
//! symmetrised first.

use std::sync::Arc;

use crate::approximation::{Approximation, Known};
use crate::entries::Plan;
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleShape};
use crate::stream::Rng;

mod core_weights;
mod cur;
mod exact;
#[cfg(test)]
mod golden_tests;
mod nystrom;
mod optimal;
mod proxy;
mod purchase;
mod shift_ridge;
mod sicur;
mod skeleton;
mod sms_nystrom;
mod stacur;

pub use crate::fit::{ApproximateError, FitReport};
pub use exact::{Exact, ExactParams};
pub use nystrom::{Nystrom, NystromParams};
pub use optimal::{Optimal, OptimalParams};
pub use proxy::{FittedLink, Link, Proxied};
pub use shift_ridge::{FixedShiftRidge, ShiftRidge, ShiftRidgeParams};
pub use sicur::{SiCur, SiCurParams};
pub use skeleton::{Skeleton, SkeletonParams};
pub use sms_nystrom::{Rescale, SmsNystrom, SmsNystromParams};
pub use stacur::{StaCur, StaCurParams};

/// A method that buys entries of K and returns K̃ in factored form.
///
/// `rank` is s, the size of the first landmark set (`s1` of the papers). A method that needs more (S2 of SMS-Nyström, the
/// rows of SiCUR) takes a longer prefix of the same nested order, so that all methods of a replicate share landmarks.
pub trait Approximate: Send + Sync {
    /// The stable id of the field: `nystrom`, `sms_nystrom`, …
    fn id(&self) -> &'static str;

    /// |S2| / |S1| of a method that takes a second, wider set of the nested order; `None` for the others.
    fn second_set(&self) -> Option<f64> {
        None
    }

    /// The method with another |S2| / |S1|; `None` where it takes no second set.
    ///
    /// # Errors
    /// A ratio outside the range of the method.
    fn with_second_set(&self, _ratio: f64) -> Result<Option<Arc<dyn Approximate>>, ApproximateError> {
        Ok(None)
    }

    /// Landmarks of the nested order that a fit of this rank reads; with one fewer it is refused.
    fn landmarks_needed(&self, n: usize, rank: usize) -> usize {
        // at most n, so nothing is cut off
        self.second_set().map_or(rank, |ratio| ((ratio * rank as f64).round().min(n as f64) as usize).max(rank))
    }

    /// What [`fit`](Approximate::fit) will request. Pure: no oracle call.
    ///
    /// # Errors
    /// A rank of 0 or above n, or too few landmarks.
    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<Plan, ApproximateError>;

    /// Buys exactly what [`plan`](Approximate::plan) says, each entry once, and factors it. `known` names the entries
    /// that the result returns exactly; `rng` serves choices that cost nothing (folds of an internal validation).
    ///
    /// Streams by blocks of rows: peak memory is about the factors, plus the bought columns where `known` keeps them.
    ///
    /// # Errors
    /// As `plan`; whatever the oracle answers, a score that is not finite included; a factorisation that did not
    /// converge.
    fn fit(
        &self,
        oracle: &dyn Oracle,
        landmarks: &Landmarks,
        rank: usize,
        known: Known,
        rng: &mut Rng,
    ) -> Result<Approximation, ApproximateError>;

    /// The largest rank that costs no more evaluations of a symmetric oracle than `columns` full columns do: how
    /// methods are compared at equal entries rather than at equal rank. At least 1. A method that needs all of K
    /// answers `columns`, its rank, since no smaller price exists.
    fn rank_for_columns(&self, n: usize, columns: usize) -> usize;
}

/// The answer to "how many landmarks": a rank between 1 and n, and a list that is long enough.
pub(crate) fn check_rank(
    method: &'static str,
    landmarks: &Landmarks,
    rank: usize,
    len: usize,
    needed: usize,
) -> Result<(), ApproximateError> {
    if rank == 0 || rank > len {
        return Err(ApproximateError::Rank { rank, len });
    }
    let given = landmarks.order().len();
    if given < needed { Err(ApproximateError::TooFewLandmarks { method, rank, needed, given }) } else { Ok(()) }
}

/// The largest rank in 1..=n whose price, a rising function, is within that of `columns` full columns of a symmetric
/// matrix.
pub(crate) fn largest_rank(n: usize, columns: usize, evaluations: impl Fn(u64) -> u64) -> usize {
    let budget = column_evaluations(n, columns.min(n) as u64);
    let (mut low, mut high) = (1, n.max(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if evaluations(middle as u64) <= budget { low = middle } else { high = middle - 1 }
    }
    low
}

/// Evaluations of a symmetric oracle in s full columns: ns − s(s−1)/2.
pub(crate) fn column_evaluations(n: usize, s: u64) -> u64 {
    n as u64 * s - s * s.saturating_sub(1) / 2
}
