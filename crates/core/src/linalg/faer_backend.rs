//! The pure-Rust backend: faer, without its global settings and without copies of what goes in or out.

use std::num::NonZeroUsize;

use faer::diag::{Diag, DiagMut};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::householder;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::qr::no_pivoting::factor;
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::traits::ComplexField;
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, ShapeBuilder};

use super::{Eigh, LinalgError, Svd};

/// Pieces that work is cut into. Fixed rather than the number of threads, because faer adds partial sums piece by piece:
/// this is what makes a result the same on a laptop and on a cluster node.
const PIECES: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not zero");
const PARALLEL: Par = Par::Rayon(PIECES);

/// Multiply–adds below which a product is not worth handing to other threads.
const SMALL_PRODUCT: usize = 1 << 16;

/// The same for a Gram matrix, which is cut into smaller pieces.
const SMALL_GRAM: usize = 1 << 22;

/// Columns up to which an eigendecomposition is faster on one thread: handing out pieces costs more than they take.
const SMALL_EIGEN: usize = 256;

pub(super) fn eigh(matrix: ArrayView2<'_, f64>) -> Result<Eigh, LinalgError> {
    let n = matrix.nrows();
    let mut values = Diag::zeros(n);
    let mut vectors = Array2::zeros((n, n).f());
    self_adjoint(matrix, values.as_mut(), Some(view_mut(vectors.view_mut())))?;
    Ok(Eigh { values: to_vector(&values), vectors })
}

pub(super) fn eigvalsh(matrix: ArrayView2<'_, f64>) -> Result<Array1<f64>, LinalgError> {
    let mut values = Diag::zeros(matrix.nrows());
    self_adjoint(matrix, values.as_mut(), None)?;
    Ok(to_vector(&values))
}

fn self_adjoint(
    matrix: ArrayView2<'_, f64>,
    values: DiagMut<'_, f64>,
    vectors: Option<MatMut<'_, f64>>,
) -> Result<(), LinalgError> {
    const OP: &str = "the eigendecomposition";
    refuse_non_finite(OP, matrix)?;
    let wanted = if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let parallelism = if matrix.nrows() <= SMALL_EIGEN { Par::Seq } else { PARALLEL };
    let scratch = evd::self_adjoint_evd_scratch::<f64>(matrix.nrows(), wanted, parallelism, Default::default());
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    let decompose = || evd::self_adjoint_evd(view(matrix), values, vectors, parallelism, stack, Default::default());
    let done = if parallelism == Par::Seq { decompose() } else { on_a_worker(decompose) };
    done.map_err(|_| failed(OP, matrix))
}

pub(super) fn svd(matrix: ArrayView2<'_, f64>) -> Result<Svd, LinalgError> {
    let (rows, cols) = matrix.dim();
    let size = rows.min(cols);
    let mut values = Diag::zeros(size);
    let mut left = Array2::zeros((rows, size).f());
    let mut right = Array2::zeros((cols, size).f());
    let vectors = (view_mut(left.view_mut()), view_mut(right.view_mut()));
    singular(matrix, values.as_mut(), Some(vectors))?;
    Ok(Svd { left, values: to_vector(&values), right })
}

pub(super) fn singular_values(matrix: ArrayView2<'_, f64>) -> Result<Array1<f64>, LinalgError> {
    let mut values = Diag::zeros(matrix.nrows().min(matrix.ncols()));
    singular(matrix, values.as_mut(), None)?;
    Ok(to_vector(&values))
}

fn singular(
    matrix: ArrayView2<'_, f64>,
    values: DiagMut<'_, f64>,
    vectors: Option<(MatMut<'_, f64>, MatMut<'_, f64>)>,
) -> Result<(), LinalgError> {
    const OP: &str = "the singular value decomposition";
    refuse_non_finite(OP, matrix)?;
    let (rows, cols) = matrix.dim();
    let wanted = if vectors.is_some() { ComputeSvdVectors::Thin } else { ComputeSvdVectors::No };
    let scratch = svd::svd_scratch::<f64>(rows, cols, wanted, wanted, PARALLEL, Default::default());
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    let (left, right) = vectors.unzip();
    on_a_worker(|| svd::svd(view(matrix), values, left, right, PARALLEL, stack, Default::default()))
        .map_err(|_| failed(OP, matrix))
}

pub(super) fn qr(matrix: ArrayView2<'_, f64>) -> Result<(Array2<f64>, Array2<f64>), LinalgError> {
    let Reflected { packed, coefficients, triangle } = reflect(matrix)?;
    let (rows, size) = (matrix.nrows(), triangle.nrows());
    let mut orthonormal = Array2::zeros((rows, size).f());
    orthonormal.diag_mut().fill(1.0);
    let scratch = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
        rows,
        coefficients.nrows(),
        size,
    );
    let mut buffer = MemBuffer::new(scratch);
    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        view(packed.view()).subcols(0, size),
        coefficients.as_ref(),
        Conj::No,
        view_mut(orthonormal.view_mut()),
        PARALLEL,
        MemStack::new(&mut buffer),
    );
    Ok((orthonormal, triangle))
}

pub(super) fn qr_triangle(matrix: ArrayView2<'_, f64>) -> Result<Array2<f64>, LinalgError> {
    Ok(reflect(matrix)?.triangle)
}

struct Reflected {
    packed: Array2<f64>,
    coefficients: Mat<f64>,
    /// R.
    triangle: Array2<f64>,
}

fn reflect(matrix: ArrayView2<'_, f64>) -> Result<Reflected, LinalgError> {
    refuse_non_finite("the QR decomposition", matrix)?;
    let (rows, cols) = matrix.dim();
    let size = rows.min(cols);
    let mut packed = Array2::zeros((rows, cols).f());
    packed.assign(&matrix);
    let block_size = factor::recommended_block_size::<f64>(rows, cols);
    let mut coefficients = Mat::zeros(block_size, size);
    let mut buffer =
        MemBuffer::new(factor::qr_in_place_scratch::<f64>(rows, cols, block_size, PARALLEL, Default::default()));
    let stack = MemStack::new(&mut buffer);
    on_a_worker(|| {
        let reflections = coefficients.as_mut();
        factor::qr_in_place(view_mut(packed.view_mut()), reflections, PARALLEL, stack, Default::default())
    });
    let triangle = Array2::from_shape_fn((size, cols), |(a, b)| if a <= b { packed[[a, b]] } else { 0.0 });
    Ok(Reflected { packed, coefficients, triangle })
}

pub(super) fn product<T: ComplexField>(
    left: ArrayView2<'_, T>,
    right: ArrayView2<'_, T>,
    alpha: T,
    add: bool,
    out: ArrayViewMut2<'_, T>,
) {
    let work = left.nrows() * left.ncols() * right.ncols();
    let parallelism = if work < SMALL_PRODUCT { Par::Seq } else { PARALLEL };
    let accumulate = if add { Accum::Add } else { Accum::Replace };
    matmul(view_mut(out), accumulate, view(left), view(right), alpha, parallelism);
}

pub(super) fn add_gram(matrix: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
    let work = matrix.nrows() * matrix.ncols() * matrix.ncols();
    let parallelism = if work < SMALL_GRAM { Par::Seq } else { PARALLEL };
    triangular::matmul(
        view_mut(out),
        BlockStructure::TriangularLower,
        Accum::Add,
        view(matrix.t()),
        BlockStructure::Rectangular,
        view(matrix),
        BlockStructure::Rectangular,
        1.0,
        parallelism,
    );
}

/// Runs a factorization on a thread of the pool: its thousands of small parallel steps would each wake one otherwise.
fn on_a_worker<T: Send>(factorize: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| factorize())
}

fn view<T>(matrix: ArrayView2<'_, T>) -> MatRef<'_, T> {
    let (rows, cols) = matrix.dim();
    let (row_stride, col_stride) = (matrix.strides()[0], matrix.strides()[1]);
    // SAFETY: pointer, shape and strides are those of a live ndarray view, which holds the borrow.
    unsafe { MatRef::from_raw_parts(matrix.as_ptr(), rows, cols, row_stride, col_stride) }
}

fn view_mut<T>(mut matrix: ArrayViewMut2<'_, T>) -> MatMut<'_, T> {
    let (rows, cols) = matrix.dim();
    let (row_stride, col_stride) = (matrix.strides()[0], matrix.strides()[1]);
    // SAFETY: as in `view`; the view is unique and consumed, so nothing else reaches the elements while it lives.
    unsafe { MatMut::from_raw_parts_mut(matrix.as_mut_ptr(), rows, cols, row_stride, col_stride) }
}

fn to_vector(values: &Diag<f64>) -> Array1<f64> {
    values.column_vector().iter().copied().collect()
}

/// faer loops for long, or returns NaN, on an input that is not finite.
fn refuse_non_finite(op: &'static str, matrix: ArrayView2<'_, f64>) -> Result<(), LinalgError> {
    if matrix.iter().all(|value| value.is_finite()) { Ok(()) } else { Err(failed(op, matrix)) }
}

fn failed(op: &'static str, matrix: ArrayView2<'_, f64>) -> LinalgError {
    LinalgError { op, rows: matrix.nrows(), cols: matrix.ncols() }
}
