//! Accuracy and F1 from counts of (true, predicted) labels.
//!
//! F1 = 2·TP / (2·TP + FP + FN), with 0/0 = 0. Macro: the mean over the labels present in either list. With one label an item, micro F1 is the
//! accuracy.

use std::collections::BTreeMap;

use super::{MetricError, check_lengths};

/// Items of a label: those of it in both lists, and all in either list, which count twice if they are of it in both.
#[derive(Default)]
struct Counts {
    hits: usize,
    listed: usize,
}

impl Counts {
    fn by_label(truth: &[usize], predicted: &[usize]) -> Result<BTreeMap<usize, Self>, MetricError> {
        check_lengths("f1", ("truth", truth.len()), ("predicted", predicted.len()), 1)?;
        let mut by_label: BTreeMap<usize, Self> = BTreeMap::new();
        for (&t, &p) in truth.iter().zip(predicted) {
            [t, p].into_iter().for_each(|label| by_label.entry(label).or_default().listed += 1);
            by_label.entry(t).or_default().hits += usize::from(t == p);
        }
        Ok(by_label)
    }

    fn f1(&self) -> f64 {
        ratio(2 * self.hits, self.listed)
    }
}

/// 0/0 = 0.
fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The share of items whose predicted label is the true one.
pub fn accuracy(truth: &[usize], predicted: &[usize]) -> Result<f64, MetricError> {
    check_lengths("accuracy", ("truth", truth.len()), ("predicted", predicted.len()), 1)?;
    let hits = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
    Ok(ratio(hits, truth.len()))
}

/// F1 of the label `positive`; 0 for a label that occurs nowhere.
pub fn f1_binary(truth: &[usize], predicted: &[usize], positive: usize) -> Result<f64, MetricError> {
    Ok(Counts::by_label(truth, predicted)?.get(&positive).map_or(0.0, Counts::f1))
}

/// The mean F1 over the labels present in either list.
pub fn f1_macro(truth: &[usize], predicted: &[usize]) -> Result<f64, MetricError> {
    let by_label = Counts::by_label(truth, predicted)?;
    Ok(by_label.values().map(Counts::f1).sum::<f64>() / by_label.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_nobody_or_only_one_side_uses_has_f1_zero_and_counts_if_it_was_predicted() {
        assert_eq!(f1_binary(&[0, 2], &[0, 2], 1), Ok(0.0));
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
