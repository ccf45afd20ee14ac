//! A unit of work of a run: what it is called, what it will request, and what it does.

use landmark_core::approximate::ApproximateError;
use landmark_core::entries::EntryPlan;
use landmark_core::landmarks::LandmarkError;
use landmark_core::oracle::OracleError;
use landmark_report::{CellKey, ResultRow, ResultStore, ResultsError};

use crate::progress::Progress;

/// The work of a job: rows, from the results that came before it.
pub type Work<'a> = Box<dyn Fn(&ResultStore, &Progress) -> Result<Vec<ResultRow>, JobError> + 'a>;

/// A unit of work: planned, run, resumed and written as a whole.
pub struct Job<'a> {
    /// Names its results: a hash of everything that moves them.
    pub key: CellKey,
    /// Title of the job, for the progress line.
    pub title: String,
    /// The line of the dry run it belongs to: the title without the replicate.
    pub group: String,
    /// Entries that it will request of each matrix.
    pub requests: Vec<Request>,
    /// Calls that it may make for pairs outside the matrix.
    pub extra: ExtraCalls,
    pub work: Work<'a>,
}

/// Entries that a unit of work will request of one matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Its number among the matrices of the run.
    pub matrix: usize,
    pub plan: EntryPlan,
}

impl Request {
    /// Entries of the only matrix of a sweep.
    pub fn of_sweep(plan: EntryPlan) -> Vec<Self> {
        vec![Self { matrix: 0, plan }]
    }
}

/// Calls for pairs outside the matrix; all those of an experiment are of one kind.
#[derive(Debug, Clone, Copy)]
pub struct ExtraCalls {
    pub calls: u64,
    pub pairs: &'static str,
}

impl ExtraCalls {
    /// Nothing outside the matrix.
    pub const NONE: Self = Self { calls: 0, pairs: "" };
}

#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The budget ended: what is finished is the result.
    #[error(transparent)]
    Budget(OracleError),
    /// A job that must come first has no result.
    #[error("`{title}` needs `{needs}`, which did not finish")]
    Needs { title: String, needs: &'static str },
    /// Anything else.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

impl From<OracleError> for JobError {
    fn from(error: OracleError) -> Self {
        if error.is_exhausted() { Self::Budget(error) } else { Self::Failed(error.into()) }
    }
}

impl From<ApproximateError> for JobError {
    fn from(error: ApproximateError) -> Self {
        match error {
            ApproximateError::Oracle(error) | ApproximateError::Landmarks(LandmarkError::Oracle(error)) => error.into(),
            other => Self::Failed(other.into()),
        }
    }
}

impl From<Box<dyn std::error::Error + Send + Sync>> for JobError {
    fn from(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        match error.downcast::<OracleError>() {
            Ok(error) => (*error).into(),
            Err(error) => match error.downcast::<ApproximateError>() {
                Ok(error) => (*error).into(),
                Err(other) => Self::Failed(other),
            },
        }
    }
}

impl From<&str> for JobError {
    fn from(sentence: &str) -> Self {
        Self::Failed(sentence.into())
    }
}

/// Errors that are nothing but a failure.
macro_rules! failures {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for JobError {
            fn from(error: $error) -> Self {
                Self::Failed(error.into())
            }
        })+
    };
}

failures!(
    ResultsError,
    crate::loaded::LoadError,
    landmark_core::linalg::LinalgError,
    landmark_tasks::TaskError,
    landmark_tasks::metrics::MetricError,
    landmark_tasks::search::SearchError,
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_ends_while_landmarks_are_chosen_is_the_end_of_the_budget() {
        let ended = || OracleError::BudgetExhausted { budget: 10, spent: 10, requested: 5 };
        let chosen = || ApproximateError::Landmarks(LandmarkError::Oracle(ended()));
        let boxed = JobError::from(Box::<dyn std::error::Error + Send + Sync>::from(chosen()));
        for error in [JobError::from(ended()), ApproximateError::Oracle(ended()).into(), chosen().into(), boxed] {
            assert!(matches!(error, JobError::Budget(OracleError::BudgetExhausted { .. })), "{error:?}");
        }
        let size = ApproximateError::Landmarks(LandmarkError::Size { size: 9, available: 8 });
        assert!(matches!(JobError::from(size), JobError::Failed(_)));
    }
}
