//! Accuracy and F1 from counts of (true, predicted) labels.
//!
//! F1 = 2·TP / (2·TP + FP + FN), with 0/0 = 0. Macro: the mean over the labels present in either list. Micro: F1 of the
//! summed counts, which for one label an item equals accuracy.

use std::collections::BTreeMap;

use ndarray::Array2;

use super::{MetricError, check_lengths};

/// Confusion matrix: the number of items of each true label (row) that were predicted as each label (column).
///
/// ```
/// use landmark_tasks::metrics::ConfusionMatrix;
/// let confusion = ConfusionMatrix::new(&[0, 0, 7], &[0, 7, 7])?;
/// assert_eq!(confusion.labels(), [0, 7]);
/// assert_eq!(confusion.counts()[[0, 1]], 1);
/// # Ok::<(), landmark_tasks::metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfusionMatrix {
    labels: Vec<usize>,
    counts: Array2<usize>,
}

impl ConfusionMatrix {
    /// Counts the pairs; the labels are those present in either list, in ascending order.
    ///
    /// # Errors
    /// Empty lists or different lengths.
    pub fn new(truth: &[usize], predicted: &[usize]) -> Result<Self, MetricError> {
        check_lengths("confusion_matrix", ("truth", truth.len()), ("predicted", predicted.len()), 1)?;
        let mut place: BTreeMap<usize, usize> = truth.iter().chain(predicted).map(|&label| (label, 0)).collect();
        for (index, slot) in place.values_mut().enumerate() {
            *slot = index;
        }
        let mut counts = Array2::zeros((place.len(), place.len()));
        for (t, p) in truth.iter().zip(predicted) {
            counts[[place[t], place[p]]] += 1;
        }
        Ok(Self { labels: place.into_keys().collect(), counts })
    }

    /// The labels, ascending: row and column k belong to `labels()[k]`.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// labels × labels; rows are true, columns predicted.
    pub fn counts(&self) -> &Array2<usize> {
        &self.counts
    }

    /// The share of items on the diagonal.
    pub fn accuracy(&self) -> f64 {
        ratio(self.counts.diag().sum(), self.counts.sum())
    }

    /// F1 of one label; 0 for a label that occurs nowhere.
    pub fn f1(&self, label: usize) -> f64 {
        self.labels.binary_search(&label).map_or(0.0, |k| self.f1_at(k))
    }

    /// The mean F1 over the labels present in either list.
    pub fn f1_macro(&self) -> f64 {
        let sum: f64 = (0..self.labels.len()).map(|k| self.f1_at(k)).sum();
        sum / self.labels.len() as f64
    }

    /// F1 of the summed counts. Each error is one false positive and one false negative, so this is the accuracy.
    pub fn f1_micro(&self) -> f64 {
        self.accuracy()
    }

    fn f1_at(&self, k: usize) -> f64 {
        let hits = self.counts[[k, k]];
        ratio(2 * hits, self.counts.row(k).sum() + self.counts.column(k).sum())
    }
}

/// 0/0 = 0.
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The share of items whose predicted label is the true one.
///
/// # Errors
/// Empty lists or different lengths.
pub fn accuracy(truth: &[usize], predicted: &[usize]) -> Result<f64, MetricError> {
    check_lengths("accuracy", ("truth", truth.len()), ("predicted", predicted.len()), 1)?;
    let hits = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
    Ok(ratio(hits, truth.len()))
}

/// F1 of the label `positive`, 0/0 = 0.
///
/// # Errors
/// Empty lists or different lengths.
pub fn f1_binary(truth: &[usize], predicted: &[usize], positive: usize) -> Result<f64, MetricError> {
    Ok(ConfusionMatrix::new(truth, predicted)?.f1(positive))
}

/// The mean F1 over the labels present in either list.
///
/// # Errors
/// Empty lists or different lengths.
pub fn f1_macro(truth: &[usize], predicted: &[usize]) -> Result<f64, MetricError> {
    Ok(ConfusionMatrix::new(truth, predicted)?.f1_macro())
}

/// F1 of the summed counts; with one label an item it equals [`accuracy`].
///
/// # Errors
/// Empty lists or different lengths.
pub fn f1_micro(truth: &[usize], predicted: &[usize]) -> Result<f64, MetricError> {
    Ok(ConfusionMatrix::new(truth, predicted)?.f1_micro())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_nobody_uses_has_f1_zero() {
        assert_eq!(f1_binary(&[0, 2], &[0, 2], 1), Ok(0.0));
    }

    #[test]
    fn macro_f1_counts_a_label_that_was_only_predicted() {
        // label 0: 2·1/(2+1) = 2/3; label 5, never true: 0
        let f1 = f1_macro(&[0, 0], &[0, 5]).unwrap();
        assert!((f1 - 1.0 / 3.0).abs() < 1e-15, "{f1}");
    }

    #[test]
    fn empty_and_unequal_lists_are_refused_by_name() {
        assert_eq!(accuracy(&[], &[]).unwrap_err().to_string(), "`accuracy` needs at least 1 value(s), but got 0");
        assert_eq!(
            accuracy(&[1, 2], &[1]).unwrap_err().to_string(),
            "`accuracy` needs lists of equal length, but `truth` has 2 and `predicted` has 1 values"
        );
    }
}
