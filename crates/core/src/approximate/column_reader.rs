//! Columns T of a symmetric matrix, read by blocks of rows: every entry once, in bounded memory.
//!
//! Rows that a method wants to see first (K[T,T], a sample for validation) are read first and remembered; the rest
//! streams by. Each block is multiplied into the factors as it comes, so that K[:,T] itself is only kept when asked for.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

use super::{Approximate, ApproximateError};
use crate::approximation::{Approximation, Known};
use crate::balance::balancing;
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::oracle::{InUnit, Oracle, OracleError, Remembered, ask_block, block_of};
use crate::stream::Rng;

/// Rows of one streamed block at least: enough for a full-speed product.
const ROWS_PER_BLOCK: usize = 1 << 10;

/// Cells of one streamed block where that has many rows anyway: 512 KB, which stay in cache and need no fresh memory.
const CELLS_PER_BLOCK: usize = 1 << 16;

const CELLS_PER_TASK: usize = 1 << 16;

/// The planned columns of a fit in the course of being read, and what the fit was asked for.
pub struct ColumnReader<'a> {
    oracle: &'a dyn Oracle,
    columns: &'a [usize],
    known: Known,
    landmarks: &'a Landmarks,
    rank: usize,
    is_read: Vec<bool>,
    blocks: Vec<(Vec<usize>, Array2<f64>)>,
    kept: Option<Array2<f64>>,
}

/// Image of K[:,T]: one factor of n rows.
pub(super) enum Map<'a> {
    /// K[:,T] · P, with P t × r.
    Product(ArrayView2<'a, f64>),
    /// The same where K[T,T] · P (t × r) is known: of an eigendecomposition K[T,T] = V diag(w) Vᵀ and P = V diag(g) it is V diag(w g), at no product.
    Spectral {
        /// P.
        projector: ArrayView2<'a, f64>,
        /// K[T,T] · P.
        corner: ArrayView2<'a, f64>,
    },
    /// These columns as they are, by their position in T.
    Columns(&'a [usize]),
}

impl Map<'_> {
    fn width(&self) -> usize {
        match self {
            Self::Product(matrix) | Self::Spectral { projector: matrix, .. } => matrix.ncols(),
            Self::Columns(positions) => positions.len(),
        }
    }

    /// Rows of the factor, into room that has been used before: fresh memory costs more than the copy.
    fn apply(&self, block: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        match self {
            Self::Product(matrix) | Self::Spectral { projector: matrix, .. } => {
                linalg::product_into(block, matrix.view(), 1.0, out);
            }
            Self::Columns(positions) => {
                for (&from, mut to) in positions.iter().zip(out.columns_mut()) {
                    to.assign(&block.column(from));
                }
            }
        }
    }
}

impl<'a> ColumnReader<'a> {
    pub(super) fn new(
        oracle: &'a dyn Oracle,
        columns: &'a [usize],
        known: Known,
        (landmarks, rank): (&'a Landmarks, usize),
    ) -> Self {
        let is_read = vec![false; oracle.len()];
        Self { oracle, columns, known, landmarks, rank, is_read, blocks: Vec::new(), kept: None }
    }

    /// The oracle below. What is asked of it directly is not remembered.
    pub fn oracle(&self) -> &'a dyn Oracle {
        self.oracle
    }

    /// Entries that the result is to return exactly.
    pub fn known(&self) -> Known {
        self.known
    }

    pub fn landmarks(&self) -> &'a Landmarks {
        self.landmarks
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    /// T, the columns that the plan names in full.
    pub fn columns(&self) -> &'a [usize] {
        self.columns
    }

    /// The fit by `method` in a unit in which products of scores are within range; `None` if they already are.
    pub(super) fn fit_in_unit(
        &self,
        method: &dyn Approximate,
        oracle: &Remembered<&dyn Oracle>,
        rng: &mut Rng,
    ) -> Result<Option<Approximation>, ApproximateError> {
        let unit = balancing(oracle.largest());
        if unit == 1.0 {
            return Ok(None);
        }
        let fitted = method.fit(&InUnit::new(oracle, unit), self.landmarks, self.rank, self.known, rng)?;
        Ok(Some(fitted.in_unit(1.0 / unit)))
    }

    /// K[T, T]. To be read first, for a symmetric oracle evaluates its pairs once only within a block.
    pub(super) fn corner(&mut self) -> Result<Array2<f64>, OracleError> {
        self.rows(self.columns)
    }

    /// K[rows, T] for rows not read yet.
    pub(super) fn rows(&mut self, rows: &[usize]) -> Result<Array2<f64>, OracleError> {
        let block = block_of(self.oracle, rows, self.columns)?;
        rows.iter().for_each(|&i| self.is_read[i] = true);
        self.blocks.push((rows.to_vec(), block.clone()));
        Ok(block)
    }

    /// Items whose rows are not read yet, ascending.
    pub(super) fn unread(&self) -> Vec<usize> {
        (0..self.is_read.len()).filter(|&i| !self.is_read[i]).collect()
    }

    /// Reads the remaining rows and returns one factor a map; K[:,T] itself is kept where it is to be known.
    pub(super) fn finish<const M: usize>(&mut self, maps: [Map<'_>; M]) -> Result<[Array2<f64>; M], OracleError> {
        let n = self.oracle.len();
        let mut factors = std::array::from_fn(|m| Array2::zeros((n, maps[m].width())));
        let mut columns = self.known.landmarks.then(|| Array2::zeros((n, self.columns.len())));
        let rows_at_a_time = (CELLS_PER_BLOCK / self.columns.len().max(1)).max(ROWS_PER_BLOCK);
        let mut images: [Array2<f64>; M] = std::array::from_fn(|_| Array2::zeros((0, 0)));
        let mut place = |rows: &[usize], block: ArrayView2<'_, f64>| {
            for ((map, factor), image) in maps.iter().zip(&mut factors).zip(&mut images) {
                if let Map::Spectral { corner, .. } = map
                    && rows == self.columns
                {
                    scatter(corner.view(), rows, 0, factor.view_mut());
                    continue;
                }
                if image.nrows() < rows.len() {
                    *image = Array2::zeros((rows.len(), map.width()));
                }
                let mut image = image.slice_mut(s![..rows.len(), ..]);
                map.apply(block, image.view_mut());
                scatter(image.view(), rows, 0, factor.view_mut());
            }
            if let Some(columns) = &mut columns {
                scatter(block, rows, 0, columns.view_mut());
            }
        };
        for (rows, block) in std::mem::take(&mut self.blocks) {
            place(&rows, block.view());
        }
        let unread = self.unread();
        let mut block = Array2::zeros((rows_at_a_time.min(unread.len()), self.columns.len()));
        for rows in unread.chunks(rows_at_a_time) {
            let mut block = block.slice_mut(s![..rows.len(), ..]);
            ask_block(self.oracle, rows, self.columns, block.view_mut())?;
            place(rows, block.view());
        }
        self.kept = columns;
        Ok(factors)
    }

    /// K[:,T], where it was read to be known.
    pub(super) fn into_kept(self) -> Option<Array2<f64>> {
        self.kept
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
