//! The distinct pairs of a block: what a block really costs.
//!
//! In a symmetric rows × cols block, a pair {i, j} with i ≠ j occurs twice where both items are among the rows and among
//! the columns; it is evaluated at the cell whose column comes first and copied to the other. With x items shared by
//! rows and columns, `rows·cols − x − x(x−1)/2` off-diagonal pairs and x diagonal entries are left. Preparing costs
//! O(rows + cols); a cell then costs two reads of an index vector.

use std::collections::HashMap;

use ndarray::ArrayViewMut2;

use super::{Oracle, OracleError, OracleShape, Pair, Symmetry, ask_pairs, check_indices};

/// Pairs handed to one `evaluate` call: large enough to batch, small enough to stay in cache (1 MiB of pairs).
const CHUNK: usize = 1 << 16;

/// Marks an item of one side that is not on the other.
const ABSENT: usize = usize::MAX;

/// Cells of a rows × cols block that must be evaluated, apart from those that mirror another or are known.
pub struct DistinctPairs<'a> {
    rows: &'a [usize],
    cols: &'a [usize],
    /// Position of the item of each row among the columns, or ABSENT.
    col_of_row: Vec<usize>,
    /// Position of the item of each column among the rows, or ABSENT.
    row_of_col: Vec<usize>,
    symmetric: bool,
    known_diagonal: Option<f64>,
}

impl<'a> DistinctPairs<'a> {
    /// Prepares the block. An item listed twice on one side is evaluated for each listing.
    pub fn new(shape: OracleShape, rows: &'a [usize], cols: &'a [usize]) -> Self {
        let place_of: HashMap<usize, usize> = cols.iter().enumerate().map(|(b, &j)| (j, b)).collect();
        let col_of_row: Vec<usize> = rows.iter().map(|i| place_of.get(i).copied().unwrap_or(ABSENT)).collect();
        let mut row_of_col = vec![ABSENT; cols.len()];
        for (a, &b) in col_of_row.iter().enumerate().filter(|&(_, &b)| b != ABSENT) {
            row_of_col[b] = a;
        }
        for b in 0..cols.len() {
            // an earlier listing of a repeated column shares the row of its last one
            row_of_col[b] = row_of_col[place_of[&cols[b]]];
        }
        let symmetric = shape.symmetry == Symmetry::Symmetric;
        Self { rows, cols, col_of_row, row_of_col, symmetric, known_diagonal: shape.known_diagonal }
    }

    /// Pairs to evaluate, in closed form: (off the diagonal, on the diagonal). O(rows + cols).
    pub fn count(&self) -> (u64, u64) {
        let cells = self.rows.len() as u64 * self.cols.len() as u64;
        let mut listings = vec![0_u64; self.cols.len()];
        for &b in self.col_of_row.iter().filter(|&&b| b != ABSENT) {
            listings[b] += 1;
        }
        let (mut diagonal, mut mirrors, mut earlier) = (0, 0, 0);
        for (b, &a) in self.row_of_col.iter().enumerate() {
            if a != ABSENT {
                diagonal += listings[self.col_of_row[a]];
                mirrors += if self.symmetric { earlier } else { 0 };
            }
            earlier += listings[b];
        }
        (cells - diagonal - mirrors, if self.known_diagonal.is_some() { 0 } else { diagonal })
    }

    /// The cells (a, b) to evaluate, column by column; the pair of a cell is `(rows[a], cols[b])`.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.cols.len()).flat_map(move |b| {
            let shared = self.row_of_col[b] != ABSENT;
            (0..self.rows.len()).filter(move |&a| !shared || self.must_evaluate(a, b)).map(move |a| (a, b))
        })
    }

    /// Writes the known diagonal and copies every mirrored cell; the evaluated cells must be in place.
    pub fn complete(&self, mut out: ArrayViewMut2<'_, f64>) {
        for b in (0..self.cols.len()).filter(|&b| self.row_of_col[b] != ABSENT) {
            for a in 0..self.rows.len() {
                if self.rows[a] == self.cols[b] {
                    if let Some(value) = self.known_diagonal {
                        out[[a, b]] = value;
                    }
                } else if self.mirrors(a, b) {
                    out[[a, b]] = out[[self.row_of_col[b], self.col_of_row[a]]];
                }
            }
        }
    }

    fn must_evaluate(&self, a: usize, b: usize) -> bool {
        if self.rows[a] == self.cols[b] { self.known_diagonal.is_none() } else { !self.mirrors(a, b) }
    }

    /// True where cell (a, b), off the diagonal and in a shared column, repeats one of an earlier column.
    fn mirrors(&self, a: usize, b: usize) -> bool {
        self.symmetric && self.col_of_row[a] < b
    }
}

/// The default of [`Oracle::block`]: evaluates each distinct pair once, column by column, in chunks of 65,536 pairs.
///
/// # Errors
/// An index out of range, whatever `evaluate` answers, and [`OracleError::NotFinite`] for the first score that is not
/// finite.
pub fn evaluate_block<O: Oracle + ?Sized>(
    oracle: &O,
    rows: &[usize],
    cols: &[usize],
    mut out: ArrayViewMut2<'_, f64>,
) -> Result<(), OracleError> {
    check_indices(oracle.len(), rows, cols)?;
    let distinct = DistinctPairs::new(oracle.shape(), rows, cols);
    let room = CHUNK.min(rows.len() * cols.len());
    let mut pairs: Vec<Pair> = Vec::with_capacity(room);
    let mut chunk: Vec<(usize, usize)> = Vec::with_capacity(room);
    let mut scores = vec![0.0; room];
    let mut cells = distinct.cells();
    loop {
        chunk.clear();
        chunk.extend(cells.by_ref().take(CHUNK));
        if chunk.is_empty() {
            break;
        }
        pairs.clear();
        pairs.extend(chunk.iter().map(|&(a, b)| (rows[a], cols[b])));
        let scores = &mut scores[..pairs.len()];
        ask_pairs(oracle, &pairs, scores)?;
        for (&cell, &score) in chunk.iter().zip(scores.iter()) {
            out[cell] = score;
        }
    }
    distinct.complete(out);
    Ok(())
}
