//! Gain of one machine over another on the same test items, averaged over domains, with a paired bootstrap interval.
//!
//! Of a test item only the difference matters: +1 where the one machine is right and the other wrong, −1 for the reverse, else 0. So a resample of n
//! items needs the counts of won and lost items alone. A draw takes one replicate of each domain and resamples its items: replicates share
//! their test items, so more of them do not narrow the interval, and what differs between them widens it. Cost: 2,000 times the test items.

use landmark_core::stream::Rng;
use rand::Rng as _;

const RESAMPLES: usize = 2000;

/// One replicate in one domain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    wins: f64,
    losses: f64,
    items: usize,
}

impl Outcome {
    /// Items won and lost out of `items`.
    pub(super) fn new(wins: f64, losses: f64, items: usize) -> Self {
        Self { wins, losses, items }
    }

    fn gain(&self) -> f64 {
        (self.wins - self.losses) / self.items as f64
    }

    /// The gain on as many items drawn with repetition.
    fn resampled(&self, rng: &mut Rng) -> f64 {
        let n = self.items as f64;
        let mut sum = 0.0;
        for _ in 0..self.items {
            let place = rng.r#gen::<f64>() * n;
            if place < self.wins {
                sum += 1.0;
            } else if place < self.wins + self.losses {
                sum -= 1.0;
            }
        }
        sum / n
    }
}

/// The mean over domains of the mean over replicates, and its 95 % percentile interval. `outcomes`: domains, then replicates.
pub(super) fn paired_bootstrap(outcomes: &[Vec<Outcome>], rng: &mut Rng) -> (f64, f64, f64) {
    let mean = |of: &mut dyn FnMut(&[Outcome]) -> f64| {
        outcomes.iter().map(|domain| of(domain)).sum::<f64>() / outcomes.len() as f64
    };
    let gain = mean(&mut |replicates| replicates.iter().map(Outcome::gain).sum::<f64>() / replicates.len() as f64);
    let mut draw = |replicates: &[Outcome]| {
        let outcome = replicates[rng.gen_range(0..replicates.len())];
        outcome.resampled(rng)
    };
    let mut draws: Vec<f64> = (0..RESAMPLES).map(|_| mean(&mut draw)).collect();
    draws.sort_by(f64::total_cmp);
    let cut = RESAMPLES / 40; // 2.5 % off both ends
    (gain, draws[cut], draws[RESAMPLES - 1 - cut])
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;

    use super::*;

    #[test]
    fn the_interval_of_one_domain_is_that_of_the_sign_counts() {
        // 30 won and 10 lost of 400: gain 0.05, variance (0.1 − 0.0025)/400, so ±1.96·0.0156 = ±0.0306
        let outcomes = vec![vec![Outcome::new(30.0, 10.0, 400)]];
        let (gain, low, high) = paired_bootstrap(&outcomes, &mut stream(1, "test", "gain", 0));
        assert!((gain - 0.05).abs() < 1e-15);
        // the quantiles of 2,000 resamples have a standard error of about 0.0009: five of those
        assert!((low - 0.0194).abs() < 0.0045 && (high - 0.0806).abs() < 0.0045, "{low} {high}");
    }

    #[test]
    fn domains_count_alike_and_replicates_do_not_multiply_the_items() {
        let large = Outcome::new(0.0, 0.0, 900);
        let small = Outcome::new(20.0, 0.0, 100);
        let (gain, low, high) = paired_bootstrap(&[vec![large], vec![small]], &mut stream(1, "test", "gain", 1));
        assert!((gain - 0.1).abs() < 1e-15 && low > 0.05 && high < 0.15);
        let width = |replicates: Vec<Outcome>| {
            let (_, low, high) = paired_bootstrap(&[replicates], &mut stream(1, "test", "gain", 2));
            high - low
        };
        let one = width(vec![small]);
        assert!((width(vec![small; 5]) - one).abs() < 0.2 * one); // other draws of the same distribution
        assert!(width(vec![small, Outcome::new(0.0, 20.0, 100)]) > 2.0 * one);
    }
}
