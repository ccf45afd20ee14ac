//! The approximators: from a few columns to a factored matrix.
//!
//! Every method is one file: raw parameters that a configuration can hold and `check()` that turns them into the method
//! itself, where anything can be wrong with them, and one implementation of [`Approximate`]. Approximators of symmetric
//! matrices only: an asymmetric score is symmetrized first.

use std::sync::Arc;
use std::time::Instant;

use crate::approximation::{Approximation, Diagonal, Known};
use crate::entries::EntryPlan;
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleShape, Symmetry};
use crate::parameter::BadParameter;
use crate::stream::Rng;

mod anchors;
mod by_one_order;
mod column_reader;
mod core_weights;
mod cur;
mod exact;
#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod golden_tests;
mod nystrom;
mod optimal;
mod proxy;
#[cfg(test)]
mod scale_tests;
mod scattered;
mod shift_ridge;
mod sicur;
mod skeleton;
mod sms_nystrom;
mod stack;
mod stacur;

pub use crate::error::ApproximateError;
pub use crate::fit_report::FitReport;
pub use by_one_order::{ByOneOrder, item_effects};
pub use column_reader::ColumnReader;
pub use exact::Exact;
pub use nystrom::Nystrom;
pub use optimal::Optimal;
pub use proxy::{FittedLink, Link, Proxied};
pub use scattered::{Scattered, ScatteredParams};
pub use shift_ridge::{FixedShiftRidge, ShiftRidge, ShiftRidgeParams};
pub use sicur::{SiCur, SiCurParams};
pub use skeleton::Skeleton;
pub use sms_nystrom::{Rescale, SmsNystrom, SmsNystromParams};
pub use stack::{Stack, StackParams};
pub use stacur::StaCur;

/// Method that reads entries of K and returns K̃ in factored form.
///
/// A method writes [`factor`](Approximate::factor), and what it needs where that is not s columns at the first s
/// landmarks; [`plan`](Approximate::plan) and [`fit`](Approximate::fit) follow from it and are the same for all.
///
/// `rank` is s, the size of the first landmark set (`s1` of the papers). A method that needs more (S2 of SMS-Nyström, the
/// rows of SiCUR) takes a longer prefix of the same nested order, so that all methods of a replicate share landmarks.
pub trait Approximate: Send + Sync {
    /// The stable id of the field: `nystrom`, `sms_nystrom`, …
    fn id(&self) -> &'static str;

    /// The method that this one wraps: it answers what the wrapper does not define itself.
    fn wrapped(&self) -> Option<&dyn Approximate> {
        None
    }

    /// |S2| / |S1| of a method that takes a second, wider set of the nested order; `None` for the others.
    fn second_set(&self) -> Option<f64> {
        self.wrapped()?.second_set()
    }

    /// The method with another |S2| / |S1|; `None` where it takes no second set.
    fn with_second_set(&self, _ratio: f64) -> Result<Option<Arc<dyn Approximate>>, ApproximateError> {
        Ok(None)
    }

    /// The method with free symmetric scores over the same items, the main one first; `None` where it takes none itself, so that a
    /// [`Proxied`] is put around it.
    fn with_proxies(&self, _proxies: &[Arc<dyn Oracle>]) -> Option<Arc<dyn Approximate>> {
        None
    }

    /// Landmarks of the nested order that a fit of this rank reads; with one fewer it is refused.
    fn landmarks_needed(&self, n: usize, rank: usize) -> usize {
        if let Some(method) = self.wrapped() {
            return method.landmarks_needed(n, rank);
        }
        // at most n, so nothing is cut off
        self.second_set().map_or(rank, |ratio| ((ratio * rank as f64).round().min(n as f64) as usize).max(rank))
    }

    /// Landmarks of the independent order that a fit of this rank reads: none but for methods that draw twice.
    fn independent_needed(&self, rank: usize) -> usize {
        self.wrapped().map_or(0, |method| method.independent_needed(rank))
    }

    /// Refuses an oracle, a rank or landmarks that a fit can't use.
    ///
    /// # Errors
    /// An asymmetric oracle, a rank of 0 or above n, too few landmarks.
    fn check_fit(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<(), ApproximateError> {
        require_symmetric(self.id(), shape.symmetry)?;
        check_rank(rank, shape.len)?;
        let (nested, independent) = (self.landmarks_needed(shape.len, rank), self.independent_needed(rank));
        let orders = [(nested, landmarks.order().len()), (independent, landmarks.independent().len())];
        match orders.into_iter().find(|(needed, given)| given < needed) {
            Some((needed, given)) => Err(ApproximateError::TooFewLandmarks { method: self.id(), rank, needed, given }),
            None => Ok(()),
        }
    }

    /// Entries that a fit requests, for arguments that [`check_fit`](Approximate::check_fit) lets pass.
    fn entries(&self, n: usize, landmarks: &Landmarks, rank: usize) -> EntryPlan {
        match self.wrapped() {
            Some(method) => method.entries(n, landmarks, rank),
            None => EntryPlan::columns(&landmarks.order()[..self.landmarks_needed(n, rank)]),
        }
    }

    /// Entries that [`fit`](Approximate::fit) will request. Pure: no oracle call.
    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<EntryPlan, ApproximateError> {
        self.check_fit(shape, landmarks, rank)?;
        Ok(self.entries(shape.len, landmarks, rank))
    }

    /// K̃ from exactly the entries that [`plan`](Approximate::plan) names, each asked for once; `columns` reads those
    /// that it names in full. The report needs neither id nor seconds, and known entries are put in place later.
    fn factor(&self, columns: &mut ColumnReader<'_>, rng: &mut Rng) -> Result<Approximation, ApproximateError>;

    /// Evaluates exactly what [`plan`](Approximate::plan) names, each entry once, and factors it. `known` names the
    /// entries that the result returns exactly; `rng` serves choices that cost nothing (folds of an internal
    /// validation).
    ///
    /// Streams by blocks of rows: peak memory is about the factors, plus the columns where `known` keeps them.
    ///
    /// # Errors
    /// As `plan`; a diagonal that is to be known and is not; whatever the oracle answers, a score that is not finite
    /// included; a factorization that did not converge.
    fn fit(
        &self,
        oracle: &dyn Oracle,
        landmarks: &Landmarks,
        rank: usize,
        known: Known,
        rng: &mut Rng,
    ) -> Result<Approximation, ApproximateError> {
        let start = Instant::now();
        let columns = self.plan(OracleShape::of(oracle), landmarks, rank)?.full_columns();
        let diagonal = match known.diagonal {
            true => Some(oracle.known_diagonal().ok_or(ApproximateError::NoKnownDiagonal)?),
            false => None,
        };
        let mut reader = ColumnReader::new(oracle, &columns, known, (landmarks, rank));
        let mut fitted = self.factor(&mut reader, rng)?;
        if let Some(columns) = reader.into_kept() {
            fitted = fitted.with_known_columns(columns);
        }
        if let Some(value) = diagonal {
            fitted = fitted.with_diagonal(Diagonal::Constant(value));
        }
        let seconds = start.elapsed().as_secs_f64();
        let report = FitReport { method: self.id().to_owned(), seconds, ..fitted.report().clone() };
        Ok(fitted.with_report(report))
    }

    /// The largest rank that costs no more evaluations of a symmetric oracle than `columns` full columns do: how
    /// methods are compared at equal entries rather than at equal rank. At least 1. A method that needs all of K
    /// answers `columns`, its rank, since no smaller price exists.
    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        self.wrapped().map_or(columns.clamp(1, n.max(1)), |method| method.rank_for_columns(n, columns))
    }
}

fn require_symmetric(method: &'static str, symmetry: Symmetry) -> Result<(), ApproximateError> {
    match symmetry {
        Symmetry::Symmetric => Ok(()),
        Symmetry::Asymmetric => Err(ApproximateError::Asymmetric { method }),
    }
}

/// Refuses a proxy over another number of items than the oracle's.
fn check_proxies(owner: &str, proxies: &[Arc<dyn Oracle>], len: usize) -> Result<(), ApproximateError> {
    let Some(proxy) = proxies.iter().find(|proxy| proxy.len() != len) else { return Ok(()) };
    let value = format!("over {} items, the oracle over {len}", proxy.len());
    Err(BadParameter::new("proxy", value, "over the items of the oracle").of(owner).into())
}

/// Refuses a rank of 0 or above n.
fn check_rank(rank: usize, len: usize) -> Result<(), ApproximateError> {
    if rank == 0 || rank > len { Err(ApproximateError::Rank { rank, len }) } else { Ok(()) }
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
