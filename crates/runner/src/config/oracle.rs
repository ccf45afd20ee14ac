//! `oracle:` — what scores a pair.

use landmark_core::oracle::Symmetrization;
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use super::read::Problems;
use super::section::Section;
use super::tree::{Node, Value};
use super::tree_kernel::TreeKernelConfig;
use super::values::Tuned;
use crate::registry::{self, ORACLES};

/// What scores a pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OracleConfig {
    /// exp(−γ·WMD).
    Wmd {
        /// γ.
        gamma: Tuned,
        /// What becomes of a document without a known word.
        empty_documents: EmptyDocuments,
    },
    /// A normalised kernel over trees.
    TreeKernel(TreeKernelConfig),
    /// The matrix of the dataset.
    Precomputed {
        /// Where given, the matrix holds distances and the similarity is exp(−γ·d).
        gamma: Option<Tuned>,
        /// Where given, what makes an asymmetric matrix symmetric.
        symmetrize: Option<Symmetrization>,
    },
}

/// What becomes of a document without a known word.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyDocuments {
    /// The run ends with its id.
    Error,
    /// It is left out, and counted in the report.
    Drop,
    /// It is this far from every other.
    Distance(f64),
}

impl OracleConfig {
    /// Id in the registry.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Wmd { .. } => "wmd",
            Self::TreeKernel(_) => "tree_kernel",
            Self::Precomputed { .. } => "precomputed",
        }
    }

    /// γ, where the score is exp(−γ·d).
    pub fn gamma(&self) -> Option<Tuned> {
        match self {
            Self::Wmd { gamma, .. } => Some(*gamma),
            Self::TreeKernel(_) => None,
            Self::Precomputed { gamma, .. } => *gamma,
        }
    }

    /// Reads the section; a bare id is the whole section.
    pub fn read(node: &Node, problems: &Problems) -> Option<Self> {
        let empty = Node::empty(node.place);
        let (kind, section) = match &node.value {
            Value::Text(kind) => (kind.clone(), Section::new(&empty, "oracle", problems)?),
            _ => {
                let section = Section::new(node, "oracle", problems)?;
                (section.required("kind")?, section)
            }
        };
        let gamma = section.node("gamma").map(|node| Tuned::read(node, "oracle.gamma", problems));
        let config = match kind.as_str() {
            "wmd" => {
                let empty_documents = section.or("empty_documents", EmptyDocuments::Error);
                if let EmptyDocuments::Distance(distance) = empty_documents
                    && !(distance >= 0.0 && distance.is_finite())
                {
                    let message =
                        format!("`oracle.empty_documents` is the distance {distance}, but must be at least 0");
                    section.refuse("empty_documents", message);
                }
                Self::Wmd { gamma: gamma.unwrap_or(Some(Tuned::Search))?, empty_documents }
            }
            "tree_kernel" => {
                if gamma.is_some() {
                    section.refuse("gamma", "`tree_kernel` is a similarity and takes no `gamma`: remove it");
                }
                Self::TreeKernel(TreeKernelConfig::read(&section)?)
            }
            "precomputed" => Self::Precomputed {
                gamma: match gamma {
                    Some(gamma) => Some(gamma?),
                    None => None,
                },
                symmetrize: section.optional("symmetrize"),
            },
            other => {
                let place = section.node("kind").unwrap_or(node).place;
                problems.add(Problem::unknown("oracle", other, registry::ids(ORACLES)).at(place));
                return None;
            }
        };
        section.finish(&[]);
        Some(config)
    }
}
