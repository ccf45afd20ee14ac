//! `entries:` of a method — whether its calls go to columns alone, or also to the pairs that the columns predict worst.

use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError, ScatteredParams};
use landmark_core::oracle::Oracle;
use landmark_yaml::{Node, Problem, Section, Value, ids};
use serde::Serialize;

use super::reading::Reading;

/// Entries that the calls of a method go to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EntriesConfig {
    /// Columns, and whatever else the method itself names.
    Columns,
    /// Columns for a part of the calls, single pairs for the rest.
    Scattered(ScatteredParams),
}

impl EntriesConfig {
    /// True where the method is as it is.
    pub fn is_columns(&self) -> bool {
        *self == Self::Columns
    }

    /// Reads the section; a bare id is the whole section.
    pub fn read(node: &Node, path: &str, reading: &Reading<'_>) -> Option<Self> {
        let Reading { problems, known, .. } = *reading;
        let empty = Node::empty(node.place);
        let (kind, section) = match &node.value {
            Value::Text(kind) => (kind.clone(), Section::new(&empty, path, problems)?),
            _ => {
                let section = Section::new(node, path, problems)?;
                (section.required("kind")?, section)
            }
        };
        let config = match kind.as_str() {
            "columns" => Self::Columns,
            "scattered" => {
                let usual = ScatteredParams::default();
                let columns =
                    section.checked("columns", |part: &f64| *part > 0.0 && *part < 1.0, "above 0 and below 1");
                let rounds = section.checked("rounds", |rounds: &usize| *rounds > 0, "at least 1");
                Self::Scattered(ScatteredParams {
                    columns: columns.unwrap_or(usual.columns),
                    rounds: rounds.unwrap_or(usual.rounds),
                    nearest: section.checked("nearest", |nearest: &usize| *nearest > 0, "at least 1"),
                })
            }
            other => {
                let place = section.node("kind").unwrap_or(node).place;
                problems.add(Problem::unknown("kind of entries", other, ids(known.entries)).at(place));
                return None;
            }
        };
        section.finish(&[]);
        Some(config)
    }

    /// A method whose calls are divided so; `proxies` help to choose the pairs.
    ///
    /// # Errors
    /// A parameter out of range.
    pub fn around(
        &self,
        method: Arc<dyn Approximate>,
        proxies: Vec<Arc<dyn Oracle>>,
    ) -> Result<Arc<dyn Approximate>, ApproximateError> {
        Ok(match self {
            Self::Columns => method,
            Self::Scattered(params) => Arc::new(params.around(method, proxies)?),
        })
    }
}
