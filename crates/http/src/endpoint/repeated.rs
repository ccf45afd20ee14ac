//! Variation of a judge's answers to one pair, if `repeats` asks for several.
//!
//! ```text
//! noise        mean over pairs of the variance of the answers to one
//! signal       variance of the mean answers over pairs − noise / repeats
//! reliability  signal / (signal + noise / repeats): share of the variance of a mean that is no noise
//! ```
//!
//! No call beyond those of the scores.

use std::sync::{Mutex, PoisonError};

use crate::moments::Moments;

/// What repeated answers show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repeated {
    pub pairs: u64,
    pub repeats: usize,
    /// Standard deviation of one answer around the mean of its pair.
    pub noise: f64,
    /// Share of the variance of the means that is signal; `None` if all of them are equal.
    pub reliability: Option<f64>,
}

/// Sums over the pairs so far.
#[derive(Debug, Default)]
pub(crate) struct RepeatedAnswers(Mutex<Sums>);

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    repeats: usize,
    within: f64,
    means: Moments,
}

impl RepeatedAnswers {
    /// Takes the answers to one pair in, if there are several.
    pub(crate) fn take(&self, answers: &[f64]) {
        if answers.len() < 2 || answers.iter().any(|answer| !answer.is_finite()) {
            return;
        }
        let count = answers.len() as f64;
        let mean = answers.iter().sum::<f64>() / count;
        let variance = answers.iter().map(|answer| (answer - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sums.repeats = answers.len();
        sums.within += variance;
        sums.means.take(mean);
    }

    /// Of two pairs or more.
    pub(crate) fn measured(&self) -> Option<Repeated> {
        let Sums { repeats, within, means } = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (pairs, of_means) = (means.count, means.variance()?);
        let variance = within / pairs as f64;
        let signal = (of_means - variance / repeats as f64).max(0.0);
        let reliability = (of_means > 0.0).then(|| signal / (signal + variance / repeats as f64));
        Some(Repeated { pairs, repeats, noise: variance.sqrt(), reliability })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use landmark_core::stream::stream;
    use rand::Rng as _;

    #[test]
    fn the_noise_and_the_reliability_of_a_known_judge_are_found() {
        let (answers, mut rng) = (RepeatedAnswers::default(), stream(1, "judge", "noise", 0));
        // uniform on an interval of length l: variance l² / 12
        for _ in 0..20_000 {
            let score: f64 = rng.gen_range(0.0..2.0);
            let three: Vec<f64> = (0..3).map(|_| score + rng.gen_range(-0.5..0.5)).collect();
            answers.take(&three);
        }
        let found = answers.measured().unwrap();
        let (signal, noise): (f64, f64) = (4.0 / 12.0, 1.0 / 12.0);
        assert_eq!((found.pairs, found.repeats), (20_000, 3));
        // four standard deviations of either estimate
        assert!((found.noise - noise.sqrt()).abs() < 0.005, "{found:?}");
        assert!((found.reliability.unwrap() - signal / (signal + noise / 3.0)).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn one_answer_per_pair_shows_no_noise() {
        let answers = RepeatedAnswers::default();
        (0..5).for_each(|score| answers.take(&[f64::from(score)]));
        answers.take(&[1.0, f64::NAN]);
        assert_eq!(answers.measured(), None);
        answers.take(&[1.0, 1.0]);
        answers.take(&[1.0, 1.0]);
        let equal = answers.measured().unwrap();
        assert_eq!((equal.noise, equal.reliability), (0.0, None));
    }
}
