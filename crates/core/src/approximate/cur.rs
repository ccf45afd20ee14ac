//! What the CUR methods share: K̃ = L Rᵀ with L = K[:,S1] and R = K[:,S2] Uᵀ, from one purchase of the columns S1 ∪ S2.

use std::collections::HashMap;

use ndarray::{Array2, ArrayView2};

use crate::approximation::General;

/// T = S1 followed by what S2 adds, and where both stand in it.
pub(super) struct Columns {
    /// T, distinct.
    pub(super) union: Vec<usize>,
    /// Positions of S1 in T: 0..s1.
    pub(super) first: Vec<usize>,
    /// Positions of S2 in T.
    pub(super) second: Vec<usize>,
}

impl Columns {
    pub(super) fn new(first: &[usize], second: &[usize]) -> Self {
        let mut union = first.to_vec();
        let mut position: HashMap<usize, usize> = first.iter().enumerate().map(|(k, &item)| (item, k)).collect();
        let second = second.iter().map(|&item| {
            *position.entry(item).or_insert_with(|| {
                union.push(item);
                union.len() - 1
            })
        });
        let second = second.collect();
        Self { first: (0..first.len()).collect(), second, union }
    }

    /// t × s1: picks the columns S1 out of K[:,T].
    pub(super) fn left_projector(&self) -> Array2<f64> {
        let mut projector = Array2::zeros((self.union.len(), self.first.len()));
        projector.diag_mut().fill(1.0);
        projector
    }

    /// t × s1: R = K[:,T] · projector, from U (s1 × s2).
    pub(super) fn right_projector(&self, middle: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut projector = Array2::zeros((self.union.len(), middle.nrows()));
        for (&position, column) in self.second.iter().zip(middle.columns()) {
            projector.row_mut(position).assign(&column);
        }
        projector
    }

    /// L Rᵀ with its projectors.
    pub(super) fn factors(&self, left: Array2<f64>, right: Array2<f64>, right_projector: Array2<f64>) -> General {
        General { left, right, left_projector: self.left_projector(), right_projector }
    }
}
