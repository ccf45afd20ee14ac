//! Predicting held-out landmark columns, for all of the grid at once.

use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate};

use super::{FixedShiftRidge, Scale};
use crate::linalg::{self, LinalgError};

/// One (a, ρ) to be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Candidate {
    /// K̃ = 0.
    Zero,
    /// Multiples of max(0, −λmin) and max|w| of the block at hand.
    Relative {
        /// Of a.
        shift: f64,
        /// Of ρ.
        ridge: f64,
    },
    /// In the units of K.
    Fixed(FixedShiftRidge),
}

/// One part of the landmarks predicted from the others: ‖Y − X diag(g) Bᵀ‖² as a quadratic form in g.
pub(super) struct Fold {
    values: Array1<f64>,
    scale: Scale,
    /// d, by eigenpair.
    linear: Array1<f64>,
    /// G.
    quadratic: Array2<f64>,
    /// ‖Y‖².
    constant: f64,
}

impl Fold {
    /// `corner` = K[T,T]; `seen` = K[rows, T] for rows outside T; `held` and `kept` partition the positions 0..t.
    pub(super) fn new(
        corner: &Array2<f64>,
        seen: &Array2<f64>,
        held: &[usize],
        kept: &[usize],
    ) -> Result<Self, LinalgError> {
        let below = corner.select(Axis(0), held);
        // the held-out landmarks are rows as well as columns to predict
        let rows = concatenate(Axis(0), &[seen.view(), below.view()]).expect("both have t columns");
        let eigen = linalg::eigh(corner.select(Axis(0), kept).select(Axis(1), kept).view())?;
        let x = linalg::product(rows.select(Axis(1), kept).view(), eigen.vectors.view());
        let b = linalg::product(below.select(Axis(1), kept).view(), eigen.vectors.view());
        let y = rows.select(Axis(1), held);
        let yb = linalg::product(y.view(), b.view());
        Ok(Self {
            scale: Scale::of(&eigen.values),
            values: eigen.values,
            linear: (&x * &yb).sum_axis(Axis(0)),
            quadratic: gram(x.view()) * gram(b.view()),
            constant: y.iter().map(|value| value * value).sum(),
        })
    }

    pub(super) fn squared_error(&self, candidate: Candidate, clip: bool) -> f64 {
        let g = candidate.weights(&self.values, self.scale, clip);
        // the form cancels where the prediction is exact: below zero is rounding
        (self.constant - 2.0 * g.dot(&self.linear) + g.dot(&self.quadratic.dot(&g))).max(0.0)
    }
}

fn gram(matrix: ArrayView2<'_, f64>) -> Array2<f64> {
    linalg::product(matrix.t(), matrix)
}

/// The candidate of least squared error over all folds, the first of equals, and its relative error.
pub(super) fn choose(folds: &[Fold], candidates: &[Candidate], clip: bool) -> (Candidate, f64) {
    let constant: f64 = folds.iter().map(|fold| fold.constant).sum();
    let mut best = (Candidate::Relative { shift: 0.0, ridge: 0.0 }, f64::INFINITY);
    for &candidate in candidates {
        let error: f64 = folds.iter().map(|fold| fold.squared_error(candidate, clip)).sum();
        if error < best.1 {
            best = (candidate, error);
        }
    }
    let relative = if constant > 0.0 { (best.1 / constant).sqrt() } else { 0.0 };
    (best.0, relative)
}
