//! Scale-out: the entries of a configuration cut into tiles that any number of machines buy, through a store that all of them reach.
//!
//! ```text
//! runner plan      what is missing → tiles of minutes → plans/<name>/plan.json
//! runner worker    claims a tile, buys it, publishes every second, marks it done; any number of them, any number of times
//! runner merge     when all are done: the run itself, which finds everything bought
//! ```
//!
//! A plan is data: full columns, scattered pairs, and cuts. Rows are taken in an order that puts the landmarks first; a tile is
//! a run of rows times all columns, and among the landmarks only the columns up to its own rows, so that the two mirrored halves
//! of a symmetric square are not bought by two tiles.

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{DistinctPairs, Identity, OracleShape, Symmetry};
use serde::{Deserialize, Serialize};

pub mod executor;

/// Version of the document.
const VERSION: u32 = 1;
/// A tile is held in memory by the worker that buys it: 16M entries, about 1 GB.
pub const LARGEST_TILE: u64 = 1 << 24;
/// The document's name.
pub const PLAN: &str = "plan.json";

/// What is to be bought, and in which pieces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    version: u32,
    /// Digest of everything below; its first digits name the tiles.
    pub id: String,
    /// Identity of the oracle: items, program, parameters.
    pub oracle: String,
    /// Number of items n.
    pub items: usize,
    /// Whether `f(i, j) = f(j, i)`.
    symmetric: bool,
    /// Full columns.
    columns: Vec<usize>,
    /// Pairs beside them.
    scattered: Vec<(usize, usize)>,
    /// The pieces.
    pub tiles: Vec<Tile>,
    /// Seconds an evaluation took when the plan was made, where something was left to time.
    pub seconds_each: Option<f64>,
}

/// A piece of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tile {
    /// What it is made of.
    pub part: Part,
    /// Distinct entries, bought or not.
    pub entries: u64,
}

/// What a tile is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Rows from and to, in the order of the plan, times columns.
    Rows(usize, usize),
    /// Scattered pairs from and to.
    Pairs(usize, usize),
}

/// The entries of a tile, as the store takes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entries {
    /// Rows × columns.
    Block(Vec<usize>, Vec<usize>),
    /// A list.
    Pairs(Vec<(usize, usize)>),
}

impl Plan {
    /// Cuts a set of entries into tiles of about `entries` each.
    pub fn cut(set: &EntrySet, shape: OracleShape, oracle: Identity, entries: u64, seconds_each: Option<f64>) -> Self {
        let symmetric = shape.symmetry == Symmetry::Symmetric;
        let mut plan = Self {
            version: VERSION,
            id: String::new(),
            oracle: oracle.to_hex(),
            items: shape.len,
            symmetric,
            columns: set.columns(),
            scattered: set.scattered(),
            tiles: Vec::new(),
            seconds_each,
        };
        let entries = entries.clamp(1, LARGEST_TILE);
        let order = plan.row_order();
        for (from, to) in plan.row_cuts(entries) {
            let Entries::Block(rows, cols) = plan.entries_of(Part::Rows(from, to), &order) else { continue };
            let (off_diagonal, diagonal) =
                DistinctPairs::new(shape, shape.diagonal_known.then_some(0.0), &rows, &cols).count();
            let count = off_diagonal + diagonal;
            if count > 0 {
                plan.tiles.push(Tile { part: Part::Rows(from, to), entries: count });
            }
        }
        let pairs = plan.scattered.len();
        let step = usize::try_from(entries).unwrap_or(usize::MAX);
        for from in (0..pairs).step_by(step) {
            let to = from.saturating_add(step).min(pairs);
            let known = |&&(i, j): &&(usize, usize)| !(shape.diagonal_known && i == j);
            let count = plan.scattered[from..to].iter().filter(known).count() as u64;
            plan.tiles.push(Tile { part: Part::Pairs(from, to), entries: count });
        }
        plan.id = plan.digest();
        plan
    }

    /// Ends of runs of rows: within the landmarks by the triangle that is left to each, below them evenly.
    fn row_cuts(&self, entries: u64) -> Vec<(usize, usize)> {
        let (landmarks, n) = (self.columns.len(), self.items);
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

    /// All items, the landmarks first.
    pub fn row_order(&self) -> Vec<usize> {
        let mut is_column = vec![false; self.items];
        self.columns.iter().for_each(|&j| is_column[j] = true);
        self.columns.iter().copied().chain((0..self.items).filter(|&i| !is_column[i])).collect()
    }

    /// What a tile is made of; `order` is [`row_order`](Self::row_order).
    pub fn entries_of(&self, part: Part, order: &[usize]) -> Entries {
        match part {
            Part::Rows(from, to) => {
                let own = self.symmetric && to <= self.columns.len();
                let cols = if own { &order[..to] } else { &self.columns[..] };
                Entries::Block(order[from..to].to_vec(), cols.to_vec())
            }
            Part::Pairs(from, to) => Entries::Pairs(self.scattered[from..to].to_vec()),
        }
    }

    /// The name of a tile: in the names of its files, of its claim and of its mark.
    pub fn tile_name(&self, tile: usize) -> String {
        format!("{}t{tile:06}", &self.id[..8.min(self.id.len())])
    }

    /// Whether this plan buys these entries from this oracle, however it is cut.
    pub fn is_same_purchase(&self, set: &EntrySet, oracle: Identity) -> bool {
        self.oracle == oracle.to_hex() && self.columns == set.columns() && self.scattered == set.scattered()
    }

    /// Entries of all tiles.
    pub fn evaluations(&self) -> u64 {
        self.tiles.iter().map(|tile| tile.entries).sum()
    }

    /// Reads a document, or says what is wrong with it.
    ///
    /// # Errors
    /// Bytes that are no plan of this version, or were edited.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let plan: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if plan.version != VERSION {
            return Err(format!("it has version {}, but this build reads {VERSION}", plan.version));
        }
        if plan.digest() != plan.id {
            return Err("its content does not fit its digest".to_owned());
        }
        Ok(plan)
    }

    /// As bytes of JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// What was timed is no part of it: the same purchase is the same plan.
    fn digest(&self) -> String {
        let bare = Self { id: String::new(), seconds_each: None, ..self.clone() };
        Identity::of(&[("landmark plan", &bare.to_bytes())]).to_hex()
    }
}

/// `0-3,7` as numbers below `tiles`.
///
/// # Errors
/// What is no such list, in words.
pub fn parse_tiles(text: &str, tiles: usize) -> Result<Vec<usize>, String> {
    let mut found = Vec::new();
    for piece in text.split(',').map(str::trim) {
        let (from, to) = piece.split_once('-').unwrap_or((piece, piece));
        let number = |text: &str| {
            text.trim().parse::<usize>().map_err(|_| format!("`{piece}` is no tile or range of tiles like `0-3`"))
        };
        let (from, to) = (number(from)?, number(to)?);
        if from > to || to >= tiles {
            return Err(format!("`{piece}` is not within the tiles 0 to {}", tiles.saturating_sub(1)));
        }
        found.extend(from..=to);
    }
    Ok(found)
}

/// The tiles of worker `k` of `n`, written `k/n`: every n-th.
///
/// # Errors
/// What is no such share, in words.
pub fn parse_share(text: &str, tiles: usize) -> Result<Vec<usize>, String> {
    let wrong =
        || format!("`{text}` is no share like `0/8`: the number of this worker, from 0, and how many there are");
    let (k, n) = text.split_once('/').ok_or_else(wrong)?;
    let (k, n): (usize, usize) = (k.trim().parse().map_err(|_| wrong())?, n.trim().parse().map_err(|_| wrong())?);
    if k >= n { Err(wrong()) } else { Ok((k..tiles).step_by(n).collect()) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn shape(len: usize, symmetry: Symmetry, diagonal_known: bool) -> OracleShape {
        OracleShape { len, symmetry, diagonal_known, evaluations_per_pair: 1 }
    }

    /// Every evaluation of the set belongs to exactly one tile.
    fn check(shape: OracleShape, columns: &[usize], pairs: &[(usize, usize)], entries: u64) -> Plan {
        let mut set = EntrySet::new(shape);
        columns.iter().for_each(|&j| set.add_column(j));
        pairs.iter().for_each(|&(i, j)| set.add_entry(i, j));
        let plan = Plan::cut(&set, shape, Identity::of(&[]), entries, None);
        let order = plan.row_order();
        let mut seen = HashSet::new();
        for tile in &plan.tiles {
            let mut own = HashSet::new();
            let mut add = |i: usize, j: usize| {
                let flip = shape.symmetry == Symmetry::Symmetric && i < j;
                if !(shape.diagonal_known && i == j) {
                    own.insert(if flip { (j, i) } else { (i, j) });
                }
            };
            match plan.entries_of(tile.part, &order) {
                Entries::Block(rows, cols) => rows.iter().for_each(|&i| cols.iter().for_each(|&j| add(i, j))),
                Entries::Pairs(pairs) => pairs.iter().for_each(|&(i, j)| add(i, j)),
            }
            assert_eq!(own.len() as u64, tile.entries);
            for pair in own {
                assert!(seen.insert(pair), "{pair:?} is in two tiles");
            }
        }
        assert_eq!(seen.len() as u64, set.evaluations());
        assert_eq!(plan.evaluations(), set.evaluations());
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
        assert!(plan.tiles.iter().all(|tile| tile.entries <= 40));
    }

    #[test]
    fn a_plan_reads_back_and_refuses_to_be_edited() {
        let plan = check(shape(20, Symmetry::Symmetric, false), &[1, 2], &[(5, 6)], 10);
        assert_eq!(Plan::parse(&plan.to_bytes()).as_ref(), Ok(&plan));
        let timed = Plan { seconds_each: Some(0.1), ..plan.clone() };
        assert_eq!(timed.digest(), plan.id, "what was timed makes no other plan");
        let edited = Plan { items: 21, ..plan };
        assert!(Plan::parse(&edited.to_bytes()).unwrap_err().contains("digest"));
    }

    #[test]
    fn tiles_and_shares_are_read_and_mistakes_named() {
        assert_eq!(parse_tiles("0-2, 7", 8), Ok(vec![0, 1, 2, 7]));
        assert!(parse_tiles("8", 8).unwrap_err().contains("0 to 7"));
        assert!(parse_tiles("x", 8).unwrap_err().contains("`x`"));
        assert_eq!(parse_share("1/3", 8), Ok(vec![1, 4, 7]));
        assert!(parse_share("3/3", 8).is_err() && parse_share("1", 8).is_err());
    }
}
