//! How a search chooses the pairs of a round: by whichever way finds the most neighbors, as a look at each shows.
//!
//! ```text
//! with a seed       what was learnt, the seed alone, every other proxy alone: each names the first tenth of what it would take
//! without           what was learnt; the same without the process over pairs; that of ranks where scores are learnt from, or of scores where ranks are:
//!                   each names a random sample of what it would take, a tenth of the round or 100 pairs, but at least a fortieth
//! all of these are evaluated        gain of a pair = 1 − r/k, at least 0, r known scores of an item are higher; the better of both items
//!                                   (of all pairs, and k the pairs that k neighbors of every item make, if the best pairs of all are looked for)
//! with a seed       the way with the largest mean gain gets the rest of the round; one that gained less than half as much names a quarter as many next
//! without           the way of the round before stays, unless another gained more: what was learnt by anything, the same without the process by a standard
//!                   error of the difference, the other scale by one and a half; one that is behind by two names a quarter as many next
//! ```
//! A pair that two ways name counts for both. Which way is best depends on the matrix, on the number of columns and on the round, and no error over known
//! pairs shows it: those were chosen for their high estimates, and neighbors are the highest scores of a row. On 3,097 tweets the weights of the process that
//! predict known pairs best cost two to five points of recall@10 without these looks. A sample, since the first pairs of a way are its surest.

use super::{NeighborError, Pair, Search};
use crate::nearest::pairwise::mixed_bits;
use crate::nearest::pool::Pool;

/// Share of a round that a way without a seed names, and pairs that are enough.
const LOOK: (f64, usize) = (0.1, 100);

/// Share of a round that it names at least.
const LEAST_LOOK: f64 = 0.025;

/// A way to choose pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arm {
    /// By the link, kriging and the process over pairs.
    Learnt,
    /// By the link and kriging.
    WithoutProcess,
    /// By the link and kriging of ranks, where scores are learnt from, and the other way round.
    OtherScale,
    /// By the seed.
    Seed,
    /// By the proxy at this place.
    Proxy(usize),
}

/// Estimates of all pairs of the pool, as another way than [`Arm::Learnt`] has them.
#[derive(Clone)]
pub(super) struct Learnt {
    pub(super) arm: Arm,
    pub(super) by_rank: bool,
    pub(super) estimates: Vec<f64>,
}

/// Mean gain of a way, and the square of its standard error.
#[derive(Clone, Copy)]
struct Gain {
    arm: Arm,
    mean: f64,
    variance: f64,
}

impl Gain {
    fn of(arm: Arm, gains: &[f64]) -> Self {
        let count = gains.len().max(1) as f64;
        let mean = gains.iter().sum::<f64>() / count;
        let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
        Self { arm, mean, variance: squares / (count - 1.0).max(1.0) / count }
    }

    /// True if it is larger than another by more than some standard errors of the difference, as if no pair counted for both.
    fn is_above(self, other: Self, errors: f64) -> bool {
        self.mean > other.mean + errors * (self.variance + other.variance).sqrt()
    }
}

impl Search {
    /// Place of the seed among the proxies: it was handed over as the last.
    pub(super) fn place_of_seed(&self) -> usize {
        self.proxy_order.iter().position(|&number| number + 1 == self.proxies.len()).unwrap_or(0)
    }

    /// The pairs that each way would take first, of a round of `count` pairs.
    pub(super) fn look(&mut self, count: usize) -> Result<Vec<Pair>, NeighborError> {
        self.learn(false)?;
        // a part of a count that fits in an f64
        let each = ((self.rounds.params().share * count as f64 / 2.0) as usize).max(1);
        let seed = self.place_of_seed();
        let are_worth = self.is_worth_looks();
        let others = (0..self.proxies.len()).filter(|&place| are_worth && place != seed).map(Arm::Proxy);
        let arms = [Arm::Learnt, Arm::Seed].into_iter().chain(others);
        let named = |arm: Arm| if self.behind.contains(&arm) { (each / 4).max(1) } else { each };
        self.looks = arms.map(|arm| (arm, self.picks_of(arm, named(arm)))).collect();
        let mut pairs: Vec<Pair> = self.looks.iter().flat_map(|(_, picks)| picks.iter().copied()).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.truncate(count);
        Ok(pairs)
    }

    /// A sample of the pairs that each way to learn would take, of a round of `count` pairs, `most` in all; none where there is one way.
    pub(super) fn look_at_learnt(&mut self, count: usize, most: usize) -> Vec<Pair> {
        self.looks.clear();
        // parts of a count that fits in an f64
        let share = |share: f64| (share * count as f64) as usize;
        let each = share(LOOK.0).min(LOOK.1.max(share(LEAST_LOOK))).min(most / (1 + self.others.len()));
        if self.others.is_empty() || each == 0 {
            return Vec::new();
        }
        let arms: Vec<Arm> = [Arm::Learnt].into_iter().chain(self.others.iter().map(|other| other.arm)).collect();
        for arm in arms {
            let mut picks = self.picks(arm, count);
            // the same order in every way, so that pairs which two would take are likely to be named by both
            picks.sort_by_key(|&(i, j)| mixed_bits((i as u64) << 32 | j as u64));
            picks.truncate(if self.behind.contains(&arm) { (each / 4).max(1) } else { each });
            self.looks.push((arm, picks));
        }
        self.looks.iter().flat_map(|(_, picks)| picks.iter().copied()).collect()
    }

    /// The next pairs by the way whose looks were best.
    pub(super) fn by_best_arm(&mut self, count: usize) -> Vec<Pair> {
        let gains = self.gains();
        let best = if self.is_seeded { largest(&gains) } else { kept_or_above(self.best_arm, &gains) };
        let is_behind = |gain: &&Gain| match self.is_seeded {
            true => 2.0 * gain.mean < best.mean,
            false => best.is_above(**gain, 2.0),
        };
        self.behind = gains.iter().filter(is_behind).map(|gain| gain.arm).collect();
        self.best_arm = best.arm;
        if !self.is_seeded {
            self.learns_ranks = Some(self.by_rank != (best.arm == Arm::OtherScale));
        }
        self.is_estimated = false;
        let picks = self.picks(best.arm, count);
        self.others = Vec::new();
        picks
    }

    /// What every way gained by the pairs that it named.
    fn gains(&self) -> Vec<Gain> {
        let pool = self.pool.as_ref().expect("estimated at the beginning of the round");
        let params = self.rounds.params();
        let (k, are_pairs, only_first) = (params.k, params.pairs, params.left.is_some());
        // the lists of all items, or that of all pairs
        let depth = if are_pairs { (pool.len() * k / 2).max(1) } else { k };
        let best = if are_pairs { vec![best_pairs(pool, depth)] } else { best_known(pool, depth) };
        let gain = |&(i, j): &Pair| {
            let score = pool.slot(i, j).map_or(f64::NAN, |slot| pool.raw(slot));
            if !score.is_finite() {
                return 0.0;
            }
            let higher = |list: usize| best[list].partition_point(|&known| known > score);
            let higher = match () {
                () if are_pairs => higher(0),
                () if only_first => higher(i),
                () => higher(i).min(higher(j)),
            };
            1.0 - higher as f64 / depth as f64
        };
        let of = |(arm, picks): &(Arm, Vec<Pair>)| Gain::of(*arm, &picks.iter().map(gain).collect::<Vec<_>>());
        self.looks.iter().map(of).collect()
    }

    /// The first pairs of a way, by the estimates that it has.
    fn picks(&mut self, arm: Arm, count: usize) -> Vec<Pair> {
        let Some(place) = self.others.iter().position(|other| other.arm == arm) else {
            return self.picks_of(arm, count);
        };
        let by_rank = self.by_rank;
        self.show(self.others[place].by_rank);
        std::mem::swap(&mut self.estimates, &mut self.others[place].estimates);
        let picks = self.picks_of(arm, count);
        std::mem::swap(&mut self.estimates, &mut self.others[place].estimates);
        self.show(by_rank);
        picks
    }

    /// The first pairs of a way, by the estimates that stand.
    fn picks_of(&self, arm: Arm, count: usize) -> Vec<Pair> {
        let seed = self.place_of_seed();
        match arm {
            Arm::Learnt | Arm::WithoutProcess | Arm::OtherScale => {
                self.chosen(count, |pool, i, slot| self.value(pool, i, slot))
            }
            Arm::Seed => {
                let seeded = |pool: &Pool, _, slot: usize| {
                    if pool.is_asked(slot) { pool.raw(slot) } else { pool.proxies(slot)[seed] }
                };
                self.chosen(count, seeded)
            }
            Arm::Proxy(place) => self.chosen(count, |pool, _, slot| pool.proxies(slot)[place]),
        }
    }
}

/// The way to learn of the round before, or what was learnt in the first, unless another gained clearly more.
fn kept_or_above(before: Arm, gains: &[Gain]) -> Gain {
    // what was of the other scale is now the way without the process
    let kept = if before == Arm::OtherScale { Arm::WithoutProcess } else { before };
    let kept = gains.iter().find(|gain| gain.arm == kept).unwrap_or(&gains[0]);
    gains.iter().fold(*kept, |best, &next| if next.is_above(best, errors_above(next.arm)) { next } else { best })
}

/// Standard errors by which a way has to be better than the one that stays.
fn errors_above(arm: Arm) -> f64 {
    match arm {
        Arm::Learnt => 0.0,
        Arm::OtherScale => 1.5,
        _ => 1.0,
    }
}

/// The largest gain, the first of equal ones.
fn largest(gains: &[Gain]) -> Gain {
    gains.iter().fold(gains[0], |best, &next| if next.mean > best.mean { next } else { best })
}

/// The best known scores of all pairs, best first.
fn best_pairs(pool: &Pool, depth: usize) -> Vec<f64> {
    let of = |i: usize| pool.upper(i).map(|slot| pool.raw(slot));
    let mut known: Vec<f64> = (0..pool.len()).flat_map(of).filter(|score| score.is_finite()).collect();
    known.sort_unstable_by(|one, other| other.total_cmp(one));
    known.truncate(depth);
    known
}

/// The k best known scores of every item, best first.
fn best_known(pool: &Pool, k: usize) -> Vec<Vec<f64>> {
    let of = |i: usize| {
        let mut known: Vec<f64> = pool.row(i).map(|slot| pool.raw(slot)).filter(|score| score.is_finite()).collect();
        known.sort_unstable_by(|one, other| other.total_cmp(one));
        known.truncate(k);
        known
    };
    (0..pool.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(arm: Arm, mean: f64) -> Gain {
        Gain { arm, mean, variance: 0.005 }
    }

    #[test]
    fn a_gain_is_a_mean_and_the_square_of_its_standard_error() {
        let Gain { mean, variance, .. } = Gain::of(Arm::Learnt, &[0.0, 1.0, 1.0, 0.0]);
        assert!((mean - 0.5).abs() < 1e-15 && (variance - 1.0 / 12.0).abs() < 1e-15);
        let nothing = Gain::of(Arm::Learnt, &[]);
        assert_eq!((nothing.mean, nothing.variance), (0.0, 0.0));
    }

    #[test]
    fn a_way_stays_until_another_is_clearly_better_and_what_was_learnt_comes_back_at_once() {
        let after = |kept: Arm, learnt: f64, without: f64, other: f64| {
            let gains = [(Arm::Learnt, learnt), (Arm::WithoutProcess, without), (Arm::OtherScale, other)];
            kept_or_above(kept, &gains.map(|(arm, mean)| gain(arm, mean))).arm
        };
        // the standard error of a difference is 0.1
        assert_eq!(after(Arm::Seed, 0.5, 0.59, 0.64), Arm::Learnt);
        assert_eq!(after(Arm::Learnt, 0.5, 0.61, 0.5), Arm::WithoutProcess);
        assert_eq!(after(Arm::Learnt, 0.5, 0.5, 0.66), Arm::OtherScale);
        assert_eq!(after(Arm::WithoutProcess, 0.5, 0.49, 0.5), Arm::Learnt);
        assert_eq!(after(Arm::WithoutProcess, 0.5, 0.5, 0.5), Arm::WithoutProcess);
        // what was of the other scale is now the way without the process
        assert_eq!(after(Arm::OtherScale, 0.5, 0.5, 0.5), Arm::WithoutProcess);
        assert_eq!(kept_or_above(Arm::WithoutProcess, &[gain(Arm::Learnt, 0.5)]).arm, Arm::Learnt);
    }
}
