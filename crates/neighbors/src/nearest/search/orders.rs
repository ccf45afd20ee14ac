//! One order first: a search by an asymmetric score, of which the mean of both orders is wanted.
//!
//! ```text
//! while it explores     obs_ij = f(i, j) or f(j, i), as a coin falls; σ_ij = ±1 marks which
//! after each fit        (L + 5I) a = b,  b_i = Σ_j σ_ij (obs − E)_ij;   K_ij ← obs − σ_ij (a_i − a_j)
//! at the end            F = .85 K + .15 E; the best pairs by F are asked for in their other order, too, and are exact
//! ```
//! Twice as many pairs are seen for the calls that both orders of each take; the coin makes the antisymmetric half of the score noise of mean 0, of which
//! the items' own part is removed ([`item_effects`]). Asked for in one order are three quarters of the calls.

use super::{Pair, Pool, Search, at_most};
use crate::nearest::NeighborError;
use landmark_core::approximate::item_effects;
use landmark_core::entries::{EntrySet, PairMap};
use landmark_core::oracle::{Coin, OracleShape};

/// Share of its own score that a pair of one order keeps.
const SHARE: f64 = 0.85;

/// A pair of one order, from its score and what the others predict for it.
pub(super) fn blended(score: f64, estimate: f64) -> f64 {
    SHARE * score + (1.0 - SHARE) * estimate
}

/// Pairs that are known in one order.
#[derive(Clone)]
pub(super) struct OneOrder {
    coin: Coin,
    /// Scores as they were answered, the smaller item first.
    observed: PairMap<f64>,
    /// a, by item; none before the first fit.
    effects: Vec<f64>,
    second_orders: u64,
}

fn upper((i, j): Pair) -> Pair {
    (i.min(j), i.max(j))
}

impl OneOrder {
    pub(super) fn new(coin: Coin) -> Self {
        Self { coin, observed: PairMap::default(), effects: Vec::new(), second_orders: 0 }
    }

    pub(super) fn coin(&self) -> Coin {
        self.coin
    }

    /// Pairs that were asked for in their other order.
    pub(super) fn second_orders(&self) -> u64 {
        self.second_orders
    }

    /// A pair was answered in one order.
    pub(super) fn observe(&mut self, pair: Pair, score: f64) {
        if score.is_finite() {
            self.observed.insert(upper(pair), score);
        }
    }

    /// A pair is known in both orders, or not at all.
    pub(super) fn settle(&mut self, pair: Pair) {
        self.observed.remove(&upper(pair));
    }

    /// The score of one order without what its items add to one order and take from the other.
    pub(super) fn corrected(&self, (i, j): Pair, score: f64) -> f64 {
        match (self.effects.get(i), self.effects.get(j)) {
            (Some(one), Some(other)) => score - self.coin.sign(i, j) * (one - other),
            _ => score,
        }
    }
}

impl Search {
    /// True where the pair of a slot of row i is known in one order.
    pub(super) fn is_observed(&self, pool: &Pool, i: usize, slot: usize) -> bool {
        let Some(orders) = &self.orders else { return false };
        pool.is_asked(slot) && orders.observed.contains_key(&upper((i, pool.other(slot))))
    }

    /// Removes the items' part of the difference of the orders from all scores of one order; `process` is what is added to the link at any pair. The
    /// estimates of these pairs are then of both.
    pub(super) fn correct(&mut self, process: impl Fn(usize, usize) -> f64) {
        let (Some(orders), Some(pool)) = (&mut self.orders, &mut self.pool) else { return };
        let n = pool.len();
        let mut set = EntrySet::new(OracleShape::symmetric(n));
        let mut sums = vec![0.0; n];
        for i in 0..n {
            for slot in pool.upper(i) {
                let j = pool.other(slot);
                let Some(observed) = orders.observed.get(&(i, j)) else { continue };
                let estimate = self.estimates[pool.number(slot)] + process(i, j);
                self.estimates[pool.number(slot)] = estimate;
                set.add_entry(i, j);
                let left = orders.coin.sign(i, j) * (observed - pool.estimated(estimate));
                sums[i] += left;
                sums[j] -= left;
            }
        }
        orders.effects = item_effects(n, &set, &sums);
        for i in 0..n {
            let corrected = |j: usize, _: f64| Some(orders.corrected((i, j), *orders.observed.get(&(i, j))?));
            pool.rewrite(i, corrected);
        }
    }

    /// The pairs to be asked for in their other order: those that stand highest of the pairs known in one, as many as there are calls left.
    pub(super) fn finalists(&mut self) -> Result<Vec<Pair>, NeighborError> {
        if self.orders.is_none() {
            return Ok(Vec::new());
        }
        self.estimate(true)?;
        let pool = self.pool.as_ref().expect("estimated");
        let left = at_most(self.call_plan.calls.saturating_sub(self.calls()));
        let pairs =
            self.highest_of(left, |i, slot| self.value(pool, i, slot), |i, slot| self.is_observed(pool, i, slot));
        if let Some(orders) = &mut self.orders {
            orders.second_orders += pairs.len() as u64;
        }
        Ok(pairs)
    }
}
