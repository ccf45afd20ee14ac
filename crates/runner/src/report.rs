//! From rows to paper-ready tables, figures and one self-contained page.
//!
//! Each experiment describes what it wants with [`TableSpec`]s and [`FigureSpec`]s. A report that could be mistaken for the paper's is worse than
//! none: whatever was reduced is stamped on every table and turns the verdict into "not comparable", with the reason.

use crate::results::{Metric, ResultRow};

mod reference;

pub use reference::{Reference, ReferenceError, ReferenceValue};

/// Everything one configuration has to tell.
#[derive(Debug, Clone)]
pub struct ReportInput<'a> {
    /// Heading: `Word mover's distance classification of tweets`.
    pub title: String,
    /// The configuration's `name`, also its folder under `results/`.
    pub config_name: String,
    /// The profile it ran in.
    pub profile: String,
    /// The command that makes this report again.
    pub command: String,
    /// What a reader must be warned of before reading a figure.
    pub stamps: Vec<Stamp>,
    /// All rows; methods keep the order (and colour) of their first appearance.
    pub rows: &'a [ResultRow],
    /// The paper's numbers.
    pub reference: Option<&'a Reference>,
    /// Tables, in order.
    pub tables: Vec<TableSpec>,
    /// Figures, in order.
    pub figures: Vec<FigureSpec>,
    /// `run.json`, shown at the end of the page: machine, revision, hashes, counts.
    pub provenance: serde_json::Value,
    /// Sentences below the tables: what departs from the paper, what was dropped.
    pub notes: Vec<String>,
}

/// Something that was reduced, replaced or missing in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The dataset it concerns, or all of them.
    pub dataset: Option<String>,
    /// In words: `profile laptop: 600 of 3,115 documents`.
    pub text: String,
    /// Whether figures can no longer be held against the paper's.
    pub breaks_comparison: bool,
}

/// Which rows a table or figure is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The metric.
    pub metric: Metric,
    /// Only rows of this comparison (`rank`, `entries`, …).
    pub comparison: Option<String>,
    /// Only these datasets, in this order; all when empty.
    pub datasets: Vec<String>,
    /// Only these methods (display names), in this order; all when empty.
    pub methods: Vec<String>,
}

impl Selection {
    /// All rows of a metric.
    pub fn of(metric: Metric) -> Self {
        Self { metric, comparison: None, datasets: Vec::new(), methods: Vec::new() }
    }

    /// All rows of a metric in one comparison.
    pub fn compared_at(metric: Metric, comparison: &str) -> Self {
        Self { comparison: Some(comparison.to_string()), ..Self::of(metric) }
    }

    /// Whether a row belongs.
    pub fn holds(&self, row: &ResultRow) -> bool {
        row.metric == self.metric
            && self.comparison.as_ref().is_none_or(|comparison| *comparison == row.comparison)
            && (self.datasets.is_empty() || self.datasets.contains(&row.dataset))
            && (self.methods.is_empty() || self.methods.contains(&row.method))
    }
}

/// One table.
#[derive(Debug, Clone)]
pub struct TableSpec {
    /// File stem and anchor: `table2`.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What the reader should know, one or two sentences.
    pub caption: String,
    /// What it shows.
    pub kind: TableKind,
}

/// The kinds of table.
#[derive(Debug, Clone)]
pub enum TableKind {
    /// A line per dataset, comparison, rank and method: rank, cells, paper ± sd, ours ± interval, Δ, verdict.
    Comparison {
        /// Which rows.
        select: Selection,
        /// Which table of `reference.yaml` stands beside them (`table2`), if any.
        reference: Option<String>,
    },
    /// Methods down, dataset × size across: mean ± half the 95 % interval, the best of each column in bold.
    Grid {
        /// Which rows.
        select: Selection,
        /// How the columns are labelled.
        across: Across,
    },
    /// Cells if alone, calls if alone, per method and size.
    Entries {
        /// Which rows (the metric only picks one row per cell).
        select: Selection,
    },
    /// Text as given: corpora, counts of the run, search results.
    Plain {
        /// Head of each column.
        head: Vec<String>,
        /// Lines; each as long as the head.
        lines: Vec<Vec<String>>,
        /// Columns that hold figures (aligned right), by index.
        figures: Vec<usize>,
    },
}

/// The column label of a grid, the x axis of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Across {
    /// The rank s.
    Rank,
    /// `columns`: s of the comparison.
    Columns,
    /// `columns / items`: s/n, the paper's axis.
    Fraction,
    /// Cells of K bought, as a share of n².
    CellShare,
}

/// One figure; a panel for each dataset.
#[derive(Debug, Clone)]
pub struct FigureSpec {
    /// File stem and anchor: `figure3`.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What the reader should see in it.
    pub caption: String,
    /// Which rows.
    pub select: Selection,
    /// What it draws.
    pub kind: FigureKind,
}

/// The kinds of figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FigureKind {
    /// Mean over replicates against size, with the band of the 95 % interval, a line per method. A method that does not depend on
    /// size is a horizontal line.
    Curve {
        /// The x axis.
        across: Across,
        /// Logarithmic y axis.
        log_y: bool,
        /// Limits of the y axis, instead of the metric's own.
        y_limits: Option<(f64, f64)>,
    },
    /// Value by `position` (eigenvalues by magnitude), between these positions.
    Spectrum {
        /// First position shown: figure 1 of the paper starts at 2.
        first: u64,
        /// Last position shown.
        last: u64,
    },
    /// How often values fall into equal bins, all replicates together.
    Histogram {
        /// Number of bins.
        bins: usize,
        /// Logarithmic counts.
        log_y: bool,
    },
    /// Every row a point, against size: trials of a search.
    Points {
        /// The x axis.
        across: Across,
    },
}
