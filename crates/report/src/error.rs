//! Errors of a report.

use landmark_tasks::metrics::MetricError;

use crate::results::FileError;

/// Error of a report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// A mean of nothing, or of NaN.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A given table is not rectangular.
    #[error("table `{table}`, line {line}: {seen} cells for {wanted} columns")]
    Ragged {
        /// Table id.
        table: String,
        /// Line, from 1.
        line: usize,
        /// Cells seen.
        seen: usize,
        /// Columns of the head.
        wanted: usize,
    },
    /// No row fits a figure.
    #[error("figure `{figure}` has no row of `{metric}` to draw; check its datasets, methods and comparison")]
    EmptyFigure {
        /// Figure id.
        figure: String,
        /// Metric id.
        metric: &'static str,
    },
    /// Two files of the same name.
    #[error("two tables or figures have the id `{0}`; each needs its own")]
    SameId(String),
    /// The drawing library refused.
    #[error("could not draw: {0}")]
    Draw(String),
    /// The page template failed.
    #[error("could not fill the page: {0}")]
    Page(#[from] askama::Error),
}
