//! The evaluated columns of a search: their pairs, their scores, and what they show about hubness and the proxies.

use ndarray::Array2;

use landmark_core::hubness::{HubLink, Hubness, LinkRow};
use landmark_core::oracle::Pair;

use super::pool::{Pool, UNKNOWN};
use super::rank_transform::RankTransform;
use crate::universe::Universe;

/// An item that is no column.
const NO_COLUMN: u32 = u32::MAX;

/// Full columns of some items, of which some rows come first.
#[derive(Clone)]
pub(super) struct Columns {
    items: Vec<usize>,
    /// The column of each item.
    of: Vec<u32>,
    /// n × columns; NaN: not asked for; −∞: failed.
    scores: Array2<f64>,
    /// Rows that decide whether the others are evaluated.
    trial: Vec<usize>,
}

impl Columns {
    /// Columns of these of n items, without scores; `trial` chooses among the items that are no columns.
    pub(super) fn new(n: usize, items: Vec<usize>, trial: impl FnOnce(&[usize]) -> Vec<usize>) -> Self {
        let mut of = vec![NO_COLUMN; n];
        // columns are fewer than items, whose indices fit
        items.iter().zip(0..).for_each(|(&l, a)| of[l] = a);
        let free: Vec<usize> = (0..n).filter(|&i| of[i] == NO_COLUMN).collect();
        Self { scores: Array2::from_elem((n, items.len()), UNKNOWN), trial: trial(&free), items, of }
    }

    /// Number of their rows, n.
    pub(super) fn rows(&self) -> usize {
        self.of.len()
    }

    pub(super) fn items(&self) -> &[usize] {
        &self.items
    }

    /// The number of an item's column; none where it is no column.
    pub(super) fn number(&self, item: usize) -> Option<usize> {
        (self.of[item] != NO_COLUMN).then_some(self.of[item] as usize)
    }

    /// Some rows of every column.
    pub(super) fn trial_pairs(&self) -> Vec<Pair> {
        self.items.iter().flat_map(|&l| self.trial.iter().map(move |&i| (i, l))).collect()
    }

    /// Every pair of a column that exists, once, column by column, but for those of the trial.
    pub(super) fn pairs(&self, universe: Universe) -> Vec<Pair> {
        let n = self.rows();
        let mut is_tried = vec![false; n];
        self.trial.iter().for_each(|&i| is_tried[i] = true);
        let column = |(a, &l): (usize, &usize)| {
            let is_open = |i: usize| universe.has((i.min(l), i.max(l))) && self.of[i] as usize >= a;
            let is_new = |&i: &usize| is_open(i) && !is_tried[i] && self.scores[[i, a]].is_nan();
            (0..n).filter(is_new).map(|i| (i, l)).collect::<Vec<_>>()
        };
        self.items.iter().enumerate().flat_map(column).collect()
    }

    /// Writes a score; false where neither item has a column.
    pub(super) fn set(&mut self, i: usize, j: usize, score: f64) -> bool {
        let mut is_set = false;
        for (row, column) in [(i, j), (j, i)] {
            if let Some(a) = self.number(column) {
                self.scores[[row, a]] = score;
                is_set = true;
            }
        }
        is_set
    }

    /// Those of the trial that were not asked for.
    pub(super) fn trial_to_ask(&self) -> Vec<Pair> {
        let is_open = |&(i, l): &Pair| self.number(l).is_none_or(|a| self.scores[[i, a]].is_nan());
        self.trial_pairs().into_iter().filter(is_open).collect()
    }

    /// The scores of the trial.
    pub(super) fn tried(&self) -> Vec<(Pair, f64)> {
        let scored = self.trial_pairs().into_iter().map(|(i, l)| ((i, l), self.scores[[i, self.of[l] as usize]]));
        scored.filter(|(_, score)| score.is_finite()).collect()
    }

    /// All scores, each pair once.
    pub(super) fn known(&self) -> Vec<(Pair, f64)> {
        let mut known = Vec::new();
        for (a, &l) in self.items.iter().enumerate() {
            let is_first = |i: usize| i != l && (self.of[i] == NO_COLUMN || i < l);
            let seen = self.scores.column(a).into_iter().enumerate();
            known
                .extend(seen.filter(|&(i, score)| score.is_finite() && is_first(i)).map(|(i, &score)| ((i, l), score)));
        }
        known
    }

    /// Ranks among their scores.
    pub(super) fn ranks(&self) -> RankTransform {
        RankTransform::of(self.known().into_iter().map(|(_, score)| score).collect())
    }

    /// The score of item i in column a, where there is one.
    pub(super) fn score(&self, i: usize, a: usize) -> Option<f64> {
        Some(self.scores[[i, a]]).filter(|score| score.is_finite())
    }

    /// True where some rows come first.
    pub(super) fn has_trial(&self) -> bool {
        !self.trial.is_empty()
    }

    /// How popular each item is in them, as `transform` sees their scores.
    pub(super) fn hubness(&self, transform: &RankTransform) -> Hubness {
        Hubness::of(
            &self.items,
            self.scores.mapv(|score| if score.is_finite() { transform.at(score) } else { UNKNOWN }).view(),
        )
    }

    /// The squared error with which each proxy, alone, predicts columns that it was not fitted to; `pool` has the columns' scores.
    pub(super) fn errors_of_proxies(&self, pool: &Pool, proxies: usize) -> Vec<f64> {
        let is_free = |&slot: &usize| self.of[pool.other(slot)] == NO_COLUMN && pool.score(slot).is_finite();
        // the slots of a column, of items that are no columns
        let slots: Vec<Vec<usize>> = self.items.iter().map(|&l| pool.row(l).filter(is_free).collect()).collect();
        let error = |proxy: usize| -> f64 {
            let left_out = |out: usize| {
                let rows = |a: usize, take: &mut dyn FnMut(LinkRow<'_>)| {
                    for &slot in slots[a].iter().filter(|_| a != out) {
                        let proxies = &pool.proxies(slot)[proxy..=proxy];
                        take(LinkRow { hubness: (0.0, 0.0), proxies, score: pool.score(slot) });
                    }
                };
                let link = HubLink::fit(1, false, slots.len(), rows);
                let predicted = |&slot: &usize| link.at((0.0, 0.0), &pool.proxies(slot)[proxy..=proxy]);
                slots[out].iter().map(|slot| (pool.score(*slot) - predicted(slot)).powi(2)).sum::<f64>()
            };
            (0..slots.len()).map(left_out).sum()
        };
        (0..proxies).map(error).collect()
    }
}
