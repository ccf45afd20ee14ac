//! CUR methods, the part they share: K̃ = L Rᵀ with L = K[:,S1] and R = K[:,S2] Uᵀ, from the columns S1 ∪ S2.

use std::collections::HashMap;

use ndarray::{Array2, ArrayView2, Axis};

use super::column_reader::Map;
use super::{ApproximateError, ColumnReader, FitReport};
use crate::approximation::{Approximation, Factors, General};
use crate::landmarks::Landmarks;
use crate::linalg::{self, PINV_TOLERANCE};

/// T = S1 followed by what S2 adds, and where both stand in it.
pub(super) struct TwoSets {
    /// T, distinct.
    pub(super) union: Vec<usize>,
    /// Positions of S1 in T: 0..s1.
    pub(super) first: Vec<usize>,
    /// Positions of S2 in T.
    pub(super) second: Vec<usize>,
}

impl TwoSets {
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

    /// S1 from the nested order, S2 from the independent one.
    pub(super) fn independent(landmarks: &Landmarks, rank: usize) -> Self {
        Self::new(&landmarks.order()[..rank], &landmarks.independent()[..rank])
    }

    /// K̃ = K[:,S1] (K[S2,S1])⁺ K[S2,:].
    pub(super) fn skeleton(
        self,
        columns: &mut ColumnReader<'_>,
        rank: usize,
    ) -> Result<Approximation, ApproximateError> {
        let block = columns.corner()?.select(Axis(0), &self.second).select(Axis(1), &self.first);
        let middle = linalg::pinv(block.view(), PINV_TOLERANCE)?;
        let projector = self.right_projector(middle.inverse.view());
        let [left, right] = columns.finish([Map::Columns(&self.first), Map::Product(projector.view())])?;
        let (condition, dropped) = (Some(middle.condition), middle.dropped);
        Ok(self.approximation(left, right, projector, FitReport { rank, condition, dropped, ..FitReport::default() }))
    }

    /// t × s1: picks the columns S1 out of K[:,T].
    fn left_projector(&self) -> Array2<f64> {
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
    pub(super) fn approximation(
        self,
        left: Array2<f64>,
        right: Array2<f64>,
        right_projector: Array2<f64>,
        report: FitReport,
    ) -> Approximation {
        let factors = Factors::General(General { left, right, left_projector: self.left_projector(), right_projector });
        Approximation::new(factors, self.union, report)
    }
}
