//! Entries of a matrix that are to be bought: full columns, scattered pairs, and how they are cut.
//!
//! Rows are taken in an order that puts the landmarks first; a tile is a run of rows times all columns, and among the landmarks only the
//! columns up to its own rows, so that the two mirrored halves of a symmetric square are not bought by two tiles.

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{DistinctPairs, OracleShape, Symmetry};
use serde::{Deserialize, Serialize};

use super::{Tile, TileRange};

/// A tile is held in memory by the worker that buys it: 16M entries, about 1 GB.
pub const LARGEST_TILE: u64 = 1 << 24;

/// Entries to be evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Purchase {
    /// Number of items n.
    items: usize,
    /// True where `f(i, j) = f(j, i)`.
    symmetric: bool,
    /// Full columns.
    columns: Vec<usize>,
    /// Pairs beside them.
    scattered: Vec<(usize, usize)>,
    /// Items that equal an earlier one: nothing is evaluated in their rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    copies: Vec<usize>,
}

/// The entries of a tile, as the store takes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entries {
    /// Rows × columns.
    Block(Vec<usize>, Vec<usize>),
    /// A list.
    Pairs(Vec<(usize, usize)>),
}

impl Purchase {
    /// A set of entries of an oracle of this shape.
    pub fn new(set: &EntrySet, shape: OracleShape) -> Self {
        Self {
            items: shape.len,
            symmetric: shape.symmetry == Symmetry::Symmetric,
            columns: set.columns(),
            scattered: set.scattered(),
            copies: (0..shape.len).filter(|&item| !set.is_asked(item)).collect(),
        }
    }

    /// Tiles of about `entries` each.
    pub(super) fn cut(&self, shape: OracleShape, entries: u64) -> Vec<Tile> {
        let mut tiles = Vec::new();
        let entries = entries.clamp(1, LARGEST_TILE);
        let order = self.row_order();
        for (from, to) in self.row_cuts(entries) {
            let (rows, cols) = self.block(from, to, &order);
            let (off_diagonal, diagonal) =
                DistinctPairs::new(shape, shape.diagonal_known.then_some(0.0), rows, cols).count();
            let size = off_diagonal + diagonal;
            if size > 0 {
                tiles.push(Tile { part: TileRange::Rows(from, to), size });
            }
        }
        let pairs = self.scattered.len();
        let step = usize::try_from(entries).unwrap_or(usize::MAX);
        for from in (0..pairs).step_by(step) {
            let to = from.saturating_add(step).min(pairs);
            let known = |&&(i, j): &&(usize, usize)| !(shape.diagonal_known && i == j);
            let size = self.scattered[from..to].iter().filter(known).count() as u64;
            tiles.push(Tile { part: TileRange::Pairs(from, to), size });
        }
        tiles
    }

    /// Ends of runs of rows: within the landmarks by the triangle that is left to each, below them evenly.
    fn row_cuts(&self, entries: u64) -> Vec<(usize, usize)> {
        let (landmarks, n) = (self.columns.len(), self.items - self.copies.len());
        if landmarks == 0 {
            return Vec::new();
        }
        let width = |row: usize| if self.symmetric && row < landmarks { row + 1 } else { landmarks } as u64;
        let mut cuts = Vec::new();
        let (mut from, mut sum) = (0, 0);
        for row in 0..n {
            // a tile lies on one side of the landmarks' square
            if from < row && (sum + width(row) > entries || row == landmarks) {
                cuts.push((from, row));
                (from, sum) = (row, 0);
            }
            sum += width(row);
        }
        cuts.push((from, n));
        cuts
    }

    /// Pairs beside the columns.
    pub fn scattered(&self) -> &[(usize, usize)] {
        &self.scattered
    }

    /// All items but copies, the landmarks first.
    pub fn row_order(&self) -> Vec<usize> {
        let mut is_left_out = vec![false; self.items];
        self.columns.iter().chain(&self.copies).for_each(|&j| is_left_out[j] = true);
        self.columns.iter().copied().chain((0..self.items).filter(|&i| !is_left_out[i])).collect()
    }

    /// Rows and columns of a run of rows.
    fn block<'a>(&'a self, from: usize, to: usize, order: &'a [usize]) -> (&'a [usize], &'a [usize]) {
        let own = self.symmetric && to <= self.columns.len();
        (&order[from..to], if own { &order[..to] } else { &self.columns })
    }

    /// Entries of a tile; `order` is [`row_order`](Self::row_order). Bytes hold no entry.
    pub fn entries_of(&self, part: TileRange, order: &[usize]) -> Entries {
        match part {
            TileRange::Rows(from, to) => {
                let (rows, cols) = self.block(from, to, order);
                Entries::Block(rows.to_vec(), cols.to_vec())
            }
            TileRange::Pairs(from, to) => Entries::Pairs(self.scattered[from..to].to_vec()),
            TileRange::Bytes(..) => Entries::Pairs(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use landmark_core::oracle::Identity;

    use super::super::TilePlan;
    use super::*;

    fn shape(len: usize, symmetry: Symmetry, diagonal_known: bool) -> OracleShape {
        OracleShape { len, symmetry, diagonal_known, evaluations_per_pair: 1 }
    }

    /// Every evaluation of the set belongs to exactly one tile.
    fn check(shape: OracleShape, columns: &[usize], pairs: &[(usize, usize)], entries: u64) -> TilePlan {
        let mut set = EntrySet::new(shape);
        columns.iter().for_each(|&j| set.add_column(j));
        pairs.iter().for_each(|&(i, j)| set.add_entry(i, j));
        let plan = TilePlan::of_entries(&set, shape, Identity::of(&[]), entries, None).unwrap();
        let purchase = plan.purchase().unwrap();
        let order = purchase.row_order();
        let mut seen = HashSet::new();
        for tile in &plan.tiles {
            let mut own = HashSet::new();
            let mut add = |i: usize, j: usize| {
                let flip = shape.symmetry == Symmetry::Symmetric && i < j;
                if !(shape.diagonal_known && i == j) {
                    own.insert(if flip { (j, i) } else { (i, j) });
                }
            };
            match purchase.entries_of(tile.part, &order) {
                Entries::Block(rows, cols) => rows.iter().for_each(|&i| cols.iter().for_each(|&j| add(i, j))),
                Entries::Pairs(pairs) => pairs.iter().for_each(|&(i, j)| add(i, j)),
            }
            assert_eq!(own.len() as u64, tile.size);
            for pair in own {
                assert!(seen.insert(pair), "{pair:?} is in two tiles");
            }
        }
        assert_eq!(seen.len() as u64, set.evaluations());
        assert_eq!(plan.size(), set.evaluations());
        plan
    }

    #[test]
    fn every_entry_is_in_exactly_one_tile_whatever_the_cut() {
        let columns = [17, 3, 40, 8, 22, 5];
        let pairs = [(1, 2), (30, 31), (2, 1), (9, 9), (17, 50)];
        for entries in [1, 7, 40, 1000] {
            for symmetry in [Symmetry::Symmetric, Symmetry::Asymmetric] {
                for diagonal_known in [true, false] {
                    check(shape(60, symmetry, diagonal_known), &columns, &pairs, entries);
                }
            }
        }
        let plan = check(shape(60, Symmetry::Symmetric, true), &columns, &[], 40);
        assert!((6..=12).contains(&plan.tiles.len()), "about 339 entries in tiles of 40: {}", plan.tiles.len());
        assert!(plan.tiles.iter().all(|tile| tile.size <= 40));
    }
}
