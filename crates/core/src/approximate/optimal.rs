//! The best rank-k approximation: K̃ = V_k diag(w_k) V_kᵀ over the k eigenvalues of largest |w|.
//!
//! Eckart–Young–Mirsky: no matrix of rank k is nearer in Frobenius or spectral norm. The cap that the sublinear methods are
//! measured against, not one of them. It reads all of K, but K̃ holds only what rank k can: `known: landmarks` is not applied.
//!
//! Cost: n² entries (n(n+1)/2 evaluations); 9n³ flops; 24n² bytes.

use ndarray::Array1;

use super::core_weights::{CoreWeights, condition, count_negative, pseudo_inverse};
use super::{Approximate, ApproximateError, ColumnReader, FitReport};
use crate::approximation::Approximation;
use crate::entries::EntryPlan;
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::oracle::block_of;
use crate::stream::Rng;

/// The best approximation of a rank.
#[derive(Debug, Clone, Copy, Default)]
pub struct Optimal;

impl Approximate for Optimal {
    fn id(&self) -> &'static str {
        "optimal"
    }

    fn landmarks_needed(&self, _: usize, _: usize) -> usize {
        0
    }

    fn entries(&self, n: usize, _: &Landmarks, _: usize) -> EntryPlan {
        EntryPlan::all(n)
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, _: &mut Rng) -> Result<Approximation, ApproximateError> {
        let rank = columns.rank();
        let all = columns.columns();
        let matrix = block_of(columns.oracle(), all, all)?;
        let eigen = linalg::eigh(matrix.view())?;
        let kept = keep_largest(&eigen.values, rank);
        // Z = K V_k |1/w_k|^½ = V_k w_k |1/w_k|^½, without rounding the product with K
        let weights = pseudo_inverse(&kept);
        let core = CoreWeights::new(&eigen.vectors, &weights);
        let vectors = CoreWeights::new(&(&eigen.vectors * &kept), &weights).projector;
        let report = FitReport {
            rank,
            lambda_min: Some(eigen.values[0]),
            negative_eigenvalues: Some(count_negative(&eigen.values)),
            condition: condition(&kept),
            dropped: rank - core.rank(),
            ..FitReport::default()
        };
        Ok(Approximation::new(core.into_factors(vectors), all.to_vec(), report))
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

    crate::conformance!(optimal, Optimal);
}
