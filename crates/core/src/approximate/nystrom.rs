//! Classic Nyström: K̃ = C W⁺ Cᵀ with C = K[:,S], W = K[S,S].
//!
//! Williams & Seeger 2001; the baseline of the SMS-Nyström paper, §2. Exact where rank K = rank W; on an indefinite matrix
//! W has eigenvalues near zero and the error explodes, which is why the other methods exist.
//!
//! Cost: n·s entries; ≈ 9s³ + 2ns² flops; 8ns bytes.

use std::time::Instant;

use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};

use super::purchase::{Map, Purchase, require_symmetric, with_known};
use super::{Approximate, ApproximateError, FitReport, check_rank};
use crate::approximation::{Approximation, Factors, Known, Signed, Split, split};
use crate::entries::Plan;
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::oracle::{Oracle, OracleShape};
use crate::stream::Rng;

/// Nyström has no parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NystromParams {}

/// The checked method.
#[derive(Debug, Clone, Copy)]
pub struct Nystrom {
    _checked: (),
}

impl NystromParams {
    /// Nothing can be wrong.
    ///
    /// # Errors
    /// None.
    pub fn check(self) -> Result<Nystrom, ApproximateError> {
        Ok(Nystrom { _checked: () })
    }
}

impl Approximate for Nystrom {
    fn id(&self) -> &'static str {
        "nystrom"
    }

    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<Plan, ApproximateError> {
        require_symmetric(self.id(), shape.symmetry)?;
        check_rank(self.id(), landmarks, rank, shape.len, rank)?;
        Ok(Plan::columns(&landmarks.order()[..rank]))
    }

    fn fit(
        &self,
        oracle: &dyn Oracle,
        landmarks: &Landmarks,
        rank: usize,
        known: Known,
        _rng: &mut Rng,
    ) -> Result<Approximation, ApproximateError> {
        let start = Instant::now();
        self.plan(OracleShape::of(oracle), landmarks, rank)?;
        let columns = &landmarks.order()[..rank];
        let mut purchase = Purchase::new(oracle, columns);
        let eigen = linalg::eigh(purchase.corner()?.view())?;
        let negative = eigen.values.iter().filter(|&&w| w < 0.0).count();
        let split = split(eigen);
        let weights = split.values.mapv(f64::recip);
        let report = FitReport {
            method: self.id().to_owned(),
            rank,
            negative_eigenvalues: Some(negative),
            condition: condition(&split.values),
            dropped: rank - split.values.len(),
            ..FitReport::default()
        };
        let (projector, positive) = signed_projector(&split, &weights);
        let mut bought = purchase.finish(&[Map::Product(projector.view())], known.landmarks)?;
        let vectors = bought.factors.remove(0);
        let negative = split.values.len() - positive;
        let factors =
            Factors::Signed(Signed { vectors, positive, negative, projector: Some(projector), psd_scale: None });
        let report = FitReport { seconds: start.elapsed().as_secs_f64(), ..report };
        with_known(Approximation::new(factors, columns.to_vec(), report), oracle, known, bought.columns)
    }

    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        columns.clamp(1, n.max(1))
    }
}

/// V |g|^½ for a core V diag(g) Vᵀ whose positive weights come first, and how many those are.
pub(super) fn signed_projector(split: &Split, weights: &Array1<f64>) -> (Array2<f64>, usize) {
    (&split.vectors * &weights.mapv(|g| g.abs().sqrt()), split.positive)
}

/// max|w| / min|w|.
pub(super) fn condition(values: &Array1<f64>) -> Option<f64> {
    let sizes = values.iter().map(|w| w.abs());
    let largest = sizes.clone().fold(f64::NEG_INFINITY, f64::max);
    let smallest = sizes.fold(f64::INFINITY, f64::min);
    (!values.is_empty()).then_some(largest / smallest)
}
