//! Keys of a configuration that fix what core refuses: core names parameters, a configuration has keys.

use landmark_core::approximate::ApproximateError;
use landmark_core::landmarks::LandmarkError;
use landmark_core::oracle::OracleError;

use crate::job::JobError;
use crate::loaded::LoadError;

const SYMMETRIZE: &str = "an asymmetric score is symmetrized by `oracle.symmetrize: mean` (or `max`, `min`: two calls a pair each; `random`: one)";

/// Advice on a job that failed or could not be planned.
pub(crate) fn on_job(error: &JobError) -> Option<&'static str> {
    match error {
        JobError::Budget(error) => on_oracle(error),
        JobError::Needs { .. } => None,
        JobError::Failed(error) => {
            let (approximation, oracle) = (error.downcast_ref(), error.downcast_ref());
            approximation.map(on_approximation).or(oracle.map(on_oracle)).or(error.downcast_ref().map(on_load))?
        }
    }
}

/// Advice on data or an oracle that could not be opened.
pub(crate) fn on_load(error: &LoadError) -> Option<&'static str> {
    match error {
        LoadError::Oracle(error) => on_oracle(error),
        _ => None,
    }
}

fn on_approximation(error: &ApproximateError) -> Option<&'static str> {
    match error {
        ApproximateError::NoKnownDiagonal => Some("take `diagonal` out of the method's `known`"),
        ApproximateError::Asymmetric { .. } | ApproximateError::Landmarks(LandmarkError::Asymmetric { .. }) => {
            Some(SYMMETRIZE)
        }
        ApproximateError::Oracle(error) | ApproximateError::Landmarks(LandmarkError::Oracle(error)) => on_oracle(error),
        _ => None,
    }
}

/// Advice on an oracle that refused.
pub(crate) fn on_oracle(error: &OracleError) -> Option<&'static str> {
    match error {
        OracleError::BudgetExhausted { .. } => Some("raise `budget.calls` or `budget.money`, or lower `ranks`"),
        OracleError::MoneyExhausted { .. } => Some("raise `budget.money`, or lower `ranks`"),
        OracleError::TimeExhausted { .. } => Some("raise `budget.seconds` and run again; finished work is kept"),
        OracleError::NotSymmetric { .. } => Some(SYMMETRIZE),
        _ => None,
    }
}
