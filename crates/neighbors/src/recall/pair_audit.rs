//! All pairs with K ≥ t, up to a recall that is guaranteed: evaluate by estimate, audit a uniform sample of the rest, continue if it shows too much.
//!
//! ```text
//! 1  evaluate unknown pairs in the order of their estimates down to a cut; G positives are found, N pairs are left
//! 2  draw m of the N pairs uniformly and evaluate them; X are positive and join G
//! 3  while p(N, m, u(G), X) > δ: lower the cut; a sampled positive that is passed is no miss any more, N and m stay
//! 4  with probability at least 1 − δ over the draw, the positives found are a share ρ of all
//! ```
//! Why it holds. Let w₀ be the least number of unseen positives that makes the statement false. p falls with the cut, so if a false cut passes, so does
//! the last false one, at which w₀ positives are unseen. The sampled positives below it are a function of the sample alone, with distribution function
//! p(N, m, w₀, ·), so that P(p ≤ δ) ≤ δ there. Nothing is assumed of the score, of the estimates, or of which pairs are known. Order, known pairs, cut and m
//! must be fixed before the draw. See docs/explanation/recall.md.
//!
//! Cost: see [`YieldPlan`](super::yield_plan); no rule that is right for every estimate needs fewer than about ln(1/δ)/(d (1 − ρ)) calls per item, for
//! d positives per item.

use std::collections::HashSet;

use landmark_core::oracle::Pair;
use rand::Rng;

use super::Target;
use super::hypergeometric::{least_wrong, most_unseen, p_value, sample_size};
use super::yield_plan::{Next, YieldPlan};
use crate::universe::Universe;

/// Allowance for rounding of p.
const ROUNDING: f64 = 1e-9;

/// What is asked for, and what is known before.
#[derive(Debug, Clone, Copy)]
pub struct PairQuery {
    pub items: usize,
    /// Least score t of a positive pair.
    pub at_least: f64,
    pub target: Target,
    /// Pairs of different items whose scores are known.
    pub known: u64,
    /// Positives among them.
    pub known_positives: u64,
}

/// What the search needs from its caller. Pairs are (i, j) with i < j.
pub trait PairSource {
    /// Errors of an evaluation.
    type Error;

    /// Items of the first of two lists: only pairs of one of these with one of the others exist. `None` for all pairs of one list.
    fn left(&self) -> Option<usize> {
        None
    }

    /// True if the score of this pair was known before.
    fn is_known(&self, pair: Pair) -> bool;

    /// The `count` unknown pairs of highest estimate, best first. A longer list must begin with every shorter one. Pairs may be missing, such as
    /// those whose estimate is not a number: they come last.
    fn best(&mut self, count: usize) -> Vec<Pair>;

    /// Scores of these pairs, or of the first of them if a budget ends before the last. A pair that can't be scored has a score below the threshold.
    ///
    /// # Errors
    /// Whatever ends the search at once.
    fn evaluate(&mut self, pairs: &[Pair]) -> Result<Vec<f64>, Self::Error>;

    /// True if these pairs may be evaluated; asked before every batch. `found` positives are known, and the search ends if it is refused.
    ///
    /// # Errors
    /// Whatever ends the search at once.
    fn may_evaluate(&mut self, batch: &Batch<'_>) -> Result<bool, Self::Error>;
}

/// Pairs that are to be evaluated next.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    pub pairs: &'a [Pair],
    /// Pairs below the cut if these are the audit sample.
    pub audited_of: Option<u64>,
    /// Positives found so far.
    pub found: u64,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PairsEnd {
    /// The recall is at least the target with probability 1 − δ.
    Reached,
    /// All pairs are known.
    Exact,
    /// No positive pair was found above the cut; that there is none would take an audit of `sample` more.
    NothingFound {
        /// Pairs to audit.
        sample: u64,
    },
    /// It ended before or in the audit: nothing is known of the recall.
    NotAudited {
        /// Size of the audit sample, if it was fixed.
        sample: Option<u64>,
    },
    /// It ended after the audit, before the target was reached.
    Below {
        /// Lower bound of the recall at the first cut, with probability 1 − δ.
        lower: f64,
    },
}

/// Pairs that were found, and what is known of the others.
#[derive(Debug, Clone)]
pub struct AuditedPairs {
    /// Positive pairs that were evaluated, with their scores; those known before are not among them.
    pub found: Vec<(Pair, f64)>,
    pub end: PairsEnd,
    /// Pairs evaluated in the order of their estimates.
    pub by_estimate: u64,
    /// Pairs below the first cut.
    pub below_cut: u64,
    /// Pairs of the audit sample.
    pub audited: u64,
    /// Positives in it that lie below the last cut.
    pub missed: u64,
    pub recall: f64,
}

/// Finds the pairs of a query.
///
/// # Errors
/// Those of the source.
pub fn pairs_with_recall<S: PairSource>(
    query: PairQuery,
    source: &mut S,
    rng: &mut impl Rng,
) -> Result<AuditedPairs, S::Error> {
    let unknown = Universe { items: query.items, left: source.left() }.len() - query.known;
    let mut search = Search {
        query,
        source,
        order: Vec::new(),
        cut: 0,
        unknown,
        found: Vec::new(),
        positives: query.known_positives,
    };
    let mut plan = YieldPlan::new(unknown, query.items, query.target);
    let tolerated = loop {
        if search.is_exhausted() {
            return Ok(search.done(PairsEnd::Exact, None));
        }
        let before = search.positives;
        if !search.lower(plan.batch(), &HashSet::new(), &mut 0)? {
            return Ok(search.done(PairsEnd::NotAudited { sample: None }, None));
        }
        if let Next::Audit(tolerated) = plan.note(search.positives - before, search.positives) {
            break tolerated;
        }
    };
    let left = unknown - search.cut as u64;
    if search.positives == 0 {
        let sample = sample_size(left, 1, 0, query.target.delta());
        return Ok(search.done(PairsEnd::NothingFound { sample }, None));
    }
    search.audit(left, tolerated, rng)
}

struct Search<'a, S: PairSource> {
    query: PairQuery,
    source: &'a mut S,
    /// Unknown pairs, best first, as far as they were needed.
    order: Vec<Pair>,
    /// Pairs of it that are above the cut.
    cut: usize,
    unknown: u64,
    found: Vec<(Pair, f64)>,
    /// All positives that are known.
    positives: u64,
}

impl<S: PairSource> Search<'_, S> {
    fn is_exhausted(&self) -> bool {
        self.cut as u64 >= self.unknown
    }

    /// Lowers the cut by up to `count` pairs, and not beyond the first sampled positive; false if the source ends it.
    fn lower(&mut self, count: u64, sampled: &HashSet<Pair>, missed: &mut u64) -> Result<bool, S::Error> {
        let count = usize::try_from(count.min(self.unknown - self.cut as u64)).unwrap_or(usize::MAX);
        let end = self.cut.saturating_add(count);
        if self.order.len() < end {
            let all = usize::try_from(self.unknown).unwrap_or(usize::MAX);
            let wanted = end.saturating_mul(2).min(all);
            self.order = self.source.best(wanted);
            if self.order.len() < wanted {
                self.complete_order();
            }
        }
        let end = end.min(self.order.len());
        let positive: HashSet<Pair> = self.found.iter().map(|&(pair, _)| pair).collect();
        let is_miss = |pair: &Pair| sampled.contains(pair) && positive.contains(pair);
        let ahead = &self.order[self.cut..end];
        let until = ahead.iter().position(is_miss).map_or(ahead.len(), |place| place + 1);
        let batch: Vec<Pair> = ahead[..until].iter().copied().filter(|pair| !sampled.contains(pair)).collect();
        let passed = ahead[..until].iter().filter(|pair| is_miss(pair)).count() as u64;
        if !self.evaluate(&batch, None)? {
            return Ok(false);
        }
        *missed -= passed;
        self.cut += until;
        Ok(true)
    }

    fn universe(&self) -> Universe {
        Universe { items: self.query.items, left: self.source.left() }
    }

    /// Puts the pairs that have no place in the order at its end, so that none is left out for good.
    fn complete_order(&mut self) {
        let placed: HashSet<Pair> = self.order.iter().copied().collect();
        let pairs = self.universe().pairs();
        let rest: Vec<Pair> = pairs.filter(|pair| !placed.contains(pair) && !self.source.is_known(*pair)).collect();
        self.order.extend(rest);
    }

    /// Evaluates pairs and keeps the positive ones; false if the source ends it.
    fn evaluate(&mut self, pairs: &[Pair], audited_of: Option<u64>) -> Result<bool, S::Error> {
        if pairs.is_empty() {
            return Ok(true);
        }
        if !self.source.may_evaluate(&Batch { pairs, audited_of, found: self.positives })? {
            return Ok(false);
        }
        let scores = self.source.evaluate(pairs)?;
        let is_whole = scores.len() == pairs.len();
        let least = self.query.at_least;
        let good = pairs.iter().copied().zip(scores).filter(|&(_, score)| score >= least);
        let before = self.found.len();
        self.found.extend(good);
        self.positives += (self.found.len() - before) as u64;
        Ok(is_whole)
    }

    /// Draws and evaluates the sample, and lowers the cut until it passes.
    fn audit(mut self, left: u64, tolerated: u64, rng: &mut impl Rng) -> Result<AuditedPairs, S::Error> {
        let (recall, delta) = (self.query.target.recall(), self.query.target.delta());
        let size = sample_size(left, least_wrong(self.positives, recall), tolerated, delta);
        let drawn = self.draw(left, size, rng);
        let before = self.positives;
        if !self.evaluate(&drawn, Some(left))? {
            return Ok(self.done(PairsEnd::NotAudited { sample: Some(size) }, None));
        }
        let sampled: HashSet<Pair> = drawn.into_iter().collect();
        let first_missed = self.positives - before;
        let mut missed = first_missed;
        let (first_cut, first_found) = (self.cut, self.positives);
        let step = (first_cut as u64 / 4).max(self.query.items as u64 / 2).max(1);
        loop {
            let audit = Some((left, size, missed));
            if size == left {
                return Ok(self.done(PairsEnd::Exact, audit));
            }
            if p_value(left, size, least_wrong(self.positives, recall), missed) <= delta * (1.0 + ROUNDING) {
                return Ok(self.done(PairsEnd::Reached, audit));
            }
            if self.is_exhausted() {
                return Ok(self.done(PairsEnd::Exact, audit));
            }
            if !self.lower(step, &sampled, &mut missed)? {
                let unseen = most_unseen(left, size, first_missed, delta) as f64;
                let lower = first_found as f64 / (first_found as f64 + unseen);
                return Ok(self.done(PairsEnd::Below { lower }, audit));
            }
        }
    }

    /// A uniform sample without replacement of the pairs that are neither known nor above the cut.
    fn draw(&self, left: u64, size: u64, rng: &mut impl Rng) -> Vec<Pair> {
        let above: HashSet<Pair> = self.order[..self.cut].iter().copied().collect();
        self.universe().sample(left, size, |pair| !above.contains(pair) && !self.source.is_known(*pair), rng)
    }

    /// The answer; `audit` is (N, m, X) if there was one.
    fn done(self, end: PairsEnd, audit: Option<(u64, u64, u64)>) -> AuditedPairs {
        let (below_cut, audited, missed) = audit.unwrap_or((self.unknown - self.cut as u64, 0, 0));
        let found = self.positives as f64;
        let unseen = if audited == 0 { 0.0 } else { missed as f64 * (below_cut - audited) as f64 / audited as f64 };
        let recall = match end {
            PairsEnd::Exact => 1.0,
            _ if found + unseen > 0.0 => found / (found + unseen),
            _ => 1.0,
        };
        AuditedPairs { found: self.found, end, by_estimate: self.cut as u64, below_cut, audited, missed, recall }
    }
}
