//! Mean ± sd over replicates, percentile bootstrap intervals, and the paired bootstrap of a difference.
//!
//! Percentile bootstrap (Efron & Tibshirani 1993, §13.3): draw n of n values with replacement B times, take the statistic of
//! each draw, and cut (1−level)/2 of the B figures off both ends, interpolating linearly between order statistics.
//! Cost: O(B · n) plus a sort of B figures.

use rand::Rng as _;
use serde::{Deserialize, Serialize};

use landmark_core::parameter::BadParameter;
use landmark_core::stats::quantile;
use landmark_core::stream::Rng;

use super::{MetricError, check_count, check_finite, check_lengths};

/// Mean and sample standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub mean: f64,
    /// Sample standard deviation (divisor n − 1); `None` for a single value.
    pub sd: Option<f64>,
    pub count: usize,
}

impl Summary {
    /// Mean and sd of finite values.
    pub fn of(values: &[f64]) -> Result<Self, MetricError> {
        check_count("mean", values.len(), 1)?;
        check_finite("mean", "values", values)?;
        let mean = mean(values);
        let sd = (values.len() > 1).then(|| {
            let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
            (squares / (values.len() - 1) as f64).sqrt()
        });
        Ok(Self { mean, sd, count: values.len() })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The statistic of the values themselves.
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
    /// Nominal coverage, e.g. 0.95.
    pub level: f64,
}

/// The percentile bootstrap interval of any statistic of `len` items: `statistic` gets the indices of a draw (with
/// repetitions) and answers one finite figure.
///
/// # Errors
/// `len` = 0, `level` outside (0, 1), no resample, a statistic that is not finite (named by resample; index 0 is the items
/// themselves).
fn bootstrap_interval(
    len: usize,
    level: f64,
    resamples: usize,
    rng: &mut Rng,
    statistic: impl Fn(&[usize]) -> f64,
) -> Result<Interval, MetricError> {
    const METRIC: &str = "bootstrap";
    check_count(METRIC, len, 1)?;
    if !(level > 0.0 && level < 1.0) {
        return Err(BadParameter::new("level", level, "in (0, 1)").of(METRIC).into());
    }
    if resamples == 0 {
        return Err(BadParameter::new("resamples", 0, "at least 1").of(METRIC).into());
    }
    let mut draw: Vec<usize> = (0..len).collect();
    let mut figures = Vec::with_capacity(resamples + 1);
    figures.push(statistic(&draw));
    for _ in 0..resamples {
        draw.fill_with(|| rng.gen_range(0..len));
        figures.push(statistic(&draw));
    }
    check_finite(METRIC, "statistic", &figures)?;
    let estimate = figures[0];
    let drawn = &mut figures[1..];
    drawn.sort_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    let at = |share| quantile(drawn, share).unwrap_or(f64::NAN);
    Ok(Interval { estimate, low: at(tail), high: at(1.0 - tail), level })
}

/// The percentile bootstrap interval of a mean.
pub fn bootstrap_mean(values: &[f64], level: f64, resamples: usize, rng: &mut Rng) -> Result<Interval, MetricError> {
    check_finite("bootstrap", "values", values)?;
    bootstrap_interval(values.len(), level, resamples, rng, |draw| {
        draw.iter().map(|&i| values[i]).sum::<f64>() / draw.len() as f64
    })
}

/// The percentile bootstrap interval of the mean of `left[i] − right[i]`: two methods on the same items, or on the same
/// replicates. An interval that excludes 0 shows that the methods differ.
pub fn paired_bootstrap(
    left: &[f64],
    right: &[f64],
    level: f64,
    resamples: usize,
    rng: &mut Rng,
) -> Result<Interval, MetricError> {
    const METRIC: &str = "paired_bootstrap";
    check_lengths(METRIC, ("left", left.len()), ("right", right.len()), 1)?;
    check_finite(METRIC, "left", left)?;
    check_finite(METRIC, "right", right)?;
    let differences: Vec<f64> = left.iter().zip(right).map(|(l, r)| l - r).collect();
    bootstrap_mean(&differences, level, resamples, rng)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use landmark_core::stream::stream;

    #[test]
    fn sd_has_the_divisor_n_minus_one_and_none_for_one_value() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!(summary.mean, 5.0);
        // Σ(v − 5)² = 32; one rounding of the root
        assert!((summary.sd.unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-15);
        assert_eq!(Summary::of(&[3.0]).unwrap().sd, None);
        assert!(Summary::of(&[]).is_err());
    }

    #[test]
    fn the_interval_of_a_normal_mean_matches_theory() {
        // 400 values with sd 1 (two-point, ±1): theory gives ±1.96/20 = ±0.098
        let values: Vec<f64> = (0..400).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let interval = bootstrap_mean(&values, 0.95, 4000, &mut stream(1, "test", "bootstrap", 0)).unwrap();
        // the quantiles of 4,000 resamples have a standard error of about 0.0025; 5 of those
        assert!((interval.low + 0.098).abs() < 0.0125, "{interval:?}");
        assert!((interval.high - 0.098).abs() < 0.0125, "{interval:?}");
        assert_eq!(interval.estimate, 0.0);
    }

    #[test]
    fn nan_and_a_silly_level_are_refused() {
        let rng = &mut stream(1, "test", "refused", 0);
        let error = bootstrap_mean(&[0.0, f64::NAN], 0.9, 10, rng).unwrap_err();
        assert_eq!(error.to_string(), "`bootstrap`: `values[1]` is NaN, but must be finite");
        let error = bootstrap_mean(&[0.0], 1.0, 10, rng).unwrap_err();
        assert_eq!(error.to_string(), "`bootstrap`: `level` is 1, but must be in (0, 1)");
    }
}
