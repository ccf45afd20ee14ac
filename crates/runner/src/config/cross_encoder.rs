//! `oracle: { kind: cross_encoder }` — which model, how it is fine-tuned, how a pair is scored.

use landmark_core::oracle::Symmetrization;
use landmark_oracles::cross_encoder::{CrossEncoderParams, FineTuneParams, Precision, Score};
use landmark_yaml::Section;
use serde::{Deserialize, Serialize};

/// A cross-encoder over sentences.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossEncoderConfig {
    /// A folder, a name among the models, or `tiny`.
    pub model: String,
    /// How both orders of a pair become one score.
    pub order: Order,
    /// What a score is.
    pub score: Score,
    /// Tokens of a pair at most.
    pub max_length: usize,
    /// What products are computed in.
    pub precision: Precision,
    /// Where it computes: `auto`, `cpu`, `cuda`, `cuda:1`.
    #[serde(skip)]
    pub device: String,
    /// How the model is fine-tuned on the training pairs; as it is where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fine_tune: Option<FineTuneParams>,
}

/// How both orders of a pair become one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The mean of both orders, at twice the price.
    #[default]
    Mean,
    /// The larger of the two, at twice the price.
    Max,
    /// The pair as it is asked for: an asymmetric matrix.
    AsGiven,
}

impl Order {
    /// What makes it symmetric, if anything does.
    pub fn symmetrization(self) -> Option<Symmetrization> {
        match self {
            Self::Mean => Some(Symmetrization::Mean),
            Self::Max => Some(Symmetrization::Max),
            Self::AsGiven => None,
        }
    }
}

impl CrossEncoderConfig {
    /// The model that is used where none is named.
    const MODEL: &'static str = "all-MiniLM-L6-v2";

    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let default = CrossEncoderParams::default();
        let fine_tune: Option<FineTuneParams> = section.optional("fine_tune");
        if let Some((name, seen, wanted)) = fine_tune.as_ref().and_then(FineTuneParams::wrong) {
            section.refuse("fine_tune", format!("`oracle.fine_tune.{name}` is {seen}, but must be {wanted}"));
        }
        let max_length = section.checked("max_length", |&most: &usize| most >= 8, "at least 8");
        Some(Self {
            model: section.or("model", Self::MODEL.to_owned()),
            order: section.or("order", Order::Mean),
            score: section.or("score", default.score),
            max_length: max_length.unwrap_or(default.max_length),
            precision: section.or("precision", default.precision),
            device: section.or("device", "auto".to_owned()),
            fine_tune,
        })
    }

    /// How pairs are scored.
    pub fn params(&self) -> CrossEncoderParams {
        CrossEncoderParams { score: self.score, max_length: self.max_length, precision: self.precision }
    }
}
