//! The `count` largest eigenvalues of a symmetric A (n × n) and their eigenvectors: no more of them than asked for.
//!
//! A = Q T Qᵀ by Householder reflections, T = tridiag(b, a, b); all eigenvalues of T, then the vectors of the largest ones
//! ([`Tridiagonal`]). Such vectors come one by one, so that those of close eigenvalues are orthogonal only up to
//! ε‖A‖ / gap; E = ZᵀZ − I is therefore computed, and Z ← Z − ½ZE takes it to E². What is wrong with Z after that turns vectors into
//! each other by an angle of residual / gap, which moves Σ f(λᵢ)zᵢzᵢᵀ by no more than the residual for any f of slope 1.
//! [`None`] is returned where a residual is not rounding or E is not small (eigenvalues that are equal to rounding); the
//! caller then takes the general solver.
//!
//! Cost: (4/3)n³ flops for T, about 30n² for its eigenvalues, and 2n²k + 3nk² for k vectors; all vectors by the QR iteration: 9n³.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::tridiag;
use faer::linalg::householder;
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor;
use faer::{Accum, Conj, Mat, MatMut, Par};
use ndarray::{Array1, Array2, ArrayView2, ShapeBuilder};

use super::tridiagonal::Tridiagonal;
use super::{PARALLEL, SMALL_EIGEN, on_a_worker, view, view_mut};
use crate::linalg::Eigh;

/// Below this many columns the general solver takes no longer.
const SMALLEST: usize = 16;

/// Largest |E| that one correction takes to rounding: 10⁻⁸ squared is 10⁻¹⁶.
const CORRECTABLE: f64 = 1e-8;

/// Ascending, as everywhere; `None` where the vectors cannot be told apart. The entries of `matrix` are finite.
pub(super) fn largest(matrix: ArrayView2<'_, f64>, count: usize) -> Option<Eigh> {
    let n = matrix.nrows();
    if n < SMALLEST || count == 0 {
        return None;
    }
    if n <= SMALL_EIGEN {
        reduce_and_solve(matrix, count, Par::Seq)
    } else {
        on_a_worker(|| reduce_and_solve(matrix, count, PARALLEL))
    }
}

fn reduce_and_solve(matrix: ArrayView2<'_, f64>, count: usize, parallelism: Par) -> Option<Eigh> {
    let n = matrix.nrows();
    let mut packed = Mat::zeros(n, n);
    packed.as_mut().copy_from_triangular_lower(view(matrix));
    let block = factor::recommended_block_size::<f64>(n, n);
    let mut reflections = Mat::zeros(block, n - 1);
    let mut buffer = MemBuffer::new(tridiag::tridiag_in_place_scratch::<f64>(n, parallelism, Default::default()));
    let stack = MemStack::new(&mut buffer);
    tridiag::tridiag_in_place(packed.as_mut(), reflections.as_mut(), parallelism, stack, Default::default());

    let reduced = Tridiagonal {
        diagonal: (0..n).map(|i| packed[(i, i)]).collect(),
        beside: (1..n).map(|i| packed[(i, i - 1)]).collect(),
    };
    let values = reduced.eigenvalues()?;
    let values = &values[n - count..];
    let mut vectors = Array2::zeros((n, count).f());
    reduced.eigenvectors(values, vectors.as_slice_memory_order_mut()?)?;
    let mut columns = view_mut(vectors.view_mut());
    orthogonalise(columns.as_mut(), parallelism)?;

    let scratch =
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(n - 1, block, count);
    let mut buffer = MemBuffer::new(scratch);
    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        packed.as_ref().submatrix(1, 0, n - 1, n - 1),
        reflections.as_ref(),
        Conj::No,
        columns.subrows_mut(1, n - 1),
        parallelism,
        MemStack::new(&mut buffer),
    );
    Some(Eigh { values: Array1::from(values.to_vec()), vectors })
}

/// Z ← Z − ½Z(ZᵀZ − I), the first step of Newton and Schulz towards Z(ZᵀZ)^−½; `None` where one step would not do.
fn orthogonalise(vectors: MatMut<'_, f64>, parallelism: Par) -> Option<()> {
    let count = vectors.ncols();
    let mut excess = Mat::zeros(count, count);
    matmul(excess.as_mut(), Accum::Replace, vectors.as_ref().transpose(), vectors.as_ref(), 1.0, parallelism);
    for i in 0..count {
        excess[(i, i)] -= 1.0;
    }
    // a NaN is not below
    let correctable = (0..count).all(|j| excess.col(j).iter().all(|value| value.abs() <= CORRECTABLE));
    let before = vectors.as_ref().to_owned();
    correctable.then(|| matmul(vectors, Accum::Add, before.as_ref(), excess.as_ref(), -0.5, parallelism))
}
