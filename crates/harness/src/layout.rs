//! Tables and figures that the rows of a run become, and what a reader is shown about them.

use landmark_report::{Caveat, FigureSpec, MatrixPage, ResultRow, TableSpec};
use serde_json::Value as Json;

#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Rows that repeat others under the paper's own headings, for the report alone.
    pub restated: Vec<ResultRow>,
    pub tables: Vec<TableSpec>,
    pub figures: Vec<FigureSpec>,
    /// Departures from the paper, in sentences.
    pub notes: Vec<String>,
    /// The factored matrix that the page is about, where there is one.
    pub matrix: Option<MatrixPage>,
}

impl Layout {
    /// The same with titles that start with a capital.
    pub(crate) fn with_sentence_case(mut self) -> Self {
        let tables = self.tables.iter_mut().map(|table| &mut table.title);
        tables
            .chain(self.figures.iter_mut().map(|figure| &mut figure.title))
            .for_each(|title| *title = capitalized(title));
        self
    }
}

/// A title with a capital; `nDCG@10` has one already.
fn capitalized(title: &str) -> String {
    let mut signs = title.chars();
    match (signs.next(), signs.next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_uppercase().chain(title.chars().skip(1)).collect()
        }
        _ => title.to_owned(),
    }
}

/// Subject of a run, in words and figures.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The items and the score, in a line.
    pub description: &'a str,
    pub stamps: &'a [Caveat],
    /// Notes on what was dropped, filled or replaced, in sentences.
    pub notes: &'a [String],
    pub facts: &'a Json,
}
