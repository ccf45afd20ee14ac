//! What a configuration says of a cross-encoder and its fine-tuning: plain data, there without libtorch too.

use serde::{Deserialize, Serialize};

/// Numbers that products are computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 24 bits of significance.
    #[default]
    F32,
    /// 8 bits: twice as fast or more where the processor has instructions for it.
    Bf16,
}

impl Precision {
    /// The kind of a tensor of such numbers.
    #[cfg(feature = "torch")]
    pub(crate) fn kind(self) -> tch::Kind {
        match self {
            Self::F32 => tch::Kind::Float,
            Self::Bf16 => tch::Kind::BFloat16,
        }
    }

    /// As a configuration has it.
    pub fn id(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
        }
    }
}

/// What a score is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// σ of a single output; of several, the softmax of the second.
    #[default]
    Probability,
    /// The single output as it is.
    Regression,
    /// The class of the largest output; of a single one, whether it is above 0.
    Label,
}

/// How pairs are scored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CrossEncoderParams {
    /// What a score is.
    pub score: Score,
    /// Tokens of a pair at most, special tokens included; what is longer is cut.
    pub max_length: usize,
    /// What products are computed in.
    pub precision: Precision,
}

impl Default for CrossEncoderParams {
    fn default() -> Self {
        Self { score: Score::Probability, max_length: 128, precision: Precision::F32 }
    }
}

/// What a model is trained to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A grade: an epoch is judged by Pearson's correlation.
    Grade,
    /// Yes or no: an epoch is judged by accuracy.
    Label,
}

/// What is minimised, with one output x and its target t in 0..1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Cross-entropy of σ(x) and t.
    #[default]
    Bce,
    /// (x − t)².
    Mse,
}

/// How a model is fine-tuned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FineTuneParams {
    /// Passes over the training pairs.
    pub epochs: usize,
    /// Pairs of a step.
    pub batch: usize,
    /// The largest learning rate.
    pub learning_rate: f64,
    /// Share of the steps over which it rises.
    pub warmup: f64,
    /// Decay of matrices; vectors have none.
    pub weight_decay: f64,
    /// The largest norm of the gradient.
    pub clip: f64,
    /// What is minimised.
    pub loss: Loss,
    /// Dropout of hidden states and attention; the model's own where absent.
    pub dropout: Option<f64>,
    /// Whether the texts of a pair change places at random.
    pub random_order: bool,
    /// What products are computed in; bf16 where the device is quick with it where absent.
    pub precision: Option<Precision>,
    /// Ends when so many epochs in a row were no better than the best.
    pub patience: Option<usize>,
    /// What is judged and kept is a running mean of the weights: the share of the old mean that stays at each step. The weights
    /// themselves where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average: Option<f64>,
}

impl Default for FineTuneParams {
    fn default() -> Self {
        Self {
            epochs: 4,
            batch: 32,
            learning_rate: 1e-4,
            warmup: 0.1,
            weight_decay: 0.01,
            clip: 1.0,
            loss: Loss::Bce,
            dropout: None,
            random_order: true,
            precision: None,
            patience: None,
            average: None,
        }
    }
}

impl FineTuneParams {
    /// The first parameter out of its range: name, value, what is wanted.
    pub fn wrong(&self) -> Option<(&'static str, String, &'static str)> {
        let share = |x: f64| (0.0..1.0).contains(&x);
        let checks = [
            ("epochs", self.epochs >= 1, self.epochs.to_string(), "at least 1"),
            ("batch", self.batch >= 1, self.batch.to_string(), "at least 1"),
            (
                "learning_rate",
                self.learning_rate > 0.0 && self.learning_rate < 1.0,
                self.learning_rate.to_string(),
                "between 0 and 1",
            ),
            ("warmup", share(self.warmup), self.warmup.to_string(), "a share from 0 up to, but not, 1"),
            ("weight_decay", self.weight_decay >= 0.0, self.weight_decay.to_string(), "at least 0"),
            ("clip", self.clip > 0.0, self.clip.to_string(), "above 0"),
            (
                "dropout",
                self.dropout.is_none_or(share),
                self.dropout.map_or_else(String::new, |share| share.to_string()),
                "a share from 0 up to, but not, 1",
            ),
            ("patience", self.patience != Some(0), "0".to_owned(), "at least 1"),
            (
                "average",
                self.average.is_none_or(share),
                self.average.map_or_else(String::new, |share| share.to_string()),
                "a share from 0 up to, but not, 1",
            ),
        ];
        checks.into_iter().find(|(_, is_good, _, _)| !is_good).map(|(name, _, seen, wanted)| (name, seen, wanted))
    }

    /// The learning rate of a step, counted from 0, as a share of the largest.
    #[cfg(feature = "torch")]
    pub(super) fn schedule(&self, step: usize, steps: usize) -> f64 {
        let (step, steps) = (step as f64, steps as f64);
        let rise = (self.warmup * steps).max(1.0);
        if step + 1.0 < rise { (step + 1.0) / rise } else { ((steps - step) / (steps - rise + 1.0)).min(1.0) }
    }
}

/// How an epoch went.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// From 1.
    pub number: usize,
    /// Mean loss over the training pairs.
    pub loss: f64,
    /// Pearson's correlation or accuracy on the development pairs as given.
    pub score: f64,
    /// The same of the mean of both orders' scores; models made by earlier versions lack it.
    #[serde(default)]
    pub both_orders: Option<f64>,
    /// Wall seconds of the training alone.
    pub seconds: f64,
}
