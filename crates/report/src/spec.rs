//! Tables, figures and caveats that an experiment asks of a report.

use serde::{Deserialize, Serialize};

use crate::results::{Metric, ResultRow};

/// Something that was reduced, replaced or missing in this run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caveat {
    /// The dataset it concerns, or all of them.
    pub dataset: Option<String>,
    /// In words: `profile laptop: 600 of 3,115 documents`.
    pub text: String,
    /// True where figures can no longer be held against the paper's.
    pub breaks_comparison: bool,
}

impl Caveat {
    /// `recipe_l: 600 of 39,774 documents`.
    pub(super) fn words(&self) -> String {
        let text = self.text.trim_end_matches('.');
        self.dataset.as_ref().map_or_else(|| text.to_string(), |dataset| format!("{dataset}: {text}"))
    }
}

/// Rows that a table or figure is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    pub metric: Metric,
    /// Only rows of this comparison (`rank`, `entries`, …).
    pub comparison: Option<String>,
    /// Only these datasets, in this order; all when empty.
    pub datasets: Vec<String>,
    /// Only these methods (display names), in this order; all when empty.
    pub methods: Vec<String>,
    /// Methods (display names) that are never marked as the best.
    pub unmarked: Vec<String>,
}

impl Selection {
    /// All rows of a metric.
    pub fn of(metric: Metric) -> Self {
        Self { metric, comparison: None, datasets: Vec::new(), methods: Vec::new(), unmarked: Vec::new() }
    }

    /// All rows of a metric in one comparison.
    pub fn compared_at(metric: Metric, comparison: &str) -> Self {
        Self { comparison: Some(comparison.to_string()), ..Self::of(metric) }
    }

    /// True of a row that belongs.
    pub fn matches(&self, row: &ResultRow) -> bool {
        row.metric == self.metric
            && self.comparison.as_ref().is_none_or(|comparison| *comparison == row.comparison)
            && (self.datasets.is_empty() || self.datasets.contains(&row.subject.dataset))
            && (self.methods.is_empty() || self.methods.contains(&row.subject.method))
    }
}

/// One table.
#[derive(Debug, Clone)]
pub struct TableSpec {
    /// File stem and anchor: `table2`.
    pub id: String,
    pub title: String,
    /// One or two sentences for the reader.
    pub caption: String,
    pub kind: TableKind,
}

impl TableSpec {
    pub fn new(id: impl Into<String>, title: impl Into<String>, caption: impl Into<String>, kind: TableKind) -> Self {
        Self { id: id.into(), title: title.into(), caption: caption.into(), kind }
    }
}

/// The kinds of table.
#[derive(Debug, Clone)]
pub enum TableKind {
    /// A line per dataset, comparison, rank and method: rank, cells, paper ± sd, ours ± interval, Δ, verdict.
    Comparison {
        select: Selection,
        /// Table of `reference.yaml` next to them (`table2`), if any.
        reference: Option<String>,
    },
    /// Methods down, dataset × size across: mean ± half the 95 % interval, the best of each column in bold.
    Grid {
        select: Selection,
        /// Name of the axis that the columns lie on.
        across: &'static str,
    },
    /// Our methods against the best of the baselines at each size: the mean paired difference with its bootstrap interval.
    Paired {
        select: Selection,
        /// Name of the axis whose places are compared apart.
        across: &'static str,
        ours: Vec<String>,
        /// Display names of what they have to beat.
        baselines: Vec<String>,
    },
    /// Cells if alone, calls if alone, per method and size.
    Entries {
        /// Rows (the metric only picks one row per cell).
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

impl TableKind {
    /// Text as given, with figures in these columns; columns that are not there are ignored.
    pub fn plain(head: &[impl AsRef<str>], figures: impl IntoIterator<Item = usize>, lines: Vec<Vec<String>>) -> Self {
        let figures = figures.into_iter().take_while(|&column| column < head.len()).collect();
        Self::Plain { head: head.iter().map(|text| text.as_ref().to_owned()).collect(), lines, figures }
    }
}

/// One figure; a panel for each dataset and comparison.
#[derive(Debug, Clone)]
pub struct FigureSpec {
    /// File stem and anchor: `figure3`.
    pub id: String,
    pub title: String,
    /// Finding that the reader should see in it.
    pub caption: String,
    pub select: Selection,
    pub kind: FigureKind,
}

impl FigureSpec {
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        caption: impl Into<String>,
        select: Selection,
        kind: FigureKind,
    ) -> Self {
        Self { id: id.into(), title: title.into(), caption: caption.into(), select, kind }
    }
}

/// A graph with colored vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphPanel {
    pub title: String,
    /// Label and color of each vertex, in their order around a circle.
    pub vertices: Vec<(String, usize)>,
    pub edges: Vec<(usize, usize)>,
}

/// The kinds of figure.
#[derive(Debug, Clone)]
pub enum FigureKind {
    /// Mean over replicates against size, with the band of the 95 % interval, a line per method. A method that does not depend on
    /// size is a horizontal line.
    Curve {
        across: &'static str,
        log_y: bool,
        y_limits: Option<(f64, f64)>,
    },
    /// Value by `position` (eigenvalues by magnitude), between these positions.
    Spectrum {
        /// First position shown: figure 1 of the paper starts at 2.
        first: u64,
        last: u64,
    },
    /// Counts of values in equal bins, all replicates together.
    Histogram {
        bins: usize,
        log_y: bool,
    },
    /// Every row a point, against size: trials of a search.
    Points {
        across: &'static str,
    },
    Graphs(Vec<GraphPanel>),
}

impl FigureKind {
    /// A curve on linear axes.
    pub fn curve(across: &'static str) -> Self {
        Self::Curve { across, log_y: false, y_limits: None }
    }

    /// A curve on a logarithmic y axis.
    pub fn log_curve(across: &'static str) -> Self {
        Self::Curve { across, log_y: true, y_limits: None }
    }
}

/// The distinct ones, in the order of their first appearance.
pub fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}
