//! Scattered entries that K̃ returns exactly: a symmetric sparse matrix by rows (CSR), both halves kept.
//!
//! Memory: 40 bytes a pair {i, j}: its place, its score and what the score adds to the rest of K̃, in both rows.
//! An entry costs O(log of the pairs of its row), a mat-vec O(pairs).

use ndarray::ArrayViewMut2;
use rayon::prelude::*;

use crate::oracle::Pair;

/// Items are numbered by 32 bits, half of what a `usize` takes.
type Item = u32;

/// Cells of K̃ read at a time: 16 MB of pairs.
const CELLS_AT_A_TIME: usize = 1 << 20;

/// Scores of distinct pairs {i, j}, i ≠ j, of n items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScatteredEntries {
    /// Row i is `start[i]..start[i + 1]`.
    start: Vec<usize>,
    columns: Vec<Item>,
    scores: Vec<f64>,
}

impl ScatteredEntries {
    /// `scores[k]` at both orders of `pairs[k]`, each pair listed once.
    ///
    /// # Panics
    /// When a pair is beyond n items, on the diagonal or listed twice, or where scores are not one a pair.
    pub fn new(n: usize, pairs: &[Pair], scores: &[f64]) -> Self {
        assert_eq!(pairs.len(), scores.len(), "one score a scattered pair");
        let mut start = vec![0; n + 1];
        for &(i, j) in pairs {
            assert!(i != j && i < n && j < n, "({i}, {j}) is no pair of two of {n} items");
            start[i + 1] += 1;
            start[j + 1] += 1;
        }
        (0..n).for_each(|i| start[i + 1] += start[i]);
        let mut next = start.clone();
        let mut cells: Vec<(Item, f64)> = vec![(0, 0.0); start[n]];
        for (&(i, j), &score) in pairs.iter().zip(scores) {
            for (row, column) in [(i, j), (j, i)] {
                cells[next[row]] = (Item::try_from(column).expect("fewer than 2^32 items"), score);
                next[row] += 1;
            }
        }
        let mut rest = cells.as_mut_slice();
        let rows: Vec<&mut [(Item, f64)]> = start
            .windows(2)
            .map(|ends| {
                let (row, below) = std::mem::take(&mut rest).split_at_mut(ends[1] - ends[0]);
                rest = below;
                row
            })
            .collect();
        rows.into_par_iter().for_each(|row| {
            row.sort_unstable_by_key(|&(column, _)| column);
            assert!(row.windows(2).all(|two| two[0].0 < two[1].0), "a scattered pair is listed twice");
        });
        let (columns, scores) = cells.into_iter().unzip();
        Self { start, columns, scores }
    }

    /// Number of pairs {i, j}.
    pub fn len(&self) -> usize {
        self.columns.len() / 2
    }

    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Score of the pair (i, j), in either order.
    pub fn get(&self, i: usize, j: usize) -> Option<f64> {
        self.place(i, j).map(|place| self.scores[place])
    }

    /// True where the score of the pair (i, j) is here.
    pub fn contains(&self, i: usize, j: usize) -> bool {
        self.place(i, j).is_some()
    }

    fn place(&self, i: usize, j: usize) -> Option<usize> {
        let row = self.start[i]..self.start[i + 1];
        let found = Item::try_from(j).ok().and_then(|j| self.columns[row.clone()].binary_search(&j).ok());
        found.map(|offset| row.start + offset)
    }

    /// (column, score) of row i, columns ascending.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let row = self.start[i]..self.start[i + 1];
        self.columns[row.clone()].iter().map(|&j| j as usize).zip(self.scores[row].iter().copied())
    }

    /// (i, j, score) of every pair, i < j, row by row.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.start.len().saturating_sub(1))
            .flat_map(|i| self.row(i).filter(move |&(j, _)| i < j).map(move |(j, score)| (i, j, score)))
    }

    /// Those of pairs of two of some distinct items, numbered by their places among these.
    #[must_use]
    pub fn select(&self, items: &[usize]) -> Self {
        let mut places = vec![None; self.start.len().saturating_sub(1)];
        items.iter().enumerate().for_each(|(place, &item)| places[item] = Some(place));
        let placed = self.pairs().filter_map(|(i, j, score)| Some(((places[i]?, places[j]?), score)));
        let (pairs, scores): (Vec<Pair>, Vec<f64>) = placed.unzip();
        Self::new(items.len(), &pairs, &scores)
    }

    /// Writes the scores over a block of rows × columns.
    pub fn overwrite(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) {
        let ascending = cols.windows(2).all(|two| two[0] < two[1]);
        for (&i, mut line) in rows.iter().zip(out.rows_mut()) {
            if ascending {
                // at most one place of a column: looked up from the shorter side
                for (j, score) in self.row(i) {
                    if let Ok(b) = position(cols, j) {
                        line[b] = score;
                    }
                }
            } else {
                for (&j, cell) in cols.iter().zip(&mut line) {
                    if let Some(score) = self.get(i, j) {
                        *cell = score;
                    }
                }
            }
        }
    }
}

/// Place of j among ascending items; at once where they are a range.
fn position(items: &[usize], j: usize) -> Result<usize, usize> {
    let first = items.first().copied().unwrap_or(usize::MAX);
    match j.checked_sub(first) {
        None => Err(0),
        Some(offset) if items.get(offset) == Some(&j) => Ok(offset),
        Some(_) => items.binary_search(&j),
    }
}

/// Scattered entries in their place: what each adds to the rest of K̃, so that a mat-vec needs no entry of it.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) entries: ScatteredEntries,
    added: Vec<f64>,
}

impl Placed {
    /// `rest` answers the rest of K̃ at a list of pairs.
    pub(super) fn new<E>(
        entries: ScatteredEntries,
        mut rest: impl FnMut(&[Pair], &mut [f64]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut added = vec![0.0; entries.columns.len()];
        let mut cells: Vec<Pair> = Vec::new();
        let (mut from, n) = (0, entries.start.len().saturating_sub(1));
        for i in 0..n {
            cells.extend(entries.row(i).map(|(j, _)| (i, j)));
            if cells.len() >= CELLS_AT_A_TIME || i + 1 == n {
                rest(&cells, &mut added[from..from + cells.len()])?;
                from += cells.len();
                cells.clear();
            }
        }
        added.iter_mut().zip(&entries.scores).for_each(|(added, score)| *added = score - *added);
        Ok(Self { entries, added })
    }

    pub(super) fn in_unit(mut self, unit: f64) -> Self {
        self.entries.scores.iter_mut().chain(&mut self.added).for_each(|score| *score *= unit);
        self
    }

    /// `out` += what these entries add to the product with x.
    pub(super) fn apply(&self, x: &[f64], out: &mut [f64]) {
        let ScatteredEntries { start, columns, .. } = &self.entries;
        out.par_iter_mut().enumerate().for_each(|(i, out)| {
            let row = start[i]..start[i + 1];
            *out +=
                columns[row.clone()].iter().zip(&self.added[row]).map(|(&j, added)| added * x[j as usize]).sum::<f64>();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_back_in_either_order_and_nothing_else_does() {
        let entries = ScatteredEntries::new(5, &[(3, 1), (0, 4), (1, 0)], &[0.5, -1.0, 2.0]);
        assert_eq!((entries.len(), entries.is_empty()), (3, false));
        assert_eq!((entries.get(1, 3), entries.get(3, 1), entries.get(4, 0)), (Some(0.5), Some(0.5), Some(-1.0)));
        assert_eq!((entries.get(2, 3), entries.get(1, 1)), (None, None));
        assert_eq!(entries.row(1).collect::<Vec<_>>(), [(0, 2.0), (3, 0.5)]);
        assert_eq!(entries.pairs().collect::<Vec<_>>(), [(0, 1, 2.0), (0, 4, -1.0), (1, 3, 0.5)]);
        let selected = entries.select(&[4, 3, 0]);
        assert_eq!(selected.pairs().collect::<Vec<_>>(), [(0, 2, -1.0)]);
        let nothing = ScatteredEntries::new(0, &[], &[]);
        assert!(nothing.is_empty() && nothing.pairs().next().is_none());
    }

    #[test]
    #[should_panic(expected = "listed twice")]
    fn a_pair_in_both_orders_is_refused() {
        ScatteredEntries::new(3, &[(0, 1), (1, 0)], &[1.0, 1.0]);
    }
}
