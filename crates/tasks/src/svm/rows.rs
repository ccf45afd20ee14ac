//! Rows as the dual solvers see them: an inner product with the state, and a scaled addition to it.
//!
//! For features the state is the weight vector w = Σ α_i y_i x_i (with the bias as its last entry, where there is one). For a
//! Gram matrix it is the vector of all scores f = K (α∘y), so the product is a look-up and the addition a row of K: the same
//! solver, with n numbers of state instead of d.

use std::borrow::Cow;

use ndarray::{ArrayView2, ArrayViewMut1, Axis, aview1};

use super::SvmError;
use super::vector::{add_scaled, dot};

/// Rows as a dual coordinate solver needs them.
pub(crate) trait Rows: Sync {
    fn len(&self) -> usize;
    fn width(&self) -> usize;
    /// x_i·x_i: the curvature of the dual along coordinate i; may be ≤ 0 for an indefinite Gram matrix.
    fn curvature(&self, i: usize) -> f64;
    fn score(&self, i: usize, state: &[f64]) -> f64;
    /// state ← state + factor · (row i).
    fn add(&self, i: usize, factor: f64, state: &mut [f64]);
}

/// Features of the training or test items: dense rows or sparse ones.
#[derive(Debug, Clone, Copy)]
pub enum Features<'a> {
    /// n × d; rows that are not contiguous are copied once.
    Dense(ArrayView2<'a, f64>),
    /// n × d in compressed rows.
    Sparse(&'a SparseRows),
}

impl Features<'_> {
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Dense(x) => x.dim(),
            Self::Sparse(x) => (x.rows(), x.columns()),
        }
    }

    /// The first NaN or ∞, as an error that names row and column.
    pub(crate) fn check_finite(&self) -> Result<(), SvmError> {
        match self {
            Self::Dense(x) => {
                for (row, values) in x.outer_iter().enumerate() {
                    if let Some(column) = values.iter().position(|v| !v.is_finite()) {
                        return Err(SvmError::NotFinite { row, column, value: values[column] });
                    }
                }
            }
            Self::Sparse(x) => {
                for row in 0..x.rows() {
                    if let Some((column, value)) = x.row(row).find(|(_, v)| !v.is_finite()) {
                        return Err(SvmError::NotFinite { row, column, value });
                    }
                }
            }
        }
        Ok(())
    }

    /// As [`check_finite`](Self::check_finite), and the first row whose square overflows.
    pub(crate) fn check_squares(&self) -> Result<(), SvmError> {
        let square = |&row: &usize| -> f64 {
            match self {
                Self::Dense(x) => x.row(row).dot(&x.row(row)),
                Self::Sparse(x) => x.row(row).map(|(_, v)| v * v).sum(),
            }
        };
        // a square is finite only where every feature of the row is
        let Some(row) = (0..self.shape().0).find(|row| !square(row).is_finite()) else { return Ok(()) };
        self.check_finite()?;
        Err(SvmError::TooLong { row })
    }
}

impl<'a> From<ArrayView2<'a, f64>> for Features<'a> {
    fn from(x: ArrayView2<'a, f64>) -> Self {
        Self::Dense(x)
    }
}

impl<'a> From<&'a ndarray::Array2<f64>> for Features<'a> {
    fn from(x: &'a ndarray::Array2<f64>) -> Self {
        Self::Dense(x.view())
    }
}

impl<'a> From<&'a SparseRows> for Features<'a> {
    fn from(x: &'a SparseRows) -> Self {
        Self::Sparse(x)
    }
}

/// Dense rows, contiguous, with an optional constant feature behind each.
pub(crate) struct DenseRows<'a> {
    values: Cow<'a, [f64]>,
    rows: usize,
    columns: usize,
    bias: Option<f64>,
}

impl<'a> DenseRows<'a> {
    pub(crate) fn new(x: ArrayView2<'a, f64>, bias: Option<f64>) -> Self {
        let (rows, columns) = x.dim();
        let values = match x.to_slice() {
            Some(slice) => Cow::Borrowed(slice),
            None => Cow::Owned(x.iter().copied().collect()),
        };
        Self { values, rows, columns, bias }
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// out ← factor · (row i, bias feature included).
    pub(crate) fn copy_scaled(&self, i: usize, factor: f64, mut out: ArrayViewMut1<'_, f64>) {
        let (mut features, mut constant) = out.view_mut().split_at(Axis(0), self.columns);
        features.zip_mut_with(&aview1(self.row(i)), |out, x| *out = factor * x);
        constant.iter_mut().zip(&self.bias).for_each(|(out, bias)| *out = factor * bias);
    }

    /// Value of the constant feature; 0 where there is none.
    pub(crate) fn bias(&self) -> f64 {
        self.bias.unwrap_or(0.0)
    }
}

impl Rows for DenseRows<'_> {
    fn len(&self) -> usize {
        self.rows
    }

    fn width(&self) -> usize {
        self.columns + usize::from(self.bias.is_some())
    }

    fn curvature(&self, i: usize) -> f64 {
        dot(self.row(i), self.row(i)) + self.bias.map_or(0.0, |b| b * b)
    }

    #[inline]
    fn score(&self, i: usize, state: &[f64]) -> f64 {
        dot(self.row(i), state) + self.bias.map_or(0.0, |b| b * state[self.columns])
    }

    #[inline]
    fn add(&self, i: usize, factor: f64, state: &mut [f64]) {
        add_scaled(factor, self.row(i), state);
        if let Some(bias) = self.bias {
            state[self.columns] += factor * bias;
        }
    }
}

/// An n × d matrix in compressed sparse rows.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl SparseRows {
    /// `starts` (n + 1 offsets, the first 0), column `indices` (ascending within a row) and `values`: SciPy's `csr_matrix` in
    /// canonical form.
    ///
    /// # Errors
    /// [`SvmError::Sparse`] where offsets decrease or do not cover the values, or a column index is out of range or order.
    pub fn new(columns: usize, starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64>) -> Result<Self, SvmError> {
        let error = |problem, place| Err(SvmError::Sparse { problem, place });
        if starts.first() != Some(&0) {
            return error("the offsets must start with 0", 0);
        }
        if let Some(row) = starts.windows(2).position(|pair| pair[0] > pair[1]) {
            return error("the offsets decrease", row);
        }
        if indices.len() != values.len() || starts.last() != Some(&values.len()) {
            return error("the last offset, the number of indices and of values differ", values.len());
        }
        // u32 → usize never truncates on the 32- and 64-bit machines this builds for
        if let Some(place) = indices.iter().position(|&j| j as usize >= columns) {
            return error("a column index is out of range", place);
        }
        for range in starts.windows(2).map(|pair| pair[0]..pair[1]) {
            if let Some(offset) = indices[range.clone()].windows(2).position(|pair| pair[0] >= pair[1]) {
                return error("the column indices of a row do not ascend", range.start + offset);
            }
        }
        Ok(Self { columns, starts, indices, values })
    }

    /// The non-zero entries of a dense matrix.
    ///
    /// # Errors
    /// [`SvmError::Sparse`] for more than 2³² columns.
    pub fn from_dense(x: ArrayView2<'_, f64>) -> Result<Self, SvmError> {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in x.axis_iter(Axis(0)) {
            for (column, &value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                let Ok(index) = u32::try_from(column) else {
                    return Err(SvmError::Sparse { problem: "more than 2³² columns", place: column });
                };
                indices.push(index);
                values.push(value);
            }
            starts.push(values.len());
        }
        Self::new(x.ncols(), starts, indices, values)
    }

    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The stored (column, value) pairs of a row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.indices[range.clone()].iter().map(|&j| j as usize).zip(self.values[range].iter().copied())
    }

    /// The rows of these numbers, in this order.
    pub fn select(&self, rows: &[usize]) -> Self {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in rows {
            let range = self.starts[i]..self.starts[i + 1];
            indices.extend_from_slice(&self.indices[range.clone()]);
            values.extend_from_slice(&self.values[range]);
            starts.push(values.len());
        }
        Self { columns: self.columns, starts, indices, values }
    }
}

impl SparseRows {
    pub(crate) fn used_columns(&self, rows: &[usize]) -> Vec<u32> {
        let of_row = |&i: &usize| &self.indices[self.starts[i]..self.starts[i + 1]];
        let mut used: Vec<u32> = rows.iter().flat_map(of_row).copied().collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The rows of these numbers, in this order, with only these columns (ascending), which become `0..used.len()`.
    pub(crate) fn cut(&self, rows: &[usize], used: &[u32]) -> Self {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in rows {
            for k in self.starts[i]..self.starts[i + 1] {
                if let Ok(place) = used.binary_search(&self.indices[k]) {
                    // a place among u32 columns is below 2³²
                    indices.push(place as u32);
                    values.push(self.values[k]);
                }
            }
            starts.push(values.len());
        }
        Self { columns: used.len(), starts, indices, values }
    }

    /// The (columns, values) of a row, as they are stored.
    pub fn row_parts(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }
}

/// Sparse rows with an optional constant feature behind each.
pub(crate) struct BiasedSparseRows<'a> {
    pub(crate) rows: &'a SparseRows,
    pub(crate) bias: Option<f64>,
}

impl Rows for BiasedSparseRows<'_> {
    fn len(&self) -> usize {
        self.rows.rows()
    }

    fn width(&self) -> usize {
        self.rows.columns + usize::from(self.bias.is_some())
    }

    fn curvature(&self, i: usize) -> f64 {
        let norm: f64 = self.rows.row(i).map(|(_, v)| v * v).sum();
        norm + self.bias.map_or(0.0, |b| b * b)
    }

    #[inline]
    fn score(&self, i: usize, state: &[f64]) -> f64 {
        let product: f64 = self.rows.row(i).map(|(j, v)| v * state[j]).sum();
        product + self.bias.map_or(0.0, |b| b * state[self.rows.columns])
    }

    #[inline]
    fn add(&self, i: usize, factor: f64, state: &mut [f64]) {
        for (j, v) in self.rows.row(i) {
            state[j] += factor * v;
        }
        if let Some(bias) = self.bias {
            state[self.rows.columns] += factor * bias;
        }
    }
}

/// The rows of a symmetric Gram matrix; the state is the vector of scores.
pub(crate) struct GramRows<'a> {
    rows: DenseRows<'a>,
}

impl<'a> GramRows<'a> {
    pub(crate) fn new(gram: ArrayView2<'a, f64>) -> Self {
        Self { rows: DenseRows::new(gram, None) }
    }
}

impl Rows for GramRows<'_> {
    fn len(&self) -> usize {
        self.rows.rows
    }

    fn width(&self) -> usize {
        self.rows.rows
    }

    fn curvature(&self, i: usize) -> f64 {
        self.rows.row(i)[i]
    }

    #[inline]
    fn score(&self, i: usize, state: &[f64]) -> f64 {
        state[i]
    }

    #[inline]
    fn add(&self, i: usize, factor: f64, state: &mut [f64]) {
        add_scaled(factor, self.rows.row(i), state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let refused = |starts: Vec<usize>, indices: Vec<u32>| {
            let values = vec![1.0; indices.len()];
            SparseRows::new(2, starts, indices, values).unwrap_err().to_string()
        };
        assert_eq!(refused(vec![0, 1], vec![2]), "sparse rows: a column index is out of range at 0");
        assert_eq!(refused(vec![0, 2, 1], vec![0]), "sparse rows: the offsets decrease at 1");
        assert_eq!(refused(vec![0, 2], vec![1, 1]), "sparse rows: the column indices of a row do not ascend at 0");
        assert_eq!(refused(vec![1, 1], vec![0]), "sparse rows: the offsets must start with 0 at 0");
    }

    #[test]
    fn sparse_and_dense_rows_do_the_same_arithmetic() {
        let x = array![[0.0, 2.0, -1.0], [0.0, 0.0, 0.0], [1.5, 0.0, 4.0]];
        let sparse = SparseRows::from_dense(x.view()).unwrap();
        let (dense, sparse) =
            (DenseRows::new(x.view(), Some(2.0)), BiasedSparseRows { rows: &sparse, bias: Some(2.0) });
        for i in 0..3 {
            let state = [1.0, -2.0, 0.5, 3.0];
            assert_eq!(dense.curvature(i), sparse.curvature(i));
            assert_eq!(dense.score(i, &state), sparse.score(i, &state));
            let (mut a, mut b) = (state, state);
            dense.add(i, -1.5, &mut a);
            sparse.add(i, -1.5, &mut b);
            assert_eq!(a, b);
        }
    }
}
