//! Candidate pairs, row by row: the only pairs that a search looks at.
//!
//! A pair {i, j} has two slots, one in the row of each, and one number; what is known of it is stored once, under its number. Columns that were evaluated are
//! part of it, and so is every other pair with a score, so that a place in a row is a place among known and unknown alike.

use std::sync::Arc;

use rayon::prelude::*;

use super::lists::{Lists, ROWS_PER_CHUNK, by_rows};
use super::rank_transform::RankTransform;
use super::{NeighborError, PROXY};
use landmark_core::oracle::{Oracle, Pair, ask_pairs};

#[cfg(test)]
mod tests;

/// Items up to which all pairs are looked at in every round, in double precision, and the process over pairs is fitted in full.
pub(super) const OFTEN: usize = 20_000;

/// Items from which on a search keeps fewer candidates per item: they take most of its memory.
pub(super) const MANY: usize = 200_000;

/// Marks a pair without a score.
pub(super) const UNKNOWN: f64 = f64::NAN;

/// Marks a pair whose score could not be had: it is not asked for again, and listed nowhere.
pub(super) const FAILED: f64 = f64::NEG_INFINITY;

/// Marks a pair that has no score yet.
const NO_SCORE: u32 = u32::MAX;

/// Candidate pairs of n items.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    /// The slots of row i are `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    /// The other item of a slot, ascending within a row.
    others: Vec<u32>,
    /// Number of the pair of a slot. Pairs (i, j), i < j, are numbered in ascending order.
    numbers: Vec<u32>,
    /// The pairs (i, j), i < j, of row i have the numbers `firsts[i]..firsts[i + 1]`.
    firsts: Vec<usize>,
    /// Scores of the m proxies, pair by pair.
    proxies: Vec<f64>,
    width: usize,
    /// Place of a pair's score in `raw` and `scores`, or [`NO_SCORE`]: few pairs have one.
    score_at: Vec<u32>,
    /// K, or [`FAILED`].
    raw: Vec<f64>,
    /// What a search works on: the transform of K, [`UNKNOWN`] while it is hidden, or [`FAILED`].
    scores: Vec<f64>,
    transform: RankTransform,
    /// Items whose pairs a proxy was fitted to; none where it is empty.
    fitted: Vec<bool>,
}

impl Pool {
    /// Candidates of the lists of n items; `known` pairs are part of it.
    pub(super) fn new(
        n: usize,
        lists: Vec<Lists>,
        known: &[(Pair, f64)],
        proxies: &[Arc<dyn Oracle>],
    ) -> Result<Self, NeighborError> {
        let none = vec![0; n + 1];
        Self { starts: none.clone(), firsts: none, width: proxies.len(), ..Self::default() }.with(known, lists, proxies)
    }

    /// The same pool with more known pairs and more candidates. What was read of the proxies is not read again.
    pub(super) fn with(
        self,
        known: &[(Pair, f64)],
        lists: Vec<Lists>,
        proxies: &[Arc<dyn Oracle>],
    ) -> Result<Self, NeighborError> {
        let (starts, others) =
            Lists::symmetric(&lists, known.iter().map(|&(pair, _)| pair), (&self.starts, &self.others));
        drop(lists);
        if u32::try_from(others.len() / 2).is_err() {
            return Err(NeighborError::TooManyCandidates { pairs: others.len() / 2 });
        }
        let mut pool =
            Self { firsts: Vec::with_capacity(starts.len()), starts, others, width: self.width, ..Self::default() };
        pool.firsts.push(0);
        for i in 0..pool.len() {
            pool.firsts.push(pool.firsts[i] + pool.upper(i).len());
        }
        pool.take_over(self);
        pool.numbers = pool.numbered();
        pool.read_proxies(proxies)?;
        for &((i, j), score) in known {
            pool.set(i, j, score);
        }
        Ok(pool)
    }

    /// Takes what an earlier pool knew of its pairs; the others are not known and not read.
    fn take_over(&mut self, earlier: Self) {
        let Self { starts, others, numbers, firsts, proxies, width, score_at, raw, scores, transform, fitted } =
            earlier;
        drop(numbers);
        let before = Self { starts, others, firsts, ..Self::default() };
        self.score_at = self.moved(&before, &score_at, 1, NO_SCORE);
        drop(score_at);
        self.proxies = self.moved(&before, &proxies, width, UNKNOWN);
        (self.raw, self.scores, self.transform, self.fitted) = (raw, scores, transform, fitted);
    }

    /// `width` values per pair of an earlier pool, under the numbers that pairs have now; `none` for new pairs.
    fn moved<T: Copy + Send + Sync>(&self, before: &Self, values: &[T], width: usize, none: T) -> Vec<T> {
        let mut moved = vec![none; self.pair_count() * width];
        let ends: Vec<usize> = self.firsts.iter().map(|first| first * width).collect();
        by_rows(&ends, &mut moved).enumerate().for_each(|(i, row)| {
            let others = &self.others[self.upper(i)];
            let mut place = 0;
            for (slot, number) in before.upper(i).zip(before.firsts[i]..) {
                // both rows ascend, and the new one holds all of the old
                place += others[place..].partition_point(|&other| other < before.others[slot]);
                row[place * width..(place + 1) * width].copy_from_slice(&values[number * width..(number + 1) * width]);
            }
        });
        moved
    }

    /// Number of the pair of every slot.
    fn numbered(&self) -> Vec<u32> {
        let mut numbers = vec![0; self.others.len()];
        by_rows(&self.starts, &mut numbers).enumerate().for_each(|(i, row)| {
            for (number, slot) in row.iter_mut().zip(self.row(i)) {
                let (first, second) = (i.min(self.other(slot)), i.max(self.other(slot)));
                let place = self.others[self.upper(first)].partition_point(|&other| (other as usize) < second);
                // the number of pairs was checked to fit
                *number = (self.firsts[first] + place) as u32;
            }
        });
        numbers
    }

    /// Ranks among the scores that are known now.
    pub(super) fn ranks(&self) -> RankTransform {
        RankTransform::of(self.raw.iter().copied().filter(|score| score.is_finite()).collect())
    }

    /// The scores from now on as `transform` sees them.
    pub(super) fn transform_by(&mut self, transform: RankTransform) {
        self.scores = self.raw.par_iter().map(|&score| transform.at(score)).collect();
        self.transform = transform;
    }

    /// K in a slot, [`UNKNOWN`] or [`FAILED`].
    pub(super) fn raw(&self, slot: usize) -> f64 {
        self.place(self.number(slot)).map_or(UNKNOWN, |place| self.raw[place])
    }

    /// What a search works on in a slot: the transform of K, [`UNKNOWN`] or [`FAILED`].
    pub(super) fn score(&self, slot: usize) -> f64 {
        self.place(self.number(slot)).map_or(UNKNOWN, |place| self.scores[place])
    }

    /// Place of the score of a pair among all scores, where there is one.
    fn place(&self, pair: usize) -> Option<usize> {
        Some(self.score_at[pair]).filter(|&place| place != NO_SCORE).map(|place| place as usize)
    }

    /// Writes scores of the pairs of this row that are in the upper triangle.
    pub(super) fn rewrite(&mut self, i: usize, score: impl Fn(usize, f64) -> Option<f64>) {
        for slot in self.upper(i) {
            if let Some(score) = score(self.other(slot), self.raw(slot)) {
                self.set(i, self.other(slot), score);
            }
        }
    }

    /// An estimate of what a search works on, as an estimate of K.
    pub(super) fn estimated(&self, transformed: f64) -> f64 {
        self.transform.back(transformed)
    }

    /// Reads the scores of the proxies that are not read yet, of each pair once.
    fn read_proxies(&mut self, proxies: &[Arc<dyn Oracle>]) -> Result<(), NeighborError> {
        let (width, n) = (self.width, self.len());
        let mut scores = std::mem::take(&mut self.proxies);
        let ends: Vec<usize> =
            (0..n).step_by(ROWS_PER_CHUNK).chain([n]).map(|first| self.firsts[first] * width).collect();
        let read = |chunk: usize, out: &mut [f64], (a, proxy): (usize, &Arc<dyn Oracle>)| {
            let rows = chunk * ROWS_PER_CHUNK..((chunk + 1) * ROWS_PER_CHUNK).min(n);
            let pool = &*self;
            let of_row = |i: usize| pool.upper(i).map(move |slot| (i, pool.other(slot)));
            let places = (a..).step_by(width);
            let is_new = |&(place, _): &(usize, Pair)| out[place].is_nan();
            let new: Vec<(usize, Pair)> = places.zip(rows.flat_map(of_row)).filter(is_new).collect();
            let pairs: Vec<Pair> = new.iter().map(|&(_, pair)| pair).collect();
            let mut answers = vec![0.0; pairs.len()];
            ask_pairs(&**proxy, &pairs, &mut answers)?;
            new.iter().zip(answers).for_each(|(&(place, _), answer)| out[place] = answer);
            Ok(())
        };
        for (a, proxy) in proxies.iter().enumerate() {
            by_rows(&ends, &mut scores)
                .enumerate()
                .try_for_each(|(chunk, out)| read(chunk, out, (a, proxy)))
                .map_err(|source| NeighborError::Proxy { role: PROXY, number: a + 1, source })?;
        }
        self.proxies = scores;
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Pairs in all.
    pub(super) fn pair_count(&self) -> usize {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// Slots of row i.
    pub(super) fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    /// Slots of row i whose other item comes after i: its pairs (i, j), i < j.
    pub(super) fn upper(&self, i: usize) -> std::ops::Range<usize> {
        let row = self.row(i);
        let lower = self.others[row.clone()].partition_point(|&other| other as usize <= i);
        row.start + lower..row.end
    }

    /// Numbers of the first pair (i, j), i < j, of each row, and their end.
    pub(super) fn firsts(&self) -> &[usize] {
        &self.firsts
    }

    pub(super) fn other(&self, slot: usize) -> usize {
        self.others[slot] as usize
    }

    /// Number of the pair of a slot, the same in both of its slots.
    pub(super) fn number(&self, slot: usize) -> usize {
        self.numbers[slot] as usize
    }

    /// Scores of the proxies in a slot.
    pub(super) fn proxies(&self, slot: usize) -> &[f64] {
        self.proxies_of(self.number(slot))
    }

    /// Scores of the proxies of a pair by its number.
    pub(super) fn proxies_of(&self, pair: usize) -> &[f64] {
        &self.proxies[pair * self.width..(pair + 1) * self.width]
    }

    /// Score of the first proxy in a slot; 0 without one.
    pub(super) fn first_proxy(&self, slot: usize) -> f64 {
        self.proxies(slot).first().copied().unwrap_or(0.0)
    }

    /// True where a slot has a score, or failed to get one.
    pub(super) fn is_asked(&self, slot: usize) -> bool {
        !self.score(slot).is_nan()
    }

    /// True where a slot of row i has a score, and no proxy was fitted to it.
    pub(super) fn teaches(&self, i: usize, slot: usize) -> bool {
        let is_fitted = |item: usize| self.fitted.get(item).copied().unwrap_or(false);
        self.score(slot).is_finite() && !is_fitted(i) && !is_fitted(self.other(slot))
    }

    /// From now on pairs of these items do not teach.
    pub(super) fn set_fitted(&mut self, fitted: Vec<bool>) {
        self.fitted = fitted;
    }

    /// The proxies in another order, by their places.
    pub(super) fn reorder_proxies(&mut self, places: &[usize]) {
        let width = self.width;
        self.proxies.par_chunks_mut(width.max(1)).for_each(|scores| {
            let before = scores.to_vec();
            scores.iter_mut().zip(places).for_each(|(score, &place)| *score = before[place]);
        });
    }

    /// Slot of (i, j) in row i, where the pair is a candidate.
    pub(super) fn slot(&self, i: usize, j: usize) -> Option<usize> {
        let row = self.row(i);
        let j = u32::try_from(j).ok()?;
        self.others[row.clone()].binary_search(&j).ok().map(|place| row.start + place)
    }

    /// Takes the scores of the pairs in these slots away, for a while.
    pub(super) fn hide(&mut self, slots: impl Iterator<Item = usize>) {
        for slot in slots {
            if let Some(place) = self.place(self.number(slot)) {
                self.scores[place] = UNKNOWN;
            }
        }
    }

    /// Shows them again.
    pub(super) fn reveal(&mut self, slots: impl Iterator<Item = usize>) {
        for slot in slots {
            if let Some(place) = self.place(self.number(slot)) {
                self.scores[place] = self.transform.at(self.raw[place]);
            }
        }
    }

    /// Writes the score of a pair; false where it is no candidate.
    pub(super) fn set(&mut self, i: usize, j: usize, score: f64) -> bool {
        let Some(slot) = self.slot(i, j) else { return false };
        let (pair, transformed) = (self.number(slot), self.transform.at(score));
        match self.place(pair) {
            Some(place) => (self.raw[place], self.scores[place]) = (score, transformed),
            None => {
                // there are no more scores than pairs, whose number was checked to fit
                self.score_at[pair] = self.raw.len() as u32;
                self.raw.push(score);
                self.scores.push(transformed);
            }
        }
        true
    }
}
