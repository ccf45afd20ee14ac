//! `landmarks:` — which columns are bought.

use landmark_core::landmarks::LandmarkPolicy;
use landmark_yaml::{Node, Problem, Section, Value, ids};
use serde::Serialize;

use super::reading::Reading;
use super::values::ConfigPath;

/// The part of the landmarks that `leverage` draws uniformly, where nothing else is said.
const FIRST_ROUND: f64 = 0.5;

/// Selection policy of the landmark columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "policy", rename_all = "snake_case")]
pub enum LandmarkConfig {
    /// Uniformly at random, without replacement.
    Uniform,
    /// A list, most important first.
    Given {
        /// Item numbers from 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        indices: Option<Vec<usize>>,
        /// A file of them, one a line.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<ConfigPath>,
    },
    /// Chosen by what their scores look like: `leverage`, `rpcholesky`, `kmeans++`, `farthest`.
    #[serde(untagged)]
    Seen(LandmarkPolicy),
}

impl LandmarkConfig {
    /// Id in the catalogue.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Given { .. } => "given",
            Self::Seen(policy) => policy.id(),
        }
    }

    /// Reads the section; a bare id is the whole section.
    pub fn read(node: &Node, path: &str, reading: &Reading<'_>) -> Option<Self> {
        let Reading { folder, problems, known } = *reading;
        let empty = Node::empty(node.place);
        let (policy, section) = match &node.value {
            Value::Text(policy) => (policy.clone(), Section::new(&empty, path, problems)?),
            _ => {
                let section = Section::new(node, path, problems)?;
                (section.required("policy")?, section)
            }
        };
        let config = match policy.as_str() {
            "uniform" => Self::Uniform,
            "given" => {
                let indices: Option<Vec<usize>> = section.optional("indices");
                let file = section.node("path");
                let file = file.and_then(|node| ConfigPath::read(node, &section.path_of("path"), folder, problems));
                if indices.is_some() == file.is_some() {
                    problems
                        .add(Problem::new(format!("`{path}` must have either `indices` or `path`")).at(node.place).help(
                        "for example `{ policy: given, indices: [3, 1, 4] }`, or a file with one item number a line",
                    ));
                }
                if let Some(twice) = indices.as_deref().and_then(first_repeated) {
                    section.refuse("indices", format!("`{path}.indices` has item {twice} twice"));
                }
                Self::Given { indices, path: file }
            }
            "rpcholesky" => Self::Seen(LandmarkPolicy::RpCholesky),
            "kmeans++" => Self::Seen(LandmarkPolicy::KMeansPlusPlus),
            "farthest" => Self::Seen(LandmarkPolicy::Farthest),
            "leverage" => {
                let part =
                    section.checked("first_round", |part: &f64| *part > 0.0 && *part <= 1.0, "above 0 and at most 1");
                Self::Seen(LandmarkPolicy::Leverage { first_round: part.unwrap_or(FIRST_ROUND) })
            }
            other => {
                let place = section.node("policy").unwrap_or(node).place;
                problems.add(Problem::unknown("landmark policy", other, ids(known.landmarks)).at(place));
                return None;
            }
        };
        section.finish(&[]);
        Some(config)
    }
}

fn first_repeated(indices: &[usize]) -> Option<usize> {
    let mut seen = std::collections::HashSet::new();
    indices.iter().copied().find(|index| !seen.insert(*index))
}
