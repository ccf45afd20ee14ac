//! Entries that a fit evaluated, as a set to ask.

/// Evaluated entries of a symmetric matrix: full columns, and by symmetry their rows. n bytes.
#[derive(Debug, Clone)]
pub struct Evaluated {
    is_column: Vec<bool>,
}

impl Evaluated {
    /// These columns of n.
    pub(super) fn columns(n: usize, columns: &[usize]) -> Self {
        let mut is_column = vec![false; n];
        columns.iter().for_each(|&t| is_column[t] = true);
        Self { is_column }
    }

    /// True where (i, j) was evaluated.
    pub fn contains(&self, i: usize, j: usize) -> bool {
        self.is_column[i] || self.is_column[j]
    }
}
