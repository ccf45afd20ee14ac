//! A memory of evaluated entries: nothing is asked twice by a growing rank, a data-dependent choice or a second fit.
//!
//! A block of many rows is kept as whole columns (8n bytes each, NaN where nothing was evaluated yet, which no score may
//! be), a block wider than tall as rows, scattered pairs in a hash map (≈ 40 bytes each). A symmetric oracle remembers
//! f(i, j) as f(j, i) too. What is missing of a block is evaluated as rectangles, so that a fast `block` below stays fast.
//!
//! One memory serves one fit, or one sweep that fits in memory; the tile store of `landmark-store` outlives a
//! process. No lock is held while the oracle works: two threads that ask for one entry at one time may both evaluate it.

use std::collections::{HashMap, HashSet};
use std::hash::Hasher;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::{
    Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, ask_block, ask_pairs, block_of, check_indices,
    check_pairs,
};
use crate::entries::pair_map::{PairHasher, PairMap, PairSet};
use crate::entries::{EntryBlock, EntryPlan, EntrySet, Rows};

/// A block of fewer rows than this, and than n / 256, is kept as scattered pairs.
const FEW_ROWS: usize = 32;

/// Entries of one request of a plan's columns: 32 MB.
const ENTRIES_PER_REQUEST: usize = 1 << 22;

/// Marks an entry of a column that is not evaluated yet.
const UNKNOWN: f64 = f64::NAN;

/// An oracle that never asks the inner one for the same entry twice.
#[derive(Debug)]
pub struct Remembered<O> {
    inner: O,
    memory: RwLock<Memory>,
}

impl<O: Oracle> Remembered<O> {
    pub fn new(inner: O) -> Self {
        let memory = Memory {
            len: inner.len(),
            symmetric: inner.symmetry() == Symmetry::Symmetric,
            known_diagonal: inner.known_diagonal(),
            columns: HashMap::new(),
            rows: HashMap::new(),
            scattered: PairMap::default(),
        };
        Self { inner, memory: RwLock::new(memory) }
    }

    pub fn inner(&self) -> &O {
        &self.inner
    }

    /// False while a thread reads or writes. In a forked child that thread may be one of its parent, which never ends here.
    pub fn is_free(&self) -> bool {
        !matches!(self.memory.try_write(), Err(TryLockError::WouldBlock))
    }

    /// Evaluates whatever a plan lists and is not here yet, at most 4M entries at a time (one row at least).
    pub fn evaluate_plan(&self, plan: &EntryPlan) -> Result<(), OracleError> {
        for EntryBlock { rows, cols } in &plan.blocks {
            match rows {
                Rows::These(rows) => self.evaluate_by_rows(rows, cols)?,
                Rows::All => {
                    // the square first: within one request its pairs are evaluated once, and what a request before it had is here
                    self.evaluate_by_rows(cols, cols)?;
                    let mut is_column = vec![false; self.len()];
                    cols.iter().for_each(|&j| is_column[j] = true);
                    let rest: Vec<usize> = (0..self.len()).filter(|&i| !is_column[i]).collect();
                    self.evaluate_by_rows(&rest, cols)?;
                }
            }
        }
        Ok(())
    }

    fn evaluate_by_rows(&self, rows: &[usize], cols: &[usize]) -> Result<(), OracleError> {
        rows.chunks((ENTRIES_PER_REQUEST / cols.len().max(1)).max(1))
            .try_for_each(|rows| self.evaluate_block(rows, cols))
    }

    fn evaluate_block(&self, rows: &[usize], cols: &[usize]) -> Result<(), OracleError> {
        check_indices(self.len(), rows, cols)?;
        let turned = self.symmetry() == Symmetry::Symmetric && cols.len() > rows.len();
        let (rows, cols) = if turned { (cols, rows) } else { (rows, cols) };
        let mut scores = Array2::zeros((rows.len(), cols.len()));
        self.evaluate_missing(rows, cols, &mut scores.view_mut()).map(|_| ())
    }

    /// Evaluations that `set` would still cost; at most, where it has pairs that are chosen on the way. One look per entry of the set.
    pub fn missing(&self, set: &EntrySet) -> u64 {
        let (memory, shape) = (self.read(), OracleShape::of(self));
        if memory.is_empty() {
            return set.evaluations();
        }
        let is_of_two = |i: usize, j: usize| memory.symmetric && i < j && set.has_column(i);
        let of_columns = set
            .columns()
            .into_iter()
            .flat_map(|j| (0..shape.len).map(move |i| (i, j)))
            .filter(|&(i, _)| set.is_asked(i));
        let of_rows =
            set.rows().into_iter().flat_map(|i| (0..shape.len).map(move |j| (i, j))).filter(|&(_, j)| set.is_asked(j));
        let (mut off_diagonal, mut diagonal) = (0, 0);
        let once = of_columns.filter(|&(i, j)| !is_of_two(i, j)).chain(of_rows.filter(|&(_, j)| !set.has_column(j)));
        for (i, j) in once.chain(set.scattered()).filter(|&(i, j)| memory.get(i, j).is_none()) {
            if i == j { diagonal += 1 } else { off_diagonal += 1 }
        }
        // which pairs are chosen on the way is not known, so none of them counts as here
        shape.evaluations(off_diagonal, diagonal) + set.chosen_evaluations()
    }

    /// max|score| of what is here.
    pub fn largest(&self) -> f64 {
        let memory = self.read();
        let lines = memory.columns.values().chain(memory.rows.values()).flatten();
        crate::balance::largest(lines.chain(memory.scattered.values()))
    }

    /// Bytes held, near enough.
    pub fn bytes(&self) -> usize {
        let memory = self.read();
        8 * memory.len * (memory.columns.len() + memory.rows.len()) + 40 * memory.scattered.len()
    }

    fn read(&self) -> RwLockReadGuard<'_, Memory> {
        // a panic elsewhere cannot leave half an entry behind
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Memory> {
        self.memory.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Evaluates the missing entries of a block; true if all of them were missing and now stand in `out`.
    fn evaluate_missing(
        &self,
        rows: &[usize],
        cols: &[usize],
        out: &mut ArrayViewMut2<'_, f64>,
    ) -> Result<bool, OracleError> {
        let tall = self.read().keeps_lines(rows.len());
        if tall {
            self.write().gather(cols);
        }
        if self.read().knows_none(rows, cols) {
            self.evaluate_whole(rows, cols, out, tall)?;
            return Ok(true);
        }
        let groups = self.read().groups(rows, cols);
        for group in groups {
            let mut first = 0;
            loop {
                // the lock is free again at the end of this line
                let next = self.read().next_missing(rows, cols, &group, first);
                let Some(Rectangle { start, rows: places, cols: group }) = next else { break };
                if places.len() == rows.len() && group.len() == cols.len() {
                    self.evaluate_whole(rows, cols, out, tall)?;
                    return Ok(true);
                }
                let these_rows: Vec<usize> = places.iter().map(|&a| rows[a]).collect();
                let these_cols: Vec<usize> = group.iter().map(|&b| cols[b]).collect();
                let scores = block_of(&self.inner, &these_rows, &these_cols)?;
                self.write().insert(&these_rows, &these_cols, scores.view(), tall);
                first = start;
            }
        }
        Ok(false)
    }

    fn evaluate_whole(
        &self,
        rows: &[usize],
        cols: &[usize],
        out: &mut ArrayViewMut2<'_, f64>,
        tall: bool,
    ) -> Result<(), OracleError> {
        ask_block(&self.inner, rows, cols, out.view_mut())?;
        self.write().insert(rows, cols, out.view(), tall);
        Ok(())
    }
}

impl<O: Oracle> Oracle for Remembered<O> {
    fn shape(&self) -> OracleShape {
        OracleShape { is_checked: true, ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        let missing: Vec<Pair> = {
            let (memory, mut listed) = (self.read(), PairSet::default());
            let unknown = pairs.iter().filter(|&&(i, j)| memory.get(i, j).is_none());
            unknown.filter(|&&(i, j)| listed.insert(memory.key(i, j))).copied().collect()
        };
        if !missing.is_empty() {
            let mut scores = vec![0.0; missing.len()];
            ask_pairs(&self.inner, &missing, &mut scores)?;
            let mut memory = self.write();
            missing.iter().zip(scores).for_each(|(&(i, j), score)| memory.insert_one(i, j, score));
        }
        let memory = self.read();
        for (&(i, j), score) in pairs.iter().zip(out) {
            *score = memory.get(i, j).unwrap_or(UNKNOWN);
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        check_indices(self.len(), rows, cols)?;
        if self.symmetry() == Symmetry::Symmetric && cols.len() > rows.len() {
            return self.block(cols, rows, out.reversed_axes());
        }
        if !self.evaluate_missing(rows, cols, &mut out)? {
            self.read().fill(rows, cols, out);
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Memory {
    len: usize,
    symmetric: bool,
    known_diagonal: Option<f64>,
    columns: HashMap<usize, Vec<f64>>,
    /// Rows of an asymmetric oracle; a symmetric one keeps them as columns.
    rows: HashMap<usize, Vec<f64>>,
    scattered: PairMap<f64>,
}

/// Positions, not items, of a block that is missing; `start` is where in its group the first such column stands.
struct Rectangle {
    start: usize,
    rows: Vec<usize>,
    cols: Vec<usize>,
}

impl Memory {
    fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.rows.is_empty() && self.scattered.is_empty()
    }

    fn key(&self, i: usize, j: usize) -> Pair {
        if self.symmetric && i < j { (j, i) } else { (i, j) }
    }

    /// The row of item i: for a symmetric oracle, its column.
    fn row(&self, i: usize) -> Option<&Vec<f64>> {
        if self.symmetric { self.columns.get(&i) } else { self.rows.get(&i) }
    }

    fn get(&self, i: usize, j: usize) -> Option<f64> {
        self.look_up(i, j, self.row(i), self.columns.get(&j))
    }

    /// The entry (i, j), given row i and column j where there are such.
    fn look_up(&self, i: usize, j: usize, row: Option<&Vec<f64>>, column: Option<&Vec<f64>>) -> Option<f64> {
        if i == j && self.known_diagonal.is_some() {
            return self.known_diagonal;
        }
        in_lines(i, j, row, column).or_else(|| self.in_scattered(i, j))
    }

    fn in_scattered(&self, i: usize, j: usize) -> Option<f64> {
        if self.scattered.is_empty() { None } else { self.scattered.get(&self.key(i, j)).copied() }
    }

    fn fill(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) {
        let columns: Vec<_> = cols.iter().map(|j| self.columns.get(j)).collect();
        for (&i, mut scores) in rows.iter().zip(out.rows_mut()) {
            let row = self.row(i);
            for ((&j, column), score) in cols.iter().zip(&columns).zip(&mut scores) {
                *score = self.look_up(i, j, row, *column).unwrap_or(UNKNOWN);
            }
        }
    }

    /// True where a block of `along` rows is kept as whole lines.
    fn keeps_lines(&self, along: usize) -> bool {
        along >= FEW_ROWS.max(self.len / 256).min(self.len)
    }

    /// True where no entry of a block stands in a line, and none can be scattered: one pass over the cells, where
    /// [`groups`](Self::groups) takes several.
    fn knows_none(&self, rows: &[usize], cols: &[usize]) -> bool {
        let is_gathered = self.keeps_lines(rows.len()) || self.scattered.is_empty();
        let is_open = |line: Option<&Vec<f64>>, items: &[usize]| {
            line.is_none_or(|line| items.iter().all(|&item| line[item].is_nan()))
        };
        is_gathered
            && rows.iter().all(|&i| is_open(self.row(i), cols))
            && cols.iter().all(|j| is_open(self.columns.get(j), rows))
    }

    /// Moves the scattered entries of these columns into whole columns, so that no cell of a tall block needs to be looked
    /// up among the scattered ones.
    fn gather(&mut self, cols: &[usize]) {
        if self.scattered.is_empty() {
            return;
        }
        let (wanted, len): (HashSet<usize>, usize) = (cols.iter().copied().collect(), self.len);
        let (columns, orders) = (&mut self.columns, if self.symmetric { 2 } else { 1 });
        self.scattered.retain(|&(i, j), &mut score| {
            let mut is_moved = false;
            // a symmetric entry belongs to two columns
            for (row, column) in [(i, j), (j, i)].into_iter().take(orders) {
                if wanted.contains(&column) || columns.contains_key(&column) {
                    columns.entry(column).or_insert_with(|| vec![UNKNOWN; len])[row] = score;
                    is_moved = true;
                }
            }
            !is_moved
        });
    }

    /// Columns by what they miss, so that few are compared with each other; complete ones are left out. Two sets of rows
    /// may share a digest: [`next_missing`](Self::next_missing) compares the sets themselves.
    fn groups(&self, rows: &[usize], cols: &[usize]) -> Vec<Vec<usize>> {
        let lines: Vec<_> = rows.iter().map(|&i| self.row(i)).collect();
        let (mut groups, mut group_of): (Vec<Vec<usize>>, HashMap<u64, usize>) = Default::default();
        for (b, &j) in cols.iter().enumerate() {
            let missing = self.missing_in(rows, &lines, j);
            if missing.is_empty() {
                continue;
            }
            let mut digest = PairHasher::default();
            missing.iter().for_each(|&a| digest.write_usize(a));
            let group = *group_of.entry(digest.finish()).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(b);
        }
        groups
    }

    /// The first column of a group, from place `from` on, that misses rows, with every later one that misses the same.
    fn next_missing(&self, rows: &[usize], cols: &[usize], group: &[usize], from: usize) -> Option<Rectangle> {
        let lines: Vec<_> = rows.iter().map(|&i| self.row(i)).collect();
        let missing_at = |place: usize| self.missing_in(rows, &lines, cols[group[place]]);
        let (start, missing) =
            (from..group.len()).map(|place| (place, missing_at(place))).find(|(_, missing)| !missing.is_empty())?;
        let others = (start + 1..group.len()).filter(|&place| missing_at(place) == missing);
        let cols = std::iter::once(start).chain(others).map(|place| group[place]).collect();
        Some(Rectangle { start, rows: missing, cols })
    }

    /// Positions of the rows that column j misses. A known diagonal costs nothing and counts as missing where others are missing,
    /// so that the columns of a square block miss the same rows.
    fn missing_in(&self, rows: &[usize], lines: &[Option<&Vec<f64>>], j: usize) -> Vec<usize> {
        let column = self.columns.get(&j);
        let is_gathered = self.keeps_lines(rows.len());
        let free = |i: usize| i == j && self.known_diagonal.is_some();
        let is_missing = |a: usize| {
            let (i, in_line) = (rows[a], in_lines(rows[a], j, lines[a], column));
            free(i) || in_line.or_else(|| if is_gathered { None } else { self.in_scattered(i, j) }).is_none()
        };
        let missing: Vec<usize> = (0..rows.len()).filter(|&a| is_missing(a)).collect();
        if missing.iter().all(|&a| free(rows[a])) { Vec::new() } else { missing }
    }

    /// Keeps an evaluated rectangle, in whole columns where it belongs to a `tall` request.
    fn insert(&mut self, rows: &[usize], cols: &[usize], block: ArrayView2<'_, f64>, tall: bool) {
        let wide = !tall && cols.len() > rows.len();
        let (along, across, block) = if wide { (cols, rows, block.reversed_axes()) } else { (rows, cols, block) };
        let whole_lines = tall || self.keeps_lines(along.len());
        for (&line, scores) in across.iter().zip(block.columns()) {
            if !whole_lines {
                for (&k, &score) in along.iter().zip(scores) {
                    let (i, j) = if wide { (line, k) } else { (k, line) };
                    self.insert_one(i, j, score);
                }
                continue;
            }
            let lines = if wide && !self.symmetric { &mut self.rows } else { &mut self.columns };
            let kept = lines.entry(line).or_insert_with(|| vec![UNKNOWN; self.len]);
            along.iter().zip(scores).for_each(|(&k, &score)| kept[k] = score);
        }
    }

    fn insert_one(&mut self, i: usize, j: usize, score: f64) {
        if let Some(column) = self.columns.get_mut(&j) {
            column[i] = score;
        } else {
            self.scattered.insert(self.key(i, j), score);
        }
    }
}

/// The entry (i, j) of row i or column j, where it is known.
fn in_lines(i: usize, j: usize, row: Option<&Vec<f64>>, column: Option<&Vec<f64>>) -> Option<f64> {
    let known = |line: Option<&Vec<f64>>, k: usize| line.map(|line| line[k]).filter(|score| !score.is_nan());
    known(column, i).or_else(|| known(row, j))
}
