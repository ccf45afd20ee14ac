//! The figures the tables are made of: accuracy, F1, correlation, mean ± sd, bootstrap intervals.
//!
//! Every function refuses what it cannot measure with a [`MetricError`] that names the argument and the index: an empty list,
//! lists of different lengths, NaN or ∞, a constant list where a correlation is asked for. Nothing returns NaN.
//!
//! Cost: O(n) for the counts, O(n log n) for ranks, O(resamples · n) for intervals.

use landmark_core::parameter::BadParameter;

mod correlation;
mod counts;
mod spread;
mod threshold;

pub use correlation::{pearson, spearman};
pub use counts::{accuracy, f1_binary, f1_macro};
pub use spread::{Interval, Summary, bootstrap_mean, paired_bootstrap};
pub use threshold::{Threshold, best_threshold};

/// Why a figure could not be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    #[error("`{metric}` needs at least {wanted} value(s), but got {len}")]
    TooFew { metric: &'static str, len: usize, wanted: usize },
    #[error(
        "`{metric}` needs lists of equal length, but `{left_name}` has {left} and `{right_name}` has {right} values"
    )]
    Lengths { metric: &'static str, left_name: &'static str, left: usize, right_name: &'static str, right: usize },
    #[error("`{metric}`: `{list}[{index}]` is {value}, but must be finite")]
    NotFinite { metric: &'static str, list: &'static str, index: usize, value: f64 },
    #[error("`{metric}` is undefined: all {len} values of `{list}` are {value}")]
    Constant { metric: &'static str, list: &'static str, len: usize, value: f64 },
    #[error(transparent)]
    Parameter(#[from] BadParameter),
}

/// Two lists of one length, of at least `wanted` values.
fn check_lengths(
    metric: &'static str,
    (left_name, left): (&'static str, usize),
    (right_name, right): (&'static str, usize),
    wanted: usize,
) -> Result<(), MetricError> {
    if left != right {
        return Err(MetricError::Lengths { metric, left_name, left, right_name, right });
    }
    check_count(metric, left, wanted)
}

/// At least `wanted` values.
fn check_count(metric: &'static str, len: usize, wanted: usize) -> Result<(), MetricError> {
    if len < wanted { Err(MetricError::TooFew { metric, len, wanted }) } else { Ok(()) }
}

/// No NaN, no ∞.
fn check_finite(metric: &'static str, list: &'static str, values: &[f64]) -> Result<(), MetricError> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(MetricError::NotFinite { metric, list, index, value: values[index] }),
        None => Ok(()),
    }
}
