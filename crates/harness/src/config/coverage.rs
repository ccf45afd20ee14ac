//! `coverage:` — the recalls that `experiment: coverage` has stated, draw by draw.

use landmark_neighbours::recall::Target;
use landmark_yaml::Section;
use serde::Serialize;

use super::method::ProxyKind;
use super::reading::Reading;

/// Columns of a study of pairs where nothing is said.
const COLUMNS: usize = 60;
/// Labels an item of such a study where nothing is said.
const LABELS: [usize; 2] = [5, 20];

/// Stated recalls held against true ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoverageConfig {
    /// Cheap relative that the search knows.
    pub proxy: ProxyKind,
    /// Found items or pairs.
    #[serde(flatten)]
    pub found: Found,
    /// ρ and δ of each statement.
    pub targets: Vec<(f64, f64)>,
}

/// Items or pairs whose recall is stated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// The nearest of each item, as `topk --target-recall` lists them.
    Nearest {
        /// Neighbours of each item.
        k: usize,
    },
    /// All pairs from a similarity on, as `mine --target-recall` lists them.
    Pairs {
        /// Their least similarity.
        at_least: f64,
        /// Landmark columns.
        columns: usize,
        /// Budgets of labels, an item, that the columns are held against.
        labels: Vec<usize>,
    },
}

impl CoverageConfig {
    /// Reads the section of a file.
    pub(super) fn read(file: &Section<'_>, reading: &Reading<'_>) -> Option<Self> {
        let node = file.required_node("coverage")?;
        let section = Section::new(node, "coverage", reading.problems)?;
        let proxy = section.required_node("proxy").map(|node| ProxyKind::read_alone(node, "coverage.proxy", reading));
        let k = section.checked("k", |&k: &usize| k >= 1, "at least 1");
        let at_least = section.checked("at_least", |least: &f64| least.is_finite(), "a number");
        let columns = section.checked("columns", |&columns: &usize| columns >= 5, "at least 5, one a fold");
        let labels: Option<Vec<usize>> = section.optional("labels");
        if labels.iter().flatten().any(|&labels| labels == 0) {
            section.refuse("labels", "`coverage.labels` must be a list of numbers of at least 1, calls an item");
        }
        if at_least.is_some() && k.is_some() {
            section.refuse("k", "`coverage.k` is for neighbours, and `at_least` asks for pairs: leave one of them out");
        }
        for key in ["columns", "labels"].into_iter().filter(|key| at_least.is_none() && section.has(key)) {
            section.refuse(
                key,
                format!("`coverage.{key}` is for pairs: give `at_least`, too, the least similarity of one"),
            );
        }
        let targets: Option<Vec<(f64, f64)>> = section.optional("targets");
        for &(recall, delta) in targets.iter().flatten() {
            if let Err(error) = Target::new(recall, delta) {
                section.refuse("targets", format!("`coverage.targets`: {error}"));
            }
        }
        section.finish(&[]);
        let found = match at_least {
            Some(at_least) => Found::Pairs {
                at_least,
                columns: columns.unwrap_or(COLUMNS),
                labels: labels.unwrap_or_else(|| LABELS.to_vec()),
            },
            None => Found::Nearest { k: k.unwrap_or(10) },
        };
        Some(Self {
            proxy: proxy??,
            found,
            targets: targets.unwrap_or_else(|| vec![(0.8, 0.2), (0.9, 0.1), (0.95, 0.05)]),
        })
    }
}
