//! What was asked for, and which of it is still to be bought.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::io;

use landmark_core::oracle::{OracleError, Pair};

use super::held::{Held, PairHasher};

/// Cells of the matrix, in the order they are bought: a block column by column.
#[derive(Clone, Copy)]
pub(super) enum Request<'a> {
    /// All of rows × cols.
    Block { rows: &'a [usize], cols: &'a [usize] },
    /// A list.
    Pairs(&'a [Pair]),
}

/// How far a request has been looked through. It begins where the caller says and wraps around.
pub(super) struct Cursor {
    next: usize,
    left: usize,
}

/// Distinct pairs on their way to the oracle.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) pairs: Vec<Pair>,
    keys: HashSet<u64, BuildHasherDefault<PairHasher>>,
}

impl Request<'_> {
    /// Number of cells, repetitions included.
    pub(super) fn cells(&self) -> usize {
        match self {
            Self::Block { rows, cols } => rows.len() * cols.len(),
            Self::Pairs(pairs) => pairs.len(),
        }
    }

    /// A cursor that begins `share` (0 ≤ share < 1) of the way in.
    pub(super) fn cursor(&self, share: f64) -> Cursor {
        Cursor { next: (self.cells() as f64 * share) as usize, left: self.cells() }
    }

    /// Refuses an index that is no item.
    pub(super) fn check(&self, len: usize) -> Result<(), OracleError> {
        let beyond = |index: &usize| *index >= len;
        let found = match self {
            Self::Block { rows, cols } => rows.iter().chain(*cols).copied().find(beyond),
            Self::Pairs(pairs) => pairs.iter().flat_map(|&(i, j)| [i, j]).find(beyond),
        };
        found.map_or(Ok(()), |index| Err(OracleError::OutOfRange { index, len }))
    }

    /// The next `limit` distinct pairs that are neither held nor a known diagonal; fewer at the end of the request.
    pub(super) fn missing(
        &self,
        held: &Held,
        diagonal_known: bool,
        cursor: &mut Cursor,
        limit: usize,
    ) -> io::Result<Batch> {
        let mut batch = Batch::default();
        batch.keys.reserve(limit.min(cursor.left));
        batch.pairs.reserve(limit.min(cursor.left));
        let mut scores = Vec::new();
        while cursor.left > 0 && batch.pairs.len() < limit {
            let seen = match self {
                Self::Pairs(pairs) => {
                    let (i, j) = pairs[cursor.next];
                    if !(diagonal_known && i == j) && held.get(i, j)?.is_none() {
                        batch.add(held, i, j);
                    }
                    1
                }
                Self::Block { rows, cols } => {
                    let (a, j) = (cursor.next % rows.len(), cols[cursor.next / rows.len()]);
                    let rows = &rows[a..rows.len().min(a + cursor.left)];
                    scores.resize(rows.len(), 0.0);
                    held.gather_column(rows, j, &mut scores)?;
                    let mut seen = 0;
                    for (&i, score) in rows.iter().zip(&scores) {
                        if batch.pairs.len() == limit {
                            break;
                        }
                        if score.is_nan() && !(diagonal_known && i == j) {
                            batch.add(held, i, j);
                        }
                        seen += 1;
                    }
                    seen
                }
            };
            cursor.next = (cursor.next + seen) % self.cells();
            cursor.left -= seen;
        }
        Ok(batch)
    }
}

impl Batch {
    fn add(&mut self, held: &Held, i: usize, j: usize) {
        if self.keys.insert(held.key(i, j)) {
            self.pairs.push((i, j));
        }
    }
}
