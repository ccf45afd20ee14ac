//! Columns that do not fit the memory granted: a temporary file without a name.
//!
//! It is read and written through the page cache, so it runs at memory speed while there is memory to spare and never
//! counts as the process's own. A dead process leaves nothing behind. It lies in the system's folder for temporary files
//! (`TMPDIR`).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Columns one after the other, each addressed by the byte it begins at.
pub(super) struct Scratch {
    file: Mutex<File>,
    end: u64,
}

impl Scratch {
    pub(super) fn create() -> io::Result<Self> {
        Ok(Self { file: Mutex::new(tempfile::tempfile()?), end: 0 })
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
        self.at(at, first)?.read_exact(&mut bytes)?;
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
        self.at(at, first)?.write_all(&bytes)
    }

    fn at(&self, at: u64, first: usize) -> io::Result<MutexGuard<'_, File>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at + 8 * first as u64))?;
        Ok(file)
    }
}
