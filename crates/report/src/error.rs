//! Errors of a report.

use landmark_tasks::metrics::MetricError;

use crate::results::FileError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    #[error(transparent)]
    File(#[from] FileError),
    /// A mean of nothing, or of NaN.
    #[error(transparent)]
    Metric(#[from] MetricError),
    #[error("table `{table}`, line {line}: {seen} cells for {wanted} columns")]
    Ragged { table: String, line: usize, seen: usize, wanted: usize },
    #[error("figure `{figure}` has no row of `{metric}` to draw; check its datasets, methods and comparison")]
    EmptyFigure { figure: String, metric: &'static str },
    #[error("two tables or figures have the id `{0}`; each needs its own")]
    SameId(String),
    #[error("could not draw: {0}")]
    Draw(String),
    #[error("could not fill the page: {0}")]
    Page(#[from] askama::Error),
}
