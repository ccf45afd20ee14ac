//! Recall of an answer as far as it is known: a file next to the answer for programs, and a table of the page for people.

use std::path::Path;

use landmark_report::amounts::count;
use landmark_report::{TableKind, TableSpec};
use serde::{Deserialize, Serialize};

/// The recall of `topk`, where one is stated.
pub const NEIGHBORS_RECALL: &str = "neighbors.json";
/// The recall of `mine`, where one is stated.
pub const PAIRS_RECALL: &str = "pairs.json";
/// The recall of `mine --groups`, where one is stated.
pub const GROUPS_RECALL: &str = "groups.json";

/// Recall of a list, its bound, and what they took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// Neighbors of each item, for lists of neighbors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Similarity from which on pairs count, for pairs and groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    pub target_recall: f64,
    pub delta: f64,
    /// True where the bound reaches ρ.
    pub reached: bool,
    pub recall: f64,
    pub lower: f64,
    pub bound: String,
    /// Items whose whole rows were compared: audited rows, or held-out landmarks.
    pub rows: usize,
    pub landmarks: usize,
    pub scored_pairs: u64,
    /// Calls that were made now; what the store had took none.
    pub evaluations: u64,
    pub calls_per_item: f64,
    /// True if the bound is a guarantee by an audit; false if held-out columns estimate it, or an earlier version stated it.
    #[serde(default)]
    pub guaranteed: bool,
    /// Rows that would have been enough, where the target was not reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enough: Option<String>,
}

impl Statement {
    /// The recall in one sentence.
    pub fn sentence(&self) -> String {
        let Self { recall, lower, bound, rows, delta, .. } = self;
        let of = match (self.k, self.at_least) {
            (Some(k), _) => format!("the true {k} nearest"),
            (None, at_least) => format!("all pairs at or above {}", at_least.unwrap_or_default()),
        };
        if !self.guaranteed {
            return format!("recall of {of}: {recall:.3} by an estimate, no guarantee ({bound}, {rows} rows)");
        }
        format!(
            "recall of {of}: {recall:.3} estimated, at least {lower:.3} with probability {} ({bound}, {rows} rows)",
            1.0 - delta
        )
    }

    /// The recall, what it took, and what is missing where it is not reached; lines.
    pub fn lines(&self) -> String {
        let Self { target_recall, delta, scored_pairs, evaluations, calls_per_item, .. } = self;
        let mut text = format!(
            "{}\n{} pairs scored, {} new calls, {calls_per_item:.1} per item\n",
            self.sentence(),
            count(*scored_pairs),
            count(*evaluations)
        );
        if let Some(enough) = &self.enough {
            text += &format!("the recall of {target_recall} at δ = {delta} is not reached: {enough}\n");
        }
        text
    }
}

/// The table of the page: one line an answer with a stated recall in `folder`; `None` without any.
pub(super) fn table(folder: &Path) -> Option<TableSpec> {
    let files = [("neighbors", NEIGHBORS_RECALL), ("pairs", PAIRS_RECALL), ("groups", GROUPS_RECALL)];
    let read = |name: &str| -> Option<Statement> {
        serde_json::from_str(&std::fs::read_to_string(folder.join(name)).ok()?).ok()
    };
    let line = |(answer, file): (&str, &str)| {
        let stated = read(file)?;
        let what = match (stated.k, stated.at_least) {
            (Some(k), _) => format!("{answer}, k = {k}"),
            (None, at_least) => format!("{answer} at or above {}", at_least.unwrap_or_default()),
        };
        let verdict = if stated.reached { "reached" } else { "not reached" };
        Some(vec![
            what,
            format!("{} at δ = {}: {verdict}", stated.target_recall, stated.delta),
            format!("{:.3}", stated.recall),
            if stated.guaranteed { format!("{:.3}", stated.lower) } else { "no guarantee".to_owned() },
            stated.bound,
            stated.rows.to_string(),
            count(stated.evaluations),
            format!("{:.1}", stated.calls_per_item),
        ])
    };
    let lines: Vec<Vec<String>> = files.into_iter().filter_map(line).collect();
    let head = ["", "target", "recall", "at least", "bound", "rows", "calls", "per item"];
    let caption = "Recall of the lists made from these factors, estimated and bounded from below at confidence 1 − δ. It holds for the mean over \
                   these items, not for each item and not for new ones. Calls are those of the run that made the list; stored scores took none.";
    let is_empty = lines.is_empty();
    let table =
        || TableSpec::new("table-recall", "Stated recall", caption, TableKind::plain(&head, [2, 3, 5, 6, 7], lines));
    (!is_empty).then(table)
}
