//! One shrink: B = [Y; new rows] (r × d) with BᵀB = V Λ Vᵀ becomes Y' = (Λ − δ)₊^½ Vᵀ with δ = λ_t.
//!
//! Tall B (d ≤ r): eigenvectors of BᵀB, which are V. Wide B: eigenvectors U of BBᵀ, and Y' = W B, W = ((Λ − δ)₊ Λ⁻¹)^½ Uᵀ. The rows
//! of Y are orthogonal since the last shrink, so their part of BBᵀ is diagonal and known. Sparse rows enter by their entries alone.
//!
//! Both work on squares: a direction below 10⁻⁷ of the largest singular value is rounding, where an SVD would still resolve it. What the
//! bound is about, ‖XᵀX − YᵀY‖₂ against ‖X‖²_F, keeps its digits: W Wᵀ ≼ 1 to rounding, so XᵀX − YᵀY stays positive
//! semi-definite, and the error of a shrink is of the order 10⁻¹⁶ λ₁ (a test compares with the SVD). The SVD takes at least three times
//! as long. What is not above λ_t needs no eigenvector.
//!
//! Cost, with k rows of Y and p new ones: tall (k + p)d² and the t largest eigenpairs of d × d; wide 2(k + p)·k·d (dense: also p²d) and
//! those of (k + p) × (k + p), d being the columns seen so far where rows are sparse. Y is rewritten in place, a block of columns at a time.

use ndarray::{Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, s};
use rayon::prelude::*;

use super::pending::{Csr, Pending};
use landmark_core::linalg::{self, Eigh, LinalgError};

/// Squared singular values below this share of the largest are rounding of the Gram matrix.
const ROUNDING: f64 = 1e-14;

/// Columns of Y rewritten by one task; fixed, so that nothing depends on the number of threads.
const COLUMNS_PER_TASK: usize = 512;

#[derive(Clone, Copy)]
pub(super) enum NewRows<'a> {
    Dense(ArrayView2<'a, f64>),
    Sparse(&'a Csr),
}

impl<'a> NewRows<'a> {
    pub(super) fn of(pending: &'a Pending) -> Self {
        match pending {
            Pending::Sparse(rows) => Self::Sparse(rows),
            Pending::Dense { matrix, rows } => Self::Dense(matrix.slice(s![..*rows, ..])),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Dense(rows) => rows.nrows(),
            Self::Sparse(rows) => rows.len(),
        }
    }
}

/// Yᵀ: the first `squares.len()` columns of a d × l matrix, orthogonal, with these squared norms, descending.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) transposed: Array2<f64>,
    pub(super) squares: Vec<f64>,
}

impl Kept {
    pub(super) fn new(d: usize, l: usize) -> Self {
        Self { transposed: Array2::zeros((d, l)), squares: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.squares.len()
    }

    /// Yᵀ, d × k.
    pub(super) fn view(&self) -> ArrayView2<'_, f64> {
        self.transposed.slice(s![.., ..self.len()])
    }

    /// Takes `rows` in and subtracts λ_t (from 1; 0 where there are fewer), or nothing without a `threshold`. Returns δ.
    pub(super) fn shrink(&mut self, rows: NewRows<'_>, threshold: Option<usize>) -> Result<f64, LinalgError> {
        let (d, stacked) = (self.transposed.nrows(), self.len() + rows.len());
        if stacked == 0 {
            Ok(0.0)
        } else if d <= stacked {
            self.tall(rows, threshold)
        } else {
            self.wide(rows, threshold)
        }
    }

    fn tall(&mut self, rows: NewRows<'_>, threshold: Option<usize>) -> Result<f64, LinalgError> {
        let mut gram = Array2::zeros((self.transposed.nrows(), self.transposed.nrows()));
        linalg::add_gram(self.view().t(), gram.view_mut());
        match rows {
            NewRows::Dense(rows) => linalg::add_gram(rows, gram.view_mut()),
            NewRows::Sparse(rows) => add_sparse_gram(rows, gram.view_mut()),
        }
        let eigen = largest(&gram, threshold)?;
        let cut = Cut::of(eigen.values.as_slice().unwrap_or_default(), threshold);
        let last = eigen.values.len() - 1;
        for (i, &square) in cut.squares.iter().enumerate() {
            let scale = square.sqrt();
            let column = self.transposed.column_mut(i);
            ndarray::Zip::from(column).and(eigen.vectors.column(last - i)).for_each(|out, v| *out = scale * v);
        }
        self.squares = cut.squares;
        Ok(cut.delta)
    }

    fn wide(&mut self, rows: NewRows<'_>, threshold: Option<usize>) -> Result<f64, LinalgError> {
        let (d, k, p) = (self.transposed.nrows(), self.len(), rows.len());
        let by_columns = match rows {
            NewRows::Sparse(rows) => rows.by_columns(d),
            NewRows::Dense(_) => (Vec::new(), Vec::new()),
        };
        let mut gram = Array2::zeros((k + p, k + p));
        gram.diag_mut().iter_mut().zip(&self.squares).for_each(|(out, &square)| *out = square);
        match rows {
            NewRows::Dense(rows) => {
                linalg::product_into(rows, self.view(), 1.0, gram.slice_mut(s![k.., ..k]));
                linalg::add_gram(rows.t(), gram.slice_mut(s![k.., k..]));
            }
            NewRows::Sparse(rows) => {
                let mut below = gram.slice_mut(s![k.., ..]);
                below.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(row, mut out)| {
                    self.inner_products(rows, row, &by_columns, &mut out);
                });
            }
        }
        let eigen = largest(&gram, threshold)?;
        let cut = Cut::of(eigen.values.as_slice().unwrap_or_default(), threshold);
        let last = eigen.values.len() - 1;
        let mut weights = Array2::zeros((k + p, cut.squares.len()));
        for (i, (mut column, &square)) in weights.columns_mut().into_iter().zip(&cut.squares).enumerate() {
            let scale = (square / (square + cut.delta)).sqrt();
            ndarray::Zip::from(&mut column).and(eigen.vectors.column(last - i)).for_each(|out, u| *out = scale * u);
        }
        self.recombine(rows, &by_columns, weights.view());
        self.squares = cut.squares;
        Ok(cut.delta)
    }

    /// One sparse row times the k rows of Y, then times the new rows up to itself.
    fn inner_products(
        &self,
        rows: &Csr,
        row: usize,
        (starts, entries): &(Vec<usize>, Vec<(u32, f64)>),
        out: &mut ArrayViewMut1<'_, f64>,
    ) {
        let k = self.len();
        for (column, value) in rows.row(row) {
            let there = self.transposed.slice(s![column, ..k]);
            out.slice_mut(s![..k]).scaled_add(value, &there);
            for &(other, theirs) in &entries[starts[column]..starts[column + 1]] {
                let other = other as usize;
                if other > row {
                    break;
                }
                out[k + other] += value * theirs;
            }
        }
    }

    /// Yᵀ ← [Yᵀ, rowsᵀ] · weights.
    fn recombine(
        &mut self,
        rows: NewRows<'_>,
        by_columns: &(Vec<usize>, Vec<(u32, f64)>),
        weights: ArrayView2<'_, f64>,
    ) {
        let k = self.len();
        let blocks = self.transposed.axis_chunks_iter_mut(Axis(0), COLUMNS_PER_TASK);
        blocks.into_par_iter().enumerate().for_each(|(task, mut block)| {
            let first = task * COLUMNS_PER_TASK;
            match rows {
                NewRows::Dense(rows) => {
                    let (of_kept, of_new) = weights.split_at(Axis(0), k);
                    let columns = rows.slice(s![.., first..first + block.nrows()]);
                    let mut sum = linalg::product(block.slice(s![.., ..k]), of_kept);
                    linalg::add_product(columns.t(), of_new, 1.0, sum.view_mut());
                    block.slice_mut(s![.., ..weights.ncols()]).assign(&sum);
                }
                NewRows::Sparse(_) => recombine_sparse(block, k, first, by_columns, weights),
            }
        });
    }
}

/// The same for the columns from `first` on and sparse rows. A column that no row of the stream has had yet is 0 and stays so:
/// with short texts and many columns that is most of them.
fn recombine_sparse(
    mut block: ArrayViewMut2<'_, f64>,
    k: usize,
    first: usize,
    (starts, entries): &(Vec<usize>, Vec<(u32, f64)>),
    weights: ArrayView2<'_, f64>,
) {
    let (of_kept, of_new) = weights.split_at(Axis(0), k);
    let new = |offset: usize| &entries[starts[first + offset]..starts[first + offset + 1]];
    // of all of its places, for those behind the k-th hold what an earlier shrink left there
    let is_zero = |offset: usize| block.row(offset).iter().all(|&value| value == 0.0);
    let seen: Vec<usize> = (0..block.nrows()).filter(|&offset| !new(offset).is_empty() || !is_zero(offset)).collect();
    let mut sum = linalg::product(block.slice(s![.., ..k]).select(Axis(0), &seen).view(), of_kept);
    for (&offset, mut out) in seen.iter().zip(sum.rows_mut()) {
        for &(row, value) in new(offset) {
            out.scaled_add(value, &of_new.row(row as usize));
        }
        block.slice_mut(s![offset, ..weights.ncols()]).assign(&out);
    }
}

/// The eigenvalues down to the one that is subtracted, and their eigenvectors; all without a `threshold`.
fn largest(gram: &Array2<f64>, threshold: Option<usize>) -> Result<Eigh, LinalgError> {
    let n = gram.nrows();
    linalg::eigh_largest(gram.view(), threshold.map_or(n, |t| n.min(t)))
}

struct Cut {
    delta: f64,
    /// λ − δ of those that stay, descending.
    squares: Vec<f64>,
}

impl Cut {
    fn of(ascending: &[f64], threshold: Option<usize>) -> Self {
        let at = |i: usize| ascending[ascending.len() - 1 - i].max(0.0);
        let delta = match threshold {
            Some(t) if t <= ascending.len() => at(t - 1),
            _ => 0.0,
        };
        let least = if ascending.is_empty() { 0.0 } else { ROUNDING * at(0) };
        let stay = threshold.map_or(ascending.len(), |t| ascending.len().min(t - 1));
        let squares = (0..stay).map(at).take_while(|&value| value > least).map(|value| value - delta);
        Self { delta, squares: squares.take_while(|&square| square > 0.0).collect() }
    }
}

/// The lower triangle of Σ xxᵀ over sparse rows.
fn add_sparse_gram(rows: &Csr, mut gram: ArrayViewMut2<'_, f64>) {
    for row in 0..rows.len() {
        for (column, value) in rows.row(row) {
            for (other, theirs) in rows.row(row).take_while(|&(other, _)| other <= column) {
                gram[[column, other]] += value * theirs;
            }
        }
    }
}
