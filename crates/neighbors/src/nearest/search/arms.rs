//! How a search with a seed chooses the pairs of a round: by whichever way finds the most neighbors, as a look at each shows.
//!
//! ```text
//! what was learnt, the seed alone, every other proxy alone: each names the pairs that it would take next, a tenth of the round
//! all of these are evaluated      gain of a pair = 1 − r/k, at least 0, r known scores of an item are higher; the better of both items
//!                                 (of all pairs, and k the pairs that k neighbors of every item make, if the best pairs of all are looked for)
//! the way whose pairs have the largest mean gain gets the rest of the round; a pair that two ways name counts for both
//! a way that gained less than half as much as the best names a quarter as many in the next round
//! ```
//! Which way is best depends on the matrix, on the number of columns and on the round, and no error over all pairs shows it: neighbors are the
//! highest scores of a row. The link and kriging are fitted to pairs that were chosen for their high estimates, and with few columns they can be
//! worse than the seed alone (`docs/explanation/neighbors.md`).

use super::{NeighborError, Pair, Search};
use crate::nearest::pool::Pool;

/// A way to choose pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arm {
    /// By the link, kriging and the process over pairs.
    Learnt,
    /// By the seed.
    Seed,
    /// By the proxy at this place.
    Proxy(usize),
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
        let arms: Vec<Arm> = [Arm::Learnt, Arm::Seed].into_iter().chain(others).collect();
        let best = self.gains.iter().fold(0.0, |best: f64, &(_, gain)| best.max(gain));
        let is_behind = |arm: Arm| self.gains.iter().any(|&(other, gain)| other == arm && 2.0 * gain < best);
        let named = |arm: Arm| if is_behind(arm) { (each / 4).max(1) } else { each };
        self.looks = arms.into_iter().map(|arm| (arm, self.picks(arm, named(arm)))).collect();
        let mut pairs: Vec<Pair> = self.looks.iter().flat_map(|(_, picks)| picks.iter().copied()).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.truncate(count);
        Ok(pairs)
    }

    /// The next pairs by the way whose looks were best.
    pub(super) fn by_best_arm(&mut self, count: usize) -> Vec<Pair> {
        let pool = self.pool.as_ref().expect("estimated at the beginning of the round");
        let (k, are_pairs) = (self.rounds.params().k, self.rounds.params().pairs);
        // the lists of all items, or that of all pairs
        let depth = if are_pairs { (pool.len() * k / 2).max(1) } else { k };
        let best = if are_pairs { vec![best_pairs(pool, depth)] } else { best_known(pool, depth) };
        let gain = |&(i, j): &Pair| {
            let score = pool.slot(i, j).map_or(f64::NAN, |slot| pool.raw(slot));
            if !score.is_finite() {
                return 0.0;
            }
            let higher = |list: usize| best[list].partition_point(|&known| known > score);
            let higher = if are_pairs { higher(0) } else { higher(i).min(higher(j)) };
            1.0 - higher as f64 / depth as f64
        };
        let mean = |picks: &[Pair]| picks.iter().map(gain).sum::<f64>() / picks.len().max(1) as f64;
        let gains: Vec<(Arm, f64)> = self.looks.iter().map(|(arm, picks)| (*arm, mean(picks))).collect();
        let best = gains.iter().copied().fold(None, |best: Option<(Arm, f64)>, next| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        });
        self.best_arm = best.map_or(Arm::Learnt, |(arm, _)| arm);
        self.gains = gains;
        self.is_estimated = false;
        self.picks(self.best_arm, count)
    }

    fn picks(&self, arm: Arm, count: usize) -> Vec<Pair> {
        let seed = self.place_of_seed();
        match arm {
            Arm::Learnt => self.chosen(count, |pool, i, slot| self.value(pool, i, slot)),
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
