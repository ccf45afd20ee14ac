//! Tab-separated values: one header line, no quoting (a `"` is a plain character), as many cells in every line.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use crate::error::{DataError, excerpt};
use crate::lines::Lines;

/// The rows of one source below its header, lent one at a time.
pub(crate) struct TabSeparated<R> {
    path: PathBuf,
    lines: Lines<R>,
    header: Vec<String>,
}

impl<R: BufRead> TabSeparated<R> {
    /// Reads the header; `path` is what errors name.
    pub(crate) fn new(path: &Path, reader: R) -> Result<Self, DataError> {
        let mut lines = Lines::new(path, reader);
        let header = match lines.next_line()? {
            None => return Err(DataError::Empty { path: path.to_owned(), what: "header line" }),
            Some((_, line)) => line.split('\t').map(str::to_owned).collect(),
        };
        Ok(Self { path: path.to_owned(), lines, header })
    }

    /// Index of the column of this name.
    pub(crate) fn place(&self, column: &str) -> Result<usize, DataError> {
        self.header.iter().position(|name| name == column).ok_or_else(|| DataError::BadHeader {
            path: self.path.clone(),
            seen: format!("the columns `{}`", excerpt(&self.header.join(" "))),
            wanted: format!("a header line with a column `{column}`"),
        })
    }

    /// The cells of the next line, with its number from 1.
    pub(crate) fn next_row(&mut self) -> Result<Option<(usize, Vec<&str>)>, DataError> {
        let Some((number, line)) = self.lines.next_line()? else { return Ok(None) };
        let cells: Vec<&str> = line.split('\t').collect();
        if cells.len() != self.header.len() {
            return Err(DataError::Malformed {
                path: self.path.clone(),
                line: number,
                seen: format!("{} columns in `{}`", cells.len(), excerpt(line)),
                wanted: format!("{} columns between tabs, as in the header", self.header.len()),
            });
        }
        Ok(Some((number, cells)))
    }
}
