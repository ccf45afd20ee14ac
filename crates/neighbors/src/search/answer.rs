//! Answer to a query: an estimate for every item, exact where a call was made.

use super::{SearchError, best_unknown};
use landmark_core::oracle::{OracleError, check_finite};

/// Scores of one query with all items, some known and the others estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// A score for every item, length n: exact where known.
    pub scores: Vec<f64>,
    /// True where the score is exact, length n.
    pub is_known: Vec<bool>,
    /// Items that were asked for, round by round.
    pub rounds: Vec<Vec<usize>>,
    /// False where the scores of items that were not asked for are on another scale, as a proxy's are: those come last.
    pub is_comparable: bool,
    /// Rounds whose kernel was not positive definite, so that the scores taught nothing about other items.
    pub unkriged_rounds: usize,
}

/// An item of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub item: usize,
    pub score: f64,
    /// True where that was evaluated, false where it is an estimate.
    pub is_exact: bool,
}

impl Answer {
    /// Calls made.
    pub fn calls(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    /// The k best items, best first, ties by number; all where there are fewer.
    pub fn top(&self, k: usize) -> Vec<Hit> {
        let hit = |&item: &usize| Hit { item, score: self.scores[item], is_exact: self.is_known[item] };
        if self.is_comparable {
            return best_unknown(&self.scores, &vec![false; self.scores.len()], k).iter().map(hit).collect();
        }
        let unknown: Vec<bool> = self.is_known.iter().map(|known| !known).collect();
        let mut items = best_unknown(&self.scores, &unknown, k);
        items.extend(best_unknown(&self.scores, &self.is_known, k - items.len()));
        items.iter().map(hit).collect()
    }
}

/// Calls of one query as they are made: what is known, and in which order it came.
pub(super) struct Asking<S> {
    score: S,
    pub items: Vec<usize>,
    pub values: Vec<f64>,
    pub is_known: Vec<bool>,
    rounds: Vec<Vec<usize>>,
}

impl<S: FnMut(&[usize]) -> Result<Vec<f64>, OracleError>> Asking<S> {
    pub(super) fn new(n: usize, score: S) -> Self {
        Self { score, items: Vec::new(), values: Vec::new(), is_known: vec![false; n], rounds: Vec::new() }
    }

    /// Takes scores that were evaluated before, of distinct items.
    pub(super) fn know(&mut self, known: &[(usize, f64)]) -> Result<(), SearchError> {
        for &(item, value) in known {
            if !value.is_finite() {
                return Err(SearchError::NotFinite { what: "a known score of the query", row: 0, column: item, value });
            }
            self.is_known[item] = true;
            self.items.push(item);
            self.values.push(value);
        }
        Ok(())
    }

    /// Asks for items that are not known yet, as one round.
    pub(super) fn ask(&mut self, items: Vec<usize>) -> Result<(), SearchError> {
        if items.is_empty() {
            return Ok(());
        }
        let scores = (self.score)(&items)?;
        if scores.len() != items.len() {
            let error = OracleError::ShapeMismatch { op: "search", pairs: items.len(), room: scores.len() };
            return Err(error.into());
        }
        // a query has no number: the item stands for both
        let pairs: Vec<_> = items.iter().map(|&item| (item, item)).collect();
        check_finite(&pairs, &scores).map_err(|error| match error {
            OracleError::NotFinite { i, value, .. } => {
                SearchError::NotFinite { what: "the score of the query", row: 0, column: i, value }
            }
            other => other.into(),
        })?;
        items.iter().for_each(|&item| self.is_known[item] = true);
        self.items.extend(&items);
        self.values.extend(scores);
        self.rounds.push(items);
        Ok(())
    }

    /// The answer: these estimates, and what is known in their place.
    pub(super) fn finish(self, mut estimates: Vec<f64>, is_comparable: bool, unkriged_rounds: usize) -> Answer {
        self.items.iter().zip(&self.values).for_each(|(&item, &value)| estimates[item] = value);
        Answer { scores: estimates, is_known: self.is_known, rounds: self.rounds, is_comparable, unkriged_rounds }
    }
}
