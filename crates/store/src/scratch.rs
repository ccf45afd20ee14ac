//! Columns that do not fit the memory granted: a temporary file without a name.
//!
//! It is read and written through the page cache, so it runs at memory speed while there is memory to spare and never
//! counts as the process's own. A dead process leaves nothing behind. It lies in the system's folder for temporary files
//! (`TMPDIR`).

use std::fs::File;
use std::io;
#[cfg(not(unix))]
use std::io::{Read, Seek, SeekFrom, Write};
#[cfg(not(unix))]
use std::sync::MutexGuard;
use std::sync::{Mutex, PoisonError};

/// Values that a copy reads and writes at a time.
const COPIED_AT_A_TIME: usize = 1 << 16;

/// Columns one after the other, each addressed by the byte it begins at.
pub(super) struct Scratch {
    file: Mutex<File>,
    end: u64,
}

impl Scratch {
    pub(super) fn create() -> io::Result<Self> {
        Ok(Self { file: Mutex::new(tempfile::tempfile()?), end: 0 })
    }

    /// A file of its own with the same columns, for a forked child: two processes that write to one file would write over each other's.
    pub(super) fn copied(&self) -> io::Result<Self> {
        let mut copy = Self::create()?;
        let mut values = vec![0.0; COPIED_AT_A_TIME];
        while copy.end < self.end {
            let left = usize::try_from((self.end - copy.end) / 8).unwrap_or(usize::MAX);
            let some = &mut values[..left.min(COPIED_AT_A_TIME)];
            self.read(copy.end, 0, some)?;
            copy.append(some)?;
        }
        Ok(copy)
    }

    /// Appends a column and answers its address.
    pub(super) fn append(&mut self, values: &[f64]) -> io::Result<u64> {
        let at = self.end;
        self.write(at, 0, values)?;
        self.end += 8 * values.len() as u64;
        Ok(at)
    }

    /// Values `first..` of the column at `at`.
    pub(super) fn read(&self, at: u64, first: usize, values: &mut [f64]) -> io::Result<()> {
        let mut bytes = vec![0; 8 * values.len()];
        self.read_at(at + 8 * first as u64, &mut bytes)?;
        for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut buffer = [0; 8];
            buffer.copy_from_slice(bytes);
            *value = f64::from_le_bytes(buffer);
        }
        Ok(())
    }

    /// `scores[a]` = value `rows[a]` of the column at `at`; one read where the rows lie close together.
    pub(super) fn gather(&self, at: u64, rows: &[usize], scores: &mut [f64]) -> io::Result<()> {
        let (first, last) = (rows.iter().min().copied().unwrap_or(0), rows.iter().max().copied().unwrap_or(0));
        if last - first >= 16 * rows.len() {
            return rows.iter().zip(scores).try_for_each(|(&i, score)| self.read(at, i, std::slice::from_mut(score)));
        }
        let mut values = vec![0.0; last + 1 - first];
        self.read(at, first, &mut values)?;
        rows.iter().zip(scores).for_each(|(&i, score)| *score = values[i - first]);
        Ok(())
    }

    /// Replaces values `first..` of the column at `at`.
    pub(super) fn write(&self, at: u64, first: usize, values: &[f64]) -> io::Result<()> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.write_at(at + 8 * first as u64, &bytes)
    }

    #[cfg(unix)]
    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        // a forked child shares the place in the file with its parent, and not this
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        std::os::unix::fs::FileExt::read_exact_at(&*file, bytes, at)
    }

    #[cfg(not(unix))]
    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.at(at, 0)?.read_exact(bytes)
    }

    #[cfg(unix)]
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        std::os::unix::fs::FileExt::write_all_at(&*file, bytes, at)
    }

    #[cfg(not(unix))]
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.at(at, 0)?.write_all(bytes)
    }

    #[cfg(not(unix))]
    fn at(&self, at: u64, first: usize) -> io::Result<MutexGuard<'_, File>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at + 8 * first as u64))?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_columns_and_what_is_written_to_it_is_its_own() {
        let mut scratch = Scratch::create().unwrap();
        let column: Vec<f64> = (0..COPIED_AT_A_TIME + 9).map(|i| i as f64).collect();
        let (first, second) = (scratch.append(&column).unwrap(), scratch.append(&[1.0, 2.0]).unwrap());
        let mut copy = scratch.copied().unwrap();
        copy.write(first, 3, &[-1.0]).unwrap();
        let third = copy.append(&[7.0]).unwrap();
        scratch.append(&[8.0]).unwrap();
        let value = |of: &Scratch, at, row| {
            let mut value = [0.0];
            of.read(at, row, &mut value).unwrap();
            value[0]
        };
        assert_eq!([value(&copy, first, 3), value(&scratch, first, 3)], [-1.0, 3.0]);
        assert_eq!([value(&copy, first, column.len() - 1), value(&copy, second, 1)], [(column.len() - 1) as f64, 2.0]);
        assert_eq!([value(&copy, third, 0), value(&scratch, third, 0)], [7.0, 8.0]);
    }
}
