//! Requests for entries, and the pairs of them that are still to be evaluated.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use landmark_core::entries::PairHasher;
use landmark_core::oracle::{OracleError, Pair};

use super::entry_cache::EntryCache;

/// Cells of the matrix, in the order they are evaluated: a block column by column.
#[derive(Clone, Copy)]
pub(super) enum EntryRequest<'a> {
    /// All of rows × cols.
    Block {
        rows: &'a [usize],
        cols: &'a [usize],
    },
    Pairs(&'a [Pair]),
}

impl EntryRequest<'_> {
    pub(super) fn cells(&self) -> usize {
        match self {
            Self::Block { rows, cols } => rows.len() * cols.len(),
            Self::Pairs(pairs) => pairs.len(),
        }
    }

    pub(super) fn check(&self, len: usize) -> Result<(), OracleError> {
        let beyond = |index: &usize| *index >= len;
        let found = match self {
            Self::Block { rows, cols } => rows.iter().chain(*cols).copied().find(beyond),
            Self::Pairs(pairs) => pairs.iter().flat_map(|&(i, j)| [i, j]).find(beyond),
        };
        found.map_or(Ok(()), |index| Err(OracleError::OutOfRange { index, len }))
    }

    /// The next `limit` distinct pairs from the cell `next` on that are neither held nor a known diagonal; fewer at the end of the request.
    pub(super) fn missing(&self, held: &EntryCache, diagonal_known: bool, next: &mut usize, limit: usize) -> Vec<Pair> {
        let room = limit.min(self.cells() - *next);
        let mut keys: HashSet<u64, BuildHasherDefault<PairHasher>> = HashSet::default();
        let (mut missing, mut scores) = (Vec::with_capacity(room), Vec::new());
        keys.reserve(room);
        while *next < self.cells() && missing.len() < limit {
            match self {
                Self::Pairs(pairs) => {
                    let (i, j) = pairs[*next];
                    if !(diagonal_known && i == j) && held.get(i, j).is_none() && keys.insert(held.key(i, j)) {
                        missing.push((i, j));
                    }
                    *next += 1;
                }
                Self::Block { rows, cols } => {
                    let (rows, j) = (&rows[*next % rows.len()..], cols[*next / rows.len()]);
                    scores.resize(rows.len(), 0.0);
                    held.gather_column(rows, j, &mut scores);
                    for (&i, score) in rows.iter().zip(&scores) {
                        if missing.len() == limit {
                            break;
                        }
                        if score.is_nan() && !(diagonal_known && i == j) && keys.insert(held.key(i, j)) {
                            missing.push((i, j));
                        }
                        *next += 1;
                    }
                }
            }
        }
        missing
    }
}
