//! `coverage:` — the recalls that `experiment: coverage` has stated, draw by draw.

use landmark_neighbors::recall::Target;
use landmark_yaml::{Keys, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::own_section::OwnSection;
use super::proxy::ProxyKind;

/// Stated recalls compared with true ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageConfig {
    /// a cheap relative of the score, as under `proxy`
    #[schemars(example = &"rwmd")]
    pub proxy: ProxyKind,
    /// neighbors of each item, 10 unless given
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    k: Option<usize>,
    /// least similarity: pairs instead of neighbors
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<f64>,
    /// with `at_least`: landmark columns that pairs are found from, at least 5, one a fold; 60 unless given
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 5))]
    columns: Option<usize>,
    /// with `at_least`: labels of single pairs, calls an item, that these are compared with; [5, 20] unless given
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = 1)), length(min = 1))]
    labels: Option<Vec<usize>>,
    /// ρ and δ of each statement
    #[serde(default = "targets")]
    pub targets: Vec<(f64, f64)>,
}

fn targets() -> Vec<(f64, f64)> {
    vec![(0.8, 0.2), (0.9, 0.1), (0.95, 0.05)]
}

/// Items or pairs whose recall is stated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found<'a> {
    /// The nearest of each item, as `topk --target-recall` lists them.
    Nearest { k: usize },
    /// All pairs from a similarity on, as `mine --target-recall` lists them.
    Pairs {
        at_least: f64,
        columns: usize,
        /// Budgets of labels, an item, that the columns are compared with.
        labels: &'a [usize],
    },
}

impl CoverageConfig {
    pub const KEYS: Keys = Keys::of::<Self>().under("coverage");

    pub fn read(section: &Section<'_>) -> Option<Self> {
        let mut coverage: Self = section.whole()?;
        if coverage.at_least.is_some() && coverage.k.is_some() {
            section.refuse("k", "`coverage.k` is for neighbors, and `at_least` asks for pairs: leave one of them out");
        }
        for key in ["columns", "labels"].into_iter().filter(|key| coverage.at_least.is_none() && section.has(key)) {
            section.refuse(
                key,
                format!("`coverage.{key}` is for pairs: give `at_least`, too, the least similarity of one"),
            );
        }
        for &(recall, delta) in &coverage.targets {
            if let Err(error) = Target::new(recall, delta) {
                section.refuse("targets", format!("`coverage.targets`: {error}"));
            }
        }
        if coverage.at_least.is_some() {
            coverage.columns.get_or_insert(60);
            coverage.labels.get_or_insert_with(|| vec![5, 20]);
        } else {
            coverage.k.get_or_insert(10);
        }
        Some(coverage)
    }

    /// What recall is stated of.
    pub fn found(&self) -> Found<'_> {
        match (self.at_least, &self.labels) {
            (Some(at_least), labels) => Found::Pairs {
                at_least,
                columns: self.columns.unwrap_or_default(),
                labels: labels.as_deref().unwrap_or_default(),
            },
            (None, _) => Found::Nearest { k: self.k.unwrap_or_default() },
        }
    }
}

impl OwnSection for CoverageConfig {
    fn proxies(&self) -> Vec<&ProxyKind> {
        vec![&self.proxy]
    }
}
