//! Results in long form: one row per dataset, method, place along the axes, replicate and metric.
//!
//! A cell of a sweep yields a few rows and is written once ([`ResultStore`]); tables, figures and the report are made from rows
//! alone, so a new metric or another plot needs no new run.

mod axes;
mod error;
mod files;
mod metric;
mod row;
mod store;
mod tables;

pub use axes::{AXES, Axes, Axis, Place};
pub use error::ResultsError;
pub use files::{FileError, check_writable, refuse_links, write_file};
pub use metric::{Direction, Metric, MetricSpec, Notation};
pub use row::{Cost, Interval, ResultRow, Subject, Variant};
pub use store::{CellKey, ResultStore, cell_key};
pub use tables::rows_from_parquet;
