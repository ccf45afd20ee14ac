//! Two rounds: columns of uniform landmarks show which rows they explain badly, and those are drawn next.
//!
//! ```text
//! ℓ_i = c_iᵀ (CᵀC + λI)⁻¹ c_i,   C = K[:,S₁],   λ = Σ_{j>k} σ_j(C)² / k,   k = |S₁| / 2
//! ```
//! Ridge leverage scores (Alaoui & Mahoney 2015; the λ of Cohen, Musco & Musco 2017). CᵀC is positive semi-definite
//! whatever K is. The second round draws without replacement with probability ∝ ℓ (Efraimidis & Spirakis 2006).
//! Cost: the columns of S₁, O(n s₁²) flops.

use ndarray::{Array1, Axis};
use rand::Rng as _;

use super::LandmarkError;
use crate::linalg;
use crate::oracle::{Oracle, block_of};
use crate::stream::Rng;

/// Appends landmarks by leverage until there are `size`; `first` stays in front.
pub(super) fn extend(
    oracle: &dyn Oracle,
    first: Vec<usize>,
    size: usize,
    rng: &mut Rng,
) -> Result<Vec<usize>, LandmarkError> {
    let scores = scores(oracle, &first)?;
    let mut is_chosen = vec![false; oracle.len()];
    first.iter().for_each(|&i| is_chosen[i] = true);
    // an exponential clock with rate ℓ each: the first to ring are the sample
    let mut clocks: Vec<(f64, usize)> = scores
        .iter()
        .enumerate()
        .map(|(i, &score)| (-rng.gen_range(f64::MIN_POSITIVE..1.0).ln() / score.max(f64::MIN_POSITIVE), i))
        .filter(|&(_, i)| !is_chosen[i])
        .collect();
    clocks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let second = clocks.into_iter().map(|(_, i)| i).take(size - first.len());
    Ok(first.iter().copied().chain(second).collect())
}

/// ℓ of every item, between 0 and 1.
fn scores(oracle: &dyn Oracle, landmarks: &[usize]) -> Result<Array1<f64>, LandmarkError> {
    let all: Vec<usize> = (0..oracle.len()).collect();
    let columns = block_of(oracle, &all, landmarks)?;
    let eigen = linalg::eigh(linalg::product(columns.t(), columns.view()).view())?;
    let k = (landmarks.len() / 2).max(1);
    // eigenvalues ascend: all but the k largest are the tail
    let tail: f64 = eigen.values.iter().take(landmarks.len() - k).map(|w| w.max(0.0)).sum();
    let largest = eigen.values.iter().fold(0.0_f64, |largest, w| largest.max(*w));
    let ridge = (tail / k as f64).max(linalg::PINV_TOLERANCE * largest).max(f64::MIN_POSITIVE);
    let weights = eigen.values.mapv(|w| (w.max(0.0) + ridge).recip());
    let rotated = linalg::product(columns.view(), eigen.vectors.view());
    Ok(rotated.map_axis(Axis(1), |row| row.iter().zip(&weights).map(|(x, weight)| x * x * weight).sum()))
}
