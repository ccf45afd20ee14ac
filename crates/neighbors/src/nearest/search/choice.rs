//! Which pairs a search asks for next: the trial of its columns, its pool of candidates, and the best of them.

use std::sync::Arc;

use super::estimates::ColumnHubness;
use super::{Columns, Pair, Pool, Search, orders};
use crate::nearest::lists::Lists;
use crate::nearest::places::{highest, places};
use crate::nearest::rank_transform::RankTransform;
use crate::nearest::scan::scan;
use crate::nearest::{NeighborError, trial};

impl Search {
    /// Continues without columns where they are not worth their calls: what is known of them stays known, and other pairs are evaluated in the
    /// place of the rest.
    pub(super) fn judge_trial(&mut self) -> Result<(), NeighborError> {
        if !self.columns.has_trial() {
            return Ok(());
        }
        let n = self.columns.rows();
        let tried = self.columns.tried();
        let mut pool = Pool::new(n, Vec::new(), &tried, &self.proxies)?;
        if self.order_proxies(&pool) {
            pool = Pool::new(n, Vec::new(), &tried, &self.proxies)?;
        }
        if trial::is_worth_columns(&pool, self.columns.items(), self.proxies.len()) {
            return Ok(());
        }
        self.call_plan = self.rounds.without_columns(&self.call_plan);
        self.outside.extend(self.columns.known());
        self.columns = Columns::new(n, Vec::new(), |_| Vec::new());
        Ok(())
    }

    /// The pool, made when it is first needed: from here on hubness is fixed.
    pub(super) fn pool(&mut self) -> Result<&mut Pool, NeighborError> {
        if self.pool.is_none() {
            self.pool = Some(self.first_pool()?);
        } else if !self.outside.is_empty() {
            let (pool, more) = (self.pool.take().expect("there is one"), std::mem::take(&mut self.outside));
            self.is_estimated = false;
            self.pool = Some(pool.with(&more, Vec::new(), &self.proxies)?);
        }
        Ok(self.pool.as_mut().expect("made above"))
    }

    pub(super) fn first_pool(&mut self) -> Result<Pool, NeighborError> {
        let n = self.columns.rows();
        let mut known = std::mem::take(&mut self.outside);
        known.extend(self.columns.known());
        let is_without = self.columns.items().is_empty();
        // one column a list holds no information on an item that it leaves out
        let is_single = self.rounds.params().left.is_some() && self.columns.items().len() < 4;
        if self.rounds.params().hubness && !is_without && !is_single {
            self.hubness = [RankTransform::default(), self.columns.ranks()].map(|transform| {
                let items = self.columns.hubness(&transform);
                ColumnHubness { transform, items }
            });
        }
        let width = self.rounds.width(n);
        let link = if self.is_seeded || (is_without && !self.proxies.is_empty()) {
            None
        } else {
            let mut columns = Pool::new(n, Vec::new(), &known, &self.proxies)?;
            if self.order_proxies(&columns) {
                columns = Pool::new(n, Vec::new(), &known, &self.proxies)?;
            }
            Some(self.fit_link(&columns))
        };
        let lists = match link {
            _ if self.has_index => std::mem::take(&mut self.indexed),
            None if self.is_seeded => self.seeded_candidates(width)?,
            link => {
                let link = link.as_ref().map(|link| (link, &self.hubness().items));
                scan(self.universe(), &self.proxies, link, width, self.is_large)?
            }
        };
        let popular = if self.has_index { self.popular() } else { Lists::default() };
        let mut pool = Pool::new(n, vec![lists, popular, self.given.clone()], &known, &self.proxies)?;
        if self.is_seeded {
            pool.set_fitted(self.fitted());
        }
        Ok(pool)
    }

    /// Puts the proxies in the order in which each predicts, alone, columns that it was not fitted to; true where that is another order.
    pub(super) fn order_proxies(&mut self, columns: &Pool) -> bool {
        if self.proxies.len() < 2 || self.columns.items().len() < 2 {
            return false;
        }
        let errors = self.columns.errors_of_proxies(columns, self.proxies.len());
        !self.reorder(&errors).is_sorted()
    }

    /// Puts the proxies in the order of their errors; their places before.
    pub(super) fn reorder(&mut self, errors: &[f64]) -> Vec<usize> {
        let mut places: Vec<usize> = (0..errors.len()).collect();
        places.sort_by(|&a, &b| errors[a].total_cmp(&errors[b]));
        self.proxies = places.iter().map(|&a| Arc::clone(&self.proxies[a])).collect();
        self.proxy_order = places.iter().map(|&a| self.proxy_order[a]).collect();
        places
    }

    /// True if a search with a seed and other proxies has the pairs to fill the lists, a pair serving two: with fewer the seed is trusted.
    pub(super) fn is_worth_looks(&self) -> bool {
        let lists = (self.columns.rows() * self.rounds.params().k) as u64;
        self.is_seeded && self.proxies.len() > 1 && 2 * self.call_plan.pairs >= lists
    }

    pub(super) fn by_proxy(&mut self, count: usize) -> Result<Vec<Pair>, NeighborError> {
        self.pool()?;
        Ok(self.chosen(count, |pool, _, slot| pool.first_proxy(slot)))
    }

    pub(super) fn by_estimate(&mut self, count: usize) -> Vec<Pair> {
        let pairs = self.chosen(count, |pool, i, slot| self.value(pool, i, slot));
        self.is_estimated = false;
        pairs
    }

    /// The unknown pairs that stand highest by `value`: in the list of either item, or in that of all pairs.
    pub(super) fn chosen(&self, count: usize, value: impl Fn(&Pool, usize, usize) -> f64 + Sync) -> Vec<Pair> {
        let pool = self.pool.as_ref().expect("made before anything is chosen");
        self.highest_of(count, |i, slot| value(pool, i, slot), |_, slot| !pool.is_asked(slot))
    }

    /// The pairs among the `open` that stand highest.
    pub(super) fn highest_of(
        &self,
        count: usize,
        value: impl Fn(usize, usize) -> f64 + Sync,
        open: impl Fn(usize, usize) -> bool + Sync,
    ) -> Vec<Pair> {
        let pool = self.pool.as_ref().expect("made before anything is chosen");
        match self.rounds.params() {
            params if params.pairs => highest(pool, count, value, open),
            params => places(pool, count, value, open, params.left.is_some()),
        }
    }

    /// F: the score where there is one, else the estimate; of a pair that was asked for in one order some of both.
    pub(super) fn value(&self, pool: &Pool, i: usize, slot: usize) -> f64 {
        let estimate = self.estimates[pool.number(slot)];
        match pool.is_asked(slot) {
            false => estimate,
            true if self.is_observed(pool, i, slot) => orders::blended(pool.score(slot), estimate),
            true => pool.score(slot),
        }
    }
}
