//! Recall of pairs or lists that somebody else made: a blocking rule, an index, a join.
//!
//! ```text
//! pairs   C candidates, N pairs left out. Of m uniform ones of the N, X are positive: at most U others are (hypergeometric, level δ)
//!         G positives among the candidates:  recall ≥ G / (G + X + U)
//!         g of m' uniform candidates:        G ≥ C − (m' − g) − U', with U' negatives unseen at level δ/2, and U at δ/2
//! lists   shares of the true k nearest of v uniform items: a lower bound of their mean (spacings; Clopper–Pearson for k = 1)
//! ```
//! Nothing is assumed of the candidates or of the score. Both statements are about the given items.

use super::hypergeometric::most_unseen;
use super::shares::Bound;

/// Candidate pairs that were scored, all or a sample of them, and a sample of the pairs left out.
///
/// ```
/// use landmark_neighbors::recall::GivenPairs;
/// // all 50 candidates scored, 40 positive; none of 2000 of the 4900 others is
/// let audit = GivenPairs { candidates: 50, scored: 50, positive: 40, left_out: 4900, sampled: 2000, missed: 0 };
/// assert_eq!(audit.recall(), Some(1.0));
/// assert!((audit.lower(0.1) - 40.0 / 44.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenPairs {
    pub candidates: u64,
    /// Candidates that were scored: all, or a uniform sample.
    pub scored: u64,
    /// Those of them that are positive.
    pub positive: u64,
    /// Pairs that are no candidates.
    pub left_out: u64,
    /// Uniform sample of those.
    pub sampled: u64,
    /// Positive ones in it.
    pub missed: u64,
}

impl GivenPairs {
    /// Estimated share of the positive pairs that are candidates; `None` if no positive pair was seen.
    pub fn recall(&self) -> Option<f64> {
        let scale = |seen: u64, of: u64, all: u64| if of == 0 { 0.0 } else { seen as f64 * (all as f64 / of as f64) };
        let found = scale(self.positive, self.scored, self.candidates);
        let all = found + scale(self.missed, self.sampled, self.left_out);
        (all > 0.0).then(|| found / all)
    }

    /// Lower bound of that share, with probability 1 − δ over the draws. 0 if no candidate is known to be positive.
    pub fn lower(&self, delta: f64) -> f64 {
        let is_whole = self.scored == self.candidates;
        // two draws share δ
        let delta = if is_whole { delta } else { delta / 2.0 };
        let wrong = self.scored - self.positive;
        let negative = if is_whole { wrong } else { wrong + most_unseen(self.candidates, self.scored, wrong, delta) };
        let found = self.candidates - negative.min(self.candidates);
        let unseen = most_unseen(self.left_out, self.sampled, self.missed, delta);
        if found == 0 { 0.0 } else { found as f64 / (found + self.missed + unseen) as f64 }
    }
}

/// Shares of the true k nearest that given lists hold, for items drawn uniformly.
#[derive(Debug, Clone, Copy)]
pub struct GivenLists<'a> {
    /// One share per audited item.
    pub shares: &'a [f64],
    /// Items that have a list.
    pub items: usize,
    /// Length of the true lists.
    pub k: usize,
}

impl GivenLists<'_> {
    /// Mean share.
    pub fn recall(&self) -> Option<f64> {
        let rows = self.shares.len();
        (rows > 0).then(|| self.shares.iter().sum::<f64>() / rows as f64)
    }

    /// Lower bound of the mean share over all items, with probability 1 − δ; audited items count as what they are.
    pub fn lower(&self, delta: f64) -> f64 {
        let rows = self.shares.len();
        if rows == 0 {
            return 0.0;
        }
        let seen: f64 = self.shares.iter().sum();
        if rows >= self.items {
            return seen / rows as f64;
        }
        Bound::of(self.k, false).lower(self.shares, delta)
    }

    /// The bound's name.
    pub fn bound(&self) -> Bound {
        Bound::of(self.k, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::universe::Universe;
    use landmark_core::oracle::Pair;
    use landmark_core::stream::stream;

    /// Positive pairs (i, j) of a population: i + j divisible by `every`.
    fn is_positive((i, j): Pair, every: usize) -> bool {
        (i * 7 + j * 13) % every == 0
    }

    fn audit(universe: Universe, every: usize, sizes: (u64, u64), seed: u64) -> (GivenPairs, f64) {
        // candidates: pairs whose sum is even, which hold about half of the positives, and all pairs of small items
        let is_candidate = |&(i, j): &Pair| (i + j) % 2 == 0 || i < 20;
        let candidates: Vec<Pair> = universe.pairs().filter(is_candidate).collect();
        let all = universe.pairs().filter(|&pair| is_positive(pair, every)).count();
        let found = candidates.iter().filter(|&&pair| is_positive(pair, every)).count();
        let (count, left_out) = (candidates.len() as u64, universe.len() - candidates.len() as u64);
        let mut rng = stream(seed, "given", "audit", 0);
        let scored = universe.sample(count, sizes.0, is_candidate, &mut rng);
        let sampled = universe.sample(left_out, sizes.1, |pair| !is_candidate(pair), &mut rng);
        let positive = |pairs: &[Pair]| pairs.iter().filter(|&&pair| is_positive(pair, every)).count() as u64;
        let given = GivenPairs {
            candidates: count,
            scored: scored.len() as u64,
            positive: positive(&scored),
            left_out,
            sampled: sampled.len() as u64,
            missed: positive(&sampled),
        };
        (given, found as f64 / all as f64)
    }

    #[test]
    fn the_lower_bound_of_given_pairs_holds_as_often_as_it_says() {
        for universe in [Universe { items: 90, left: None }, Universe { items: 120, left: Some(40) }] {
            for sizes in [(u64::MAX, 600), (500, 500)] {
                let wrong = (0..300)
                    .filter(|&seed| {
                        let (given, truth) = audit(universe, 11, sizes, seed);
                        given.lower(0.2) > truth
                    })
                    .count();
                // 60 are allowed; 3 standard deviations more would show a bound that is none
                assert!(wrong <= 80, "{wrong} of 300 for {universe:?}");
            }
        }
    }

    #[test]
    fn an_audit_of_everything_is_exact() {
        let (given, truth) = audit(Universe { items: 60, left: None }, 7, (u64::MAX, u64::MAX), 1);
        assert!((given.lower(0.1) - truth).abs() < 1e-12);
        assert!((given.recall().unwrap() - truth).abs() < 1e-12);
    }

    #[test]
    fn lists_that_hold_everything_are_bounded_by_clopper_and_pearson() {
        let lists = GivenLists { shares: &[1.0; 30], items: 1000, k: 1 };
        assert!((lists.lower(0.1) - 0.1_f64.powf(1.0 / 30.0)).abs() < 1e-9);
        assert_eq!(GivenLists { shares: &[1.0; 30], items: 30, k: 1 }.lower(0.1), 1.0);
    }
}
