//! Scores of which single pairs may fail: what was scored, what failed and why, and what ended the work, each apart.
//!
//! [`Oracle::evaluate`] gives all scores or an error, and a failed pair its stand-in. Whoever keeps scores wants them apart, so that the
//! stand-in may change without a call, and that nothing is lost of a request that ends half-way.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Identity, Oracle, OracleError, Pair, check_pairs};

/// An oracle of which single pairs may fail, for good.
pub trait Fallible: Oracle {
    /// Identity of the scores alone: [`Oracle::identity`] without the stand-in of failed pairs.
    fn identity_of_scores(&self) -> Identity;

    /// Score that a failed pair gets; `None` where it is an error.
    fn stand_in(&self) -> Option<f64>;

    /// Scores what can be scored. `out` is NaN at the places of failed pairs, and at those that were not scored where a pair failed or an error
    /// ended the work.
    fn attempt(&self, pairs: &[Pair], out: &mut [f64]) -> Attempt;
}

/// Outcome of an attempt apart from its scores.
#[derive(Debug, Default)]
pub struct Attempt {
    /// Pairs that cannot be scored.
    pub failed: Vec<FailedPair>,
    /// The end of the work, where it came before all pairs were scored or had failed.
    pub error: Option<OracleError>,
}

/// A pair that cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedPair {
    pub place: usize,
    /// The error message, which names the items.
    pub error: String,
}

/// Error messages about single pairs, recorded while others are still being scored.
#[derive(Debug, Default)]
pub struct PairErrors(Mutex<HashMap<Pair, String>>);

/// An error that was kept as text.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct KeptError(String);

impl Attempt {
    pub fn ended(error: OracleError) -> Self {
        Self { failed: Vec::new(), error: Some(error) }
    }

    /// As [`Oracle::evaluate`] answers it: stand-ins at the failed places, or the first failure as an error.
    ///
    /// # Errors
    /// The end of the work, and a failed pair without a stand-in.
    pub fn settled(self, what: &str, stand_in: Option<f64>, out: &mut [f64]) -> Result<(), OracleError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if let (Some(failed), None) = (self.failed.first(), stand_in) {
            return Err(failed.as_error(what));
        }
        for failed in self.failed {
            out[failed.place] = stand_in.unwrap_or(f64::NAN);
        }
        Ok(())
    }
}

impl FailedPair {
    /// The failure as an error; `what` is what scores.
    pub fn as_error(&self, what: &str) -> OracleError {
        OracleError::Failed { what: what.to_owned(), source: Box::new(KeptError(self.error.clone())) }
    }
}

impl PairErrors {
    /// Notes why a pair cannot be scored.
    pub fn note(&self, pair: Pair, error: String) {
        self.lock().insert(pair, error);
    }

    pub fn take(&self, pairs: &[Pair], scores: &[f64]) -> Vec<FailedPair> {
        let mut noted = self.lock();
        if noted.is_empty() {
            return Vec::new();
        }
        let unscored = pairs.iter().zip(scores).enumerate().filter(|(_, (_, score))| score.is_nan());
        let failed: Vec<FailedPair> = unscored
            .filter_map(|(place, (pair, _))| Some(FailedPair { place, error: noted.get(pair)?.clone() }))
            .collect();
        failed.iter().for_each(|failed| drop(noted.remove(&pairs[failed.place])));
        failed
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Pair, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt of an oracle over `len` items at pairs of which those of a known diagonal are answered here, and all others by `score`.
pub fn attempt_off_diagonal(
    (len, diagonal): (usize, Option<f64>),
    pairs: &[Pair],
    out: &mut [f64],
    score: impl FnOnce(&[Pair], &mut [f64]) -> Attempt,
) -> Attempt {
    if let Err(error) = check_pairs(len, pairs, out.len()) {
        return Attempt::ended(error);
    }
    out.fill(f64::NAN);
    let Some(diagonal) = diagonal.filter(|_| pairs.iter().any(|(i, j)| i == j)) else { return score(pairs, out) };
    let places: Vec<usize> = (0..pairs.len()).filter(|&place| pairs[place].0 != pairs[place].1).collect();
    let asked: Vec<Pair> = places.iter().map(|&place| pairs[place]).collect();
    let mut scores = vec![f64::NAN; asked.len()];
    let attempt = score(&asked, &mut scores);
    out.fill(diagonal);
    places.iter().zip(scores).for_each(|(&place, score)| out[place] = score);
    gathered(attempt, |place| places[place])
}

/// An attempt at pairs made from those of another list: failures at the places `place_of` in that list, each place once.
pub(super) fn gathered(attempt: Attempt, place_of: impl Fn(usize) -> usize) -> Attempt {
    let mut failed: Vec<FailedPair> =
        attempt.failed.into_iter().map(|failed| FailedPair { place: place_of(failed.place), ..failed }).collect();
    failed.sort_by_key(|failed| failed.place);
    failed.dedup_by_key(|failed| failed.place);
    Attempt { failed, error: attempt.error }
}
