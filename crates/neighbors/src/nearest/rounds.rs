//! Settings of a search, and its planned calls.

use serde::{Deserialize, Serialize};

use landmark_core::oracle::{Coin, OracleShape};
use landmark_core::parameter::BadParameter;

use super::pool::OFTEN;
use crate::universe::Universe;

/// Candidates an item, at least, so that estimates have something to choose from at a few calls: of up to [`OFTEN`] items, and of more, where
/// candidates take most of the memory. On trees at 5 calls 128 in place of 64 lower the standard deviation of recall@10 from 0.029 to 0.017 (ten draws).
const FEWEST_CANDIDATES: (usize, usize) = (128, 64);

/// Calls an item up to which the single nearest item is found best by reranking the proxy's.
const PLAIN_CALLS: usize = 5;

/// Share of the calls that ask for one order of a pair, where only the best pairs are asked for in both.
const EXPLORING: f64 = 0.75;

/// Rows of the columns that are evaluated first, to see whether the others are worth their calls: a twelfth of all, within these.
const TRIAL_ROWS: (usize, usize) = (48, 256);

/// Raw settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoundsParams {
    /// Neighbors of each item.
    pub k: usize,
    /// Calls an item; n times as many in all, and no more than there are pairs.
    pub calls_per_item: usize,
    /// Rounds after the columns and the first pairs.
    pub rounds: usize,
    /// Part of each round that goes to the proxy's best pairs.
    pub share: f64,
    /// Calls an item that the proxy's best pairs get before the first round.
    pub first: usize,
    /// Columns; by default a fifth of the calls an item, at least 2, none where plain reranking is better. Where there is a proxy, a twelfth of
    /// the rows of the default ones is evaluated first, and the rest of them only if items differ in hubness beyond what the proxies predict.
    pub columns: Option<usize>,
    /// Candidates an item, as a multiple of the calls an item.
    pub candidates: usize,
    /// Rows are kriged. Off for who wants to see what it does.
    pub kriging: bool,
    /// The link knows how popular an item is. Off for who wants to see what it does.
    #[serde(rename = "popularity")]
    pub hubness: bool,
    /// The link and kriging may see ranks of the scores. Off for who wants to see what it does.
    pub rank_transform: bool,
    /// A Gaussian process over pairs adds what it learns from the pairs of similar items, of up to 300,000 items. Off for who wants to see what it does.
    pub pairwise: bool,
    /// Each round compares ways to learn (with the process, without it, of scores, of ranks) by the neighbors that a sample of their pairs finds, and the
    /// best gets the rest. Off for who wants to see what it does: the process then goes by its weights alone.
    pub looks: bool,
    /// Pairs stand in one list of all pairs, not in a list of each item: for a search of the most similar pairs of all.
    pub pairs: bool,
    /// Each round asks for this part of what was asked before, and `rounds` is not read: for who stops by a rule of his own.
    pub growth: Option<f64>,
    /// Seed of the coin that draws one order of each pair of an asymmetric score: three quarters of the calls ask for one order of as many
    /// pairs, the others for the other order of the best of them. Without it every pair is asked for in both orders. Nothing to a score of one call
    /// per pair.
    pub one_order: Option<u64>,
    /// Items of the first of two lists, which come first: only pairs across the lists exist, and calls per item are those of the first list.
    pub left: Option<usize>,
    /// Calls in all, in place of those per item.
    pub calls: Option<u64>,
}

impl Default for RoundsParams {
    fn default() -> Self {
        Self {
            k: 10,
            calls_per_item: 20,
            rounds: 4,
            share: 0.2,
            first: 1,
            columns: None,
            candidates: 4,
            kriging: true,
            hubness: true,
            rank_transform: true,
            pairwise: true,
            looks: true,
            pairs: false,
            growth: None,
            one_order: None,
            left: None,
            calls: None,
        }
    }
}

impl RoundsParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first parameter outside its range.
    pub fn check(self) -> Result<Rounds, BadParameter> {
        let positive = [("k", self.k), ("calls_per_item", self.calls_per_item), ("rounds", self.rounds)];
        if let Some((name, value)) = positive.into_iter().find(|&(_, value)| value == 0) {
            return Err(BadParameter::new(name, value, "at least 1"));
        }
        if !(0.0..=1.0).contains(&self.share) {
            return Err(BadParameter::new("share", self.share, "between 0 and 1"));
        }
        if self.candidates < 2 {
            return Err(BadParameter::new("candidates", self.candidates, "at least 2"));
        }
        // less would be millions of rounds of a pair each, and every round estimates all candidates again
        if self.rounds > 1000 {
            return Err(BadParameter::new("rounds", self.rounds, "at most 1,000"));
        }
        if let Some(growth) = self.growth.filter(|growth| !(growth.is_finite() && *growth >= 0.01)) {
            return Err(BadParameter::new("growth", growth, "a finite number of at least 0.01"));
        }
        if self.columns == Some(1) {
            return Err(BadParameter::new("columns", 1, "0 or at least 2: one cannot separate hubness from the score"));
        }
        Ok(Rounds(self))
    }
}

/// Checked settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounds(RoundsParams);

/// Pairs that a search evaluates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallPlan {
    /// Pairs in all.
    pub pairs: u64,
    /// Calls of the similarity function: pairs, twice where both orders of a pair are called.
    pub calls: u64,
    pub columns: usize,
    pub column_pairs: u64,
    /// Those of them that decide whether the others are evaluated: if not, as many pairs more are chosen in rounds, at the same calls.
    pub trial: u64,
    /// Pairs that the proxy alone chooses before the first round.
    pub first: u64,
    pub rounds: Vec<u64>,
    /// Pairs, of those that were asked for in one order, that are asked for in the other order at the end.
    pub second_orders: u64,
    /// True where there are too few calls for columns: all of them go to the proxy's best pairs, and a list has those first that were
    /// evaluated.
    pub is_plain: bool,
}

impl Rounds {
    /// The settings.
    pub fn params(&self) -> &RoundsParams {
        &self.0
    }

    /// Asks for one order of a pair first, by the coin of this seed unless another was named.
    pub fn in_one_order(&mut self, seed: u64) {
        self.0.one_order.get_or_insert(seed);
    }

    /// Calls of a search, exactly. Pure: no oracle is asked.
    pub fn call_plan(&self, shape: OracleShape, has_proxy: bool) -> CallPlan {
        let n = self.listed(shape.len);
        let (pairs, second_orders) = self.affordable(shape, self.universe(shape.len).len());
        let columns = self.columns(shape.len, pairs, has_proxy);
        let column_pairs = self.column_pairs(shape.len, columns);
        let trial = if has_proxy { (columns * self.trial_rows(shape.len, columns)) as u64 } else { 0 };
        let is_plain = has_proxy && columns == 0 && self.0.columns.is_none();
        let first = match (has_proxy, is_plain) {
            (true, true) => pairs,
            (true, false) => (pairs - column_pairs).min(n.saturating_mul(self.0.first as u64)),
            (false, _) => 0,
        };
        let rounds = self.rounds(pairs, pairs - column_pairs - first);
        let calls = pairs * self.price(shape) + second_orders;
        CallPlan { pairs, calls, columns, column_pairs, trial, first, rounds, second_orders, is_plain }
    }

    /// Pairs of n items that exist.
    pub(super) fn universe(&self, n: usize) -> Universe {
        Universe { items: n, left: self.0.left.map(|left| left.min(n)) }
    }

    /// Items of n that get a list.
    pub(super) fn listed(&self, n: usize) -> u64 {
        self.0.left.map_or(n, |left| left.min(n)) as u64
    }

    /// The seed of the coin, where a score has two orders and one of them is asked for first.
    pub(super) fn coin(&self, shape: OracleShape) -> Option<Coin> {
        self.0.one_order.filter(|_| shape.evaluations_per_pair == 2).map(Coin::new)
    }

    /// Calls of a pair when it is first asked for.
    pub(super) fn price(&self, shape: OracleShape) -> u64 {
        if self.coin(shape).is_some() { 1 } else { shape.evaluations_per_pair }
    }

    /// Of `all` pairs those that the calls are enough for, and how many of them get their other order.
    fn affordable(&self, shape: OracleShape, all: u64) -> (u64, u64) {
        let of_items = self.listed(shape.len).saturating_mul(self.0.calls_per_item as u64);
        let calls = self.0.calls.unwrap_or(of_items);
        if self.coin(shape).is_none() {
            return ((calls / shape.evaluations_per_pair.max(1)).min(all), 0);
        }
        // a part of a count that fits in an f64
        let pairs = ((EXPLORING * calls as f64).ceil() as u64).min(all);
        (pairs, (calls - pairs).min(pairs))
    }

    /// The planned calls of a search that starts from a number of known pairs ([`Search::knowing`](super::Search::knowing)): new calls alone. No columns are
    /// evaluated; `has_proxy` also with a seed.
    pub fn call_plan_beyond(&self, shape: OracleShape, has_proxy: bool, known: u64) -> CallPlan {
        let n = self.listed(shape.len);
        let left = self.universe(shape.len).len().saturating_sub(known);
        let (pairs, second_orders) = self.affordable(shape, left);
        let first = if has_proxy { pairs.min(n.saturating_mul(self.0.first as u64)) } else { 0 };
        CallPlan {
            pairs,
            calls: pairs * self.price(shape) + second_orders,
            columns: 0,
            column_pairs: 0,
            trial: 0,
            first,
            rounds: self.rounds(pairs, pairs - first),
            second_orders,
            is_plain: false,
        }
    }

    /// The planned calls with a limit on the pairs; the columns stay, and the search ends within them if they are more.
    pub(super) fn limited(&self, call_plan: &CallPlan, most: u64) -> CallPlan {
        let pairs = call_plan.pairs.min(most);
        let left = pairs.saturating_sub(call_plan.column_pairs);
        let first = left.min(call_plan.first);
        let price = call_plan.calls.checked_div(call_plan.pairs).unwrap_or(1);
        CallPlan { pairs, calls: pairs * price, first, rounds: self.rounds(pairs, left - first), ..call_plan.clone() }
    }

    /// The planned calls where only the trial of the columns is evaluated.
    pub(super) fn without_columns(&self, call_plan: &CallPlan) -> CallPlan {
        let left = call_plan.pairs - call_plan.trial;
        let first = left.min(call_plan.first);
        CallPlan {
            columns: 0,
            column_pairs: call_plan.trial,
            first,
            rounds: self.rounds(call_plan.pairs, left - first),
            ..call_plan.clone()
        }
    }

    /// Rows of the columns that are looked at first; none where the columns were asked for, or hubness was not.
    pub(super) fn trial_rows(&self, n: usize, columns: usize) -> usize {
        if columns == 0 || self.0.columns.is_some() || !self.0.hubness || self.0.left.is_some() {
            return 0;
        }
        let rows = (n / 12).clamp(TRIAL_ROWS.0, TRIAL_ROWS.1);
        // where they are most of a column there is nothing to be saved
        if 2 * rows + columns > n { 0 } else { rows }
    }

    /// Pairs of each round, with `left` of all `pairs` left.
    fn rounds(&self, pairs: u64, mut left: u64) -> Vec<u64> {
        let mut rounds = Vec::new();
        while left > 0 {
            let next = self.round(rounds.len(), pairs - left, left);
            rounds.push(next);
            left -= next;
        }
        rounds
    }

    /// Pairs of the next round, after `before` rounds and `asked` pairs, with `left` pairs left.
    fn round(&self, before: usize, asked: u64, left: u64) -> u64 {
        match self.0.growth {
            // a count far below 2^52; at least one
            Some(growth) => ((growth * asked as f64).ceil() as u64).clamp(1, left),
            None => (left / (self.0.rounds.saturating_sub(before)).max(1) as u64).max(1),
        }
    }

    /// Columns at a budget of `pairs` pairs; they never take more than half of these where there is a proxy.
    fn columns(&self, n: usize, pairs: u64, has_proxy: bool) -> usize {
        let most = self.0.left.map_or(n, |left| 2 * left.min(n.saturating_sub(left)));
        let counts = || (2..=most).step_by(if self.0.left.is_some() { 2 } else { 1 });
        let fits = |s: &usize, most: u64| self.column_pairs(n, *s) <= most;
        let affordable = |share: u64| counts().take_while(|s| fits(s, pairs / share)).last().unwrap_or(0);
        if let Some(columns) = self.0.columns {
            let columns = columns.min(affordable(1));
            // as many of either of two lists
            return if self.0.left.is_some() { columns - columns % 2 } else { columns };
        }
        if has_proxy && self.0.k == 1 && self.0.calls_per_item <= PLAIN_CALLS {
            return 0;
        }
        // half up, as the research has it; a count of calls
        let wanted = match self.0.left {
            // as many of either list, which together are scored with all items
            Some(_) => 2 * ((0.2 * pairs as f64 / n.max(1) as f64).round() as usize).max(1),
            None => ((0.2 * pairs as f64 / n.max(1) as f64).round() as usize).max(2),
        };
        wanted.min(affordable(if has_proxy { 2 } else { 1 }))
    }

    /// Pairs of s full columns of n items, the diagonal left out: sn − s(s+1)/2. Of two lists s/2 items of each have columns: sn/2 − s²/4.
    fn column_pairs(&self, n: usize, s: usize) -> u64 {
        let (n, s) = (n as u64, s as u64);
        if self.0.left.is_some() { s / 2 * n - (s / 2).pow(2) } else { s * n - s * (s + 1) / 2 }
    }

    /// The items of columns: the first of an order, of two lists the first of each.
    pub(super) fn column_items(&self, order: &[usize], columns: usize) -> Vec<usize> {
        let Some(left) = self.0.left else { return order[..columns].to_vec() };
        let of = |is_first: bool| order.iter().copied().filter(move |&i| (i < left) == is_first).take(columns / 2);
        of(true).chain(of(false)).collect()
    }

    /// Candidates that every item keeps, of n items.
    pub fn width(&self, n: usize) -> usize {
        let wanted = self.0.candidates.saturating_mul(self.0.calls_per_item);
        let fewest = if n > OFTEN { FEWEST_CANDIDATES.1 } else { FEWEST_CANDIDATES.0 };
        wanted.max(2 * self.0.k).max(fewest).min(n.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_128_an_item_of_up_to_20_000_items_and_64_of_more_unless_calls_or_neighbors_want_more() {
        let width = |k: usize, calls_per_item: usize, n: usize| {
            RoundsParams { k, calls_per_item, ..RoundsParams::default() }.check().unwrap().width(n)
        };
        let asked = RoundsParams::default().candidates;
        assert_eq!((width(1, 1, 20_000), width(1, 1, 20_001)), (128, 64));
        assert_eq!((width(100, 1, 20_000), width(100, 1, 20_001)), (200, 200));
        assert_eq!((width(1, 50, 20_000), width(1, 50, 20_001)), ((50 * asked).max(128), (50 * asked).max(64)));
        // no item is a candidate of itself
        assert_eq!((width(1, 1, 129), width(1, 1, 128), width(1, 1, 2)), (128, 127, 1));
    }
}
