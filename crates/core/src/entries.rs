//! Sets of entries: what a fit will ask for, before it asks.
//!
//! An [`EntryPlan`] lists the blocks a method will request; an [`EntrySet`] is the union of several plans and counts its
//! distinct evaluations, so that calls "if run alone" and calls added are both known before the first one. Of pairs that a
//! method chooses by what it sees in those blocks, the number is known and counted, not which they are.

use std::sync::Arc;

use serde::Serialize;

use crate::contents::Contents;
use crate::oracle::{OracleShape, Symmetry};

pub(crate) mod pair_map;

pub use pair_map::{PairHasher, PairMap};

use pair_map::PairSet;

/// Rows × columns of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryBlock {
    pub rows: Rows,
    pub cols: Vec<usize>,
}

/// The rows of an [`EntryBlock`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// All n of them.
    All,
    These(Vec<usize>),
}

/// Trust that an [`EntryPlan`] deserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    Exact,
    /// The choice depends on what is seen; no more than this many.
    UpperBound,
}

/// The entries a method will evaluate: a pure function of (n, parameters, landmarks).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPlan {
    /// Requests in order; no two blocks overlap.
    pub blocks: Vec<EntryBlock>,
    /// Number of distinct pairs {i, j}, i ≠ j, outside the blocks; which ones is chosen by the scores in the blocks.
    pub chosen: u64,
    /// Exact count, or a bound.
    pub certainty: Certainty,
}

impl EntryPlan {
    /// Items 0..n that the plan names neither as a column nor as one of some rows.
    pub fn unnamed(&self, n: usize) -> Vec<usize> {
        let mut is_named = vec![false; n];
        for block in &self.blocks {
            block.cols.iter().for_each(|&j| is_named[j] = true);
            if let Rows::These(rows) = &block.rows {
                rows.iter().for_each(|&i| is_named[i] = true);
            }
        }
        (0..n).filter(|&i| !is_named[i]).collect()
    }

    pub fn exact(blocks: Vec<EntryBlock>) -> Self {
        Self { blocks, chosen: 0, certainty: Certainty::Exact }
    }

    /// An exact plan of full columns.
    pub fn columns(cols: &[usize]) -> Self {
        Self::exact(vec![EntryBlock { rows: Rows::All, cols: cols.to_vec() }])
    }

    /// An exact plan of all n columns.
    pub fn all(n: usize) -> Self {
        Self::columns(&(0..n).collect::<Vec<_>>())
    }

    /// The columns that are requested in full, in order.
    pub fn full_columns(&self) -> Vec<usize> {
        let full = self.blocks.iter().filter(|block| block.rows == Rows::All);
        full.flat_map(|block| block.cols.iter().copied()).collect()
    }

    /// Cells of K: the papers' accounting.
    pub fn cells(&self, n: usize) -> u64 {
        self.blocks.iter().map(|block| block.cells(n)).sum::<u64>() + self.chosen
    }

    /// Calls of the similarity function if this plan ran alone.
    pub fn evaluations(&self, shape: OracleShape) -> u64 {
        EntrySet::of(shape, self).evaluations()
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
/// Full columns are kept as a bit each (so are full rows; those of a symmetric oracle are columns) and scattered entries
/// in a hash set, so a sweep of thousands of fits over n = 40,000 items stays small.
#[derive(Debug, Clone)]
pub struct EntrySet {
    shape: OracleShape,
    is_column: Vec<bool>,
    is_row: Vec<bool>,
    scattered: PairSet,
    chosen: u64,
    contents: Option<Arc<Contents>>,
}

impl EntrySet {
    pub fn new(shape: OracleShape) -> Self {
        let none = vec![false; shape.len];
        Self { shape, is_column: none.clone(), is_row: none, scattered: PairSet::default(), chosen: 0, contents: None }
    }

    /// The entries of one plan.
    pub fn of(shape: OracleShape, plan: &EntryPlan) -> Self {
        let mut set = Self::new(shape);
        set.add(plan);
        set
    }

    /// The same where equal items are one item: an entry of copies is that of the first of them, as
    /// [`DistinctItems`](crate::oracle::DistinctItems) asks for it.
    pub fn among(shape: OracleShape, contents: Option<&Arc<Contents>>) -> Self {
        let contents = contents.filter(|contents| contents.has_copies() && contents.len() == shape.len).cloned();
        Self { contents, ..Self::new(shape) }
    }

    /// True of an item that is asked for: of one that is no copy of an earlier one.
    pub fn is_asked(&self, item: usize) -> bool {
        self.first(item) == item
    }

    fn first(&self, item: usize) -> usize {
        self.contents.as_ref().map_or(item, |contents| contents.first(item))
    }

    fn items(&self) -> u64 {
        self.contents.as_ref().map_or(self.shape.len, |contents| contents.distinct()) as u64
    }

    pub fn shape(&self) -> OracleShape {
        self.shape
    }

    /// Adds everything a plan will request.
    pub fn add(&mut self, plan: &EntryPlan) {
        self.chosen += plan.chosen;
        for block in &plan.blocks {
            match &block.rows {
                Rows::All => block.cols.iter().for_each(|&j| self.add_column(j)),
                Rows::These(rows) if rows.len() == self.shape.len => {
                    block.cols.iter().for_each(|&j| self.add_column(j));
                }
                Rows::These(rows) if block.cols.len() == self.shape.len => rows.iter().for_each(|&i| self.add_row(i)),
                Rows::These(rows) => {
                    rows.iter().for_each(|&i| block.cols.iter().for_each(|&j| self.add_entry(i, j)));
                }
            }
        }
    }

    pub fn add_column(&mut self, j: usize) {
        let j = self.first(j);
        self.is_column[j] = true;
    }

    /// Adds one full row: for a symmetric oracle the column.
    pub fn add_row(&mut self, i: usize) {
        let i = self.first(i);
        if self.is_symmetric() { self.is_column[i] = true } else { self.is_row[i] = true }
    }

    pub fn add_entry(&mut self, i: usize, j: usize) {
        let (i, j) = (self.first(i), self.first(j));
        if !self.covers(i, j) {
            self.scattered.insert(if self.is_symmetric() && i < j { (j, i) } else { (i, j) });
        }
    }

    /// True where the full column j is in the set.
    pub fn has_column(&self, j: usize) -> bool {
        self.is_column[self.first(j)]
    }

    /// True where the entry (i, j) is in the set, in either order for a symmetric oracle.
    pub fn contains(&self, i: usize, j: usize) -> bool {
        let (i, j) = (self.first(i), self.first(j));
        self.covers(i, j) || self.scattered.contains(&if self.is_symmetric() && i < j { (j, i) } else { (i, j) })
    }

    /// Indices of the full columns, ascending.
    pub fn columns(&self) -> Vec<usize> {
        (0..self.shape.len).filter(|&j| self.is_column[j]).collect()
    }

    /// Indices of the full rows of an asymmetric oracle, ascending.
    pub fn rows(&self) -> Vec<usize> {
        (0..self.shape.len).filter(|&i| self.is_row[i]).collect()
    }

    /// Scattered pairs that no full column or row covers, in the order they are evaluated (a symmetric pair as
    /// (max, min)), sorted by column, then row.
    pub fn scattered(&self) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> = self.scattered.iter().copied().filter(|&(i, j)| !self.covers(i, j)).collect();
        pairs.sort_unstable_by_key(|&(i, j)| (j, i));
        pairs
    }

    /// Pairs that are chosen on the way, over all plans; no more than are left.
    pub fn chosen(&self) -> u64 {
        self.chosen.min(self.left())
    }

    /// Pairs of two items that are not known by name.
    pub(crate) fn left(&self) -> u64 {
        let n = self.items();
        let all = n * n.saturating_sub(1) / if self.is_symmetric() { 2 } else { 1 };
        all - self.named().0
    }

    /// Calls of the similarity function for those pairs.
    pub fn chosen_evaluations(&self) -> u64 {
        self.shape.evaluations(self.chosen(), 0)
    }

    /// Calls of the similarity function that the whole set costs: exactly, or at most where pairs chosen by one plan may be in another.
    pub fn evaluations(&self) -> u64 {
        let (off_diagonal, diagonal) = self.named();
        self.shape.evaluations(off_diagonal + self.chosen(), diagonal)
    }

    /// Distinct pairs and self-similarities of the entries that are known by name.
    fn named(&self) -> (u64, u64) {
        let n = self.items();
        let count = |marks: &[bool]| marks.iter().filter(|&&mark| mark).count() as u64;
        let (columns, rows) = (count(&self.is_column), count(&self.is_row));
        let mut diagonal =
            self.is_column.iter().zip(&self.is_row).filter(|&(&column, &row)| column || row).count() as u64;
        let cells = match self.shape.symmetry {
            // a pair of two columns is one pair
            Symmetry::Symmetric => columns * n - columns * columns.saturating_sub(1) / 2,
            Symmetry::Asymmetric => (columns + rows) * n - columns * rows,
        };
        let mut off_diagonal = cells - diagonal;
        for &(i, j) in self.scattered.iter().filter(|&&(i, j)| !self.covers(i, j)) {
            if i == j { diagonal += 1 } else { off_diagonal += 1 }
        }
        (off_diagonal, diagonal)
    }

    fn is_symmetric(&self) -> bool {
        self.shape.symmetry == Symmetry::Symmetric
    }

    fn covers(&self, i: usize, j: usize) -> bool {
        self.is_column[j] || self.is_row[i] || (self.is_symmetric() && self.is_column[i])
    }
}

#[cfg(test)]
mod tests;
