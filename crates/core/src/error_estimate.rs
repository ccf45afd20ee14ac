//! Error of an approximation: exact, where all of K can be read, or estimated from a sample of extra entries.
//!
//! ```text
//! relative error = ‖K − K̃‖_F / ‖K‖_F
//! ```
//! [`relative_errors`] reads all of K once, by blocks of rows. [`Sample`] asks for m entries outside the evaluated columns (1,000
//! are enough for two digits) and states an interval. [`TargetError`] grows the rank until the
//! estimate is small enough or the budget ends.

mod agreement;
#[cfg(test)]
mod coverage_tests;
mod draw;
mod exact;
mod interval;
mod sample;
mod target;
#[cfg(test)]
mod tests;

pub use agreement::Agreement;
pub use exact::{ExactErrors, relative_error, relative_errors};
pub use sample::{ErrorEstimate, Estimate, Sample};
pub use target::{ErrorCriterion, Step, Stop, TargetError, TargetOutcome};
