//! Pearson's and Spearman's correlation.
//!
//! Pearson: [`stats::pearson`]. Spearman: Pearson of the ranks, equal values sharing the
//! average of the ranks they span.

use landmark_core::stats;

use super::{MetricError, check_finite, check_lengths};

/// Pearson's correlation of two lists, in [−1, 1].
pub fn pearson(x: &[f64], y: &[f64]) -> Result<f64, MetricError> {
    check_pair("pearson", x, y)?;
    Ok(stats::pearson(x, y).unwrap_or(f64::NAN))
}

/// Spearman's rank correlation of two lists, average ranks for ties.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<f64, MetricError> {
    check_pair("spearman", x, y)?;
    Ok(stats::pearson(&ranks(x), &ranks(y)).unwrap_or(f64::NAN))
}

fn check_pair(metric: &'static str, x: &[f64], y: &[f64]) -> Result<(), MetricError> {
    check_lengths(metric, ("x", x.len()), ("y", y.len()), 2)?;
    for (list, values) in [("x", x), ("y", y)] {
        check_finite(metric, list, values)?;
        if values.iter().all(|v| *v == values[0]) {
            return Err(MetricError::Constant { metric, list, len: values.len(), value: values[0] });
        }
    }
    Ok(())
}

/// The ranks of finite values, 1-based; equal values share the average of the ranks they span.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0;
    // `==` rather than `total_cmp`, so that 0.0 and −0.0, neighbors in the order, tie
    for tie in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let shared = below as f64 + (tie.len() as f64 + 1.0) / 2.0;
        for &index in tie {
            ranks[index] = shared;
        }
        below += tie.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_list_is_refused_by_name() {
        let error = pearson(&[1.0, 2.0], &[3.0, 3.0]).unwrap_err();
        assert_eq!(error.to_string(), "`pearson` is undefined: all 2 values of `y` are 3");
    }

    #[test]
    fn equal_values_share_the_average_of_their_ranks() {
        assert_eq!(ranks(&[10.0, 30.0, 10.0]), [1.5, 3.0, 1.5]);
    }

    #[test]
    fn nan_is_refused_with_its_index() {
        let error = spearman(&[1.0, f64::NAN, 2.0], &[1.0, 2.0, 3.0]).unwrap_err();
        assert_eq!(error.to_string(), "`spearman`: `x[1]` is NaN, but must be finite");
    }

    #[test]
    fn pearson_survives_values_whose_squares_overflow_or_vanish() {
        let (x, y) = ([1e200, 2e200, 3e200], [1e-200, 2e-200, 3.5e-200]);
        let plain = pearson(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.5]).unwrap();
        // the same numbers up to a scale: only the rounding of the scaling differs
        assert!((pearson(&x, &y).unwrap() - plain).abs() < 1e-14);
    }
}
