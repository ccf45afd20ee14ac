//! The stored entries of one oracle, ready to be read.
//!
//! A column (of a symmetric oracle: an item's row and column at once) of which at least n/32 entries are there is held
//! as n values, NaN where an entry is missing; every other entry in a hash map. What was scattered of a column before it was opened
//! stays there until a walk over all that is scattered pays, and is looked for there meanwhile. Memory: 8n bytes a column, of which the
//! first `memory` bytes are on the heap and the rest in mapped files without a name (`Slab`); 24 to 48 bytes for a scattered entry.

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasherDefault;
use std::io::{self, Write as _};

use landmark_core::entries::PairHasher;
use landmark_core::oracle::{OracleShape, Symmetry};
use memmap2::MmapMut;
use ndarray::ArrayViewMut2;

use super::tile::Entry;

/// A column of n items is held whole once n / `DENSE` of its entries are there.
const DENSE: usize = 32;
/// Scattered entries are walked over when at least this part of them moves.
const WORTH_A_WALK: usize = 4;
const SLAB: usize = 1 << 23;
const WRITTEN_AT_A_TIME: usize = 1 << 16;
/// Rows copied at a time: the lines of the output they touch stay in the first-level cache.
const ROWS_AT_A_TIME: usize = 128;

pub(super) struct EntryCache {
    len: usize,
    symmetric: bool,
    columns: Vec<Option<Column>>,
    scattered: HashMap<u64, f64, BuildHasherDefault<PairHasher>>,
    counts: Vec<u32>,
    /// Open columns that some of them belong to still.
    unsettled: BTreeSet<usize>,
    entries: u64,
    memory: u64,
    slabs: Vec<Slab>,
    /// Numbers of the last slab that no column has taken.
    free: usize,
}

enum Column {
    Heap(Box<[f64]>),
    Mapped { slab: usize, first: usize },
}

impl EntryCache {
    /// Nothing yet; at most `memory` bytes of columns will be on the heap.
    pub(super) fn new(shape: OracleShape, memory: u64) -> Self {
        Self {
            len: shape.len,
            symmetric: shape.symmetry == Symmetry::Symmetric,
            columns: (0..shape.len).map(|_| None).collect(),
            scattered: HashMap::default(),
            counts: vec![0; shape.len],
            unsettled: BTreeSet::new(),
            entries: 0,
            memory,
            slabs: Vec::new(),
            free: 0,
        }
    }

    /// Makes what lies in the parent's mapped files this process's own, in a forked child.
    pub(super) fn after_fork(&mut self) -> io::Result<()> {
        self.slabs.iter_mut().try_for_each(|slab| {
            *slab = slab.copied()?;
            Ok(())
        })
    }

    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    /// f(i, j), if it is there.
    pub(super) fn get(&self, i: usize, j: usize) -> Option<f64> {
        let (value, is_settled) = match (&self.columns[j], &self.columns[i]) {
            (Some(column), _) => (self.values(column)[i], self.counts[j] == 0),
            (None, Some(column)) if self.symmetric => (self.values(column)[j], self.counts[i] == 0),
            _ => (f64::NAN, false),
        };
        if value.is_nan() && !is_settled {
            return self.scattered.get(&self.key(i, j)).copied();
        }
        value.is_finite().then_some(value)
    }

    /// Adds entries; one that is there already stays as it is.
    ///
    /// # Errors
    /// Columns beyond the memory granted need room in the folder for temporary files.
    pub(super) fn insert(&mut self, entries: &[Entry]) -> io::Result<()> {
        self.open_columns(entries)?;
        for entry in entries {
            let (i, j) = (entry.row as usize, entry.col as usize);
            if self.get(i, j).is_some() {
                continue;
            }
            self.entries += 1;
            if !self.write_both(i, j, entry.value) {
                self.scattered.insert(self.key(i, j), entry.value);
                self.count(i, j, 1);
            }
        }
        Ok(())
    }

    /// Fills `out` with f(rows[a], cols[b]), all of which are held or, on the diagonal, known.
    ///
    /// Answers the first pair that is neither.
    pub(super) fn gather(
        &self,
        rows: &[usize],
        cols: &[usize],
        known_diagonal: Option<f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Option<(usize, usize)> {
        for (chunk, rows) in rows.chunks(ROWS_AT_A_TIME).enumerate() {
            let first = chunk * ROWS_AT_A_TIME;
            let mut scores = vec![0.0; rows.len()];
            for (b, &j) in cols.iter().enumerate() {
                self.gather_column(rows, j, &mut scores);
                for (a, (&i, &score)) in rows.iter().zip(&scores).enumerate() {
                    let score = if i == j { known_diagonal.unwrap_or(score) } else { score };
                    if score.is_nan() {
                        return Some((i, j));
                    }
                    out[[first + a, b]] = score;
                }
            }
        }
        None
    }

    /// `scores[a]` = f(rows[a], j), NaN where missing.
    pub(super) fn gather_column(&self, rows: &[usize], j: usize, scores: &mut [f64]) {
        match &self.columns[j] {
            Some(column) => {
                let values = self.values(column);
                rows.iter().zip(&mut *scores).for_each(|(&i, score)| *score = values[i]);
            }
            None => {
                for (&i, score) in rows.iter().zip(&mut *scores) {
                    *score = self.get(i, j).unwrap_or(f64::NAN);
                }
            }
        }
        if self.columns[j].is_some() && self.counts[j] > 0 {
            for (&i, score) in rows.iter().zip(scores).filter(|(_, score)| score.is_nan()) {
                *score = self.scattered.get(&self.key(i, j)).copied().unwrap_or(f64::NAN);
            }
        }
    }

    /// Every pair that is held, once, ascending; of a symmetric oracle the larger item first.
    pub(super) fn pairs(&self) -> Vec<(usize, usize)> {
        let mut keys: Vec<u64> = self.scattered.keys().copied().collect();
        let all: Vec<usize> = (0..self.len).collect();
        let mut values = vec![0.0; self.len];
        for j in (0..self.len).filter(|&j| self.columns[j].is_some()) {
            self.gather_column(&all, j, &mut values);
            keys.extend(all.iter().filter(|&&i| values[i].is_finite()).map(|&i| self.key(i, j)));
        }
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().map(|key| self.pair(key)).collect()
    }

    /// Makes room for the columns (of a symmetric oracle: then for the rows) that these entries fill by n/32 or more.
    fn open_columns(&mut self, entries: &[Entry]) -> io::Result<()> {
        let enough = (self.len / DENSE).max(1);
        let mut incoming: HashMap<u32, usize> = HashMap::new();
        for entry in entries.iter().filter(|entry| !self.is_covered(entry)) {
            *incoming.entry(entry.col).or_default() += 1;
        }
        let opened = self.filled(&incoming, enough);
        self.open(&opened)?;
        if self.symmetric {
            incoming.clear();
            for entry in entries.iter().filter(|entry| !self.is_covered(entry)) {
                *incoming.entry(entry.row).or_default() += 1;
            }
            let opened = self.filled(&incoming, enough);
            self.open(&opened)?;
        }
        // to move what is scattered of open columns is a walk over all that is scattered: when it moves a quarter of that or
        // more, reading many tiles takes a few walks and not one for each
        let unsettled: usize = self.unsettled.iter().map(|&j| self.counts[j] as usize).sum();
        if unsettled > 0 && unsettled >= self.scattered.len() / WORTH_A_WALK {
            self.settle();
        }
        Ok(())
    }

    /// The columns that are to be opened now that these entries come.
    fn filled(&self, incoming: &HashMap<u32, usize>, enough: usize) -> Vec<usize> {
        let columns = incoming.iter().map(|(&j, &count)| (j as usize, count));
        let filled = columns.filter(|&(j, count)| self.counts[j] as usize + count >= enough).map(|(j, _)| j);
        let mut filled: Vec<usize> = filled.collect();
        filled.sort_unstable();
        filled
    }

    fn is_covered(&self, entry: &Entry) -> bool {
        self.columns[entry.col as usize].is_some() || (self.symmetric && self.columns[entry.row as usize].is_some())
    }

    /// Opens columns and writes into them what other open ones know of them.
    fn open(&mut self, opened: &[usize]) -> io::Result<()> {
        for &j in opened {
            let mut values = vec![f64::NAN; self.len].into_boxed_slice();
            if self.symmetric {
                for (i, column) in self.columns.iter().enumerate() {
                    if let Some(column) = column {
                        values[i] = self.values(column)[j];
                    }
                }
            }
            self.columns[j] = Some(self.place(values)?);
            if self.counts[j] > 0 {
                self.unsettled.insert(j);
            }
        }
        Ok(())
    }

    fn settle(&mut self) {
        self.unsettled.clear();
        for (key, value) in std::mem::take(&mut self.scattered) {
            let (i, j) = self.pair(key);
            if self.write_both(i, j, value) {
                self.count(i, j, -1);
            } else {
                self.scattered.insert(key, value);
            }
        }
    }

    fn place(&mut self, values: Box<[f64]>) -> io::Result<Column> {
        let bytes = 8 * values.len() as u64;
        if let Some(left) = self.memory.checked_sub(bytes) {
            self.memory = left;
            return Ok(Column::Heap(values));
        }
        let n = values.len();
        if self.free < n {
            // one column at first, twice as many each time, up to 64 MiB
            let columns = (SLAB / n).min(1 << self.slabs.len().min(30)).max(1);
            self.slabs.push(Slab::new(columns * n)?);
            self.free = columns * n;
        }
        let slab = self.slabs.len() - 1;
        let first = self.slabs[slab].values().len() - self.free;
        self.slabs[slab].values_mut()[first..first + n].copy_from_slice(&values);
        self.free -= n;
        Ok(Column::Mapped { slab, first })
    }

    fn values<'a>(&'a self, column: &'a Column) -> &'a [f64] {
        match *column {
            Column::Heap(ref values) => values,
            Column::Mapped { slab, first } => &self.slabs[slab].values()[first..first + self.len],
        }
    }

    /// Writes f(i, j) into every open column it belongs to; answers whether there was one.
    fn write_both(&mut self, i: usize, j: usize, value: f64) -> bool {
        let in_column = self.write(j, i, value);
        let in_row = self.symmetric && i != j && self.write(i, j, value);
        in_column || in_row
    }

    /// Writes the i-th value of column j if that column is open.
    fn write(&mut self, j: usize, i: usize, value: f64) -> bool {
        match self.columns[j] {
            Some(Column::Heap(ref mut values)) => values[i] = value,
            Some(Column::Mapped { slab, first }) => self.slabs[slab].values_mut()[first + i] = value,
            None => return false,
        }
        true
    }

    /// One scattered entry more or less in the columns of (i, j).
    fn count(&mut self, i: usize, j: usize, change: i32) {
        self.counts[j] = self.counts[j].saturating_add_signed(change);
        if self.symmetric && i != j {
            self.counts[i] = self.counts[i].saturating_add_signed(change);
        }
    }

    /// One number for a pair, the same for both orders where the oracle is symmetric.
    pub(super) fn key(&self, i: usize, j: usize) -> u64 {
        let (i, j) = if self.symmetric && i < j { (j, i) } else { (i, j) };
        (i as u64) << 32 | j as u64
    }

    fn pair(&self, key: u64) -> (usize, usize) {
        ((key >> 32) as usize, (key & 0xffff_ffff) as usize)
    }
}

/// Columns that do not fit the memory granted: a mapped temporary file without a name, in the system's folder for such files (`TMPDIR`).
///
/// It is written in full when it is made, so that a full disk is an error there and not a fault of a later access. Its pages belong to the page
/// cache: they run at memory speed while there is memory to spare, and never count as the process's own.
struct Slab(MmapMut);

impl Slab {
    /// `count` numbers, all NaN.
    fn new(count: usize) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        let some = [f64::NAN; WRITTEN_AT_A_TIME];
        let mut left = count;
        while left > 0 {
            let now = left.min(WRITTEN_AT_A_TIME);
            file.write_all(bytemuck::cast_slice(&some[..now]))?;
            left -= now;
        }
        // SAFETY: the file has no name and no other handle, so nothing changes or truncates it.
        unsafe { MmapMut::map_mut(&file) }.map(Self)
    }

    /// The same numbers in a file of its own, for a forked child: two processes that write to one file would write over each other's.
    fn copied(&self) -> io::Result<Self> {
        let mut copy = Self::new(self.values().len())?;
        copy.values_mut().copy_from_slice(self.values());
        Ok(copy)
    }

    fn values(&self) -> &[f64] {
        bytemuck::cast_slice(&self.0)
    }

    fn values_mut(&mut self) -> &mut [f64] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
