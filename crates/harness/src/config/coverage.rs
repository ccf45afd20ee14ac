//! `coverage:` — the recalls that `experiment: coverage` has stated, draw by draw.

use landmark_neighbours::recall::Target;
use landmark_yaml::Section;
use serde::Serialize;

use super::method::ProxyKind;
use super::reading::Reading;

/// Stated recalls held against true ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoverageConfig {
    /// Cheap relative that the search knows.
    pub proxy: ProxyKind,
    /// Neighbours of each item.
    pub k: usize,
    /// ρ and δ of each statement.
    pub targets: Vec<(f64, f64)>,
}

impl CoverageConfig {
    /// Reads the section of a file.
    pub(super) fn read(file: &Section<'_>, reading: &Reading<'_>) -> Option<Self> {
        let node = file.required_node("coverage")?;
        let section = Section::new(node, "coverage", reading.problems)?;
        let proxy = section.required_node("proxy").map(|node| ProxyKind::read_alone(node, "coverage.proxy", reading));
        let k = section.checked("k", |&k: &usize| k >= 1, "at least 1");
        let targets: Option<Vec<(f64, f64)>> = section.optional("targets");
        for &(recall, delta) in targets.iter().flatten() {
            if let Err(error) = Target::new(recall, delta) {
                section.refuse("targets", format!("`coverage.targets`: {error}"));
            }
        }
        section.finish(&[]);
        Some(Self {
            proxy: proxy??,
            k: k.unwrap_or(10),
            targets: targets.unwrap_or_else(|| vec![(0.8, 0.2), (0.9, 0.1), (0.95, 0.05)]),
        })
    }
}
