//! Candidates that the caller brings, such as the lists of an index of vectors.
//!
//! They are evaluated first, everyone's first before anyone's second, in the place of the best pairs by the proxy, and they stay candidates in every
//! round. Where there is no proxy they are the proxy: 1 / (1 + place) in the list of either item.

use std::sync::Arc;

use super::{OracleShape, Search, columns_of};
use crate::nearest::NeighborError;
use crate::nearest::lists::Lists;
use crate::nearest::pool::MANY;
use landmark_core::entries::PairMap;
use landmark_core::oracle::{Identity, Oracle, OracleError, Pair};
use landmark_core::rank::RankCmp;

/// Items with the highest hubness that are candidates of every item in addition to those of an index; a quarter of them if there are [`MANY`] items.
const POPULAR: usize = 16;

/// Lists of candidates, one an item, the best first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates(Lists);

impl Candidates {
    /// The lists of n items as they come from an index: an item itself, and whatever comes a second time, is left out.
    ///
    /// # Errors
    /// A list too few or too many, an item beyond the items, and no pair at all.
    pub fn of_lists(n: usize, lists: impl IntoIterator<Item = Vec<usize>>) -> Result<Self, NeighborError> {
        let (mut kept, mut seen, mut beyond) = (Lists::default(), 0, None);
        for (i, list) in lists.into_iter().enumerate() {
            let mut own: Vec<u32> = Vec::with_capacity(list.len());
            for j in list {
                if j >= n {
                    beyond.get_or_insert(NeighborError::NoCandidate { row: i, item: j, len: n });
                    continue;
                }
                // there are fewer items than can be numbered so
                let other = j as u32;
                if j != i && !own.contains(&other) {
                    own.push(other);
                }
            }
            seen += 1;
            kept.push(own);
        }
        kept.shrink();
        match beyond {
            _ if seen != n => Err(NeighborError::CandidateLists { seen, wanted: n }),
            Some(beyond) => Err(beyond),
            None if n > 1 && kept.are_empty() => Err(NeighborError::NoCandidates),
            None => Ok(Self(kept)),
        }
    }

    /// Share of the pairs of `others`, list by list, that are here, too; 1 of none.
    pub fn share_of(&self, others: &Self) -> f64 {
        let hits = |(own, list): (&[u32], &[u32])| list.iter().filter(|item| own.contains(item)).count();
        let all: usize = others.0.iter().map(<[u32]>::len).sum();
        // counts far below 2^52
        if all == 0 { 1.0 } else { self.0.iter().zip(others.0.iter()).map(hits).sum::<usize>() as f64 / all as f64 }
    }

    /// The same of pairs, in the order of each item's first mention.
    ///
    /// # Errors
    /// As [`of_lists`](Self::of_lists).
    pub fn of_pairs(n: usize, pairs: &[Pair]) -> Result<Self, NeighborError> {
        let mut lists = vec![Vec::new(); n];
        for &(i, j) in pairs {
            if i.max(j) >= n {
                return Err(NeighborError::NoCandidate { row: i.min(j), item: i.max(j), len: n });
            }
            lists[i].push(j);
            lists[j].push(i);
        }
        Self::of_lists(n, lists)
    }
}

/// Places in lists of candidates, as a similarity.
struct Places {
    len: usize,
    scores: PairMap<f64>,
}

impl Places {
    fn of(candidates: &Candidates) -> Self {
        let mut scores = PairMap::default();
        for (i, list) in candidates.0.iter().enumerate() {
            for (place, &j) in list.iter().enumerate() {
                // lists are far shorter than 2^52
                let score = 1.0 / (1.0 + place as f64);
                let best = scores.entry((i.min(j as usize), i.max(j as usize))).or_insert(score);
                *best = f64::max(*best, score);
            }
        }
        Self { len: candidates.0.len(), scores }
    }
}

impl Oracle for Places {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.len)
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"places of candidates")])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        for (&(i, j), score) in pairs.iter().zip(out) {
            *score = if i == j { 1.0 } else { self.scores.get(&(i.min(j), i.max(j))).copied().unwrap_or(0.0) };
        }
        Ok(())
    }
}

impl Search {
    /// Begins with these candidates; of two lists, with those across. Where there is no proxy they take its place, and the planned calls are from here on those of a search with one.
    ///
    /// # Errors
    /// Lists of other items.
    pub fn with_candidates(mut self, candidates: Candidates, shape: OracleShape) -> Result<Self, NeighborError> {
        let candidates = Candidates(self.existing(candidates.0));
        let (seen, wanted) = (candidates.0.len(), self.columns.rows());
        if seen != wanted {
            return Err(NeighborError::CandidateLists { seen, wanted });
        }
        if self.proxies.is_empty() && !self.lists_known_first {
            self.proxies = vec![Arc::new(Places::of(&candidates))];
            self.proxy_order = vec![0];
            self = self.with_call_plan(shape);
            if self.is_large {
                self = self.within(candidates.clone())?;
            }
        }
        self.given = candidates.0;
        Ok(self)
    }

    /// The planned calls, and the columns, of a search with a proxy, before its first call.
    fn with_call_plan(mut self, shape: OracleShape) -> Self {
        let call_plan = self.rounds.call_plan(shape, true);
        // without another way to choose pairs there were as many columns or more
        let columns = self.rounds.column_items(self.columns.items(), call_plan.columns);
        self.columns = columns_of(&self.rounds, &call_plan, shape.len, columns);
        self.lists_known_first = call_plan.is_plain;
        self.call_plan = call_plan;
        self
    }

    /// Lists without the pairs that do not exist, where there are two lists of items.
    fn existing(&self, lists: Lists) -> Lists {
        let universe = self.universe();
        if universe.left.is_none() {
            return lists;
        }
        let is_there = |i: usize, item: u32| universe.has((i.min(item as usize), i.max(item as usize)));
        Lists::by_rows(lists.len(), |i, list| list.extend(lists.list(i).iter().filter(|&&item| is_there(i, item))))
    }

    /// Looks at these pairs alone, which an index over the proxies found, in the place of all pairs: where the number of items is so large that a
    /// pass over all pairs takes too long. The items of highest hubness are candidates of everyone, too.
    ///
    /// # Errors
    /// Lists of other items.
    pub fn within(mut self, indexed: Candidates) -> Result<Self, NeighborError> {
        let (seen, wanted) = (indexed.0.len(), self.columns.rows());
        if seen != wanted {
            return Err(NeighborError::CandidateLists { seen, wanted });
        }
        (self.indexed, self.has_index) = (self.existing(indexed.0), true);
        Ok(self)
    }

    /// The items of highest hubness, in the list of everyone, as far as hubness is known.
    pub(super) fn popular(&self) -> Lists {
        let hubness = &self.hubness().items;
        if !hubness.is_known() {
            return Lists::default();
        }
        let h = hubness.values();
        // there are fewer items than can be numbered so
        let mut popular: Vec<u32> = (0..h.len() as u32).collect();
        popular.sort_by(|&a, &b| h[b as usize].rank_cmp(&h[a as usize]).then(a.cmp(&b)));
        popular.truncate(if h.len() < MANY { POPULAR } else { POPULAR / 4 });
        let others = |i: usize, list: &mut Vec<u32>| list.extend(popular.iter().filter(|&&item| item as usize != i));
        self.existing(Lists::by_rows(h.len(), others))
    }

    /// True if there are some.
    pub(super) fn has_given(&self) -> bool {
        !self.given.are_empty()
    }

    /// The next of the given pairs that were not asked for.
    pub(super) fn by_given(&mut self, count: usize) -> Result<Vec<Pair>, NeighborError> {
        if count == 0 || !self.has_given() {
            return Ok(Vec::new());
        }
        self.pool()?;
        let pool = self.pool.as_ref().expect("made above");
        let longest = self.given.iter().map(<[u32]>::len).max().unwrap_or(0);
        let mut seen = std::collections::HashSet::new();
        let mut pairs = Vec::new();
        for place in 0..longest {
            for (i, list) in self.given.iter().enumerate() {
                let Some(&j) = list.get(place) else { continue };
                let pair = (i.min(j as usize), i.max(j as usize));
                let is_open = pool.slot(pair.0, pair.1).is_some_and(|slot| !pool.is_asked(slot));
                if is_open && seen.insert(pair) {
                    pairs.push(pair);
                }
                if pairs.len() == count {
                    return Ok(pairs);
                }
            }
        }
        Ok(pairs)
    }
}
