//! Tables that commands have left next to the factors, read back by their columns.

use std::collections::HashMap;
use std::path::Path;

/// A table of texts.
#[derive(Debug, Default)]
pub(super) struct Table {
    places: HashMap<String, usize>,
    lines: Vec<csv::StringRecord>,
}

impl Table {
    /// The table in a file of tab-separated columns; `None` where there is none that can be read.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_path(path).ok()?;
        let head = reader.headers().ok()?.iter().enumerate().map(|(place, name)| (name.to_owned(), place)).collect();
        let lines = reader.records().collect::<Result<Vec<_>, _>>().ok()?;
        Some(Self { places: head, lines })
    }

    /// Number of lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The cells of a column from top to bottom; `None` where there is no such column.
    pub(super) fn column(&self, name: &str) -> Option<impl Iterator<Item = &str>> {
        let place = *self.places.get(name)?;
        Some(self.lines.iter().map(move |line| line.get(place).unwrap_or_default()))
    }

    /// The numbers of a column; one that is none is NaN.
    pub(super) fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        Some(self.column(name)?.map(|cell| cell.parse().unwrap_or(f64::NAN)).collect())
    }

    /// True where the column holds `true`; a column that is not there gives false.
    pub(super) fn flags(&self, name: &str) -> Vec<bool> {
        self.column(name).map_or_else(|| vec![false; self.len()], |cells| cells.map(|cell| cell == "true").collect())
    }
}
