//! A budget of b·n calls over a matrix that is there, and the pairs they were spent on.

use landmark_core::entries::EntryPlan;
use landmark_core::oracle::OracleShape;
use ndarray::{Array2, ArrayView2};

use super::places::pairs_in_order;

/// Pairs of a symmetric matrix that were paid for.
pub(super) struct CallBudget<'a> {
    matrix: &'a Array2<f64>,
    shape: OracleShape,
    is_known: Vec<bool>,
    spent: u64,
    limit: u64,
}

impl<'a> CallBudget<'a> {
    /// With `calls` calls an item.
    pub(super) fn new(matrix: &'a Array2<f64>, shape: OracleShape, calls: usize) -> Self {
        let n = matrix.nrows();
        Self { matrix, shape, is_known: vec![false; n * n], spent: 0, limit: (calls * n) as u64 }
    }

    /// Pairs that can still be paid for.
    pub(super) fn left(&self) -> usize {
        // at most the limit, a product of two lengths
        usize::try_from(self.limit - self.spent).unwrap_or(usize::MAX)
    }

    /// Pairs paid for.
    pub(super) fn spent(&self) -> u64 {
        self.spent
    }

    /// True where a pair is known, or is no pair of two items.
    pub(super) fn knows(&self, i: usize, j: usize) -> bool {
        i == j || self.is_known[i * self.matrix.nrows() + j]
    }

    /// The scores of an item that are known, by item.
    pub(super) fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let known = move |&(j, _): &(usize, &f64)| i != j && self.knows(i, j);
        self.matrix.row(i).into_iter().enumerate().filter(known).map(|(j, &score)| (j, score))
    }

    /// Pays for a pair that is not known; false where nothing is left, and the pair stays unknown.
    pub(super) fn evaluate(&mut self, i: usize, j: usize) -> bool {
        if self.spent == self.limit {
            return false;
        }
        let n = self.matrix.nrows();
        (self.is_known[i * n + j], self.is_known[j * n + i]) = (true, true);
        self.spent += 1;
        true
    }

    /// Columns that half of what is left pays for.
    pub(super) fn columns_of_half(&self) -> usize {
        self.affordable_columns(self.left() as u64 / 2)
    }

    /// The largest number of full columns that cost no more than `pairs`; self-scores are paid for where they are not known.
    pub(super) fn affordable_columns(&self, pairs: u64) -> usize {
        let order: Vec<usize> = (0..self.shape.len).collect();
        let price = |s: usize| {
            let one = OracleShape { evaluations_per_pair: 1, ..self.shape };
            EntryPlan::columns(&order[..s]).evaluations(one)
        };
        (0..self.shape.len).take_while(|&s| price(s + 1) <= pairs).count()
    }

    /// Pays for full columns, self-scores included where they are not known; the budget must hold enough.
    pub(super) fn evaluate_columns(&mut self, items: &[usize]) {
        let n = self.matrix.nrows();
        for &l in items {
            for i in (0..n).filter(|&i| i != l) {
                if !self.knows(i, l) {
                    self.evaluate(i, l);
                }
            }
        }
        if !self.shape.diagonal_known() {
            self.spent += (items.len() as u64).min(self.limit - self.spent);
        }
    }

    /// Pays for the `count` unknown pairs that stand highest in a row of `estimate`, whose known entries must be exact where that is wanted.
    pub(super) fn evaluate_highest(&mut self, estimate: ArrayView2<'_, f64>, count: usize) {
        let pairs = pairs_in_order(estimate, |i, j| self.knows(i, j), count.min(self.left()));
        pairs.into_iter().for_each(|(i, j)| {
            self.evaluate(i, j);
        });
    }

    /// Puts the known scores in place of the estimates.
    pub(super) fn reveal(&self, mut estimate: Array2<f64>) -> Array2<f64> {
        let known = estimate.iter_mut().zip(self.matrix).zip(&self.is_known).filter(|(_, known)| **known);
        known.for_each(|((estimate, score), _)| *estimate = *score);
        estimate
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    fn shape(diagonal_known: bool) -> OracleShape {
        OracleShape { known_diagonal: diagonal_known.then_some(0.0), ..OracleShape::symmetric(10) }
    }

    #[test]
    fn columns_cost_what_a_sweep_states() {
        let matrix = Array2::zeros((10, 10));
        for (diagonal_known, price) in [(true, 9 + 8 + 7), (false, 10 + 9 + 8)] {
            let mut budget = CallBudget::new(&matrix, shape(diagonal_known), 4);
            assert_eq!(budget.affordable_columns(price), 3);
            assert_eq!(budget.affordable_columns(price - 1), 2);
            budget.evaluate_columns(&[7, 1, 4]);
            assert_eq!(budget.spent(), price);
            assert!(budget.knows(3, 7) && budget.knows(7, 3) && !budget.knows(3, 2));
        }
    }

    #[test]
    fn a_budget_is_empty_after_its_calls() {
        let matrix = Array2::from_shape_fn((10, 10), |(i, j)| (i * j) as f64);
        let mut budget = CallBudget::new(&matrix, shape(true), 2);
        budget.evaluate_highest(matrix.view(), 1000);
        assert_eq!((budget.spent(), budget.left()), (20, 0));
        assert!(!budget.evaluate(0, 1));
        let revealed = budget.reveal(Array2::from_elem((10, 10), -1.0));
        assert_eq!(revealed.iter().filter(|&&score| score >= 0.0).count(), 40);
    }
}
