//! The one table of metrics: id, name, unit, direction, axis limits. Tables and figures take all of these from here.

use serde::{Deserialize, Serialize};

use self::Notation::{Fixed, Percent, Seconds, Whole};
use crate::amounts::thousands;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Higher,
    Lower,
    /// Neither: it describes.
    Neither,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// A fraction printed as per cent with one decimal: 0.7532 → `75.3`.
    Percent,
    /// A fixed number of decimals; scientific where that would hide the figure.
    Fixed(usize),
    /// A whole number with thousands separators.
    Whole,
    /// Seconds: `0.012`, `3.4`, `1,204`.
    Seconds,
}

/// Line of the table: all that tables and figures know about a metric.
#[derive(Debug, Clone, Copy)]
pub struct MetricSpec {
    /// The serialized name: stable, used in results and in `reference.yaml`.
    pub id: &'static str,
    /// Name in a sentence or a table head.
    pub label: &'static str,
    /// Label of an axis, with the unit.
    pub axis: &'static str,
    pub better: Direction,
    pub notation: Notation,
    /// The smallest and largest value a linear axis shows by default (`None`: as in the data).
    pub limits: (Option<f64>, Option<f64>),
}

type Limits = (Option<f64>, Option<f64>);
const SCORE: Limits = (None, None);
const POSITIVE: Limits = (Some(0.0), None);
/// An error of 1 is that of the zero matrix: what lies above it is no approximation.
const ERROR: Limits = (Some(0.0), Some(1.2));

/// Spells the one table as the enum and as [`Metric::spec`].
macro_rules! metrics {
    ($($(#[doc = $doc:literal])* $name:ident: $id:literal, $label:literal, $axis:literal, $better:ident, $notation:expr, $limits:expr;)*) => {
        /// Measure of a row. The serialized name is the stable id used in results and in `reference.yaml`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Metric {
            $($(#[doc = $doc])* #[serde(rename = $id)] $name,)*
        }

        impl Metric {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            pub fn spec(self) -> MetricSpec {
                match self {
                    $(Self::$name => MetricSpec {
                        id: $id, label: $label, axis: $axis, better: Direction::$better, notation: $notation, limits: $limits,
                    },)*
                }
            }
        }
    };
}

// id, label, axis, which way is better, notation, limits of a linear axis
metrics! {
    /// ‖K − K̃‖_F / ‖K‖_F.
    RelativeError: "relative_error", "relative error", "relative error", Lower, Fixed(3), ERROR;
    /// The same off the diagonal, exact or, with an interval, estimated.
    OffDiagonalError: "off_diagonal_error", "error off the diagonal", "relative error off the diagonal", Lower, Fixed(3), ERROR;
    /// The same over the entries off the diagonal that were not evaluated.
    UnevaluatedError: "unevaluated_error", "unevaluated error", "relative error of unevaluated entries", Lower, Fixed(3), ERROR;
    /// The same over the hundredth of sampled unevaluated entries whose scores are largest.
    LargeScoreError: "large_score_error", "error of large scores", "relative error of large scores", Lower, Fixed(3), ERROR;
    ScoreCorrelation: "score_correlation", "correlation with K", "correlation with K (%)", Higher, Percent, SCORE;
    /// Against the scores of pairs as they were asked for, before both orders became one.
    RawError: "raw_error", "error against raw", "relative error against the raw scores", Lower, Fixed(3), ERROR;
    EstimatedError: "estimated_error", "estimated error", "estimated relative error", Lower, Fixed(3), ERROR;
    /// Of factors in files, with what is in no file: known entries, a corrected diagonal.
    ErrorWithKnown: "error_with_known", "error with known", "relative error with the known entries", Lower, Fixed(3), ERROR;
    ProxyError: "proxy_error", "proxy error", "relative error of the proxy", Lower, Fixed(3), ERROR;
    Accuracy: "accuracy", "accuracy", "accuracy (%)", Higher, Percent, SCORE;
    /// By cross-validation on the training items.
    ValidationAccuracy: "validation_accuracy", "validation accuracy", "validation accuracy (%)", Higher, Percent, SCORE;
    MacroF1: "macro_f1", "macro F1", "macro F1 (%)", Higher, Percent, SCORE;
    Pearson: "pearson", "Pearson", "Pearson correlation (%)", Higher, Percent, SCORE;
    Spearman: "spearman", "Spearman", "Spearman correlation (%)", Higher, Percent, SCORE;
    /// Share of the true nearest that a list of one begins with.
    RecallAt1: "recall_at_1", "recall@1", "recall@1 (%)", Higher, Percent, SCORE;
    /// Share of the ten true nearest among the first ten.
    RecallAt10: "recall_at_10", "recall@10", "recall@10 (%)", Higher, Percent, SCORE;
    RecallAt50: "recall_at_50", "recall@50", "recall@50 (%)", Higher, Percent, SCORE;
    RecallAt100: "recall_at_100", "recall@100", "recall@100 (%)", Higher, Percent, SCORE;
    /// Discounted gain of the first ten against that of the true order.
    NdcgAt10: "ndcg_at_10", "nDCG@10", "nDCG@10 (%)", Higher, Percent, SCORE;
    /// 1 where a stated recall is true, 0 where it is not.
    Coverage: "coverage", "statements that hold", "statements that hold (%)", Higher, Percent, SCORE;
    TrueRecall: "true_recall", "true recall", "true recall (%)", Neither, Percent, SCORE;
    CallsPerItem: "calls_per_item", "calls per item", "calls per item", Lower, Fixed(1), POSITIVE;
    /// Calls an item above those of a search that is given the truth.
    Price: "price", "price of not knowing", "calls per item above knowing the truth", Lower, Fixed(1), SCORE;
    /// 1 where nothing was stated, 0 elsewhere.
    Refused: "refused", "no statement", "no statement (%)", Lower, Percent, POSITIVE;
    F1: "f1", "F1", "F1 (%)", Higher, Percent, SCORE;
    /// Mean of MUC, B³ and CEAFe.
    ConllF1: "conll_f1", "CoNLL F1", "CoNLL F1 (%)", Higher, Percent, SCORE;
    /// The same with clusters of one mention kept.
    ConllF1Singletons: "conll_f1_singletons", "CoNLL F1, with singletons", "CoNLL F1 with singletons (%)", Higher, Percent, SCORE;
    /// The CoNLL F1 where clusters are cut at a threshold chosen for the method itself.
    OwnThresholdConllF1: "own_threshold_conll_f1", "CoNLL F1, own threshold", "CoNLL F1, threshold of its own (%)", Higher, Percent, SCORE;
    /// Mean of MUC, B³ and CEAFe on the development part.
    DevConllF1: "dev_conll_f1", "CoNLL F1, dev", "CoNLL F1 on the development part (%)", Higher, Percent, SCORE;
    /// F1 by links.
    MucF1: "muc_f1", "MUC", "MUC F1 (%)", Higher, Percent, SCORE;
    /// F1 by mentions.
    BCubedF1: "b_cubed_f1", "B³", "B³ F1 (%)", Higher, Percent, SCORE;
    /// F1 by aligned clusters.
    CeafEF1: "ceaf_e_f1", "CEAFe", "CEAFe F1 (%)", Higher, Percent, SCORE;
    /// F1 by links, weighed by the size of their cluster.
    LeaF1: "lea_f1", "LEA", "LEA F1 (%)", Higher, Percent, SCORE;
    /// Distance below which clusters merge, or score above which a pair is called positive.
    Threshold: "threshold", "threshold", "threshold", Neither, Fixed(3), SCORE;
    TrainingLoss: "training_loss", "loss", "training loss", Lower, Fixed(4), POSITIVE;
    MeanAveragePrecision: "mean_average_precision", "MAP", "mean average precision (%)", Higher, Percent, SCORE;
    /// Mean over ranks 1 to 10 of the share of good answers found by then.
    AverageRecall: "average_recall", "AvgRec", "average recall (%)", Higher, Percent, SCORE;
    /// Mean of 1 / rank of the first good answer.
    ReciprocalRank: "reciprocal_rank", "MRR", "mean reciprocal rank (%)", Higher, Percent, SCORE;
    Precision: "precision", "precision", "precision (%)", Higher, Percent, SCORE;
    Recall: "recall", "recall", "recall (%)", Higher, Percent, SCORE;
    /// 1 − landmarks / support vectors of the exact machine.
    Saving: "saving", "saving", "kernel operations saved (%)", Higher, Percent, SCORE;
    /// Training items that carry a kernel machine.
    SupportVectors: "support_vectors", "support vectors", "support vectors", Lower, Whole, POSITIVE;
    /// One eigenvalue; `position` is its number by magnitude, from 1.
    Eigenvalue: "eigenvalue", "eigenvalue", "eigenvalue", Neither, Fixed(3), SCORE;
    /// λmin of the landmark block that decided a shift.
    LambdaMin: "lambda_min", "λmin", "smallest eigenvalue", Neither, Fixed(3), SCORE;
    NegativeEigenvalues: "negative_eigenvalues", "negative eigenvalues", "negative eigenvalues", Neither, Whole, POSITIVE;
    /// Shift e that was added.
    Shift: "shift", "shift e", "shift e", Neither, Fixed(3), POSITIVE;
    Rank: "rank", "rank", "rank", Neither, Whole, POSITIVE;
    /// γ of exp(−γd).
    Gamma: "gamma", "γ", "γ", Neither, Fixed(3), POSITIVE;
    /// Inverse regularisation of a support vector machine.
    Cost: "cost", "C", "C", Neither, Fixed(3), POSITIVE;
    /// |S2| / |S1| of a method with a second landmark set.
    Ratio: "ratio", "s2 / s1", "s2 / s1", Neither, Fixed(2), POSITIVE;
    MaxWords: "max_words", "Dmax", "most words of a random document", Neither, Whole, POSITIVE;
    /// Entries of K, each side of the diagonal counted.
    Cells: "cells", "entries", "entries of K", Lower, Whole, POSITIVE;
    Evaluations: "evaluations", "evaluations", "evaluations", Lower, Whole, POSITIVE;
    Seconds: "seconds", "seconds", "seconds", Lower, Seconds, POSITIVE;
    FeatureSeconds: "feature_seconds", "feature seconds", "seconds to make the features", Lower, Seconds, POSITIVE;
    /// A number of things: classes, documents, distinct words.
    Count: "count", "count", "count", Neither, Whole, POSITIVE;
    Length: "length", "length", "mean length (words)", Neither, Fixed(1), POSITIVE;
    /// √ of the mean squared error of a kernel estimate over pairs of items.
    RootMeanSquaredError: "root_mean_squared_error", "RMSE", "root mean squared error", Lower, Fixed(4), POSITIVE;
    ItemMicroseconds: "item_microseconds", "µs an item", "microseconds an item", Lower, Fixed(2), POSITIVE;
    /// Memory, in 10⁶ bytes.
    Megabytes: "megabytes", "MB", "memory (MB)", Lower, Fixed(3), POSITIVE;
    /// Random numbers behind a structured matrix.
    Budget: "budget", "t", "budget of randomness t", Neither, Whole, POSITIVE;
    ChromaticLower: "chromatic_lower", "χ at least", "χ at least", Lower, Whole, POSITIVE;
    ChromaticUpper: "chromatic_upper", "χ at most", "χ at most", Lower, Whole, POSITIVE;
    Coherence: "coherence", "μ", "coherence μ", Lower, Fixed(3), POSITIVE;
    Unicoherence: "unicoherence", "μ̃", "unicoherence μ̃", Lower, Fixed(3), POSITIVE;
    /// By how much a squared norm of a column of a P-model departs from 1, at most.
    NormalisationError: "normalisation_error", "normalization error", "normalization error", Lower, Fixed(3), POSITIVE;
    /// Largest departure from orthogonality of columns of one matrix of a P-model.
    OrthogonalityError: "orthogonality_error", "orthogonality error", "orthogonality error", Lower, Fixed(3), POSITIVE;
    /// ‖XᵀX − YᵀY‖₂ of a sketch Y of X.
    SketchError: "sketch_error", "‖XᵀX − YᵀY‖₂", "‖XᵀX − YᵀY‖₂", Lower, Whole, POSITIVE;
    /// Σδ, what the sketch itself knows to bound that error.
    SketchBound: "sketch_bound", "Σδ", "bound Σδ", Lower, Whole, POSITIVE;
    /// σ² of a direction of a sketch as a share of ‖X‖²_F; `position` is its number, from 1.
    DirectionShare: "direction_share", "share of ‖X‖²", "share of ‖X‖² (%)", Neither, Percent, POSITIVE;
    Wins: "wins", "wins", "items won", Neither, Whole, POSITIVE;
    Losses: "losses", "losses", "items lost", Neither, Whole, POSITIVE;
    /// Accuracy above that of the baseline on the same items.
    Gain: "gain", "gain", "gain (points)", Higher, Percent, SCORE;
}

impl Metric {
    pub fn id(self) -> &'static str {
        self.spec().id
    }

    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|metric| metric.id() == id)
    }

    pub fn ids() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|metric| metric.id())
    }

    pub fn show(self, value: f64) -> String {
        self.spec().notation.show(value)
    }

    /// Prints half the width of an interval, with the decimals of its mean.
    pub fn show_half_width(self, half: f64, mean: f64) -> String {
        match self.spec().notation {
            Notation::Fixed(decimals) if half.abs() < 1e5 && !fixed(mean, decimals).contains('e') => {
                format!("{half:.decimals$}")
            }
            notation => notation.show(half),
        }
    }

    pub fn show_difference(self, value: f64) -> String {
        let notation = self.spec().notation;
        let text = match notation {
            // a difference below what the table prints is none
            Notation::Fixed(decimals) if value.abs() < 1e5 => format!("{:.decimals$}", value.abs()),
            _ => notation.show(value.abs()),
        };
        let zero = text.chars().all(|c| matches!(c, '0' | '.'));
        match (zero, value < 0.0) {
            (true, _) => text,
            (false, true) => format!("−{text}"),
            (false, false) => format!("+{text}"),
        }
    }

    /// `label (%)` or `label`: a table head.
    pub fn head(self) -> String {
        let spec = self.spec();
        if spec.notation == Notation::Percent { format!("{} (%)", spec.label) } else { spec.label.to_string() }
    }
}

impl Notation {
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Percent => format!("{:.1}", 100.0 * value).replace('-', "−"),
            Self::Fixed(decimals) => fixed(value, decimals),
            Self::Whole => thousands(&format!("{value:.0}")),
            Self::Seconds => {
                let decimals = if value.abs() < 1.0 { 3 } else { usize::from(value.abs() < 100.0) };
                thousands(&format!("{value:.decimals$}"))
            }
        }
    }
}

/// Fixed decimals, unless that prints a figure as zero or with six digits before the point.
fn fixed(value: f64, decimals: usize) -> String {
    let smallest = 0.5 * 10f64.powi(-i32::try_from(decimals).unwrap_or(i32::MAX));
    let text = if value != 0.0 && (value.abs() < smallest || value.abs() >= 1e5) {
        format!("{value:.2e}")
    } else {
        format!("{value:.decimals$}")
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_print_in_their_metrics_notation() {
        assert_eq!(Metric::Accuracy.show(0.7532), "75.3");
        assert_eq!(Metric::RelativeError.show(0.03449), "0.034");
        assert_eq!(Metric::RelativeError.show(1457.25e3), "1.46e6");
        assert_eq!(Metric::RelativeError.show(2.5e-5), "2.50e−5");
        assert_eq!(Metric::CallsPerItem.show_half_width(1.42e-14, 119.8), "0.0");
        assert_eq!(Metric::RelativeError.show_half_width(2e-6, 2.5e-5), "2.00e−6");
        assert_eq!(Metric::Cells.show(12_345_678.0), "12,345,678");
        assert_eq!(Metric::Seconds.show(0.0123), "0.012");
        assert_eq!(Metric::Seconds.show(223_902.32), "223,902");
        assert_eq!(Metric::LambdaMin.show(-8.5), "−8.500");
    }

    #[test]
    fn the_id_in_the_table_is_the_serialized_name() {
        for id in ["relative_error", "macro_f1", "f1", "conll_f1", "accuracy", "mean_average_precision", "lambda_min"] {
            let metric: Metric = serde_json::from_value(serde_json::json!(id)).unwrap();
            assert_eq!(metric.id(), id);
        }
        let unknown = serde_json::from_str::<Metric>("\"acuracy\"").unwrap_err().to_string();
        // the parser lists every known id: each of them must be the one its own line of the table holds
        let known = unknown.split("expected one of ").nth(1).unwrap();
        for id in known.split('`').skip(1).step_by(2) {
            assert_eq!(serde_json::from_value::<Metric>(serde_json::json!(id)).unwrap().id(), id);
        }
    }

    #[test]
    fn differences_carry_their_sign_and_zero_has_none() {
        assert_eq!(Metric::Accuracy.show_difference(0.012), "+1.2");
        assert_eq!(Metric::Accuracy.show_difference(-0.012), "−1.2");
        assert_eq!(Metric::Accuracy.show_difference(-0.0001), "0.0");
        assert_eq!(Metric::RelativeError.show_difference(-2e-6), "0.000");
    }
}
