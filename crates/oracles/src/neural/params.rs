//! Settings of a cross-encoder and of its fine-tuning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Numbers that products are computed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 24 bits of significance.
    #[default]
    F32,
    /// 8 bits: twice as fast or more where the processor has instructions for it.
    Bf16,
    /// Whole numbers from −127 to 127, with a scale a row of each matrix and one a token: for scoring on processors alone.
    Int8,
}

impl Precision {
    pub fn id(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::Int8 => "int8",
        }
    }

    /// True where this processor has instructions for products in it; without them bf16 is converted number by number, six times as slow as f32.
    pub fn is_native(self) -> bool {
        match self {
            Self::F32 => true,
            #[cfg(target_arch = "x86_64")]
            Self::Bf16 => std::arch::is_x86_feature_detected!("avx512bf16"),
            #[cfg(target_arch = "x86_64")]
            Self::Int8 => std::arch::is_x86_feature_detected!("avx512vnni"),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Bf16 | Self::Int8 => false,
        }
    }
}

/// The score that is made of a pair's outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
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

impl Score {
    pub fn id(self) -> &'static str {
        match self {
            Self::Probability => "probability",
            Self::Regression => "regression",
            Self::Label => "label",
        }
    }

    /// The score of a pair's outputs.
    pub fn of(self, outputs: &[f32]) -> f64 {
        match (self, outputs) {
            (Self::Probability, &[single]) => sigmoid(f64::from(single)),
            (Self::Regression, &[single]) => f64::from(single),
            // a comparison would make 0 of NaN
            (Self::Label, &[single]) if single.is_nan() => f64::NAN,
            (Self::Label, &[single]) => f64::from(u8::from(single > 0.0)),
            (Self::Label, several) if several.iter().any(|x| x.is_nan()) => f64::NAN,
            (Self::Label, several) => {
                let largest = (0..several.len()).max_by(|&a, &b| several[a].total_cmp(&several[b]).then(b.cmp(&a)));
                largest.unwrap_or(0) as f64
            }
            (Self::Probability | Self::Regression, several) => {
                let most = several.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let weight = |x: f32| f64::from(x - most).exp();
                weight(several[1]) / several.iter().map(|&x| weight(x)).sum::<f64>()
            }
        }
    }
}

/// 1 / (1 + exp(−x)).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Settings of a cross-encoder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CrossEncoderParams {
    /// Score that is made of a pair's outputs.
    pub score: Score,
    /// Tokens of a pair at most, special tokens included; what is longer is cut. The model's own limit if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<usize>,
    pub precision: Precision,
}

/// The answer that a model is trained to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A grade: an epoch is judged by Pearson's correlation.
    Grade,
    /// Yes or no: an epoch is judged by accuracy.
    Label,
}

/// The loss, with one output x and its target t in 0..1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Cross-entropy of σ(x) and t.
    #[default]
    Bce,
    /// (x − t)².
    Mse,
}

/// Settings of a fine-tuning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Loss to minimize.
    pub loss: Loss,
    /// Dropout of hidden states and attention; the model's own where absent.
    pub dropout: Option<f64>,
    /// True where the texts of a pair change places at random.
    pub random_order: bool,
    /// Precision of products; where absent, bf16 where the device is quick with it.
    pub precision: Option<Precision>,
    /// Stop when this many epochs in a row are no better than the best.
    pub patience: Option<usize>,
    /// Running mean of the weights, which is then what is judged and kept: the share of the old mean that stays at each step. The
    /// weights themselves where absent.
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
    pub fn wrong(&self) -> Option<WrongParameter> {
        let share = |x: f64| (0.0..1.0).contains(&x);
        let shown = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
        let not_int8 = self.precision != Some(Precision::Int8);
        let checks = [
            ("epochs", self.epochs >= 1, self.epochs.to_string(), "at least 1"),
            ("batch", self.batch >= 1, self.batch.to_string(), "at least 1"),
            ("learning_rate", is_rate(self.learning_rate), self.learning_rate.to_string(), "between 0 and 1"),
            ("warmup", share(self.warmup), self.warmup.to_string(), SHARE),
            ("weight_decay", self.weight_decay >= 0.0, self.weight_decay.to_string(), "at least 0"),
            ("clip", self.clip > 0.0, self.clip.to_string(), "above 0"),
            ("dropout", self.dropout.is_none_or(share), shown(self.dropout), SHARE),
            ("patience", self.patience != Some(0), "0".to_owned(), "at least 1"),
            ("average", self.average.is_none_or(share), shown(self.average), SHARE),
            ("precision", not_int8, "int8".to_owned(), "f32 or bf16: gradients are not whole"),
        ];
        first_wrong(checks)
    }

    /// The learning rate of a step, counted from 0, as a share of the largest.
    pub fn schedule(&self, step: usize, steps: usize) -> f64 {
        let (step, steps) = (step as f64, steps as f64);
        let rise = (self.warmup * steps).max(1.0);
        if step + 1.0 < rise { (step + 1.0) / rise } else { ((steps - step) / (steps - rise + 1.0)).min(1.0) }
    }
}

/// A parameter out of its range: name, value, what is wanted.
pub(super) type WrongParameter = (&'static str, String, &'static str);

pub(super) const SHARE: &str = "a share from 0 up to, but not, 1";

pub(super) fn is_rate(rate: f64) -> bool {
    rate > 0.0 && rate < 1.0
}

/// The first of these checks (name, whether it is good, value, what is wanted) that fails.
pub(super) fn first_wrong(
    checks: impl IntoIterator<Item = (&'static str, bool, String, &'static str)>,
) -> Option<WrongParameter> {
    checks.into_iter().find(|(_, is_good, _, _)| !is_good).map(|(name, _, seen, wanted)| (name, seen, wanted))
}

/// What a fine-tuning reports while it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TuningProgress<'a> {
    /// Steps of an epoch, after each of them.
    Steps {
        /// From 1.
        epoch: usize,
        done: usize,
        all: usize,
        /// Since the epoch began.
        seconds: f64,
    },
    /// An epoch has ended.
    Epoch(&'a Epoch),
}

impl TuningProgress<'_> {
    /// Seconds that the whole epoch takes, from the steps so far.
    pub fn seconds_per_epoch(&self) -> f64 {
        match *self {
            Self::Steps { done, all, seconds, .. } => seconds * all as f64 / done.max(1) as f64,
            Self::Epoch(epoch) => epoch.seconds,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_a_probability_a_label_or_the_output_itself() {
        assert_eq!(Score::Probability.of(&[0.0]), 0.5);
        assert_eq!(Score::Regression.of(&[0.75]), 0.75);
        assert_eq!((Score::Label.of(&[0.1]), Score::Label.of(&[-0.1])), (1.0, 0.0));
        assert_eq!((Score::Label.of(&[0.1, 0.3]), Score::Label.of(&[0.4, 0.3])), (1.0, 0.0));
        // softmax(0, ln 3) = (1/4, 3/4), in f32
        assert!((Score::Probability.of(&[0.0, 3.0_f32.ln()]) - 0.75).abs() < 1e-6);
    }

    #[test]
    fn an_output_that_is_no_number_never_becomes_a_score() {
        for score in [Score::Probability, Score::Regression, Score::Label] {
            assert!(score.of(&[f32::NAN]).is_nan());
        }
        assert!(Score::Label.of(&[0.0, f32::NAN]).is_nan());
        assert!(Score::Probability.of(&[0.0, f32::NAN]).is_nan());
    }
}
