//! Rows of the Gram matrix of a kernel machine: in a matrix that is there, or read as they are needed, the last used ones
//! kept (Joachims 1999, §3.4; LIBSVM's `-m`).
//!
//! Most steps of SMO take a row that a step before took, because they move support vectors. A cache of m rows holds 8 n m bytes instead of
//! the 8 n² of the matrix, and a machine in training is the same to the bit whatever m is: a row that was let go is read again.
//!
//! Cost: a look-up O(1); a row that is not kept one reading of n entries and a scan of n stamps for the row that has not been used for
//! the longest time.

use std::borrow::Cow;
use std::error::Error;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ndarray::Array2;

use crate::svm::{DenseRows, SvmError};

/// SMO holds two rows at a time.
const FEWEST_ROWS: usize = 2;

/// A symmetric matrix of similarities between items, read a column at a time.
///
/// Reading is best cheap (a file, a store): the cache of a machine decides how often a column is read.
pub trait GramColumns: Sync {
    /// Number of items.
    fn items(&self) -> usize;

    /// `out[k]` = K(rows[k], column).
    ///
    /// # Errors
    /// Whatever keeps it from being read.
    fn column(&self, rows: &[usize], column: usize, out: &mut [f64]) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// A square matrix in memory; a number of a row or column that it lacks panics, as indexing does.
impl GramColumns for Array2<f64> {
    fn items(&self) -> usize {
        self.nrows()
    }

    fn column(&self, rows: &[usize], column: usize, out: &mut [f64]) -> Result<(), Box<dyn Error + Send + Sync>> {
        rows.iter().zip(out).for_each(|(&row, value)| *value = self[[row, column]]);
        Ok(())
    }
}

/// Rows of a symmetric Gram matrix, as a solver takes them.
pub(super) trait KernelRows: Sync {
    /// K(i, ·) over the training items.
    fn row(&self, i: usize) -> Result<Row<'_>, SvmError>;
}

/// A row where it lies, or one that a cache shares.
pub(super) enum Row<'a> {
    Lying(&'a [f64]),
    Shared(Arc<[f64]>),
}

impl Deref for Row<'_> {
    type Target = [f64];

    #[inline]
    fn deref(&self) -> &[f64] {
        match self {
            Self::Lying(row) => row,
            Self::Shared(row) => row,
        }
    }
}

impl KernelRows for DenseRows<'_> {
    fn row(&self, i: usize) -> Result<Row<'_>, SvmError> {
        Ok(Row::Lying(DenseRows::row(self, i)))
    }
}

/// The rows of some items among the same items: read when asked for, as many kept as there is room for.
///
/// Any number of machines may share it. No lock is held while a row is read, so two of them may read one row at one time.
pub(super) struct CachedRows<'a> {
    gram: &'a dyn GramColumns,
    items: Cow<'a, [usize]>,
    kept: Mutex<Kept>,
}

/// Rows by item, each with the time of its last use.
struct Kept {
    rows: Vec<Option<(Arc<[f64]>, u64)>>,
    count: usize,
    most: usize,
    clock: u64,
}

impl<'a> CachedRows<'a> {
    /// Keeps at most `bytes` of rows, and two at least.
    pub(super) fn new(gram: &'a dyn GramColumns, items: impl Into<Cow<'a, [usize]>>, bytes: usize) -> Self {
        let items = items.into();
        let most = (bytes / (size_of::<f64>() * items.len().max(1))).max(FEWEST_ROWS);
        let rows = (0..items.len()).map(|_| None).collect();
        Self { gram, items, kept: Mutex::new(Kept { rows, count: 0, most, clock: 0 }) }
    }

    /// K(i, i) of every item.
    pub(super) fn diagonal(&self) -> Result<Vec<f64>, SvmError> {
        let mut diagonal = vec![0.0; self.items.len()];
        for (&item, value) in self.items.iter().zip(&mut diagonal) {
            self.read(&[item], item, std::slice::from_mut(value))?;
        }
        Ok(diagonal)
    }

    fn read(&self, rows: &[usize], column: usize, out: &mut [f64]) -> Result<(), SvmError> {
        read_column(self.gram, rows, column, out)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // a panic elsewhere cannot leave half a row behind
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A column of finite numbers.
pub(super) fn read_column(
    gram: &dyn GramColumns,
    rows: &[usize],
    column: usize,
    out: &mut [f64],
) -> Result<(), SvmError> {
    gram.column(rows, column, out).map_err(|error| SvmError::Unread { column, reason: error.to_string() })?;
    match out.iter().position(|value| !value.is_finite()) {
        Some(place) => Err(SvmError::GramNotFinite { row: rows[place], column, value: out[place] }),
        None => Ok(()),
    }
}

impl KernelRows for CachedRows<'_> {
    fn row(&self, i: usize) -> Result<Row<'_>, SvmError> {
        if let Some(row) = self.kept().take(i) {
            return Ok(Row::Shared(row));
        }
        let mut row = vec![0.0; self.items.len()];
        self.read(&self.items, self.items[i], &mut row)?;
        let row: Arc<[f64]> = row.into();
        self.kept().keep(i, Arc::clone(&row));
        Ok(Row::Shared(row))
    }
}

impl Kept {
    fn take(&mut self, i: usize) -> Option<Arc<[f64]>> {
        self.clock += 1;
        let (row, used) = self.rows[i].as_mut()?;
        *used = self.clock;
        Some(Arc::clone(row))
    }

    fn keep(&mut self, i: usize, row: Arc<[f64]>) {
        if self.rows[i].replace((row, self.clock)).is_some() {
            return;
        }
        self.count += 1;
        if self.count > self.most {
            let others = self.rows.iter().enumerate().filter(|(j, _)| *j != i);
            let stamps = others.filter_map(|(j, row)| row.as_ref().map(|(_, used)| (*used, j)));
            if let Some((_, oldest)) = stamps.min() {
                self.rows[oldest] = None;
                self.count -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// K(i, j) = i j, counted.
    struct Products(AtomicUsize);

    impl GramColumns for Products {
        fn items(&self) -> usize {
            10
        }

        fn column(&self, rows: &[usize], column: usize, out: &mut [f64]) -> Result<(), Box<dyn Error + Send + Sync>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            if column == 9 {
                return Err("the disk is gone".into());
            }
            rows.iter().zip(out).for_each(|(&row, out)| *out = (row * column) as f64);
            Ok(())
        }
    }

    #[test]
    fn the_row_that_was_not_used_for_the_longest_time_makes_room() {
        let gram = Products(AtomicUsize::new(0));
        let items = [1, 2, 3, 4];
        let rows = CachedRows::new(&gram, items.as_slice(), 3 * 4 * 8);
        let read_by = |i: usize| {
            let before = gram.0.load(Ordering::Relaxed);
            let wanted: Vec<f64> = items.iter().map(|&item| (item * items[i]) as f64).collect();
            assert_eq!(*rows.row(i).unwrap(), wanted);
            gram.0.load(Ordering::Relaxed) - before
        };
        assert_eq!([0, 1, 2, 0].map(read_by), [1, 1, 1, 0]);
        // room for three: 3 displaces 1, which then displaces 2
        assert_eq!([3, 0, 1, 3, 0, 2].map(read_by), [1, 0, 1, 0, 0, 1]);
        assert_eq!(rows.kept().count, 3);
        assert_eq!(rows.diagonal().unwrap(), [1.0, 4.0, 9.0, 16.0]);
    }

    #[test]
    fn two_rows_are_kept_however_little_room_there_is() {
        let gram = Products(AtomicUsize::new(0));
        let rows = CachedRows::new(&gram, vec![1, 2, 3], 0);
        for i in [0, 1, 0, 1] {
            assert_eq!(rows.row(i).unwrap().len(), 3);
        }
        assert_eq!(gram.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_column_that_cannot_be_read_is_named() {
        let gram = Products(AtomicUsize::new(0));
        let rows = CachedRows::new(&gram, vec![1, 9], 1 << 20);
        let error = rows.row(1).err().unwrap().to_string();
        assert_eq!(error, "column 9 of the Gram matrix can't be read: the disk is gone");
    }
}
