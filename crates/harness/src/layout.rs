//! Tables and figures that the rows of a run become, and what a reader is told about them.

use landmark_report::{Caveat, FigureSpec, MatrixPage, ResultRow, TableSpec};
use serde_json::Value as Json;

/// Tables and figures of a page.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Rows that repeat others under the paper's own headings, for the report alone.
    pub restated: Vec<ResultRow>,
    /// Tables, in order.
    pub tables: Vec<TableSpec>,
    /// Figures, in order.
    pub figures: Vec<FigureSpec>,
    /// Departures from the paper, in sentences.
    pub notes: Vec<String>,
    /// The factored matrix that the page is about, where there is one.
    pub matrix: Option<MatrixPage>,
}

/// Subject of a run, in words and figures.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The items and the score, in a line.
    pub description: &'a str,
    /// Warnings to the reader.
    pub stamps: &'a [Caveat],
    /// Notes on what was dropped, filled or replaced, in sentences.
    pub notes: &'a [String],
    /// Hashes and counts for `run.json`.
    pub facts: &'a Json,
}
