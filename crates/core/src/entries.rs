//! Sets of entries: what a fit will ask for, before it asks.
//!
//! A [`Plan`] lists the blocks a method will request; an [`EntrySet`] is the union of several plans and counts its
//! distinct evaluations, so that "if run alone" and "really bought" are both known before the first call.

use std::collections::HashSet;

use serde::Serialize;

use crate::oracle::{OracleShape, Symmetry};

/// Rows × columns of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryBlock {
    /// Which rows.
    pub rows: Rows,
    /// Which columns, distinct.
    pub cols: Vec<usize>,
}

/// The rows of an [`EntryBlock`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// All n of them.
    All,
    /// These, distinct.
    These(Vec<usize>),
}

/// How far a [`Plan`] can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Exactly these entries.
    Exact,
    /// The choice depends on what is seen; no more than this many.
    UpperBound,
}

/// The entries a method will buy: a pure function of (n, parameters, landmarks).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What will be requested, in order; no two blocks overlap.
    pub blocks: Vec<EntryBlock>,
    /// Whether the count is exact or a bound.
    pub certainty: Certainty,
}

impl Plan {
    /// An exact plan of full columns.
    pub fn columns(cols: &[usize]) -> Self {
        Self { blocks: vec![EntryBlock { rows: Rows::All, cols: cols.to_vec() }], certainty: Certainty::Exact }
    }

    /// Cells of K: the papers' accounting.
    pub fn cells(&self, n: usize) -> u64 {
        self.blocks.iter().map(|block| block.cells(n)).sum()
    }

    /// Calls of the similarity function if this plan ran alone.
    pub fn evaluations(&self, shape: OracleShape) -> u64 {
        let mut set = EntrySet::new(shape);
        set.add(self);
        set.evaluations()
    }
}

impl EntryBlock {
    fn cells(&self, n: usize) -> u64 {
        let rows = match &self.rows {
            Rows::All => n,
            Rows::These(rows) => rows.len(),
        };
        rows as u64 * self.cols.len() as u64
    }
}

/// The union of plans, counting each evaluation once.
///
/// Full columns are kept as a bit per column and scattered entries as a hash set, so a sweep of thousands of fits over
/// n = 40,000 items stays small.
#[derive(Debug, Clone)]
pub struct EntrySet {
    shape: OracleShape,
    is_column: Vec<bool>,
    columns: u64,
    scattered: HashSet<u64>,
}

impl EntrySet {
    /// The empty set over an oracle of this shape.
    pub fn new(shape: OracleShape) -> Self {
        Self { shape, is_column: vec![false; shape.len], columns: 0, scattered: HashSet::new() }
    }

    /// Adds everything a plan will request.
    pub fn add(&mut self, plan: &Plan) {
        for block in &plan.blocks {
            match &block.rows {
                Rows::All => block.cols.iter().for_each(|&j| self.add_column(j)),
                Rows::These(rows) => {
                    for &i in rows {
                        for &j in &block.cols {
                            self.scattered.insert(self.key(i, j));
                        }
                    }
                }
            }
        }
    }

    /// Adds one full column.
    pub fn add_column(&mut self, j: usize) {
        if !self.is_column[j] {
            self.is_column[j] = true;
            self.columns += 1;
        }
    }

    /// Whether the full column j is in the set.
    pub fn has_column(&self, j: usize) -> bool {
        self.is_column[j]
    }

    /// Indices of the full columns, ascending.
    pub fn columns(&self) -> Vec<usize> {
        (0..self.shape.len).filter(|&j| self.is_column[j]).collect()
    }

    /// Scattered pairs that no full column covers, in the order they are evaluated (a symmetric pair as (max, min)), sorted.
    pub fn scattered(&self) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> =
            self.scattered.iter().map(|&key| self.pair(key)).filter(|&(i, j)| !self.covered(i, j)).collect();
        pairs.sort_unstable_by_key(|&(i, j)| (j, i));
        pairs
    }

    /// Calls of the similarity function that the whole set costs.
    pub fn evaluations(&self) -> u64 {
        let (n, c) = (self.shape.len as u64, self.columns);
        let (mut off_diagonal, mut diagonal) = match self.shape.symmetry {
            Symmetry::Symmetric => (c * n - c * (c + 1) / 2, c),
            Symmetry::Asymmetric => (c * (n - 1), c),
        };
        if self.shape.len == 0 {
            (off_diagonal, diagonal) = (0, 0);
        }
        for &key in &self.scattered {
            let (i, j) = self.pair(key);
            if !self.covered(i, j) {
                if i == j { diagonal += 1 } else { off_diagonal += 1 }
            }
        }
        let diagonal = if self.shape.diagonal_known { 0 } else { diagonal };
        off_diagonal * self.shape.evaluations_per_pair + diagonal
    }

    fn covered(&self, i: usize, j: usize) -> bool {
        self.is_column[j] || (self.shape.symmetry == Symmetry::Symmetric && self.is_column[i])
    }

    fn key(&self, i: usize, j: usize) -> u64 {
        let (i, j) = if self.shape.symmetry == Symmetry::Symmetric && i < j { (j, i) } else { (i, j) };
        i as u64 * self.shape.len as u64 + j as u64
    }

    fn pair(&self, key: u64) -> (usize, usize) {
        let n = self.shape.len as u64;
        ((key / n) as usize, (key % n) as usize)
    }
}
