//! Predicting held-out landmark columns, for all of the grid at once.

use ndarray::{Array1, Array2, Axis, concatenate};

use crate::approximate::core_weights::largest;
use crate::balance::balancing;
use crate::linalg::{self, LinalgError, PINV_TOLERANCE};

/// One (a, ρ) to be judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Candidate {
    /// K̃ = 0.
    Zero,
    /// Multiples of max(0, −λmin) and max|w| of the current block.
    Relative {
        shift: f64,
        /// Of ρ.
        ridge: f64,
    },
    /// In the units of K.
    Fixed {
        shift: f64,
        /// ρ.
        ridge: f64,
    },
}

/// Units of (a, ρ).
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// max(0, −λmin).
    shift: f64,
    /// max|w|.
    ridge: f64,
}

impl Scale {
    pub(super) fn of(values: &Array1<f64>) -> Self {
        let ridge = largest(values);
        let shift = values.iter().fold(0.0_f64, |shift, w| shift.max(-w));
        // a singular PSD block has eigenvalues of −1e-16 that mean nothing
        Self { shift: if shift > PINV_TOLERANCE * ridge { shift } else { 0.0 }, ridge }
    }
}

/// g(w), or 0 where its pole is hit; at least 0 where clipped.
pub(super) fn weight(w: f64, shift: f64, ridge: f64, cut: f64, clip: bool) -> f64 {
    let shifted = w + shift;
    if (ridge == 0.0 && shifted.abs() <= cut) || (clip && shifted <= 0.0) {
        return 0.0;
    }
    let scale = balancing(shifted.abs().max(ridge));
    let (shifted, ridge) = (scale * shifted, scale * ridge);
    scale * (shifted / (shifted * shifted + ridge * ridge))
}

impl Candidate {
    pub(super) fn in_units_of(self, scale: Scale) -> (f64, f64) {
        match self {
            Self::Zero => (0.0, 0.0),
            Self::Relative { shift, ridge } => (shift * scale.shift, ridge * scale.ridge),
            Self::Fixed { shift, ridge } => (shift, ridge),
        }
    }

    pub(super) fn weights(self, values: &Array1<f64>, scale: Scale, clip: bool) -> Array1<f64> {
        if matches!(self, Self::Zero) {
            return Array1::zeros(values.len());
        }
        let (shift, ridge) = self.in_units_of(scale);
        values.mapv(|w| weight(w, shift, ridge, PINV_TOLERANCE * scale.ridge, clip))
    }
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
        let of_kept = |matrix: &Array2<f64>| matrix.select(Axis(1), kept);
        Self::predicting(
            &of_kept(&corner.select(Axis(0), kept)),
            &of_kept(&rows),
            &of_kept(&below),
            &rows.select(Axis(1), held),
        )
    }

    /// `y` = K[rows, held], predicted from `corner` = K[T,T], `rows` = K[rows, T] and `below` = K[held, T].
    pub(super) fn predicting(
        corner: &Array2<f64>,
        rows: &Array2<f64>,
        below: &Array2<f64>,
        y: &Array2<f64>,
    ) -> Result<Self, LinalgError> {
        let eigen = linalg::eigh(corner.view())?;
        let x = linalg::product(rows.view(), eigen.vectors.view());
        let b = linalg::product(below.view(), eigen.vectors.view());
        let yb = linalg::product(y.view(), b.view());
        Ok(Self {
            scale: Scale::of(&eigen.values),
            values: eigen.values,
            linear: (&x * &yb).sum_axis(Axis(0)),
            quadratic: linalg::gram(x.view()) * linalg::gram(b.view()),
            constant: y.iter().map(|value| value * value).sum(),
        })
    }

    /// ‖Y − X diag(g) Bᵀ‖² of each candidate: one product with G for all of them.
    pub(super) fn squared_errors(&self, candidates: &[Candidate], clip: bool) -> Array1<f64> {
        let mut weights = Array2::zeros((candidates.len(), self.values.len()));
        for (&candidate, mut g) in candidates.iter().zip(weights.rows_mut()) {
            g.assign(&candidate.weights(&self.values, self.scale, clip));
        }
        let bent = linalg::product(weights.view(), self.quadratic.view());
        let form = (&weights * &(bent - 2.0 * &self.linear)).sum_axis(Axis(1));
        // the form cancels where the prediction is exact: below zero is rounding
        (form + self.constant).mapv_into(|error| error.max(0.0))
    }
}

/// The candidate of least squared error over all folds, the first of equals, and its relative error.
pub(super) fn choose(folds: &[Fold], candidates: &[Candidate], clip: bool) -> (Candidate, f64) {
    let constant: f64 = folds.iter().map(|fold| fold.constant).sum();
    let errors = folds.iter().map(|fold| fold.squared_errors(candidates, clip));
    let errors = errors.fold(Array1::zeros(candidates.len()), |sum, errors| sum + errors);
    let mut best = (Candidate::Relative { shift: 0.0, ridge: 0.0 }, f64::INFINITY);
    for (&candidate, &error) in candidates.iter().zip(&errors) {
        if error < best.1 {
            best = (candidate, error);
        }
    }
    let relative = if constant > 0.0 { (best.1 / constant).sqrt() } else { 0.0 };
    (best.0, relative)
}
