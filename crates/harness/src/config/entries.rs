//! `entries:` of a method — whether its calls go to columns alone, or also to the pairs that the columns predict worst.

use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError, ScatteredParams};
use landmark_core::oracle::Oracle;
use landmark_yaml::{Entry, FromNode, Keys, Node, Problem, Problems, Section, choice, ids, read_from_node};
use serde::Serialize;

pub static ENTRY_POLICIES: &[Entry] = &[
    Entry {
        id: "columns",
        summary: "full columns at the landmarks, and whatever else the method itself names",
        keys: Keys::NONE,
        source: "SMS-Nyström paper, Algorithm 1",
    },
    Entry {
        id: "scattered",
        summary: "columns for a part of the calls, for the rest the pairs whose residual is predicted to be largest: K̃ = the method's \
                  on fewer columns, exact where evaluated; as many calls as its columns alone",
        keys: Keys::of::<ScatteredParams>(),
        source: "this project",
    },
];

/// Entries that the calls of a method go to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EntriesConfig {
    /// Columns, and whatever else the method itself names.
    #[default]
    Columns,
    /// Columns for a part of the calls, single pairs for the rest.
    Scattered(ScatteredParams),
}

impl FromNode for EntriesConfig {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        let (kind, place, section) = Section::tagged(node, path, "kind", problems)?;
        match kind.as_str() {
            "columns" => {
                section.finish(&[]);
                Some(Self::Columns)
            }
            "scattered" => section.whole().map(Self::Scattered),
            other => {
                problems.add(Problem::unknown("kind of entries", other, ids(ENTRY_POLICIES)).at(place));
                None
            }
        }
    }
}

read_from_node!(EntriesConfig, choice("kind", ENTRY_POLICIES));

impl EntriesConfig {
    /// True if the method is as it is.
    pub fn is_columns(&self) -> bool {
        *self == Self::Columns
    }

    /// A method whose calls are divided so; `proxies` help to choose the pairs.
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
