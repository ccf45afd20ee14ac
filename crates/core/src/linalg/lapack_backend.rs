//! The user's own BLAS and LAPACK, through ndarray-linalg (feature `lapack`).

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, LinalgScalar};
use ndarray_linalg::{EigValsh as _, Eigh as _, JobSvd, QR as _, SVDDC as _, UPLO};
use openblas_src as _;

use super::{Eigh, LinalgError, Svd};

pub(super) fn eigh(matrix: ArrayView2<'_, f64>) -> Result<Eigh, LinalgError> {
    const OP: &str = "the eigendecomposition";
    refuse_non_finite(OP, matrix)?;
    let (values, vectors) = matrix.eigh(UPLO::Lower).map_err(failed(OP, matrix))?;
    Ok(Eigh { values, vectors })
}

pub(super) fn eigvalsh(matrix: ArrayView2<'_, f64>) -> Result<Array1<f64>, LinalgError> {
    const OP: &str = "the eigendecomposition";
    refuse_non_finite(OP, matrix)?;
    matrix.eigvalsh(UPLO::Lower).map_err(failed(OP, matrix))
}

pub(super) fn svd(matrix: ArrayView2<'_, f64>) -> Result<Svd, LinalgError> {
    let (left, values, right) = divide_and_conquer(matrix, JobSvd::Some)?;
    match (left, right) {
        (Some(left), Some(right)) => Ok(Svd { left, values, right: right.reversed_axes() }),
        _ => Err(failed("the singular value decomposition", matrix)(())),
    }
}

pub(super) fn singular_values(matrix: ArrayView2<'_, f64>) -> Result<Array1<f64>, LinalgError> {
    Ok(divide_and_conquer(matrix, JobSvd::None)?.1)
}

type SvdParts = (Option<Array2<f64>>, Array1<f64>, Option<Array2<f64>>);

fn divide_and_conquer(matrix: ArrayView2<'_, f64>, job: JobSvd) -> Result<SvdParts, LinalgError> {
    const OP: &str = "the singular value decomposition";
    refuse_non_finite(OP, matrix)?;
    matrix.svddc(job).map_err(failed(OP, matrix))
}

pub(super) fn qr(matrix: ArrayView2<'_, f64>) -> Result<(Array2<f64>, Array2<f64>), LinalgError> {
    const OP: &str = "the QR decomposition";
    refuse_non_finite(OP, matrix)?;
    matrix.qr().map_err(failed(OP, matrix))
}

pub(super) fn qr_triangle(matrix: ArrayView2<'_, f64>) -> Result<Array2<f64>, LinalgError> {
    Ok(qr(matrix)?.1)
}

pub(super) fn product<T: LinalgScalar>(
    left: ArrayView2<'_, T>,
    right: ArrayView2<'_, T>,
    alpha: T,
    add: bool,
    mut out: ArrayViewMut2<'_, T>,
) {
    // ndarray hands this to BLAS, which ndarray-linalg switches on
    ndarray::linalg::general_mat_mul(alpha, &left, &right, if add { T::one() } else { T::zero() }, &mut out);
}

pub(super) fn add_gram(matrix: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
    product(matrix.t(), matrix, 1.0, true, out);
}

fn refuse_non_finite(op: &'static str, matrix: ArrayView2<'_, f64>) -> Result<(), LinalgError> {
    if matrix.iter().all(|value| value.is_finite()) { Ok(()) } else { Err(failed(op, matrix)(())) }
}

fn failed<E>(op: &'static str, matrix: ArrayView2<'_, f64>) -> impl Fn(E) -> LinalgError {
    let (rows, cols) = matrix.dim();
    move |_| LinalgError { op, rows, cols }
}
