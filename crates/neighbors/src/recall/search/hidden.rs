//! The audited rows, which are hidden from the search.

use std::collections::{HashMap, HashSet};

use super::super::{AuditPath, depth_shares, share_found};
use super::{Enough, KnownLists};
use crate::nearest::{NeighborError, Search};
use landmark_core::oracle::{Oracle, OracleError, Pair, ask_pairs};

/// Pairs asked of the oracle at a time: what is answered is stored before the next.
const PAIRS_AT_A_TIME: usize = 1 << 12;
/// Samples up to this number of times as large are considered when a bound is too low.
const LARGEST_SAMPLE: usize = 64;

/// The rows that are hidden from the search.
pub(super) struct Hidden {
    pub(super) items: Vec<usize>,
    place: HashMap<usize, usize>,
    rows: Vec<Vec<f64>>,
    /// Items that the search asked for in a pair with each.
    asked: Vec<HashSet<usize>>,
}

impl Hidden {
    /// The rows of some items; `known` scores are not asked for.
    pub(super) fn evaluate(oracle: &dyn Oracle, items: Vec<usize>, known: &[(Pair, f64)]) -> Result<Self, OracleError> {
        let n = oracle.len();
        let place: HashMap<usize, usize> = items.iter().enumerate().map(|(place, &item)| (item, place)).collect();
        let mut rows = vec![vec![f64::NAN; n]; items.len()];
        for &((i, j), score) in known.iter().filter(|(_, score)| score.is_finite()) {
            for (item, other) in [(i, j), (j, i)] {
                if let Some(&at) = place.get(&item) {
                    rows[at][other] = score;
                }
            }
        }
        for (at, &item) in items.iter().enumerate() {
            // pairs of two audited items once
            let is_new = |other: &usize| {
                *other != item && rows[at][*other].is_nan() && place.get(other).is_none_or(|&there| there > at)
            };
            let others: Vec<usize> = (0..n).filter(is_new).collect();
            let pairs: Vec<Pair> = others.iter().map(|&other| (item.min(other), item.max(other))).collect();
            for (other, score) in others.into_iter().zip(ask(oracle, &pairs)?) {
                rows[at][other] = score;
                if let Some(&there) = place.get(&other) {
                    rows[there][item] = score;
                }
            }
        }
        let asked = vec![HashSet::new(); items.len()];
        Ok(Self { items, place, rows, asked })
    }

    /// The row that holds the score of a pair, and its place there.
    fn place_of(&self, (i, j): Pair) -> Option<(usize, usize)> {
        self.place.get(&i).map(|&row| (row, j)).or_else(|| self.place.get(&j).map(|&row| (row, i)))
    }

    /// The first of these pairs that take no more than `left` pairs of the oracle; all of them without a limit.
    pub(super) fn first_within<'a>(&self, pairs: &'a [Pair], left: Option<u64>) -> &'a [Pair] {
        let Some(mut left) = left else { return pairs };
        let is_within = |&&pair: &&Pair| {
            let is_hidden = self.place_of(pair).is_some();
            let is_paid = is_hidden || left > 0;
            left -= u64::from(!is_hidden && is_paid);
            is_paid
        };
        &pairs[..pairs.iter().take_while(is_within).count()]
    }

    /// Scores of pairs: of audited rows from there, of the others by the oracle; and how many these are.
    pub(super) fn answer(&mut self, oracle: &dyn Oracle, pairs: &[Pair]) -> Result<(Vec<f64>, u64), OracleError> {
        let mut scores = vec![f64::NAN; pairs.len()];
        let (mut open, mut places) = (Vec::new(), Vec::new());
        for (at, &pair) in pairs.iter().enumerate() {
            match self.place_of(pair) {
                Some((row, other)) => scores[at] = self.rows[row][other],
                None => {
                    open.push(pair);
                    places.push(at);
                }
            }
        }
        places.into_iter().zip(ask(oracle, &open)?).for_each(|(at, score)| scores[at] = score);
        self.ask(pairs.iter().copied());
        Ok((scores, open.len() as u64))
    }

    /// The same as far as a budget pays: the scores of the first of these pairs, where it ends before the last.
    pub(super) fn answer_paid(&mut self, oracle: &dyn Oracle, pairs: &[Pair]) -> Result<(Vec<f64>, u64), OracleError> {
        let (mut scores, mut calls) = (Vec::with_capacity(pairs.len()), 0);
        for chunk in pairs.chunks(PAIRS_AT_A_TIME) {
            let (mut paid, mut refused, mut next) = (0, chunk.len() + 1, chunk.len());
            while paid < next {
                match self.answer(oracle, &chunk[paid..next]) {
                    Ok((some, its_calls)) => {
                        scores.extend(some);
                        (paid, calls) = (next, calls + its_calls);
                    }
                    Err(error) if error.is_exhausted() => refused = next,
                    Err(error) => return Err(error),
                }
                next = usize::midpoint(paid, refused).min(chunk.len());
            }
            if paid < chunk.len() {
                break;
            }
        }
        Ok((scores, calls))
    }

    /// From now on the search has these pairs.
    pub(super) fn ask(&mut self, pairs: impl Iterator<Item = Pair>) {
        for (i, j) in pairs {
            for (item, other) in [(i, j), (j, i)] {
                if let Some(&row) = self.place.get(&item) {
                    self.asked[row].insert(other);
                }
            }
        }
    }

    pub(super) fn shares(&self, k: usize) -> Vec<f64> {
        let share = |(place, &item): (usize, &usize)| {
            share_found(&self.rows[place], item, k, |other| self.asked[place].contains(&other))
        };
        self.items.iter().enumerate().map(share).collect()
    }

    /// Rows that would have been enough: reading every list deeper, or more rows.
    pub(super) fn enough(&self, search: &mut Search, path: &AuditPath, k: usize) -> Result<Enough, NeighborError> {
        let candidates = search.last_candidates(usize::MAX)?;
        let open = |item: usize| candidates[item].iter().filter(|near| !near.exact).map(|near| near.item);
        let deepest = (0..candidates.len()).map(|item| open(item).count()).max().unwrap_or(0);
        let depths: Vec<usize> = (1..=deepest).collect();
        let by_depth: Vec<Vec<f64>> = (self.items.iter().enumerate())
            .map(|(place, &item)| {
                let ranked: Vec<usize> = open(item).collect();
                depth_shares(&self.rows[place], item, k, &self.asked[place], &ranked, &depths)
            })
            .collect();
        let is_enough = |depth: &&usize| {
            let shares: Vec<f64> = by_depth.iter().map(|shares| shares[**depth - 1]).collect();
            path.step(&shares).is_reached
        };
        if let Some(&depth) = depths.iter().find(is_enough) {
            let of = |item: usize| open(item).take(depth).map(move |other| (item.min(other), item.max(other)));
            let pairs: HashSet<Pair> = (0..candidates.len()).flat_map(of).collect();
            return Ok(Enough::Pairs(pairs.len() as u64));
        }
        Ok(path.rows_needed(&self.shares(k), LARGEST_SAMPLE).map_or(Enough::Unknown, Enough::Rows))
    }

    pub(super) fn reveal(&self, lists: &mut KnownLists) {
        for (place, &item) in self.items.iter().enumerate() {
            // a pair of two audited items that was not asked for stands in both rows
            let is_new = |other: &usize| {
                *other != item
                    && !self.asked[place].contains(other)
                    && self.place.get(other).is_none_or(|&there| there > place)
            };
            let pairs: Vec<Pair> = (0..self.rows[place].len()).filter(is_new).map(|other| (item, other)).collect();
            let scores: Vec<f64> = pairs.iter().map(|&(_, other)| self.rows[place][other]).collect();
            lists.offer(&pairs, &scores);
        }
    }
}

fn ask(oracle: &dyn Oracle, pairs: &[Pair]) -> Result<Vec<f64>, OracleError> {
    let mut scores = vec![0.0; pairs.len()];
    for (pairs, scores) in pairs.chunks(PAIRS_AT_A_TIME).zip(scores.chunks_mut(PAIRS_AT_A_TIME)) {
        ask_pairs(oracle, pairs, scores)?;
    }
    Ok(scores)
}
