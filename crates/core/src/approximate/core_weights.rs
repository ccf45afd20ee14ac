//! Cores of the form V diag(g) Vᵀ with W = K[T,T] = V diag(w) Vᵀ: Nyström, SMS-Nyström and shift_ridge differ in g alone.
//!
//! K̃ = C V diag(g) Vᵀ Cᵀ = Z diag(sign g) Zᵀ with Z = C V |g|^½: no square root of a negative number is taken.

use ndarray::{Array1, Array2, Axis};

use crate::approximation::{Factors, Signed};
use crate::linalg::PINV_TOLERANCE;

/// V |g|^½, its columns in the order that [`Signed`] wants.
pub(super) struct CoreWeights {
    /// t × r.
    pub(super) projector: Array2<f64>,
    /// Place of each of its columns in V.
    order: Vec<usize>,
    positive: usize,
    negative: usize,
}

impl CoreWeights {
    /// From V (t × t, by rising w) and g.
    pub(super) fn new(vectors: &Array2<f64>, weights: &Array1<f64>) -> Self {
        let t = weights.len();
        let mut order: Vec<usize> = (0..t).rev().filter(|&k| weights[k] > 0.0).collect();
        let positive = order.len();
        order.extend((0..t).filter(|&k| weights[k] < 0.0));
        let negative = order.len() - positive;
        let roots: Array1<f64> = order.iter().map(|&k| weights[k].abs().sqrt()).collect();
        Self { projector: vectors.select(Axis(1), &order) * &roots, order, positive, negative }
    }

    /// r, the rank of K̃.
    pub(super) fn rank(&self) -> usize {
        self.positive + self.negative
    }

    /// W V |g|^½ = V w |g|^½, from w: the rows of Z that are landmarks', for which no product is needed.
    pub(super) fn corner(&self, values: &Array1<f64>) -> Array2<f64> {
        let values: Array1<f64> = self.order.iter().map(|&k| values[k]).collect();
        &self.projector * &values
    }

    /// With Z, n × r.
    pub(super) fn into_factors(self, vectors: Array2<f64>) -> Factors {
        let Self { projector, positive, negative, .. } = self;
        Factors::Signed(Signed { vectors, positive, negative, projector: Some(projector) })
    }
}

/// 1/w, and 0 where |w| ≤ 1e-10 · max|w|.
pub(super) fn pseudo_inverse(values: &Array1<f64>) -> Array1<f64> {
    let cut = PINV_TOLERANCE * largest(values);
    values.mapv(|w| if w.abs() > cut { w.recip() } else { 0.0 })
}

/// max|w|, 0 for none.
pub(super) fn largest(values: &Array1<f64>) -> f64 {
    values.iter().fold(0.0, |largest, w| largest.max(w.abs()))
}

/// max|w| / min|w| over those not dropped.
pub(super) fn condition(values: &Array1<f64>) -> Option<f64> {
    let cut = PINV_TOLERANCE * largest(values);
    let kept = values.iter().map(|w| w.abs()).filter(|&w| w > cut);
    kept.reduce(f64::min).map(|smallest| largest(values) / smallest)
}

pub(super) fn count_negative(values: &Array1<f64>) -> usize {
    values.iter().filter(|&&w| w < 0.0).count()
}
