//! Rows that wait for the next shrink: all dense, or all sparse.

use ndarray::{Array2, s};

/// Rows in the order they came. A row of the other kind than the first is turned into its kind.
#[derive(Debug, Clone)]
pub(super) enum Pending {
    /// p × d of which the first `rows` are filled.
    Dense {
        matrix: Array2<f64>,
        rows: usize,
    },
    Sparse(Csr),
}

/// Compressed sparse rows: row i holds `entries[starts[i]..starts[i + 1]]`, columns ascending.
#[derive(Debug, Clone)]
pub(super) struct Csr {
    pub(super) starts: Vec<usize>,
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Csr {
    pub(super) fn new() -> Self {
        Self { starts: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn push(&mut self, entries: impl Iterator<Item = (u32, f64)>) {
        for (column, value) in entries.filter(|&(_, value)| value != 0.0) {
            self.columns.push(column);
            self.values.push(value);
        }
        self.starts.push(self.values.len());
    }

    pub(super) fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.columns[range.clone()].iter().map(|&j| j as usize).zip(self.values[range].iter().copied())
    }

    /// The same matrix by columns: where each of the d columns starts, and its (row, value) pairs with ascending rows.
    pub(super) fn by_columns(&self, d: usize) -> (Vec<usize>, Vec<(u32, f64)>) {
        let mut starts = vec![0; d + 1];
        for &column in &self.columns {
            starts[column as usize + 1] += 1;
        }
        for column in 0..d {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); self.values.len()];
        for (row, range) in (0u32..).zip(self.starts.windows(2)) {
            for k in range[0]..range[1] {
                let place = &mut next[self.columns[k] as usize];
                entries[*place] = (row, self.values[k]);
                *place += 1;
            }
        }
        (starts, entries)
    }
}

impl Pending {
    pub(super) fn none() -> Self {
        Self::Sparse(Csr::new())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Dense { rows, .. } => *rows,
            Self::Sparse(csr) => csr.len(),
        }
    }

    /// Forgets the rows and keeps the room of dense ones.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Dense { rows, .. } => *rows = 0,
            Self::Sparse(csr) => {
                csr.starts.truncate(1);
                csr.columns.clear();
                csr.values.clear();
            }
        }
    }

    pub(super) fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(_))
    }

    /// `room` rows are reserved at the first dense row after a shrink.
    pub(super) fn push_dense(&mut self, row: &[f64], room: usize) {
        if self.len() == 0 && self.is_sparse() {
            *self = Self::Dense { matrix: Array2::zeros((room, row.len())), rows: 0 };
        }
        match self {
            Self::Sparse(csr) => csr.push((0u32..).zip(row.iter().copied())),
            Self::Dense { matrix, rows } => {
                if *rows == matrix.nrows() {
                    let mut larger = Array2::zeros((2 * *rows + 1, row.len()));
                    larger.slice_mut(s![..*rows, ..]).assign(matrix);
                    *matrix = larger;
                }
                matrix.row_mut(*rows).assign(&ndarray::aview1(row));
                *rows += 1;
            }
        }
    }

    pub(super) fn push_sparse(&mut self, columns: &[u32], values: &[f64]) {
        if self.len() == 0 && !self.is_sparse() {
            *self = Self::none();
        }
        match self {
            Self::Sparse(csr) => csr.push(columns.iter().copied().zip(values.iter().copied())),
            Self::Dense { matrix, .. } => {
                let mut row = vec![0.0; matrix.ncols()];
                columns.iter().zip(values).for_each(|(&column, &value)| row[column as usize] = value);
                self.push_dense(&row, 1);
            }
        }
    }

    pub(super) fn row_into(&self, i: usize, out: &mut [f64]) {
        match self {
            Self::Dense { matrix, .. } => {
                out.iter_mut().zip(matrix.row(i)).for_each(|(out, &value)| *out = value);
            }
            Self::Sparse(csr) => {
                out.fill(0.0);
                csr.row(i).for_each(|(column, value)| out[column] = value);
            }
        }
    }

    /// Σ v² of all rows.
    pub(super) fn squared_norm(&self) -> f64 {
        match self {
            Self::Dense { matrix, rows } => matrix.slice(s![..*rows, ..]).rows().into_iter().map(|r| r.dot(&r)).sum(),
            Self::Sparse(csr) => csr.values.iter().map(|v| v * v).sum(),
        }
    }
}
