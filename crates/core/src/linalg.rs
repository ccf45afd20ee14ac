//! Dense linear algebra in f64: ndarray in, ndarray out. Functions panic when shapes do not fit.
//!
//! The work is done by faer, or with the feature `lapack` by the user's own BLAS and LAPACK; no type of either leaves
//! this module. Results do not depend on the number of threads: work is always cut into the same pieces.

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use crate::balance::balancing_of;

mod cholesky;
#[cfg(any(test, not(feature = "lapack")))]
mod faer_backend;
mod lanczos;
#[cfg(feature = "lapack")]
mod lapack_backend;

mod ridge;

#[cfg(not(feature = "lapack"))]
use faer_backend as backend;
#[cfg(feature = "lapack")]
use lapack_backend as backend;

pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use lanczos::{Lanczos, smallest_eigenvalue};
pub use ridge::RidgeRegression;

/// Relative cut of pseudo-inverses: singular values below this fraction of the largest are dropped.
pub const PINV_TOLERANCE: f64 = 1e-10;

/// A factorization that did not end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{op} of a {rows} × {cols} matrix did not converge; look for extreme values in it")]
pub struct LinalgError {
    pub op: &'static str,
    pub rows: usize,
    pub cols: usize,
}

/// A = V diag(w) Vᵀ of a symmetric n × n matrix.
#[derive(Debug, Clone)]
pub struct Eigh {
    /// w, ascending, length n.
    pub values: Array1<f64>,
    /// V, orthonormal columns, n × n.
    pub vectors: Array2<f64>,
}

/// A = U diag(σ) Vᵀ of an m × n matrix, thin: k = min(m, n).
#[derive(Debug, Clone)]
pub struct Svd {
    /// U, m × k.
    pub left: Array2<f64>,
    /// σ, descending, length k.
    pub values: Array1<f64>,
    /// V (not transposed), n × k.
    pub right: Array2<f64>,
}

/// A pseudo-inverse and what was lost on the way.
#[derive(Debug, Clone)]
pub struct PseudoInverse {
    /// A⁺, n × m.
    pub inverse: Array2<f64>,
    /// Singular values dropped.
    pub dropped: usize,
    /// Largest over smallest singular value kept; 1 when none is.
    pub condition: f64,
}

/// Eigenvalues and eigenvectors of a symmetric matrix; only the lower triangle is read. ≈ 9n³ flops.
///
/// # Errors
/// [`LinalgError`] when the iteration does not converge (a NaN in the input, as a rule).
pub fn eigh(matrix: ArrayView2<'_, f64>) -> Result<Eigh, LinalgError> {
    let (mut eigen, scale) = balanced(matrix, backend::eigh)?;
    eigen.values /= scale;
    Ok(eigen)
}

/// A decomposition of the matrix times a power of two, and that power: 1 unless the entries are so large or small that their squares leave the range
/// of f64.
fn balanced<T>(
    matrix: ArrayView2<'_, f64>,
    decompose: impl FnOnce(ArrayView2<'_, f64>) -> Result<T, LinalgError>,
) -> Result<(T, f64), LinalgError> {
    let scale = balancing_of(&[matrix]);
    let found = if scale == 1.0 { decompose(matrix) } else { decompose((&matrix * scale).view()) };
    Ok((found?, scale))
}

/// The `count` largest eigenvalues of a symmetric n × n matrix, ascending, and their eigenvectors (n × `count`), selected from [`eigh`].
pub fn eigh_largest(matrix: ArrayView2<'_, f64>, count: usize) -> Result<Eigh, LinalgError> {
    assert!(count <= matrix.nrows(), "{count} eigenvalues of a matrix with {} rows", matrix.nrows());
    let Eigh { values, vectors } = eigh(matrix)?;
    let first = values.len() - count;
    Ok(Eigh { values: values.slice(s![first..]).to_owned(), vectors: vectors.slice(s![.., first..]).to_owned() })
}

/// Eigenvalues only, ascending. ≈ 4n³/3 flops.
pub fn eigvalsh(matrix: ArrayView2<'_, f64>) -> Result<Array1<f64>, LinalgError> {
    let (values, scale) = balanced(matrix, backend::eigvalsh)?;
    Ok(values / scale)
}

/// Thin singular value decomposition.
pub fn svd(matrix: ArrayView2<'_, f64>) -> Result<Svd, LinalgError> {
    let (mut found, scale) = balanced(matrix, backend::svd)?;
    found.values /= scale;
    Ok(found)
}

/// The triangle R (k × n, k = min(m, n)) of A = QR.
pub fn qr_triangle(matrix: ArrayView2<'_, f64>) -> Result<Array2<f64>, LinalgError> {
    let (triangle, scale) = balanced(matrix, backend::qr_triangle)?;
    Ok(triangle / scale)
}

/// Thin QR: Q (m × k) with orthonormal columns and R (k × n), k = min(m, n).
pub fn qr(matrix: ArrayView2<'_, f64>) -> Result<(Array2<f64>, Array2<f64>), LinalgError> {
    let ((orthonormal, triangle), scale) = balanced(matrix, backend::qr)?;
    Ok((orthonormal, triangle / scale))
}

/// Moore–Penrose pseudo-inverse by SVD; singular values ≤ `tolerance` · σmax are dropped.
pub fn pinv(matrix: ArrayView2<'_, f64>, tolerance: f64) -> Result<PseudoInverse, LinalgError> {
    let Svd { left, values, mut right } = svd(matrix)?;
    let largest = values.iter().copied().fold(0.0, f64::max);
    let kept = values.iter().filter(|&&value| value > tolerance * largest).count();
    for (mut column, &value) in right.columns_mut().into_iter().zip(&values) {
        if value > tolerance * largest {
            column /= value;
        } else {
            column.fill(0.0);
        }
    }
    let condition = if kept == 0 { 1.0 } else { largest / values[kept - 1] };
    Ok(PseudoInverse { inverse: product(right.view(), left.t()), dropped: values.len() - kept, condition })
}

/// Moore–Penrose pseudo-inverse of a symmetric matrix by its eigendecomposition, less than half the work of [`pinv`];
/// eigenvalues of size ≤ `tolerance` · max|w| are dropped.
pub fn symmetric_pinv(matrix: ArrayView2<'_, f64>, tolerance: f64) -> Result<PseudoInverse, LinalgError> {
    let Eigh { values, vectors } = eigh(matrix)?;
    let largest = values.iter().fold(0.0, |largest: f64, w| largest.max(w.abs()));
    let kept: Vec<usize> = (0..values.len()).filter(|&k| values[k].abs() > tolerance * largest).collect();
    let basis = vectors.select(Axis(1), &kept);
    let inverted: Array1<f64> = kept.iter().map(|&k| values[k].recip()).collect();
    let condition = inverted.iter().fold(1.0, |condition: f64, inverse| condition.max(largest * inverse.abs()));
    let inverse = product((&basis * &inverted).view(), basis.t());
    Ok(PseudoInverse { inverse, dropped: values.len() - kept.len(), condition })
}

/// AB as a new row-major matrix, in parallel. Any strides; nothing is copied.
pub fn product(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut out = Array2::zeros((left.nrows(), right.ncols()));
    product_into(left, right, 1.0, out.view_mut());
    out
}

/// AB in single precision, as [`product`]: about twice as fast. |fl(AB) − AB| ≤ γ |A| |B| with γ = ku / (1 − ku), u = 2⁻²⁴, for k columns of A
/// (Higham 2002, section 3.5), as long as nothing over- or underflows.
pub fn single_product(left: ArrayView2<'_, f32>, right: ArrayView2<'_, f32>) -> Array2<f32> {
    let mut out = Array2::zeros((left.nrows(), right.ncols()));
    backend::product(left, right, 1.0, false, out.view_mut());
    out
}

/// `out` = α·AB, overwriting what was there.
pub fn product_into(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>, alpha: f64, out: ArrayViewMut2<'_, f64>) {
    backend::product(left, right, alpha, false, out);
}

/// `out` += α·AB.
pub fn add_product(left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>, alpha: f64, out: ArrayViewMut2<'_, f64>) {
    backend::product(left, right, alpha, true, out);
}

/// `out` += AᵀA of an m × n matrix A; only the lower triangle of `out` (n × n) is to be read afterwards. m·n² flops. For AAᵀ hand in Aᵀ.
pub fn add_gram(matrix: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
    assert_eq!(out.dim(), (matrix.ncols(), matrix.ncols()), "the Gram matrix of a matrix that does not fit");
    backend::add_gram(matrix, out);
}

/// AᵀA of an m × n matrix, both triangles: half the work of the product.
pub fn gram(matrix: ArrayView2<'_, f64>) -> Array2<f64> {
    let n = matrix.ncols();
    let mut out = Array2::zeros((n, n));
    add_gram(matrix, out.view_mut());
    for i in 0..n {
        for j in i + 1..n {
            out[[i, j]] = out[[j, i]];
        }
    }
    out
}

/// Matrices next to each other: n × r₁, n × r₂, … as one of n × Σr, copied row-major. (`ndarray::concatenate` along the columns is column-major,
/// and a row of that is a cache miss a number.)
pub fn hstack(parts: &[ArrayView2<'_, f64>]) -> Array2<f64> {
    let columns = parts.iter().map(ArrayView2::ncols).sum();
    let mut out = Array2::zeros((parts[0].nrows(), columns));
    let mut first = 0;
    for part in parts {
        out.slice_mut(s![.., first..first + part.ncols()]).assign(part);
        first += part.ncols();
    }
    out
}

/// Rows handed to one task of a mat-vec: fixed, so that sums are cut alike whatever the thread count.
const ROWS_PER_TASK: usize = 256;

/// `out` = A x, rows in parallel.
pub fn apply(matrix: ArrayView2<'_, f64>, x: &[f64], out: &mut [f64]) {
    assert_eq!((matrix.nrows(), matrix.ncols()), (out.len(), x.len()), "mat-vec of a matrix that does not fit");
    let x = ndarray::aview1(x);
    out.par_chunks_mut(ROWS_PER_TASK)
        .zip(matrix.axis_chunks_iter(Axis(0), ROWS_PER_TASK).into_par_iter())
        .for_each(|(out, rows)| out.iter_mut().zip(rows.rows()).for_each(|(out, row)| *out = row.dot(&x)));
}

/// Aᵀ x, rows of A in parallel; partial sums are added in a fixed order.
pub fn apply_transposed(matrix: ArrayView2<'_, f64>, x: &[f64]) -> Array1<f64> {
    assert_eq!(matrix.nrows(), x.len(), "mat-vec of a matrix that does not fit");
    let partial: Vec<Array1<f64>> = matrix
        .axis_chunks_iter(Axis(0), ROWS_PER_TASK)
        .into_par_iter()
        .zip(x.par_chunks(ROWS_PER_TASK))
        .map(|(rows, x)| {
            let mut sum = Array1::zeros(rows.ncols());
            rows.rows().into_iter().zip(x).for_each(|(row, &x)| sum.scaled_add(x, &row));
            sum
        })
        .collect();
    partial.iter().fold(Array1::zeros(matrix.ncols()), |sum, part| sum + part)
}

/// ‖A‖₂, the largest singular value.
pub fn spectral_norm(matrix: ArrayView2<'_, f64>) -> Result<f64, LinalgError> {
    let (values, scale) = balanced(matrix, backend::singular_values)?;
    Ok(values.iter().copied().fold(0.0, f64::max) / scale)
}

/// ‖A‖_F.
pub fn frobenius_norm(matrix: ArrayView2<'_, f64>) -> f64 {
    let scale = balancing_of(&[matrix]);
    balanced_norm(matrix, scale) / scale
}

/// ‖scale · A‖_F.
fn balanced_norm(matrix: ArrayView2<'_, f64>, scale: f64) -> f64 {
    // row by row: one long running sum would lose digits
    let of = |matrix: ArrayView2<'_, f64>| matrix.rows().into_iter().map(|row| row.dot(&row)).sum::<f64>().sqrt();
    if scale == 1.0 { of(matrix) } else { of((&matrix * scale).view()) }
}

/// ‖A − B‖_F / ‖A‖_F, the relative error of B.
pub fn relative_error(truth: ArrayView2<'_, f64>, guess: ArrayView2<'_, f64>) -> f64 {
    let scale = balancing_of(&[truth.view(), guess.view()]);
    let difference = if scale == 1.0 { &truth - &guess } else { &truth * scale - &guess * scale };
    balanced_norm(difference.view(), 1.0) / balanced_norm(truth, scale)
}

#[cfg(test)]
mod tests;
