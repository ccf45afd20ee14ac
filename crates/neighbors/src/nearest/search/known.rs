//! A search that stands on what is known: scores of an earlier fit or search, and the factors that were made of them.
//!
//! Known pairs cost no call, are never asked for, and enter the lists at once: a budget of b calls an item is b *new* calls on top of them.
//! The estimate of a fit (the seed) chooses candidates, the first pairs, and is a proxy of the link. It was fitted to the known columns and
//! reproduces them, so that its errors there carry no information: those columns teach hubness, and neither the link nor kriging.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Next, Search};
use crate::nearest::NeighborError;
use crate::nearest::columns::Columns;
use crate::nearest::lists::{Lists, ROWS_PER_CHUNK};
use crate::nearest::pool::Pool;
use crate::nearest::rounds::Rounds;
use crate::nearest::scan::scan;
use landmark_core::hubness::{HubLink, LinkRow};
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, OracleShape, Pair};

/// Items that show whether what was learned is better than the seed alone: with few pairs an item, more of them than of a search without one.
const JUDGES_OF_SEED: usize = 120;

/// What is known before a search begins.
#[derive(Clone, Default)]
pub struct Known {
    /// Items whose columns are known, each once.
    pub columns: Vec<usize>,
    /// Known pairs and their scores, those of the columns included; in either order, and as often as they come.
    pub pairs: Vec<(Pair, f64)>,
    /// A similarity that was fitted to the columns ([`factors`](crate::nearest::factors)). Where proxies are handed over too, it counts as the
    /// last of them; the first pairs that are evaluated show which of the two is the main one, if there are enough calls to compare them (2 pairs for each
    /// place of the lists).
    pub seed: Option<Arc<dyn Oracle>>,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known")
            .field("columns", &self.columns.len())
            .field("pairs", &self.pairs.len())
            .field("seed", &self.seed.is_some())
            .finish()
    }
}

impl Known {
    /// Number of distinct pairs that are known.
    pub fn distinct(&self) -> u64 {
        self.pairs.iter().map(|&((i, j), _)| (i.min(j), i.max(j))).collect::<HashSet<Pair>>().len() as u64
    }
}

impl Search {
    /// A search that begins with what is known. Its lists hold the best of all known pairs, old and new, and estimates only where fewer than k
    /// are known: where k columns are known and fewer than k/2 new pairs an item are asked for, the estimates of the seed may hold more of the
    /// true neighbors than such lists do. Where there are at least two known columns or a seed, no columns are evaluated, and [`Rounds::call_plan_beyond`] is the plan.
    ///
    /// # Errors
    /// As [`new`](Self::new), and a known pair of an item with itself or beyond the items.
    pub fn knowing(
        rounds: Rounds,
        shape: OracleShape,
        proxies: Vec<Arc<dyn Oracle>>,
        landmarks: &Landmarks,
        known: Known,
    ) -> Result<Self, NeighborError> {
        let distinct = known.distinct();
        let Known { columns, pairs, seed } = known;
        let (is_seeded, given) = (seed.is_some(), proxies.len());
        let all: Vec<Arc<dyn Oracle>> = proxies.into_iter().chain(seed).collect();
        let has_proxy = !all.is_empty();
        let mut search = Self::new(rounds, shape, all, landmarks)?;
        if is_seeded {
            search.proxies.rotate_right(1);
            search.proxy_order.rotate_right(1);
            debug_assert_eq!(search.proxy_order[0], given);
        }
        if is_seeded || columns.len() >= 2 {
            let n = shape.len;
            if let Some(&item) = columns.iter().find(|&&item| item >= n) {
                return Err(NeighborError::NoPair { i: item, j: item, len: n });
            }
            let mut seen = HashSet::new();
            let columns: Vec<usize> = columns.into_iter().filter(|&item| seen.insert(item)).collect();
            search.call_plan = search.rounds.call_plan_beyond(shape, has_proxy, distinct);
            search.columns = Columns::new(n, columns, |_| Vec::new());
            let free = |item: &usize| search.columns.number(*item).is_none();
            search.judges = landmarks.independent().iter().copied().filter(free).take(JUDGES_OF_SEED).collect();
            search.next = Next::Given;
        }
        search.is_seeded = is_seeded;
        search.lists_known_first = true;
        let (pairs, scores): (Vec<Pair>, Vec<f64>) = pairs.into_iter().unzip();
        search.record(&pairs, &scores)?;
        search.failed = 0;
        Ok(search)
    }

    /// The best of every item by the seed, and by the first of the other proxies.
    pub(super) fn seeded_candidates(&self, width: usize) -> Result<Lists, NeighborError> {
        let lists = scan(self.universe(), &self.proxies[..1], None, width, self.is_large)?;
        if let Some(other) = self.proxies.get(1..2).filter(|other| !other.is_empty()) {
            let more = scan(self.universe(), other, None, width, self.is_large).map_err(|error| match error {
                NeighborError::Proxy { role, number, source } => {
                    NeighborError::Proxy { role, number: number + 1, source }
                }
                other => other,
            })?;
            let both = |i: usize, list: &mut Vec<u32>| list.extend(lists.list(i).iter().chain(more.list(i)));
            return Ok(Lists::by_rows(lists.len(), both));
        }
        Ok(lists)
    }

    /// Items whose pairs the seed was fitted to.
    pub(super) fn fitted(&self) -> Vec<bool> {
        (0..self.columns.rows()).map(|item| self.columns.number(item).is_some()).collect()
    }

    /// Puts the proxies in the order in which each predicts, alone, one half of the pairs that teach from the other.
    pub(super) fn order_seeded(&mut self) {
        let Some(pool) = self.pool.as_ref().filter(|_| self.is_seeded && self.proxies.len() > 1) else { return };
        let errors: Vec<f64> = (0..self.proxies.len()).map(|proxy| halves(pool, proxy)).collect();
        let places = self.reorder(&errors);
        self.pool.as_mut().expect("seen above").reorder_proxies(&places);
        self.is_estimated = false;
    }
}

/// Squared error with which a proxy, alone, predicts each half of the pairs that teach by a link to the other half.
fn halves(pool: &Pool, proxy: usize) -> f64 {
    let n = pool.len();
    let taught = |i: usize, half: usize| {
        pool.upper(i).filter(move |&slot| (i + pool.other(slot)) % 2 == half && pool.teaches(i, slot))
    };
    let error = |half: usize| -> f64 {
        let rows = |chunk: usize, take: &mut dyn FnMut(LinkRow<'_>)| {
            for i in chunk * ROWS_PER_CHUNK..((chunk + 1) * ROWS_PER_CHUNK).min(n) {
                for slot in taught(i, 1 - half) {
                    let proxies = &pool.proxies(slot)[proxy..=proxy];
                    take(LinkRow { hubness: (0.0, 0.0), proxies, score: pool.score(slot) });
                }
            }
        };
        let link = HubLink::fit(1, false, n.div_ceil(ROWS_PER_CHUNK), rows);
        let squared =
            |slot: usize| (pool.score(slot) - link.at((0.0, 0.0), &pool.proxies(slot)[proxy..=proxy])).powi(2);
        (0..n).flat_map(|i| taught(i, half)).map(squared).sum()
    };
    error(0) + error(1)
}
