//! Results in long form: one row per dataset, method, place along the axes, replicate and metric.
//!
//! A cell of a sweep yields a few rows and is written once ([`ResultStore`]); tables, figures and the report are made from rows
//! alone, so a new metric or another plot needs no new run.

use std::path::PathBuf;

mod axes;
mod files;
mod metric;
mod row;
mod store;
mod tables;

pub use axes::{AXES, Axes, Axis, Place};
pub use files::{FileError, check_writable, refuse_links, write_file};
pub use metric::{Direction, Metric, MetricSpec, Notation};
pub use row::{Cost, Interval, ResultRow, Subject, Variant};
pub use store::{CellKey, ResultStore, cell_key};
pub use tables::rows_from_parquet;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("another run is writing to `{}`; wait for it to end, or give this configuration another `name`", .0.display())]
    Busy(PathBuf),
    /// A line that is not the last does not parse.
    #[error("`{}` line {line} is damaged ({source}); delete that line to compute its cell again", path.display())]
    Damaged { path: PathBuf, line: usize, source: serde_json::Error },
    #[error("`{metric}` of `{method}` on `{dataset}` at {axes}, replicate {replicate}, is {value}, but must be finite")]
    NotFinite {
        metric: String,
        method: String,
        dataset: String,
        /// Its places along the axes, in words.
        axes: String,
        replicate: u64,
        value: f64,
    },
    #[error("cannot report `{}`: it has no `run.json` with `results.parquet` of a run. Run the configuration first", folder.display())]
    Unfinished { folder: PathBuf },
    /// Rows that cannot be written in this form.
    #[error("could not encode {what}: {source}")]
    Encode { what: &'static str, source: serde_json::Error },
    #[error("could not encode `results.parquet`: {0}")]
    Parquet(String),
}
