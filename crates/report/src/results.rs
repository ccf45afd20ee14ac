//! Results in long form: one row per dataset, method, rank, replicate and metric.
//!
//! A cell of a sweep yields a few rows and is written once ([`ResultStore`]); tables, figures and the report are made from rows
//! alone, so a new metric or another plot needs no new run.

use serde::{Deserialize, Serialize};

mod error;
mod files;
mod metric;
mod store;
mod tables;

pub use error::ResultsError;
pub use files::{FileError, write_file};
pub use metric::{Direction, Metric, MetricSpec, Notation};
pub use store::{CellKey, ResultStore, cell_key};
pub use tables::rows_from_parquet;

/// One measured figure, with everything needed to place it in a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultRow {
    /// Dataset id, as in the configuration: `twitter`.
    pub dataset: String,
    /// Display name, unique in a sweep: what tables and legends call the method.
    pub method: String,
    /// The registry id: `sms_nystrom`. With an empty `variant` it is the paper's method of that id.
    pub method_id: String,
    /// Extras beyond the paper's method, in words (`known: landmarks · proxy: rwmd`), or empty.
    pub variant: String,
    /// Ground on which methods are held against each other: `rank`, `entries`, `small_rank`, `large_rank`, or empty.
    pub comparison: String,
    /// Number of items n.
    pub items: u64,
    /// s of the axis: the rank itself at equal rank, the number of full columns that may be bought at equal entries.
    pub columns: u64,
    /// Rank handed to the method (s1 of the papers).
    pub rank: u64,
    /// Cells of K requested: the papers' accounting.
    pub cells: u64,
    /// Calls of the similarity function, had this method run alone.
    pub evaluations: u64,
    /// Replicate number, from 0.
    pub replicate: u64,
    /// Metric that was measured.
    pub metric: Metric,
    /// Place on a metric's own axis, for metrics that are a series: the number of an eigenvalue (from 1), the trial of a search.
    pub position: Option<u64>,
    /// The figure, in the metric's unit (accuracies are fractions).
    pub value: f64,
    /// Lower end of a 95 % interval over items, where the metric has one.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
    /// Wall seconds it took to compute when it was first measured.
    pub seconds: Option<f64>,
    /// Footnote of this figure.
    pub note: Option<String>,
    /// The profile it was run in.
    pub profile: String,
}

impl ResultRow {
    /// True of a method that reads all of K: the cap, no contender.
    pub fn is_cap(&self) -> bool {
        ["optimal", "exact"].contains(&self.method_id.as_str())
    }
}
