//! `oracle:` — what scores a pair.

use landmark_core::oracle::Symmetrization;
use landmark_oracles::subprocess::SubprocessParams;
use landmark_yaml::{Node, Problem, Section, Value, ids};
use serde::{Deserialize, Serialize};

use super::cross_encoder::CrossEncoderConfig;
use super::reading::Reading;
use super::tree_kernel::TreeKernelConfig;
use super::values::Tuned;

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
        /// ε: where given, similarities that cheap bounds prove below it are not computed.
        #[serde(skip_serializing_if = "Option::is_none")]
        negligible: Option<f64>,
    },
    /// A normalised kernel over trees.
    TreeKernel(TreeKernelConfig),
    /// A cross-encoder over sentences.
    CrossEncoder(CrossEncoderConfig),
    /// The matrix of the dataset.
    Precomputed {
        /// Where given, the matrix holds distances and the similarity is exp(−γ·d).
        gamma: Option<Tuned>,
        /// Where given, what makes an asymmetric matrix symmetric.
        symmetrize: Option<Symmetrization>,
    },
    /// A program of the user's.
    Subprocess(Box<SubprocessConfig>),
}

/// A program of the user's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubprocessConfig {
    /// The program, and how it is treated. It runs in the folder of the configuration.
    #[serde(flatten)]
    pub params: SubprocessParams,
    /// Where given, its score is a distance and the similarity is exp(−γ·d).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<Tuned>,
    /// Where given, what makes an asymmetric score symmetric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symmetrize: Option<Symmetrization>,
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
            Self::CrossEncoder(_) => "cross_encoder",
            Self::Precomputed { .. } => "precomputed",
            Self::Subprocess(_) => "subprocess",
        }
    }

    /// γ, where the score is exp(−γ·d).
    pub fn gamma(&self) -> Option<Tuned> {
        match self {
            Self::Wmd { gamma, .. } => Some(*gamma),
            Self::TreeKernel(_) | Self::CrossEncoder(_) => None,
            Self::Precomputed { gamma, .. } => *gamma,
            Self::Subprocess(program) => program.gamma,
        }
    }

    /// Reads the section; a bare id is the whole section. Programs run in the folder of the configuration.
    pub fn read(node: &Node, reading: &Reading<'_>) -> Option<Self> {
        let Reading { folder, problems, known } = *reading;
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
                let negligible =
                    section.checked("negligible", |&e: &f64| e > 0.0 && e < 1.0, "above 0 and below 1, such as 1e-6");
                Self::Wmd { gamma: gamma.unwrap_or(Some(Tuned::Search))?, empty_documents, negligible }
            }
            "tree_kernel" => {
                if gamma.is_some() {
                    section.refuse("gamma", "`tree_kernel` is a similarity and takes no `gamma`: remove it");
                }
                Self::TreeKernel(TreeKernelConfig::read(&section)?)
            }
            "cross_encoder" => Self::CrossEncoder(CrossEncoderConfig::read(&section)?),
            "precomputed" => Self::Precomputed {
                gamma: match gamma {
                    Some(gamma) => Some(gamma?),
                    None => None,
                },
                symmetrize: section.optional("symmetrize"),
            },
            "subprocess" => {
                let symmetrize = section.optional("symmetrize");
                let rest = section.rest();
                let params: SubprocessParams = problems.read(&rest, "oracle")?;
                let params = SubprocessParams { folder: Some(folder.to_owned()), ..params };
                if let Err(error) = params.clone().check() {
                    problems.add(Problem::new(format!("`oracle`: {error}")).at(section.place()));
                }
                let gamma = match gamma {
                    Some(gamma) => Some(gamma?),
                    None => None,
                };
                return Some(Self::Subprocess(Box::new(SubprocessConfig { params, gamma, symmetrize })));
            }
            other => {
                let place = section.node("kind").unwrap_or(node).place;
                problems.add(Problem::unknown("oracle", other, ids(known.oracles)).at(place));
                return None;
            }
        };
        section.finish(&[]);
        Some(config)
    }
}
