//! Buying columns T of a symmetric matrix: every entry once, by blocks of rows, in bounded memory.
//!
//! Rows that a method wants to see first (K[T,T], a sample for validation) are bought first and remembered; the rest
//! streams by. Each block is multiplied into the factors as it comes, so that K[:,T] itself is only kept when asked for.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};

use super::ApproximateError;
use crate::approximation::{Approximation, Diagonal, Known};
use crate::linalg;
use crate::oracle::{Oracle, OracleError, Symmetry, check_finite_block};

/// Cells of one streamed block: 8 MB, enough for a full-speed product and small beside the factors.
const CELLS_PER_BLOCK: usize = 1 << 20;

/// Cells put in place by one task.
const CELLS_PER_TASK: usize = 1 << 16;

/// Columns in the course of being bought.
pub(super) struct Purchase<'a> {
    oracle: &'a dyn Oracle,
    columns: &'a [usize],
    is_bought: Vec<bool>,
    blocks: Vec<(Vec<usize>, Array2<f64>)>,
}

/// One factor a map, and K[:,T] itself where it is kept.
pub(super) type Bought<const M: usize> = ([Array2<f64>; M], Option<Array2<f64>>);

/// What becomes of K[:,T]: one factor of n rows.
pub(super) enum Map<'a> {
    /// K[:,T] · P, with P t × r.
    Product(ArrayView2<'a, f64>),
    /// These columns as they are, by their position in T.
    Columns(&'a [usize]),
}

impl Map<'_> {
    fn width(&self) -> usize {
        match self {
            Self::Product(matrix) => matrix.ncols(),
            Self::Columns(positions) => positions.len(),
        }
    }

    fn apply(&self, block: ArrayView2<'_, f64>) -> Array2<f64> {
        match self {
            Self::Product(matrix) => linalg::product(block, matrix.view()),
            Self::Columns(positions) => block.select(Axis(1), positions),
        }
    }
}

/// Refuses an asymmetric oracle by the name of the method that cannot use it.
pub(super) fn require_symmetric(method: &'static str, symmetry: Symmetry) -> Result<(), ApproximateError> {
    match symmetry {
        Symmetry::Symmetric => Ok(()),
        Symmetry::Asymmetric => Err(ApproximateError::Asymmetric { method }),
    }
}

/// K[rows, cols], every score of it finite.
pub(super) fn buy_block(oracle: &dyn Oracle, rows: &[usize], cols: &[usize]) -> Result<Array2<f64>, OracleError> {
    let mut block = Array2::zeros((rows.len(), cols.len()));
    oracle.block(rows, cols, block.view_mut())?;
    check_finite_block(rows, cols, block.view())?;
    Ok(block)
}

impl<'a> Purchase<'a> {
    pub(super) fn new(oracle: &'a dyn Oracle, columns: &'a [usize]) -> Self {
        Self { oracle, columns, is_bought: vec![false; oracle.len()], blocks: Vec::new() }
    }

    /// K[T, T]. To be bought first, for a symmetric oracle evaluates its pairs once only within a block.
    pub(super) fn corner(&mut self) -> Result<Array2<f64>, OracleError> {
        self.rows(self.columns)
    }

    /// K[rows, T] for rows not bought yet.
    pub(super) fn rows(&mut self, rows: &[usize]) -> Result<Array2<f64>, OracleError> {
        let block = buy_block(self.oracle, rows, self.columns)?;
        rows.iter().for_each(|&i| self.is_bought[i] = true);
        self.blocks.push((rows.to_vec(), block.clone()));
        Ok(block)
    }

    /// t, the columns.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Items whose rows are not bought yet, ascending.
    pub(super) fn unseen(&self) -> Vec<usize> {
        (0..self.is_bought.len()).filter(|&i| !self.is_bought[i]).collect()
    }

    /// Buys the remaining rows and returns one factor a map, and K[:,T] itself where `keep`.
    pub(super) fn finish<const M: usize>(mut self, maps: [Map<'_>; M], keep: bool) -> Result<Bought<M>, OracleError> {
        let n = self.oracle.len();
        let mut factors = std::array::from_fn(|m| Array2::zeros((n, maps[m].width())));
        let mut columns = keep.then(|| Array2::zeros((n, self.columns.len())));
        let mut place = |rows: &[usize], block: ArrayView2<'_, f64>| {
            for (map, factor) in maps.iter().zip(&mut factors) {
                scatter(map.apply(block).view(), rows, 0, factor.view_mut());
            }
            if let Some(columns) = &mut columns {
                scatter(block, rows, 0, columns.view_mut());
            }
        };
        for (rows, block) in std::mem::take(&mut self.blocks) {
            place(&rows, block.view());
        }
        let rows_at_a_time = (CELLS_PER_BLOCK / self.columns.len().max(1)).max(1);
        for rows in self.unseen().chunks(rows_at_a_time) {
            place(rows, buy_block(self.oracle, rows, self.columns)?.view());
        }
        Ok((factors, columns))
    }
}

/// Row a of `block` becomes row `rows[a] − first` of `out`. Ascending rows are written in parallel, halves apart.
fn scatter(block: ArrayView2<'_, f64>, rows: &[usize], first: usize, mut out: ArrayViewMut2<'_, f64>) {
    if rows.len() < 2 || block.len() <= CELLS_PER_TASK || !rows.is_sorted() {
        for (row, &i) in block.axis_iter(Axis(0)).zip(rows) {
            out.row_mut(i - first).assign(&row);
        }
        return;
    }
    let half = rows.len() / 2;
    let (block, rest) = block.split_at(Axis(0), half);
    let (out, below) = out.split_at(Axis(0), rows[half] - first);
    rayon::join(|| scatter(block, &rows[..half], first, out), || scatter(rest, &rows[half..], rows[half], below));
}

/// Puts in place what the result is to return exactly.
pub(super) fn with_known(
    approximation: Approximation,
    oracle: &dyn Oracle,
    known: Known,
    columns: Option<Array2<f64>>,
) -> Result<Approximation, ApproximateError> {
    let approximation = match columns {
        Some(columns) if known.landmarks => approximation.with_known_columns(columns),
        _ => approximation,
    };
    if !known.diagonal {
        return Ok(approximation);
    }
    let value = oracle.known_diagonal().ok_or(ApproximateError::NoKnownDiagonal)?;
    Ok(approximation.with_diagonal(Diagonal::Constant(value)))
}
