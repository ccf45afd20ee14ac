//! The distinct pairs of a block: what a block really costs.

use std::collections::HashMap;

use ndarray::ArrayViewMut2;

use super::{Oracle, OracleError, OracleShape, Pair, Symmetry, check_finite};

/// Pairs handed to one `evaluate` call: large enough to batch, small enough to stay in cache (1 MiB of pairs).
const CHUNK: usize = 1 << 16;

/// Which cells of a rows × cols block must be evaluated, and which mirror another or are known.
///
/// In a symmetric block a pair {i, j} with i ≠ j occurs twice where both items are among the rows and among the
/// columns; it is evaluated at the cell whose column comes first.
pub struct DistinctPairs<'a> {
    rows: &'a [usize],
    cols: &'a [usize],
    row_of: HashMap<usize, usize>,
    col_of: HashMap<usize, usize>,
    known_diagonal: Option<f64>,
}

enum Cell {
    Evaluate,
    Known(f64),
    Mirror(usize, usize),
}

impl<'a> DistinctPairs<'a> {
    /// Prepares the block; `rows` and `cols` may list an item once each. O(rows + cols).
    pub fn new(shape: OracleShape, known_diagonal: Option<f64>, rows: &'a [usize], cols: &'a [usize]) -> Self {
        let (mut row_of, mut col_of) = (HashMap::new(), HashMap::new());
        if shape.symmetry == Symmetry::Symmetric {
            let among_cols: std::collections::HashSet<usize> = cols.iter().copied().collect();
            row_of = rows.iter().enumerate().filter(|(_, i)| among_cols.contains(i)).map(|(a, &i)| (i, a)).collect();
            col_of = cols.iter().enumerate().filter(|(_, j)| row_of.contains_key(j)).map(|(b, &j)| (j, b)).collect();
        }
        Self { rows, cols, row_of, col_of, known_diagonal }
    }

    fn cell(&self, a: usize, b: usize) -> Cell {
        let (i, j) = (self.rows[a], self.cols[b]);
        if i == j {
            return self.known_diagonal.map_or(Cell::Evaluate, Cell::Known);
        }
        match (self.row_of.get(&j), self.col_of.get(&i)) {
            (Some(&a_of_j), Some(&b_of_i)) if b_of_i < b => Cell::Mirror(a_of_j, b_of_i),
            _ => Cell::Evaluate,
        }
    }

    /// Off-diagonal and diagonal pairs to evaluate, in closed form: (off, diagonal).
    pub fn count(&self) -> (u64, u64) {
        let cells = self.rows.len() as u64 * self.cols.len() as u64;
        // an asymmetric oracle has no mirrors, but its diagonal cells still count apart
        let diagonal = if self.row_of.is_empty() {
            let rows: std::collections::HashSet<_> = self.rows.iter().collect();
            self.cols.iter().filter(|j| rows.contains(j)).count() as u64
        } else {
            self.col_of.len() as u64
        };
        let shared = self.col_of.len() as u64;
        let mirrors = shared * shared.saturating_sub(1) / 2;
        (cells - diagonal - mirrors, if self.known_diagonal.is_some() { 0 } else { diagonal })
    }
}

/// The default of [`Oracle::block`]: evaluates each distinct pair once, column by column, in chunks of 65,536 pairs.
///
/// # Errors
/// Whatever `evaluate` answers, and [`OracleError::NotFinite`] for the first score that is not finite.
pub fn evaluate_block<O: Oracle + ?Sized>(
    oracle: &O,
    rows: &[usize],
    cols: &[usize],
    mut out: ArrayViewMut2<'_, f64>,
) -> Result<(), OracleError> {
    let shape = OracleShape {
        len: oracle.len(),
        symmetry: oracle.symmetry(),
        diagonal_known: oracle.known_diagonal().is_some(),
        evaluations_per_pair: oracle.evaluations_per_pair(),
    };
    let distinct = DistinctPairs::new(shape, oracle.known_diagonal(), rows, cols);
    let mut pairs: Vec<Pair> = Vec::with_capacity(CHUNK.min(rows.len() * cols.len()));
    let mut cells: Vec<(usize, usize)> = Vec::with_capacity(pairs.capacity());
    let mut scores = vec![0.0; pairs.capacity()];
    let mut flush = |pairs: &mut Vec<Pair>, cells: &mut Vec<(usize, usize)>, out: &mut ArrayViewMut2<'_, f64>| {
        let scores = &mut scores[..pairs.len()];
        oracle.evaluate(pairs, scores)?;
        check_finite(pairs, scores)?;
        for (&(a, b), &score) in cells.iter().zip(scores.iter()) {
            out[[a, b]] = score;
        }
        pairs.clear();
        cells.clear();
        Ok::<(), OracleError>(())
    };
    for b in 0..cols.len() {
        for a in 0..rows.len() {
            match distinct.cell(a, b) {
                Cell::Evaluate => {
                    pairs.push((rows[a], cols[b]));
                    cells.push((a, b));
                    if pairs.len() == CHUNK {
                        flush(&mut pairs, &mut cells, &mut out)?;
                    }
                }
                Cell::Known(value) => out[[a, b]] = value,
                Cell::Mirror(..) => {}
            }
        }
    }
    if !pairs.is_empty() {
        flush(&mut pairs, &mut cells, &mut out)?;
    }
    for b in 0..cols.len() {
        for a in 0..rows.len() {
            if let Cell::Mirror(a_of_j, b_of_i) = distinct.cell(a, b) {
                out[[a, b]] = out[[a_of_j, b_of_i]];
            }
        }
    }
    Ok(())
}
