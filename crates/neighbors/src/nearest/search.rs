//! The state of a search: hands out batches of pairs, takes their scores, and knows at every moment what it would answer.

use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

use super::columns::Columns;
use super::kriging::JUDGES;
use super::lists::Lists;
use super::pairwise::Pairwise;
use super::places::ranked;
use super::pool::{FAILED, OFTEN, Pool};
use super::rank_transform::RankTransform;
use super::rounds::{CallPlan, Rounds};
use super::{NeighborError, PROXY, require_symmetric, trial};
use crate::universe::Universe;
use arms::{Arm, Learnt};
use estimates::ColumnHubness;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, OracleShape, Pair};
use orders::OneOrder;

mod arms;
mod batch;
mod choice;
mod estimates;
mod given;
mod known;
mod orders;

pub use batch::{Batch, Found, Neighbor, RoundReport, Step};
pub use given::Candidates;
pub use known::Known;

/// The first pairs, as a multiple of those that are looked at by each proxy of a search with a seed, over all proxies.
const LOOKS: usize = 4;

/// A search in progress.
///
/// [`next_batch`](Self::next_batch), evaluate, [`record`](Self::record), until there is no further batch; then
/// [`finish`](Self::finish), which may also come earlier. Which pairs come next is a pure function of the settings, the landmarks
/// and the scores: a search that is begun again asks for the same pairs, so that with a store nothing is evaluated twice. Whoever has
/// scores that the search is not to see (audit columns) answers from them and does not call; [`record`](Self::record) also takes
/// pairs that were never asked for, when they are to be revealed.
#[derive(Clone)]
pub struct Search {
    rounds: Rounds,
    call_plan: CallPlan,
    /// Calls of a pair when it is first asked for.
    price: u64,
    proxies: Vec<Arc<dyn Oracle>>,
    /// Numbers of the proxies as they were handed over, the main one first.
    proxy_order: Vec<usize>,
    columns: Columns,
    /// Hubness in the scores of the columns, and in their ranks.
    hubness: [ColumnHubness; 2],
    /// True while the link and kriging see ranks.
    by_rank: bool,
    /// The transform to ranks that was last learnt from.
    ranks: RankTransform,
    judges: Vec<usize>,
    /// A uniform permutation of items.
    order: Arc<[usize]>,
    pairwise: Option<Pairwise>,
    /// True once all pairs were looked at by the process.
    is_scanned: bool,
    pool: Option<Pool>,
    /// Scores of pairs that are not in the pool yet.
    outside: Vec<(Pair, f64)>,
    /// E, pair by pair; of pairs with a score, the link.
    estimates: Vec<f64>,
    is_estimated: bool,
    /// Other estimates of the same pairs, until the looks at them have been judged: 8 bytes per candidate pair each.
    others: Vec<Learnt>,
    /// True if ranks are learnt from, false if scores; `None` before a round has shown which is better.
    learns_ranks: Option<bool>,
    next: Next,
    asked: u64,
    failed: u64,
    /// Pairs of which one order was asked for, where the other follows.
    orders: Option<OneOrder>,
    reports: Vec<RoundReport>,
    /// True where the main proxy, or the second, was fitted to the columns.
    is_seeded: bool,
    /// Pairs that each way of choosing would take, of the current round; none where there is one way.
    looks: Vec<(Arm, Vec<Pair>)>,
    /// Candidates that the caller brought; no lists where there are none.
    given: Lists,
    /// Pairs of these among the first.
    given_first: usize,
    /// True where an index has found the candidates, in the place of a pass over all pairs.
    has_index: bool,
    /// Its lists, until they are part of the pool.
    indexed: Lists,
    /// True where the number of items is so large that all pairs are looked at as seldom as can be, in single precision.
    pub(super) is_large: bool,
    /// Ways that were clearly behind in the round before.
    behind: Vec<Arm>,
    /// The way whose pairs were best in the last round.
    best_arm: Arm,
    /// True where no estimate stands before a known pair in a list.
    lists_known_first: bool,
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("rounds", &self.rounds)
            .field("proxies", &self.proxies.len())
            .field("next", &self.next)
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}

/// Batch that comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Trial,
    Columns,
    Given,
    First,
    /// A look at a proxy, of a search with a seed and other proxies.
    Look(usize),
    /// The other first pairs, by the proxy that the looks spoke for.
    AfterLooks,
    Proxy(usize),
    /// The round, and how many pairs of it are left.
    Estimate(usize, usize),
    SecondOrder,
    End,
}

impl Search {
    /// A search among `shape.len` items with `proxies`, ordered by how well they predict columns where there are some; columns are the first of the nested order of
    /// `landmarks`, and their independent order judges λ.
    ///
    /// # Errors
    /// An asymmetric shape, proxies over other items, fewer landmarks than columns.
    pub fn new(
        rounds: Rounds,
        shape: OracleShape,
        proxies: Vec<Arc<dyn Oracle>>,
        landmarks: &Landmarks,
    ) -> Result<Self, NeighborError> {
        require_symmetric(shape)?;
        let n = shape.len;
        if let Some((place, proxy)) = proxies.iter().enumerate().find(|(_, proxy)| proxy.len() != n) {
            return Err(NeighborError::ProxyItems { role: PROXY, number: place + 1, seen: proxy.len(), wanted: n });
        }
        let call_plan = rounds.call_plan(shape, !proxies.is_empty());
        let (wanted, given) = (call_plan.columns, landmarks.order().len());
        if given < wanted || landmarks.len() != n {
            return Err(NeighborError::TooFewLandmarks { wanted, given });
        }
        Ok(Self {
            columns: columns_of(&rounds, &call_plan, n, rounds.column_items(landmarks.order(), wanted)),
            hubness: [(); 2].map(|()| ColumnHubness::unknown(n)),
            by_rank: false,
            ranks: RankTransform::default(),
            judges: landmarks.independent().iter().copied().take(JUDGES).collect(),
            order: landmarks.independent().into(),
            pairwise: None,
            is_scanned: false,
            pool: None,
            outside: Vec::new(),
            estimates: Vec::new(),
            is_estimated: false,
            others: Vec::new(),
            learns_ranks: None,
            next: Next::Trial,
            asked: 0,
            failed: 0,
            orders: rounds.coin(shape).map(OneOrder::new),
            reports: Vec::new(),
            is_seeded: false,
            looks: Vec::new(),
            given: Lists::default(),
            given_first: 0,
            has_index: false,
            indexed: Lists::default(),
            is_large: n > OFTEN,
            behind: Vec::new(),
            best_arm: Arm::Seed,
            lists_known_first: call_plan.is_plain,
            price: rounds.price(shape),
            rounds,
            call_plan,
            proxy_order: (0..proxies.len()).collect(),
            proxies,
        })
    }

    /// The planned calls; those without columns once the trial has decided so.
    pub fn call_plan(&self) -> &CallPlan {
        &self.call_plan
    }

    /// Items whose columns are evaluated.
    pub fn columns(&self) -> &[usize] {
        self.columns.items()
    }

    /// Pairs that were handed out so far.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Calls that the pairs handed out so far take.
    pub fn calls(&self) -> u64 {
        self.asked * self.price + self.orders.as_ref().map_or(0, OneOrder::second_orders)
    }

    /// True where pairs of the current round are still to be handed out.
    pub(crate) fn is_within_round(&self) -> bool {
        matches!(self.next, Next::Estimate(_, left) if left > 0)
    }

    /// No more than `pairs` pairs in all, of a search that has not begun.
    pub(crate) fn limit(&mut self, pairs: u64) {
        self.call_plan = self.rounds.limited(&self.call_plan, pairs);
    }

    /// One more round of `pairs` pairs, of a search that has handed out all of its own; false if its last round found no pair to ask for.
    pub(crate) fn extend(&mut self, pairs: u64) -> bool {
        let is_spent = self.asked < self.call_plan.pairs;
        if !is_spent {
            self.call_plan.pairs += pairs;
            self.call_plan.rounds.push(pairs);
        }
        !is_spent
    }

    /// State of the estimates at the beginning of each round so far.
    pub fn reports(&self) -> &[RoundReport] {
        &self.reports
    }

    /// The pairs to be evaluated next; `None` at the end. What was handed out before is to be recorded first.
    ///
    /// # Errors
    /// A proxy that fails or is not finite.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, NeighborError> {
        self.advance().map_err(|error| self.numbered(error))
    }

    fn advance(&mut self) -> Result<Option<Batch>, NeighborError> {
        loop {
            let (step, pairs) = match self.next {
                Next::Trial => {
                    self.next = Next::Columns;
                    (Step::Trial, self.columns.trial_to_ask())
                }
                Next::Columns => {
                    self.next = Next::Given;
                    self.judge_trial()?;
                    (Step::Columns, self.columns.pairs(self.universe()))
                }
                Next::Given => {
                    self.next = Next::First;
                    let pairs = self.by_given(at_most(self.call_plan.first))?;
                    self.given_first = pairs.len();
                    (Step::Given, pairs)
                }
                Next::First if self.is_worth_looks() => {
                    self.next = Next::Look(0);
                    continue;
                }
                Next::First => {
                    self.next = Next::Proxy(0);
                    (Step::First, self.by_proxy(at_most(self.call_plan.first) - self.given_first)?)
                }
                Next::Look(proxy) => {
                    self.next = if proxy + 1 < self.proxies.len() { Next::Look(proxy + 1) } else { Next::AfterLooks };
                    // as many by each, or the one that chose fewer would look better among pairs of which all are high by the other
                    let count = (at_most(self.call_plan.first) - self.given_first) / (LOOKS * self.proxies.len());
                    self.pool()?;
                    (Step::First, self.chosen(count, |pool, _, slot| pool.proxies(slot)[proxy]))
                }
                Next::AfterLooks => {
                    self.next = Next::Proxy(0);
                    self.order_seeded();
                    (Step::First, self.by_proxy(at_most(self.call_plan.first.saturating_sub(self.asked)))?)
                }
                // further rounds may follow
                Next::Proxy(round) if round >= self.call_plan.rounds.len() && self.orders.is_none() => return Ok(None),
                Next::Proxy(round) if round >= self.call_plan.rounds.len() => {
                    self.next = Next::SecondOrder;
                    continue;
                }
                Next::SecondOrder => {
                    self.next = Next::End;
                    let pairs = self.finalists()?;
                    if pairs.is_empty() {
                        continue;
                    }
                    return Ok(Some(Batch { step: Step::SecondOrder, pairs, order: None }));
                }
                Next::End => return Ok(None),
                Next::Proxy(round) if self.is_seeded => {
                    let count = self.call_plan.rounds[round];
                    let pairs = self.look(at_most(count))?;
                    self.next = Next::Estimate(round, at_most(count) - pairs.len());
                    (Step::Proxy(round), pairs)
                }
                Next::Proxy(round) => {
                    let count = self.call_plan.rounds[round];
                    self.estimate(false)?;
                    let share = if self.proxies.is_empty() { 0.0 } else { self.rounds.params().share };
                    // a part of a count that fits in an f64
                    let of_proxy = (share * count as f64) as usize;
                    let mut pairs = self.by_proxy(of_proxy)?;
                    pairs.extend(self.look_at_learnt(at_most(count), at_most(count) - pairs.len()));
                    pairs.sort_unstable();
                    pairs.dedup();
                    self.next = Next::Estimate(round, at_most(count) - pairs.len());
                    (Step::Proxy(round), pairs)
                }
                Next::Estimate(round, count) => {
                    self.next = Next::Proxy(round + 1);
                    let pairs = if self.looks.is_empty() { self.by_estimate(count) } else { self.by_best_arm(count) };
                    (Step::Estimate(round), pairs)
                }
            };
            if !pairs.is_empty() {
                self.asked += pairs.len() as u64;
                return Ok(Some(Batch { step, pairs, order: self.orders.as_ref().map(OneOrder::coin) }));
            }
        }
    }

    /// Takes scores as [`record`](Self::record) does, of one order each where `batch` was asked for so.
    ///
    /// # Errors
    /// As [`record`](Self::record).
    ///
    /// # Panics
    /// When there is not one score a pair.
    pub fn record_part(&mut self, batch: &Batch, pairs: &[Pair], scores: &[f64]) -> Result<(), NeighborError> {
        let Some(orders) = self.orders.as_mut().filter(|_| batch.order.is_some()) else {
            return self.record(pairs, scores);
        };
        let corrected: Vec<f64> =
            pairs.iter().zip(scores).map(|(&pair, &score)| orders.corrected(pair, score)).collect();
        self.record(pairs, &corrected)?;
        let orders = self.orders.as_mut().expect("there are some");
        pairs.iter().zip(scores).for_each(|(&pair, &score)| orders.observe(pair, score));
        Ok(())
    }

    /// Takes scores, of all or of some pairs; one that is not finite counts as failed: it is not asked for again, teaches nothing and is
    /// listed nowhere.
    ///
    /// # Errors
    /// A pair of an item with itself, of two items of one of two lists, or beyond the items.
    ///
    /// # Panics
    /// When there is not one score a pair.
    pub fn record(&mut self, pairs: &[Pair], scores: &[f64]) -> Result<(), NeighborError> {
        assert_eq!(pairs.len(), scores.len(), "pairs and their scores");
        let (len, universe) = (self.columns.rows(), self.universe());
        for (&(i, j), &score) in pairs.iter().zip(scores) {
            if !universe.has((i.min(j), i.max(j))) {
                return Err(NeighborError::NoPair { i, j, len });
            }
            let kept = if score.is_finite() { score } else { FAILED };
            if let Some(orders) = &mut self.orders {
                orders.settle((i, j));
            }
            self.failed += u64::from(!score.is_finite());
            let is_placed = match &mut self.pool {
                Some(pool) => pool.set(i, j, kept),
                // the pool that comes after them does not read what failed in columns
                None => self.columns.set(i, j, kept) && score.is_finite(),
            };
            if !is_placed {
                self.outside.push(((i, j), kept));
            }
        }
        Ok(())
    }

    /// Pairs that exist.
    pub(super) fn universe(&self) -> Universe {
        self.rounds.universe(self.columns.rows())
    }

    /// The `depth` best candidates of every item, or of every item of the first of two lists, as they stand now, best first; within a round,
    /// by the estimates that it began with. The search continues as if nobody had asked: they are made on a copy of it, in as much memory again.
    ///
    /// # Errors
    /// A proxy that fails or is not finite.
    pub fn candidates(&self, depth: usize) -> Result<Vec<Vec<Neighbor>>, NeighborError> {
        self.clone().last_candidates(depth)
    }

    /// The candidates of a search that asks for nothing more, made in its own memory.
    pub(crate) fn last_candidates(&mut self, depth: usize) -> Result<Vec<Vec<Neighbor>>, NeighborError> {
        self.estimate(true).map_err(|error| self.numbered(error))?;
        let known_first = self.lists_known_first;
        let (pool, estimates) = (self.pool.as_ref().expect("estimated"), &self.estimates);
        let value = |i: usize, slot: usize| self.value(pool, i, slot);
        let listed = |i: usize| {
            let mut slots = ranked(pool, i, &value);
            slots.retain(|&slot| pool.score(slot) != FAILED);
            if known_first {
                // what was scored stands before what was not
                slots.sort_by_key(|&slot| !pool.is_asked(slot));
            }
            let neighbor = |slot| {
                let observed = self.is_observed(pool, i, slot);
                let exact = pool.is_asked(slot) && !observed;
                let estimate = pool.estimated(estimates[pool.number(slot)]);
                let score = match () {
                    () if observed => orders::blended(pool.raw(slot), estimate),
                    () if exact => pool.raw(slot),
                    () => estimate,
                };
                Neighbor { item: pool.other(slot), score, exact }
            };
            slots.into_iter().take(depth).map(neighbor).collect()
        };
        Ok((0..at_most(self.rounds.listed(pool.len()))).into_par_iter().map(listed).collect())
    }

    /// The lists of all items.
    ///
    /// # Errors
    /// As [`candidates`](Self::candidates).
    pub fn finish(mut self) -> Result<Found, NeighborError> {
        let lists = self.last_candidates(self.rounds.params().k)?;
        let (pairs, calls) = (self.asked, self.calls());
        Ok(Found { lists, pairs, calls, failed: self.failed, proxies: self.proxy_order, rounds: self.reports })
    }

    /// An error that names a proxy by its number as it was handed over.
    fn numbered(&self, error: NeighborError) -> NeighborError {
        match error {
            NeighborError::Proxy { role, number, source } => {
                NeighborError::Proxy { role, number: self.proxy_order[number - 1] + 1, source }
            }
            other => other,
        }
    }
}

/// Columns of these of n items, with the trial of a plan.
fn columns_of(rounds: &Rounds, call_plan: &CallPlan, n: usize, columns: Vec<usize>) -> Columns {
    let rows = if call_plan.trial > 0 { rounds.trial_rows(n, columns.len()) } else { 0 };
    Columns::new(n, columns, |free| if rows > 0 { trial::rows(rows, free) } else { Vec::new() })
}

/// A count of pairs that are kept in memory.
fn at_most(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
