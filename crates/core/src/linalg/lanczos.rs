//! The smallest eigenvalue of a symmetric matrix from mat-vecs alone.
//!
//! Lanczos: K Q_k = Q_k T_k + β_k q_{k+1} e_kᵀ with T_k tridiagonal; the smallest eigenvalue θ of T_k falls towards λmin
//! from above and |β_k · (last entry of its eigenvector)| bounds the distance to an eigenvalue. Every new vector is
//! orthogonalized twice against all earlier ones, so no spurious copies appear. Golub & Van Loan, *Matrix
//! Computations*, §10.1–10.3. Cost: k mat-vecs and 4nk² flops, 8nk bytes, k a few dozen.

use ndarray::{Array1, Array2, s};
use rand::Rng;

use super::{LinalgError, eigh};
use crate::stream::stream;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lanczos {
    /// The smallest Ritz value: λmin ≤ `value` ≤ λmin + `residual` once converged.
    pub value: f64,
    /// Bound on the distance from `value` to an eigenvalue.
    pub residual: f64,
    /// Mat-vecs made.
    pub iterations: usize,
}

/// Ritz values are looked at after this many further steps.
const STEPS_PER_LOOK: usize = 8;

/// λmin of a symmetric n × n matrix given by `matvec(x, out)`, to `tolerance` relative to |λmin|, or to 1e-3 ·
/// `tolerance` · ‖K‖ where λmin is nearer to zero than that. The start vector is always the same.
///
/// # Errors
/// When the tridiagonal eigenproblem fails, which means that the matrix holds NaN.
pub fn smallest_eigenvalue(
    n: usize,
    tolerance: f64,
    mut matvec: impl FnMut(&[f64], &mut [f64]),
) -> Result<Lanczos, LinalgError> {
    if n == 0 {
        return Ok(Lanczos { value: 0.0, residual: 0.0, iterations: 0 });
    }
    let mut basis: Vec<Array1<f64>> = vec![start_vector(n)];
    let (mut alpha, mut beta): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    loop {
        let k = basis.len();
        let mut next = Array1::zeros(n);
        let last = &basis[k - 1];
        matvec(last.as_slice().unwrap_or_default(), next.as_slice_mut().unwrap_or_default());
        alpha.push(last.dot(&next));
        for _ in 0..2 {
            basis.iter().for_each(|q| next.scaled_add(-q.dot(&next), q));
        }
        let norm = next.dot(&next).sqrt();
        beta.push(norm);
        let scale = alpha.iter().chain(&beta).fold(0.0_f64, |scale, value| scale.max(value.abs()));
        // the Krylov space is invariant (or all of R^n): its Ritz values are eigenvalues
        let exhausted = k == n || norm <= f64::EPSILON * scale;
        if exhausted || k.is_multiple_of(STEPS_PER_LOOK) {
            let (value, residual) = smallest_ritz(&alpha, &beta)?;
            let small_enough = tolerance * value.abs().max(1e-3 * scale);
            if exhausted || residual <= small_enough {
                return Ok(Lanczos { value, residual, iterations: k });
            }
        }
        next /= norm;
        basis.push(next);
    }
}

/// A unit vector with no structure that a matrix could be orthogonal to.
fn start_vector(n: usize) -> Array1<f64> {
    let mut rng = stream(0, "", "lanczos start", 0);
    let vector: Array1<f64> = (0..n).map(|_| rng.gen_range(-1.0..1.0)).collect();
    let norm = vector.dot(&vector).sqrt();
    vector / norm
}

fn smallest_ritz(alpha: &[f64], beta: &[f64]) -> Result<(f64, f64), LinalgError> {
    let k = alpha.len();
    let mut tridiagonal = Array2::zeros((k, k));
    tridiagonal.diag_mut().iter_mut().zip(alpha).for_each(|(cell, &value)| *cell = value);
    for (a, &value) in beta.iter().enumerate().take(k - 1) {
        tridiagonal[[a + 1, a]] = value;
        tridiagonal[[a, a + 1]] = value;
    }
    let ritz = eigh(tridiagonal.view())?;
    Ok((ritz.values[0], (beta[k - 1] * ritz.vectors.slice(s![k - 1, 0]).into_scalar()).abs()))
}
