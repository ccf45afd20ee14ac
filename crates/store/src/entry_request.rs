//! Requests for entries, and the pairs of them that are still to be evaluated.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::io;

use landmark_core::entries::PairHasher;
use landmark_core::oracle::{OracleError, Pair};

use super::entry_cache::EntryCache;

/// Cells of the matrix, in the order they are evaluated: a block column by column.
#[derive(Clone, Copy)]
pub(super) enum EntryRequest<'a> {
    /// All of rows × cols.
    Block { rows: &'a [usize], cols: &'a [usize] },
    /// A list.
    Pairs(&'a [Pair]),
}

/// Progress of the search through a request. It begins where the caller says and wraps around.
pub(super) struct Cursor {
    next: usize,
    left: usize,
}

/// Distinct pairs on their way to the oracle.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) pairs: Vec<Pair>,
    keys: Keys,
    /// A pair was left out because the oracle is at work on it.
    pub(super) left_some: bool,
}

/// A set of pairs.
type Keys = HashSet<u64, BuildHasherDefault<PairHasher>>;

/// Pairs that the oracle is at work on.
pub(super) struct UnderWay {
    keys: Keys,
    batches: usize,
    most: usize,
}

impl UnderWay {
    /// Nothing yet, and never more than `most` batches.
    pub(super) fn new(most: usize) -> Self {
        Self { keys: Keys::default(), batches: 0, most }
    }

    /// True without a batch.
    pub(super) fn is_empty(&self) -> bool {
        self.batches == 0
    }

    /// True where another batch has to wait.
    pub(super) fn is_full(&self) -> bool {
        self.batches == self.most
    }

    /// One more batch; [`end`](Self::end) is told its keys.
    pub(super) fn begin(&mut self, batch: &mut Batch) -> Keys {
        self.batches += 1;
        // where only one is under way nobody looks for pairs meanwhile
        let keys = if self.most > 1 { std::mem::take(&mut batch.keys) } else { Keys::default() };
        self.keys.extend(&keys);
        keys
    }

    /// One batch less, whatever became of it.
    pub(super) fn end(&mut self, keys: &Keys) {
        self.batches -= 1;
        self.keys.retain(|key| !keys.contains(key));
    }
}

impl Cursor {
    /// Cells left to look through.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// True where nothing is left to look through.
    pub(super) fn is_at_end(&self) -> bool {
        self.left == 0
    }
}

impl EntryRequest<'_> {
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

    /// Cells from the cursor on that are neither held nor a known diagonal; both orders of a pair count.
    pub(super) fn open(&self, held: &EntryCache, diagonal_known: bool, cursor: &Cursor) -> io::Result<usize> {
        let (mut next, mut left, mut open) = (cursor.next, cursor.left, 0);
        let mut scores = Vec::new();
        while left > 0 {
            let seen = match self {
                Self::Pairs(pairs) => {
                    let (i, j) = pairs[next];
                    open += usize::from(!(diagonal_known && i == j) && held.get(i, j)?.is_none());
                    1
                }
                Self::Block { rows, cols } => {
                    let (a, j) = (next % rows.len(), cols[next / rows.len()]);
                    let rows = &rows[a..rows.len().min(a + left)];
                    scores.resize(rows.len(), 0.0);
                    held.gather_column(rows, j, &mut scores)?;
                    let is_open = |&(&i, score): &(&usize, &f64)| score.is_nan() && !(diagonal_known && i == j);
                    open += rows.iter().zip(&scores).filter(is_open).count();
                    rows.len()
                }
            };
            next = (next + seen) % self.cells();
            left -= seen;
        }
        Ok(open)
    }

    /// The next `limit` distinct pairs that are neither held, nor under way, nor a known diagonal; fewer at the end of the request.
    pub(super) fn missing(
        &self,
        held: &EntryCache,
        under_way: &UnderWay,
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
                        batch.add(held.key(i, j), (i, j), under_way);
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
                            batch.add(held.key(i, j), (i, j), under_way);
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
    fn add(&mut self, key: u64, pair: Pair, under_way: &UnderWay) {
        if under_way.keys.contains(&key) {
            self.left_some = true;
        } else if self.keys.insert(key) {
            self.pairs.push(pair);
        }
    }
}
