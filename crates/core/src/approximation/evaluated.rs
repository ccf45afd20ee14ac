//! Entries that a fit evaluated, as a set to ask.

use super::ScatteredEntries;

/// Evaluated entries of a symmetric matrix: full columns, by symmetry their rows, and scattered pairs. n bytes.
#[derive(Debug, Clone)]
pub struct Evaluated<'a> {
    is_column: Vec<bool>,
    scattered: Option<&'a ScatteredEntries>,
}

impl<'a> Evaluated<'a> {
    /// These columns of n, and scattered pairs.
    pub(super) fn new(n: usize, columns: &[usize], scattered: Option<&'a ScatteredEntries>) -> Self {
        let mut is_column = vec![false; n];
        columns.iter().for_each(|&t| is_column[t] = true);
        Self { is_column, scattered }
    }

    /// True where (i, j) was evaluated.
    pub fn contains(&self, i: usize, j: usize) -> bool {
        self.is_column[i] || self.is_column[j] || self.scattered.is_some_and(|scattered| scattered.contains(i, j))
    }
}
