//! The part of the planned calls that one of several processes makes (`--share K/N`).
//!
//! The set of entries follows from the configuration alone, so all shares cut it alike, and no two of them ask for the same pair.

use std::fmt;
use std::str::FromStr;

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{OracleShape, Pair, Symmetry};

/// Pieces that each share gets: several, because the first rows may be cheaper to score than the last ones.
const PIECES: u64 = 8;

/// Share `number` of `of`, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    number: usize,
    of: usize,
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{text}` is no share K/N such as `0/8`: K counts from 0 and must be below N, the number of shares")
        };
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let (number, of) = (number.trim().parse().map_err(|_| wrong())?, of.trim().parse().map_err(|_| wrong())?);
        if number < of { Ok(Self { number, of }) } else { Err(wrong()) }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Entries that are requested together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entries {
    /// Rows × columns.
    Block(Vec<usize>, Vec<usize>),
    Pairs(Vec<Pair>),
}

impl Share {
    /// The number of this share, from 0.
    pub fn number(self) -> usize {
        self.number
    }

    pub fn of(self) -> usize {
        self.of
    }

    /// The entries of this share.
    ///
    /// Rows are taken with the landmarks first. A piece is a run of rows times all columns; among the landmarks of a symmetric score it stops
    /// at the column of its last row, so that the two mirrored halves of that square are in one piece each.
    pub fn entries_of(self, set: &EntrySet, shape: OracleShape) -> Vec<Entries> {
        let most = set.evaluations().div_ceil(PIECES * self.of as u64).max(1);
        let columns = set.columns();
        let mut is_column = vec![false; shape.len];
        columns.iter().for_each(|&j| is_column[j] = true);
        // nothing is evaluated in the row of an item that equals an earlier one
        let others: Vec<usize> = (0..shape.len).filter(|&i| !is_column[i] && set.is_asked(i)).collect();
        let order: Vec<usize> = columns.iter().chain(&others).copied().collect();
        let is_symmetric = shape.symmetry == Symmetry::Symmetric;

        let width = |row: usize| if is_symmetric && row < columns.len() { row + 1 } else { columns.len() };
        let of_columns = runs(order.len(), columns.len(), most, width).into_iter().map(|(from, to)| {
            let is_triangle = is_symmetric && to <= columns.len();
            Entries::Block(order[from..to].to_vec(), if is_triangle { &order[..to] } else { &columns[..] }.to_vec())
        });
        let rows = set.rows();
        let of_rows = runs(rows.len(), 0, most, |_| others.len())
            .into_iter()
            .map(|(from, to)| Entries::Block(rows[from..to].to_vec(), others.clone()));
        let scattered = set.scattered();
        let step = usize::try_from(most).unwrap_or(usize::MAX);
        let of_pairs = scattered.chunks(step).map(|pairs| Entries::Pairs(pairs.to_vec()));
        of_columns.chain(of_rows).chain(of_pairs).skip(self.number).step_by(self.of).collect()
    }
}

/// Runs of rows of about `most` entries each; none crosses row `border`.
fn runs(rows: usize, border: usize, most: u64, width: impl Fn(usize) -> usize) -> Vec<(usize, usize)> {
    let (mut runs, mut from, mut sum) = (Vec::new(), 0, 0);
    for row in 0..rows {
        let entries = width(row) as u64;
        if from < row && (sum + entries > most || row == border) {
            runs.push((from, row));
            (from, sum) = (row, 0);
        }
        sum += entries;
    }
    if sum > 0 {
        runs.push((from, rows));
    }
    runs
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use landmark_core::contents::Contents;
    use landmark_core::entries::EntryPlan;

    use super::*;

    fn shape(symmetry: Symmetry) -> OracleShape {
        OracleShape { known_diagonal: Some(0.0), ..OracleShape::new(23, symmetry) }
    }

    /// How often each pair is in a share of `n`; a known diagonal is left out.
    fn counts(set: &EntrySet, shape: OracleShape, n: usize) -> HashMap<Pair, usize> {
        let mut counts = HashMap::new();
        for number in 0..n {
            let share = Share { number, of: n };
            let mut own = std::collections::HashSet::new();
            for entries in share.entries_of(set, shape) {
                let pairs: Vec<Pair> = match entries {
                    Entries::Block(rows, cols) => {
                        rows.iter().flat_map(|&i| cols.iter().map(move |&j| (i, j))).collect()
                    }
                    Entries::Pairs(pairs) => pairs,
                };
                let is_symmetric = shape.symmetry == Symmetry::Symmetric;
                let key = |(i, j): Pair| if is_symmetric { (i.min(j), i.max(j)) } else { (i, j) };
                own.extend(pairs.into_iter().filter(|&(i, j)| i != j).map(key));
            }
            own.into_iter().for_each(|pair| *counts.entry(pair).or_default() += 1);
        }
        counts
    }

    #[test]
    fn each_planned_pair_is_in_exactly_one_share() {
        for symmetry in [Symmetry::Symmetric, Symmetry::Asymmetric] {
            let shape = shape(symmetry);
            let mut set = EntrySet::new(shape);
            set.add(&EntryPlan::columns(&[4, 19, 7, 0]));
            [(1, 2), (5, 11), (22, 3), (2, 4)].into_iter().for_each(|(i, j)| set.add_entry(i, j));
            for n in [1, 2, 3, 7, 200] {
                let counts = counts(&set, shape, n);
                assert_eq!(counts.len() as u64, set.evaluations(), "{symmetry:?}, {n} shares");
                assert!(counts.values().all(|&count| count == 1), "{symmetry:?}, {n} shares");
            }
        }
    }

    #[test]
    fn shares_leave_out_the_copies_of_equal_items() {
        let shape = shape(Symmetry::Symmetric);
        // items 10 to 22 equal items 0 to 12
        let contents = Arc::new(Contents::new((0..23).map(|item| [item % 10; 16]).collect()));
        let mut set = EntrySet::among(shape, Some(&contents));
        set.add(&EntryPlan::columns(&[4, 7]));
        for n in [1, 3] {
            let counts = counts(&set, shape, n);
            assert_eq!(counts.len() as u64, set.evaluations(), "{n} shares");
            assert!(counts.keys().all(|&(i, j)| i < 10 && j < 10), "{n} shares: {counts:?}");
        }
    }
}
