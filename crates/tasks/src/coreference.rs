//! Coreference: from similarities of mentions to clusters, and how clusters are scored.
//!
//! Mentions are clustered agglomeratively on 1 − K̃, merging strictly below a threshold ([`clustering`](CondensedDistances)); for
//! large n the same average linkage runs on the factors of K̃ and never forms a matrix ([`average_linkage_of_factors`]). A
//! response is scored against a key by MUC, B³, CEAFm, CEAFe, BLANC and LEA ([`score_coreference`]).

mod assignment;
mod blanc;
mod clustering;
mod contingency;
mod factored;
mod precision_recall;
mod scores;

pub use assignment::max_weight_matching;
pub use clustering::{CondensedDistances, Dendrogram, Linkage, Merge};
pub use contingency::Singletons;
pub use factored::average_linkage_of_factors;
pub use precision_recall::PrecisionRecall;
pub use scores::{CorefScores, Sides, score_coreference};

/// Why mentions could not be clustered or scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CorefError {
    #[error("the {what} of mentions {i} and {j} is {value}; it must be finite")]
    NotFinite { what: &'static str, i: usize, j: usize, value: f64 },
    #[error("{what} has {seen} {unit}, but must have {wanted}")]
    Shape { what: &'static str, seen: usize, unit: &'static str, wanted: usize },
    #[error("cannot read sign {place} of the signature: it is {value} (expected 1 or -1)")]
    Sign { place: usize, value: f64 },
    #[error(
        "the mention `{mention}` is in the {side} twice (document {document}): every figure would count it twice, drop one"
    )]
    Duplicate { mention: String, side: &'static str, document: usize },
    #[error("the similarities cannot be read: {0}")]
    Unreadable(String),
}

impl CorefError {
    fn unreadable(error: impl std::error::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}
