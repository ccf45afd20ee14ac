//! The metered store: where entries are really evaluated, counted, limited and kept.
//!
//! ```text
//! approximator → Metered (cells) → exp(−γd) → Stored → Metered (budget, evaluations) → raw oracle
//!                one per cell of the sweep              └──────────── the metered store ────────────┘
//! ```
//!
//! γ is applied above the store, so a search over γ makes no call. Equal items of a user's own data are one item above the store: pairs of copies are
//! asked for once, as pairs of the first of them, and what is kept is numbered as without that.
//!
//! A score that has two orders is kept in both, and its calls are metered below: their mean, their maximum and one of them share the calls that were made.
//! ```text
//! mean of both ← Stored → both orders → Stored → Metered (budget, evaluations) → the score as given
//! ```
//! Where a method is fitted to one order a pair, each order is a metered store of its own; what is wanted is their mean:
//! ```text
//! mean of both ← Stored → one order by the coin    → Stored → Metered (budget, evaluations) → the score as given
//!              ← Stored → the other (coin turned)  ↗
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use landmark_core::contents::Contents;
use landmark_core::entries::EntrySet;
use landmark_core::oracle::{
    Budget, Coin, MeanOfOrders, Metered, OneOrder, Oracle, OracleError, OracleShape, Pair, Spent, Symmetry,
    among_distinct,
};
use landmark_http::PriceEstimate;
use landmark_store::{ItemList, OracleLabel, StoreError, Stored, TileStore};

use crate::config::MatrixSubject;
use crate::interrupt::flush_before_the_end;
use crate::oracles::Orders;
use crate::oracles::scorer::Scorer;
use crate::problem::{Problem, SplitOrders, similarity};
use crate::progress::Count;

mod as_given;
pub(crate) mod checked;
mod timing;

use as_given::AsGiven;
pub use as_given::{FailedPairs, Meter, OneOrderScores};
use checked::CheckedOnCall;
pub use timing::Timed;
pub(crate) use timing::scattered_pairs;

/// Evaluates raw scores, each at most once.
pub struct MeteredStore {
    /// Meter of what the store lacks: of the calls, too, unless both orders of a pair are kept below.
    meter: Meter,
    stored: Option<Arc<Stored<Meter>>>,
    store: Option<TileStore>,
    budget: Budget,
    others: Mutex<Vec<Arc<MeteredStore>>>,
    /// Scores of pairs as they were asked for, below the mean of both orders.
    as_given: Option<AsGiven>,
    /// True where the mean of both orders is wanted.
    is_mean: bool,
    /// The other order of every pair, where this one holds one.
    other_order: Option<Arc<MeteredStore>>,
    /// True of another order whose calls the first one's meter counts.
    is_counted_elsewhere: bool,
    /// The program or endpoint that scores, where there is one.
    scorer: Option<Scorer>,
    /// The score as given apart from its items, and these, where lists of them share what is kept.
    item_list: Option<ItemList>,
    /// Contents of the items, if some are equal.
    contents: Option<Arc<Contents>>,
    cost: Option<f64>,
    can_score: bool,
}

impl MeteredStore {
    /// Stacks budget and store on the raw oracle of a matrix; one that is already there needs no store.
    pub fn open(problem: &Problem, matrix: &MatrixSubject, store: &str, seed: u64) -> Result<Self, StoreError> {
        let budget = Budget { entries: matrix.budget.limit(), seconds: matrix.budget.seconds };
        let store = if problem.is_priced { Some(TileStore::open(store)?.with_sync(matrix.sync)) } else { None };
        let can_score = problem.sentences().is_none_or(|sentences| sentences.is_trained);
        let label = |what: &str| OracleLabel::new(matrix.oracle.kind(), format!("{}{what}", problem.description));
        // both orders of a pair are kept as they are, so that their mean and their maximum share the calls that were made
        let orders = match problem.sentences() {
            Some(sentences) => sentences.order.symmetrization().map(|orders| (&sentences.as_given, orders)),
            None if problem.orders.is_none() => {
                let orders = matrix.oracle.orders().filter(|orders| orders.of_both().is_some());
                orders
                    .filter(|_| problem.as_given.symmetry() == Symmetry::Asymmetric)
                    .map(|orders| (&problem.as_given, orders))
            }
            None => None,
        };
        let metered = match orders.zip(store.as_ref()) {
            Some(((as_given, orders), kept)) => {
                Self::over_kept_orders((as_given, orders, seed), problem.orders.as_ref(), kept, budget, &label)?
            }
            None => Self::over_raw(problem, store, budget, &label)?,
        };
        let (scorer, item_list) = (problem.scorer().cloned(), problem.item_list.clone());
        let contents = problem.contents.clone().filter(|contents| contents.has_copies());
        let cost = matrix.budget.cost_per_entry;
        let mut metered = Self { can_score, scorer, item_list, cost, ..metered };
        // nobody else has it yet
        if let Some(other) = metered.other_order.as_mut().and_then(Arc::get_mut) {
            other.contents.clone_from(&contents);
        }
        Ok(Self { contents, ..metered })
    }

    /// The raw oracle itself, or its two orders apart, of which neither is kept as it was asked for.
    fn over_raw(
        problem: &Problem,
        store: Option<TileStore>,
        budget: Budget,
        label: &dyn Fn(&str) -> OracleLabel,
    ) -> Result<Self, StoreError> {
        let Some(split) = &problem.orders else { return Self::of(Arc::clone(&problem.raw), label(""), store, budget) };
        let [one, other] = split.over(&split.as_given);
        let one = Self::of(one, label(""), store, budget)?;
        let meter = Arc::new(Metered::sharing(other, &one.meter));
        let other = Self::over(meter, label(", the other order"), one.store.clone(), budget)?;
        Ok(Self { other_order: Some(Arc::new(other)), ..one })
    }

    /// What is made of the two orders of a score, which are kept as they were asked for and metered there.
    fn over_kept_orders(
        (score, orders, seed): (&Arc<dyn Oracle>, Orders, u64),
        split: Option<&SplitOrders>,
        store: &TileStore,
        budget: Budget,
        label: &dyn Fn(&str) -> OracleLabel,
    ) -> Result<Self, StoreError> {
        let meter = Arc::new(Metered::with_budget(Arc::clone(score), budget));
        let stored = Arc::new(store.attach(Arc::clone(&meter), label(", as given"))?);
        flush_before_the_end(&stored);
        let given: Arc<dyn Oracle> = Arc::clone(&stored) as _;
        let above = |oracle, what: &str, coin| -> Result<Self, StoreError> {
            let as_given = AsGiven { stored: Arc::clone(&stored), meter: Arc::clone(&meter), coin };
            let metered = Self::of(oracle, label(what), Some(store.clone()), Budget::default())?;
            Ok(Self { as_given: Some(as_given), budget, ..metered })
        };
        let Some(split) = split else {
            let coin = (orders == Orders::Random).then(|| Coin::new(seed));
            let is_mean = orders == Orders::Mean;
            return Ok(Self { is_mean, ..above(orders.over(&given, seed), "", coin)? });
        };
        let [one, other] = split.over(&given);
        let other = above(other, ", the other order", Some(split.coin.turned()))?;
        let other = Self { is_counted_elsewhere: true, ..other };
        Ok(Self { other_order: Some(Arc::new(other)), ..above(one, "", Some(split.coin))? })
    }

    pub fn of(
        raw: Arc<dyn Oracle>,
        label: OracleLabel,
        store: Option<TileStore>,
        budget: Budget,
    ) -> Result<Self, StoreError> {
        Self::over(Arc::new(Metered::with_budget(raw, budget)), label, store, budget)
    }

    fn over(meter: Meter, label: OracleLabel, store: Option<TileStore>, budget: Budget) -> Result<Self, StoreError> {
        let stored = match &store {
            Some(store) => Some(Arc::new(store.attach(Arc::clone(&meter), label)?)),
            None => None,
        };
        if let Some(stored) = &stored {
            flush_before_the_end(stored);
        }
        let others = Mutex::default();
        Ok(Self {
            meter,
            stored,
            store,
            budget,
            others,
            as_given: None,
            is_mean: false,
            other_order: None,
            is_counted_elsewhere: false,
            scorer: None,
            item_list: None,
            contents: None,
            cost: None,
            can_score: true,
        })
    }

    /// The store at an address on an oracle of this kind and description, without a limit.
    pub fn at(address: &str, raw: Arc<dyn Oracle>, kind: &str, description: String) -> Result<Self, StoreError> {
        Self::of(raw, OracleLabel::new(kind, description), Some(TileStore::open(address)?), Budget::default())
    }

    /// A metered store for another oracle, which a method reads besides the matrix: it keeps its scores in the same store, and may spend what
    /// is left of the budget now.
    pub fn another(&self, raw: Arc<dyn Oracle>, label: OracleLabel) -> Result<Arc<Self>, StoreError> {
        let spent = self.spent().evaluations + self.spent_by_others();
        let entries = self.budget.entries.map(|entries| entries.saturating_sub(spent));
        let metered = Arc::new(Self::of(raw, label, self.store.clone(), Budget { entries, ..self.budget })?);
        self.others.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&metered));
        Ok(metered)
    }

    /// Takes over what the store holds of the same program, endpoint or model on other lists of items and lacks of this one; answers how many scores.
    /// `keep` writes them, and the list, for others.
    pub fn carry_over(&self, orders: Option<Orders>, keep: bool) -> Result<u64, StoreError> {
        let Some(list) = &self.item_list else { return Ok(0) };
        // earlier versions kept both orders of a program's pairs as one score alone
        let below = self.as_given.as_ref().map_or(Ok(0), |below| below.stored.carry_over(list, keep))?;
        let (Some(stored), None) = (&self.stored, &self.other_order) else { return Ok(below) };
        let carried = match orders.map(Orders::of_both) {
            None if self.as_given.is_some() => 0,
            None => stored.carry_over(list, keep)?,
            Some(Some(mode)) => stored.carry_over(&list.symmetrized(mode), keep)?,
            // one order a pair is drawn by the numbers of its items
            Some(None) => 0,
        };
        Ok(below.max(carried))
    }

    pub fn spent_by_others(&self) -> u64 {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.iter().map(|metered| metered.spent().evaluations).sum()
    }

    /// Entries that the store held before any call was made through this.
    pub fn found(&self) -> u64 {
        self.stored.as_ref().map_or(0, |stored| stored.entries().saturating_sub(stored.evaluated()))
    }

    /// The store's side of it, where entries are kept.
    pub fn stored(&self) -> Option<&Stored<impl Oracle + use<>>> {
        self.stored.as_deref()
    }

    /// The empty set of entries, which counts those of equal items once.
    pub fn entries(&self) -> EntrySet {
        EntrySet::among(self.shape(), self.contents.as_ref())
    }

    /// Contents of the items, if some are equal.
    pub fn contents(&self) -> Option<&Arc<Contents>> {
        self.contents.as_ref()
    }

    /// Equal items as one.
    fn distinct(&self, scores: Arc<dyn Oracle>) -> Arc<dyn Oracle> {
        if self.contents.is_some() { among_distinct(scores, self.contents.as_ref()) } else { scores }
    }

    /// Raw scores, evaluated when they are not there.
    pub fn scores(&self) -> Arc<dyn Oracle> {
        self.distinct(self.of_all_items())
    }

    /// The same of every item, those of copies included.
    fn of_all_items(&self) -> Arc<dyn Oracle> {
        match &self.stored {
            Some(stored) => Arc::clone(stored) as Arc<dyn Oracle>,
            None => Arc::clone(&self.meter) as Arc<dyn Oracle>,
        }
    }

    /// Scores of pairs as they are asked for, before both orders became one; [`scores`](Self::scores) where there is one alone.
    pub fn as_given(&self) -> Arc<dyn Oracle> {
        match &self.as_given {
            Some(as_given) => Arc::clone(&as_given.stored) as Arc<dyn Oracle>,
            None => self.of_all_items(),
        }
    }

    /// Similarities of one order of each pair, for a search that asks for the other order of the best alone; `None` where the orders are not kept
    /// apart, or where their mean is not what is wanted. Checked as [`checked_similarities`](Self::checked_similarities) are.
    pub fn one_order(
        &self,
        gamma: Option<f64>,
        coin: Coin,
        checks: usize,
    ) -> Result<Option<OneOrderScores>, OracleError> {
        let (Some(below), true) = (self.as_given.as_ref().filter(|below| below.coin.is_none()), self.is_mean) else {
            return Ok(None);
        };
        let given: Arc<dyn Oracle> = match self.scorer.clone().filter(|_| checks > 0) {
            Some(scorer) => {
                let stored = (Arc::clone(&below.stored), Arc::clone(&below.stored));
                Arc::new(CheckedOnCall::new(Arc::clone(&below.stored) as _, stored, scorer, checks))
            }
            None => Arc::clone(&below.stored) as _,
        };
        let scores = similarity(self.distinct(Arc::new(OneOrder::new(given, coin))), gamma)?;
        let (below, wanted, contents) = (Arc::clone(&below.stored), self.stored.clone(), self.contents.clone());
        Ok(Some(OneOrderScores { scores, coin, below, wanted, contents }))
    }

    /// The other order of every pair, where [`scores`](Self::scores) are those of one.
    pub fn other_order(&self) -> Option<&Self> {
        self.other_order.as_deref()
    }

    /// The scores that are wanted: the mean of both orders where they are kept apart, and [`scores`](Self::scores) otherwise.
    pub fn wanted(&self) -> Arc<dyn Oracle> {
        match self.other_order() {
            Some(other) => Arc::new(MeanOfOrders::new(self.scores(), other.scores())),
            None => self.scores(),
        }
    }

    /// Similarities exp(−γ·score), or the scores themselves.
    pub fn similarities(&self, gamma: Option<f64>) -> Result<Arc<dyn Oracle>, OracleError> {
        similarity(self.scores(), gamma)
    }

    /// As [`similarities`](Self::similarities), of a program or an endpoint that is checked by `checks` pairs when the first score is
    /// to be evaluated.
    pub fn checked_similarities(&self, gamma: Option<f64>, checks: usize) -> Result<Arc<dyn Oracle>, OracleError> {
        match self.checked(checks) {
            Some(checked) => similarity(self.distinct(Arc::new(checked)), gamma),
            None => self.similarities(gamma),
        }
    }

    /// Scores that are checked so; `None` where no program or endpoint gives them, or nothing is to be checked.
    pub(crate) fn checked(&self, checks: usize) -> Option<CheckedOnCall> {
        let scorer = self.scorer.clone().filter(|_| checks > 0)?;
        let (Some(wanted), None) = (&self.stored, &self.other_order) else { return None };
        let as_given = self.as_given.as_ref().map_or(wanted, |below| &below.stored);
        let stored = (Arc::clone(wanted), Arc::clone(as_given));
        Some(CheckedOnCall::new(self.of_all_items(), stored, scorer, checks))
    }

    /// True where scores can be had now: of a model that is still to be fine-tuned they cannot.
    pub fn can_score(&self) -> bool {
        self.can_score
    }

    /// True where an entry costs enough to be worth keeping: a matrix that is already there does not.
    pub fn is_priced(&self) -> bool {
        self.stored.is_some()
    }

    /// Size, symmetry and price.
    pub fn shape(&self) -> OracleShape {
        OracleShape::of(&self.meter)
    }

    /// Evaluations of a set that are not in the store yet.
    pub fn missing(&self, entries: &EntrySet) -> u64 {
        match (&self.stored, &self.as_given) {
            (Some(stored), Some(below)) => stored.missing_at(entries, |i, j| below.calls(i, j)),
            (Some(stored), None) => stored.missing(entries),
            (None, _) => entries.evaluations(),
        }
    }

    /// `scores[a]` = the raw score of (rows[a], j) where the store has it, NaN where it has not; nothing is evaluated. Answers false where no
    /// store holds the wanted scores themselves: of a matrix that is given, and of one order of each pair.
    pub fn stored_column(&self, rows: &[usize], j: usize, scores: &mut [f64]) -> bool {
        let (Some(stored), None) = (&self.stored, &self.other_order) else { return false };
        let Some(contents) = &self.contents else {
            stored.known_column(rows, j, scores);
            return true;
        };
        let (firsts, j) = (rows.iter().map(|&i| contents.first(i)).collect::<Vec<_>>(), contents.first(j));
        stored.known_column(&firsts, j, scores);
        let own = firsts.iter().zip(scores).filter(|(first, score)| **first == j && score.is_nan());
        own.for_each(|(_, score)| *score = self.meter.known_diagonal().unwrap_or(f64::NAN));
        true
    }

    /// Pairs of two items whose wanted score the store holds; none where no store holds these, as of a matrix that is given. Of a group of equal
    /// items each item comes with `most_equal` of them, and of another group, or there would be as many pairs as the square of the group.
    pub fn stored_pairs(&self, most_equal: usize) -> Vec<Pair> {
        let (Some(stored), None) = (&self.stored, &self.other_order) else { return Vec::new() };
        let mut pairs = stored.pairs();
        let Some(contents) = &self.contents else {
            pairs.retain(|(i, j)| i != j);
            return pairs;
        };
        let mut equal = vec![Vec::new(); contents.len()];
        (0..contents.len()).for_each(|item| equal[contents.first(item)].push(item));
        if self.meter.known_diagonal().is_some() {
            pairs.extend((0..contents.len()).filter(|&item| equal[item].len() > 1).map(|item| (item, item)));
        }
        let of = |(i, j): Pair| {
            let pairs = equal[i].iter().enumerate().flat_map(|(place, &one)| {
                let others = if place < most_equal { equal[j].len() } else { most_equal };
                equal[j].iter().take(others).map(move |&other| (one, other))
            });
            // of two equal items once
            pairs.filter(|&(one, other)| i != j || one > other).collect::<Vec<_>>()
        };
        pairs.into_iter().flat_map(of).collect()
    }

    /// Price of this number of calls by what those so far have cost, where the scorer has one.
    pub fn price_of(&self, calls: u64) -> Option<PriceEstimate> {
        self.scorer.as_ref()?.price_of(calls)
    }

    /// Money paid so far, where the scorer has a price.
    pub fn paid(&self) -> Option<f64> {
        self.scorer.as_ref()?.paid()
    }

    /// Pairs that are known to fail: of those in the store where it keeps them apart, of this run otherwise.
    pub fn failed_pairs(&self) -> FailedPairs {
        let met = self.scorer.as_ref().map_or(0, Scorer::failed);
        match self.stored.as_ref().filter(|stored| stored.keeps_failures_apart()) {
            Some(stored) => {
                let other = self.other_order.as_ref().and_then(|other| other.stored.as_ref());
                let count = stored.failed_pairs() + other.map_or(0, |other| other.failed_pairs());
                FailedPairs { count: count as u64, is_all: true }
            }
            None => FailedPairs { count: met, is_all: false },
        }
    }

    /// Publishes what waits to be written to the store.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.as_given.as_ref().map_or(Ok(()), |below| below.stored.flush())?;
        self.stored.as_ref().map_or(Ok(()), |stored| stored.flush())?;
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        others.iter().try_for_each(|metered| metered.flush())
    }

    fn calls(&self) -> &Meter {
        self.as_given.as_ref().map_or(&self.meter, |below| &below.meter)
    }

    /// True where [`spent`](Self::spent) is that of another one: of the other order of pairs whose scores are kept as they were asked for.
    pub fn is_counted_elsewhere(&self) -> bool {
        self.is_counted_elsewhere
    }

    /// Count of the calls that this process has made so far.
    pub fn spent(&self) -> Spent {
        self.calls().spent()
    }

    /// A reader of the evaluations made so far, for the progress line.
    pub fn counter(&self) -> impl Fn() -> Count + Send + 'static {
        let (meter, scorer, cost) = (Arc::clone(self.calls()), self.scorer.clone(), self.cost);
        move || {
            let done = meter.spent().evaluations;
            let paid = scorer.as_ref().and_then(Scorer::paid).or_else(|| Some(cost? * done as f64));
            Count { done, paid }
        }
    }
}

#[cfg(test)]
mod tests {
    use landmark_core::oracle::{AsymmetryPolicy, Precomputed, Symmetrization, Symmetrized};
    use ndarray::Array2;

    use super::*;

    #[test]
    fn the_mean_of_a_pair_that_an_earlier_version_kept_takes_no_call_in_either_order() {
        let given = Array2::from_shape_fn((6, 6), |(i, j)| (10 * i + j) as f64);
        let given: Arc<dyn Oracle> = Arc::new(Precomputed::new(given, AsymmetryPolicy::Keep).unwrap());
        let mean: Arc<dyn Oracle> = Arc::new(Symmetrized::new(Arc::clone(&given), Symmetrization::Mean));
        let (store, label) = (TileStore::open("memory://").unwrap(), |what: &str| OracleLabel::new("test", what));
        let earlier = MeteredStore::of(mean, label(""), Some(store.clone()), Budget::default()).unwrap();
        let ask = |scores: &dyn Oracle, pair| {
            let mut score = [0.0];
            scores.evaluate(&[pair], &mut score).map(|()| score[0]).unwrap()
        };
        assert_eq!(ask(earlier.scores().as_ref(), (4, 1)), 27.5);
        earlier.flush().unwrap();

        let (coin, orders) = (Coin::new(7), (&given, Orders::Mean, 7));
        let now = MeteredStore::over_kept_orders(orders, None, &store, Budget::default(), &label).unwrap();
        let one = now.one_order(None, coin, 0).unwrap().unwrap();
        assert!(one.is_kept_as_one((4, 1)) && one.is_kept_as_one((1, 4)) && !one.is_kept_as_one((2, 3)));
        assert_eq!((ask(now.scores().as_ref(), (4, 1)), now.spent().evaluations), (27.5, 0));
        let (i, j) = coin.order(2, 3);
        assert_eq!((ask(one.scores(), (2, 3)), now.spent().evaluations), ((10 * i + j) as f64, 1));
        assert_eq!((ask(now.scores().as_ref(), (2, 3)), now.spent().evaluations), (27.5, 2));
        assert!(!one.is_kept_as_one((2, 3)), "a search that was stopped asks for the same again");
        let largest = MeteredStore::over_kept_orders((&given, Orders::Max, 7), None, &store, Budget::default(), &label);
        assert!(largest.unwrap().one_order(None, coin, 0).unwrap().is_none());
    }
}
