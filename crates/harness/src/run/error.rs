//! Reasons why a run could not be made.

use landmark_core::oracle::OracleError;
use landmark_report::{ClaimsError, FileError, ReferenceError, ReportError, ResultsError};
use landmark_store::StoreError;

use crate::advice;
use crate::job::JobError;
use crate::loaded::LoadError;

/// Reason why a run could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    #[error(transparent)]
    Load(Box<LoadError>),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    #[error(transparent)]
    Claims(#[from] ClaimsError),
    #[error(transparent)]
    Plan(Box<JobError>),
    /// The oracle, asked by a command for scores, gave none.
    #[error(transparent)]
    Asked(Box<JobError>),
    #[error("{title} failed")]
    Job {
        title: String,
        #[source]
        source: Box<JobError>,
    },
    /// A configuration that does not fit the sample which stands in for its corpus.
    #[error(
        "the corpus `{wanted}` is missing, and the {items} items of the sample that stands in for it are too few: {reason}"
    )]
    MissingCorpus {
        wanted: &'static str,
        items: usize,
        /// Why the sample does not do.
        reason: String,
    },
    #[error("{0}")]
    Landmarks(String),
}

impl miette::Diagnostic for RunError {
    fn help(&self) -> Option<Box<dyn std::fmt::Display + '_>> {
        let advice = match self {
            Self::Load(error) => advice::on_load(error),
            Self::Plan(error) | Self::Asked(error) | Self::Job { source: error, .. } => advice::on_job(error),
            Self::MissingCorpus { .. } => Some(
                "fetch it by `--fetch`, name its folder by `LANDMARK_DATA` or `--data DIR`, or choose `--profile smoke`",
            ),
            _ => None,
        };
        advice.map(|advice| -> Box<dyn std::fmt::Display> { Box::new(advice) })
    }
}

impl From<OracleError> for RunError {
    fn from(error: OracleError) -> Self {
        Self::Asked(Box::new(JobError::from(error)))
    }
}

impl From<LoadError> for RunError {
    fn from(error: LoadError) -> Self {
        Self::Load(Box::new(error))
    }
}

impl RunError {
    /// True where a budget ended a command before it had a result.
    pub fn is_exhausted(&self) -> bool {
        matches!(self, Self::Asked(error) | Self::Plan(error) if matches!(**error, JobError::Budget(_)))
    }

    /// True where the configuration and the data do not fit together, or a run is asked for that is not finished: nothing was started.
    pub fn is_before_start(&self) -> bool {
        let is_unfinished = matches!(self, Self::Results(ResultsError::Unfinished { .. }));
        is_unfinished
            || matches!(
                self,
                Self::Load(_) | Self::Reference(_) | Self::Landmarks(_) | Self::Plan(_) | Self::MissingCorpus { .. }
            )
    }
}
