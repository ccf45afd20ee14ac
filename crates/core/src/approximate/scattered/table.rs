//! Predictions of evaluated pairs by fits that had not seen them.

use crate::approximation::Approximation;
use crate::oracle::{OracleError, Pair};

/// Rows handed to one task: fixed, so that sums are cut alike whatever the number of threads.
pub(crate) const ROWS_PER_TASK: usize = 1 << 14;

/// Pairs with their prediction and their score, one a row. 24 bytes each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pairs: Vec<(u32, u32)>,
    /// m.
    pub(crate) predicted: Vec<f64>,
    /// K.
    pub(crate) scores: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk<'a> {
    pairs: &'a [(u32, u32)],
    pub(crate) predicted: &'a [f64],
    pub(crate) scores: &'a [f64],
}

impl Table {
    pub(crate) fn push(&mut self, (i, j): Pair, predicted: f64, score: f64) {
        let item = |i: usize| u32::try_from(i).expect("fewer than 2^32 items");
        self.pairs.push((item(i), item(j)));
        self.predicted.push(predicted);
        self.scores.push(score);
    }

    /// Adds pairs as `model` predicts them.
    pub(crate) fn extend(&mut self, model: &Approximation, pairs: &[Pair], scores: &[f64]) -> Result<(), OracleError> {
        let mut predicted = vec![0.0; pairs.len()];
        model.pairs(pairs, &mut predicted)?;
        pairs.iter().zip(predicted).zip(scores).for_each(|((&pair, m), &score)| self.push(pair, m, score));
        Ok(())
    }

    pub(crate) fn with_predicted(&self, predicted: Vec<f64>) -> Self {
        Self { pairs: self.pairs.clone(), predicted, scores: self.scores.clone() }
    }

    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    pub(crate) fn chunks(&self) -> Vec<Chunk<'_>> {
        let parts = self.predicted.chunks(ROWS_PER_TASK).zip(self.scores.chunks(ROWS_PER_TASK));
        let chunk = |(pairs, (predicted, scores))| Chunk { pairs, predicted, scores };
        self.pairs.chunks(ROWS_PER_TASK).zip(parts).map(chunk).collect()
    }
}

impl Chunk<'_> {
    pub(crate) fn pairs(&self) -> Vec<Pair> {
        self.pairs.iter().map(|&(i, j)| (i as usize, j as usize)).collect()
    }

    /// K − m, row by row.
    pub(crate) fn residuals(&self) -> impl Iterator<Item = f64> + '_ {
        self.scores.iter().zip(self.predicted).map(|(score, predicted)| score - predicted)
    }
}
