//! The best rank-k approximation: K̃ = V_k diag(w_k) V_kᵀ over the k eigenvalues of largest |w|.
//!
//! Eckart–Young–Mirsky: no matrix of rank k is nearer in Frobenius or spectral norm. The cap that the sublinear methods are
//! measured against, not one of them. It buys all of K, but K̃ says only what rank k can: `known: landmarks` is not applied.
//!
//! Cost: n² entries (n(n+1)/2 evaluations); 9n³ flops; 24n² bytes.

use std::time::Instant;

use ndarray::Array1;
use serde::{Deserialize, Serialize};

use super::core_weights::{CoreWeights, condition, count_negative, pseudo_inverse};
use super::purchase::{buy_block, require_symmetric, with_known};
use super::{Approximate, ApproximateError, FitReport};
use crate::approximation::{Approximation, Known};
use crate::entries::Plan;
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::oracle::{Oracle, OracleShape};
use crate::stream::Rng;

const ID: &str = "optimal";

/// The optimum has no parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OptimalParams {}

/// The checked method.
#[derive(Debug, Clone, Copy)]
pub struct Optimal {
    _checked: (),
}

impl OptimalParams {
    /// The method; nothing can be wrong.
    ///
    /// # Errors
    /// None.
    pub fn check(self) -> Result<Optimal, ApproximateError> {
        Ok(Optimal { _checked: () })
    }
}

impl Approximate for Optimal {
    fn id(&self) -> &'static str {
        ID
    }

    fn landmarks_needed(&self, _: usize, _: usize) -> usize {
        0
    }

    fn plan(&self, shape: OracleShape, _landmarks: &Landmarks, rank: usize) -> Result<Plan, ApproximateError> {
        require_symmetric(ID, shape.symmetry)?;
        if rank == 0 || rank > shape.len {
            return Err(ApproximateError::Rank { rank, len: shape.len });
        }
        let all: Vec<usize> = (0..shape.len).collect();
        Ok(Plan::columns(&all))
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
        let all: Vec<usize> = (0..oracle.len()).collect();
        let matrix = buy_block(oracle, &all, &all)?;
        let eigen = linalg::eigh(matrix.view())?;
        let kept = keep_largest(&eigen.values, rank);
        // Z = K V_k |1/w_k|^½ = V_k w_k |1/w_k|^½, without rounding the product with K
        let weights = pseudo_inverse(&kept);
        let core = CoreWeights::new(&eigen.vectors, &weights, None);
        let vectors = CoreWeights::new(&(&eigen.vectors * &kept), &weights, None).projector;
        let report = FitReport {
            method: ID.to_owned(),
            rank,
            lambda_min: Some(eigen.values[0]),
            negative_eigenvalues: Some(count_negative(&eigen.values)),
            condition: condition(&kept),
            dropped: rank - core.rank(),
            seconds: start.elapsed().as_secs_f64(),
            ..FitReport::default()
        };
        with_known(Approximation::new(core.into_factors(vectors), all, report), oracle, known, None)
    }

    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        columns.clamp(1, n.max(1))
    }
}

/// w with all but the k of largest |w| set to 0.
fn keep_largest(values: &Array1<f64>, k: usize) -> Array1<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    let mut kept = Array1::zeros(values.len());
    order[..k].iter().for_each(|&a| kept[a] = values[a]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::conformance!(optimal, OptimalParams::default().check().unwrap());
}
