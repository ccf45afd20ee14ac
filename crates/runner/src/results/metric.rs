//! The one table of metrics: id, name, unit, direction, axis limits. Tables and figures take all of these from here.

use serde::{Deserialize, Serialize};

/// What a row measures. The serialised name is the stable id used in results and in `reference.yaml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// ‖K − K̃‖_F / ‖K‖_F.
    RelativeError,
    /// The same against the scores of pairs as they were asked for, before both orders became one.
    RawError,
    /// The same, estimated from a few extra entries.
    EstimatedError,
    /// The same of factors in files with the known entries put back, which are in no file.
    ErrorWithKnown,
    /// The proxy's own relative error.
    ProxyError,
    /// Share of test items classified correctly.
    Accuracy,
    /// The same, by cross-validation on the training items.
    ValidationAccuracy,
    /// Mean over classes of F1.
    MacroF1,
    /// F1 over all decisions.
    MicroF1,
    /// Pearson correlation with the gold scores.
    Pearson,
    /// Spearman rank correlation with the gold scores.
    Spearman,
    /// F1 of the positive class.
    F1,
    /// Mean of MUC, B³ and CEAFe.
    ConllF1,
    /// The same with clusters of one mention kept.
    ConllF1Singletons,
    /// The CoNLL F1 where clusters are cut at a threshold chosen for the method itself.
    OwnThresholdConllF1,
    /// Mean of MUC, B³ and CEAFe on the development part.
    DevConllF1,
    /// F1 by links.
    MucF1,
    /// F1 by mentions.
    BCubedF1,
    /// F1 by aligned clusters.
    CeafEF1,
    /// F1 by links, weighed by the size of their cluster.
    LeaF1,
    /// Distance below which clusters merge, or score above which a pair is called positive.
    Threshold,
    /// Mean loss of an epoch; `position` is its number.
    TrainingLoss,
    /// Mean average precision.
    MeanAveragePrecision,
    /// Mean over ranks 1 to 10 of the share of good answers found by then.
    AverageRecall,
    /// Mean of 1 / rank of the first good answer.
    ReciprocalRank,
    /// Precision of the positive class.
    Precision,
    /// Recall of the positive class.
    Recall,
    /// 1 − landmarks / support vectors of the exact machine.
    Saving,
    /// Training items that carry a kernel machine.
    SupportVectors,
    /// One eigenvalue; `position` is its number by magnitude, from 1.
    Eigenvalue,
    /// λmin of the landmark block that decided a shift.
    LambdaMin,
    /// Number of negative eigenvalues of the landmark block.
    NegativeEigenvalues,
    /// Shift e that was added.
    Shift,
    /// Rank (number of features) used.
    Rank,
    /// γ of exp(−γd).
    Gamma,
    /// Inverse regularisation of a support vector machine.
    Cost,
    /// |S2| / |S1| of a method with a second landmark set.
    Ratio,
    /// Most words of a random document (WME).
    MaxWords,
    /// Cells of K.
    Cells,
    /// Calls of the similarity function.
    Evaluations,
    /// Wall seconds.
    Seconds,
    /// Seconds it takes to make the features.
    FeatureSeconds,
    /// A number of things: classes, documents, distinct words.
    Count,
    /// Mean length of a document, in words.
    Length,
    /// √ of the mean squared error of a kernel estimate over pairs of items.
    RootMeanSquaredError,
    /// Microseconds it takes to make the features of one item.
    ItemMicroseconds,
    /// Memory, in 10⁶ bytes.
    Megabytes,
    /// Random numbers behind a structured matrix.
    Budget,
    /// What the chromatic number of a P-model is at least.
    ChromaticLower,
    /// What it is at most.
    ChromaticUpper,
    /// μ of a P-model.
    Coherence,
    /// μ̃ of a P-model.
    Unicoherence,
    /// By how much a squared norm of a column of a P-model departs from 1, at most.
    NormalisationError,
    /// How far columns of one matrix of a P-model are from orthogonal, at most.
    OrthogonalityError,
    /// ‖XᵀX − YᵀY‖₂ of a sketch Y of X.
    SketchError,
    /// Σδ, what the sketch itself knows to bound that error.
    SketchBound,
    /// σ² of a direction of a sketch as a share of ‖X‖²_F; `position` is its number, from 1.
    DirectionShare,
    /// Items that are right where the baseline is wrong.
    Wins,
    /// Items that are wrong where the baseline is right.
    Losses,
    /// Accuracy above that of the baseline on the same items.
    Gain,
}

/// Which way a metric is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: it describes.
    Neither,
}

/// How a figure is printed.
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

/// What tables and figures know about a metric.
#[derive(Debug, Clone, Copy)]
pub struct MetricSpec {
    /// The serialised name: stable, used in results and in `reference.yaml`.
    pub id: &'static str,
    /// Name in a sentence or a table head.
    pub label: &'static str,
    /// Label of an axis, with the unit.
    pub axis: &'static str,
    /// Which way is better.
    pub better: Direction,
    /// How it is printed.
    pub notation: Notation,
    /// The smallest and largest value a linear axis shows by default (`None`: as the data say).
    pub limits: (Option<f64>, Option<f64>),
}

impl Metric {
    /// Its line of the table.
    pub fn spec(self) -> MetricSpec {
        use Direction::{Higher, Lower, Neither};
        use Notation::{Fixed, Percent, Seconds, Whole};
        let spec = |id, label, axis, better, notation, limits| MetricSpec { id, label, axis, better, notation, limits };
        let score = (None, None);
        let positive = (Some(0.0), None);
        match self {
            // an error of 1 is that of the zero matrix: what lies above it is no approximation
            Self::RelativeError => {
                spec("relative_error", "relative error", "relative error", Lower, Fixed(3), (Some(0.0), Some(1.2)))
            }
            Self::RawError => spec(
                "raw_error",
                "error against raw",
                "relative error against the raw scores",
                Lower,
                Fixed(3),
                (Some(0.0), Some(1.2)),
            ),
            Self::EstimatedError => spec(
                "estimated_error",
                "estimated error",
                "estimated relative error",
                Lower,
                Fixed(3),
                (Some(0.0), Some(1.2)),
            ),
            Self::ErrorWithKnown => spec(
                "error_with_known",
                "error with known",
                "relative error with the known entries",
                Lower,
                Fixed(3),
                (Some(0.0), Some(1.2)),
            ),
            Self::ProxyError => spec(
                "proxy_error",
                "proxy error",
                "relative error of the proxy",
                Lower,
                Fixed(3),
                (Some(0.0), Some(1.2)),
            ),
            Self::Accuracy => spec("accuracy", "accuracy", "accuracy (%)", Higher, Percent, score),
            Self::ValidationAccuracy => {
                spec("validation_accuracy", "validation accuracy", "validation accuracy (%)", Higher, Percent, score)
            }
            Self::MacroF1 => spec("macro_f1", "macro F1", "macro F1 (%)", Higher, Percent, score),
            Self::MicroF1 => spec("micro_f1", "micro F1", "micro F1 (%)", Higher, Percent, score),
            Self::Pearson => spec("pearson", "Pearson", "Pearson correlation (%)", Higher, Percent, score),
            Self::Spearman => spec("spearman", "Spearman", "Spearman correlation (%)", Higher, Percent, score),
            Self::F1 => spec("f1", "F1", "F1 (%)", Higher, Percent, score),
            Self::ConllF1 => spec("conll_f1", "CoNLL F1", "CoNLL F1 (%)", Higher, Percent, score),
            Self::ConllF1Singletons => spec(
                "conll_f1_singletons",
                "CoNLL F1, with singletons",
                "CoNLL F1 with singletons (%)",
                Higher,
                Percent,
                score,
            ),
            Self::OwnThresholdConllF1 => spec(
                "own_threshold_conll_f1",
                "CoNLL F1, own threshold",
                "CoNLL F1, threshold of its own (%)",
                Higher,
                Percent,
                score,
            ),
            Self::DevConllF1 => {
                spec("dev_conll_f1", "CoNLL F1, dev", "CoNLL F1 on the development part (%)", Higher, Percent, score)
            }
            Self::MucF1 => spec("muc_f1", "MUC", "MUC F1 (%)", Higher, Percent, score),
            Self::BCubedF1 => spec("b_cubed_f1", "B³", "B³ F1 (%)", Higher, Percent, score),
            Self::CeafEF1 => spec("ceaf_e_f1", "CEAFe", "CEAFe F1 (%)", Higher, Percent, score),
            Self::LeaF1 => spec("lea_f1", "LEA", "LEA F1 (%)", Higher, Percent, score),
            Self::Threshold => spec("threshold", "threshold", "threshold", Neither, Fixed(3), score),
            Self::TrainingLoss => spec("training_loss", "loss", "training loss", Lower, Fixed(4), positive),
            Self::MeanAveragePrecision => {
                spec("mean_average_precision", "MAP", "mean average precision (%)", Higher, Percent, score)
            }
            Self::AverageRecall => spec("average_recall", "AvgRec", "average recall (%)", Higher, Percent, score),
            Self::ReciprocalRank => spec("reciprocal_rank", "MRR", "mean reciprocal rank (%)", Higher, Percent, score),
            Self::Precision => spec("precision", "precision", "precision (%)", Higher, Percent, score),
            Self::Recall => spec("recall", "recall", "recall (%)", Higher, Percent, score),
            Self::Saving => spec("saving", "saving", "kernel operations saved (%)", Higher, Percent, score),
            Self::SupportVectors => {
                spec("support_vectors", "support vectors", "support vectors", Lower, Whole, positive)
            }
            Self::Eigenvalue => spec("eigenvalue", "eigenvalue", "eigenvalue", Neither, Fixed(3), score),
            Self::LambdaMin => spec("lambda_min", "λmin", "smallest eigenvalue", Neither, Fixed(3), score),
            Self::NegativeEigenvalues => {
                spec("negative_eigenvalues", "negative eigenvalues", "negative eigenvalues", Neither, Whole, positive)
            }
            Self::Shift => spec("shift", "shift e", "shift e", Neither, Fixed(3), positive),
            Self::Rank => spec("rank", "rank", "rank", Neither, Whole, positive),
            Self::Gamma => spec("gamma", "γ", "γ", Neither, Fixed(3), positive),
            Self::Cost => spec("cost", "C", "C", Neither, Fixed(3), positive),
            Self::Ratio => spec("ratio", "s2 / s1", "s2 / s1", Neither, Fixed(2), positive),
            Self::MaxWords => spec("max_words", "Dmax", "most words of a random document", Neither, Whole, positive),
            Self::Cells => spec("cells", "cells", "cells of K", Lower, Whole, positive),
            Self::Evaluations => spec("evaluations", "evaluations", "evaluations", Lower, Whole, positive),
            Self::Seconds => spec("seconds", "seconds", "seconds", Lower, Seconds, positive),
            Self::FeatureSeconds => {
                spec("feature_seconds", "feature seconds", "seconds to make the features", Lower, Seconds, positive)
            }
            Self::Count => spec("count", "count", "count", Neither, Whole, positive),
            Self::Length => spec("length", "length", "mean length (words)", Neither, Fixed(1), positive),
            Self::RootMeanSquaredError => {
                spec("root_mean_squared_error", "RMSE", "root mean squared error", Lower, Fixed(4), positive)
            }
            Self::ItemMicroseconds => {
                spec("item_microseconds", "µs an item", "microseconds an item", Lower, Fixed(2), positive)
            }
            Self::Megabytes => spec("megabytes", "MB", "memory (MB)", Lower, Fixed(3), positive),
            Self::Budget => spec("budget", "t", "budget of randomness t", Neither, Whole, positive),
            Self::ChromaticLower => spec("chromatic_lower", "χ at least", "χ at least", Lower, Whole, positive),
            Self::ChromaticUpper => spec("chromatic_upper", "χ at most", "χ at most", Lower, Whole, positive),
            Self::Coherence => spec("coherence", "μ", "coherence μ", Lower, Fixed(3), positive),
            Self::Unicoherence => spec("unicoherence", "μ̃", "unicoherence μ̃", Lower, Fixed(3), positive),
            Self::NormalisationError => {
                spec("normalisation_error", "normalisation error", "normalisation error", Lower, Fixed(3), positive)
            }
            Self::OrthogonalityError => {
                spec("orthogonality_error", "orthogonality error", "orthogonality error", Lower, Fixed(3), positive)
            }
            Self::SketchError => spec("sketch_error", "‖XᵀX − YᵀY‖₂", "‖XᵀX − YᵀY‖₂", Lower, Whole, positive),
            Self::SketchBound => spec("sketch_bound", "Σδ", "bound Σδ", Lower, Whole, positive),
            Self::DirectionShare => {
                spec("direction_share", "share of ‖X‖²", "share of ‖X‖² (%)", Neither, Percent, positive)
            }
            Self::Wins => spec("wins", "wins", "items won", Neither, Whole, positive),
            Self::Gain => spec("gain", "gain", "gain (points)", Higher, Percent, score),
            Self::Losses => spec("losses", "losses", "items lost", Neither, Whole, positive),
        }
    }

    /// The stable id.
    pub fn id(self) -> &'static str {
        self.spec().id
    }

    /// Prints a value without its unit.
    pub fn show(self, value: f64) -> String {
        self.spec().notation.show(value)
    }

    /// Prints a difference with its sign.
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
    fn show(self, value: f64) -> String {
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

/// `1234567.8` → `1,234,567.8`.
pub fn thousands(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("−", rest));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
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
        assert_eq!(Metric::Cells.show(12_345_678.0), "12,345,678");
        assert_eq!(Metric::Seconds.show(0.0123), "0.012");
        assert_eq!(Metric::Seconds.show(223_902.32), "223,902");
        assert_eq!(Metric::LambdaMin.show(-8.5), "−8.500");
    }

    #[test]
    fn the_id_in_the_table_is_the_serialised_name() {
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
