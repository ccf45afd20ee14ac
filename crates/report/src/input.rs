//! Everything a report is made from.

use crate::claims::JudgedClaim;
use crate::matrix_page::MatrixPage;
use crate::reference::Reference;
use crate::results::ResultRow;
use crate::spec::{Caveat, FigureSpec, TableSpec};

/// Key to the tables where no paper stands next to them.
const OF_ITS_OWN: &str = "A figure is the mean over replicates ± half its 95 % interval (Student's t; with a single replicate, the \
    bootstrap interval over items where there is one). Cells of K are what a method reads; calls are what the similarity function is \
    really asked.";

/// Key to the tables; ends every summary and page.
pub(crate) fn how_to_read(reference: Option<&Reference>) -> &'static str {
    if reference.is_some() { HOW_TO_READ } else { OF_ITS_OWN }
}

const HOW_TO_READ: &str = "A figure of ours is the mean over replicates ± half its 95 % interval (Student's t; with a single replicate, the \
    bootstrap interval over items where there is one). The paper's ± is its own standard deviation over runs. “Within”: no further from \
    the printed number than 2 published standard deviations, plus rounding, plus half our interval. Cells of K are the papers' \
    accounting; calls are what the similarity function is really asked.";

/// The same for a page about a user's own matrix.
pub(crate) const HOW_TO_READ_A_MATRIX: &str = "An entry is a cell of K, the matrix of all similarities; a call is one evaluation of the score. A similarity after ≈ is \
    estimated by the factors, one without was evaluated. Intervals have 95 % where no other level is named.";

/// Everything one configuration has to show.
#[derive(Debug, Clone)]
pub struct ReportInput<'a> {
    /// Heading: `Word mover's distance classification of tweets`.
    pub title: String,
    /// The configuration's `name`, also its folder under `runs/`.
    pub config_name: String,
    pub profile: String,
    /// The command that makes this report again.
    pub command: String,
    /// Claims of the paper that this run has a part in, with their verdicts.
    pub claims: Vec<JudgedClaim>,
    /// What came out, in a sentence: above everything else where neither claims nor published numbers show it.
    pub conclusion: Option<String>,
    /// Warnings that stand before every figure.
    pub caveats: Vec<Caveat>,
    /// All rows; methods keep the order (and color) of their first appearance.
    pub rows: &'a [ResultRow],
    pub reference: Option<&'a Reference>,
    pub tables: Vec<TableSpec>,
    pub figures: Vec<FigureSpec>,
    /// `run.json`, shown at the end of the page: machine, revision, hashes, counts.
    pub provenance: serde_json::Value,
    /// Sentences below the tables: what departs from the paper, what was dropped.
    pub notes: Vec<String>,
    /// The factored matrix that the page is about, where there is one.
    pub matrix: Option<&'a MatrixPage>,
}
