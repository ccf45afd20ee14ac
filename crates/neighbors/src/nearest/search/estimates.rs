//! Estimates of a search: the link of the proxies and of hubness, what kriging adds, and whether both work on scores or on ranks.

use rayon::prelude::*;

use super::{Arm, Learnt, RoundReport, Search};
use crate::nearest::kriging::{Choice, Kernel, concordance};
use crate::nearest::lists::{Lists, ROWS_PER_CHUNK, by_rows};
use crate::nearest::pairwise::{self, Pairwise, Process, Weights};
use crate::nearest::places::ranked;
use crate::nearest::pool::{MANY, Pool};
use crate::nearest::rank_transform::RankTransform;
use crate::nearest::scan::scan_estimates;
use crate::nearest::{NeighborError, PROXY};
use landmark_core::hubness::{HubLink, Hubness, LinkRow};
use landmark_core::oracle::OracleError;
use landmark_core::rank::RankCmp;

/// What ranks predict of the order of known pairs beyond the scores, from which on they are preferred.
const CLEARLY: f64 = 0.025;

/// Neighbors of an item, those that it scores best with beyond the link, whose own neighbors become its candidates in every round. Half as many if there
/// are [`MANY`] items: at 50,000 items of random vectors, that and fewer popular items cost .003 of recall@10 at 10 calls per item.
const NEIGHBORS: usize = 8;

/// Neighbors of each of them: its nearest by the proxy.
const NEIGHBORS_OF_NEIGHBOR: usize = 8;

/// Hubness of the items by the scores of the columns, or by their ranks.
#[derive(Clone)]
pub(super) struct ColumnHubness {
    pub(super) transform: RankTransform,
    pub(super) items: Hubness,
}

impl ColumnHubness {
    pub(super) fn unknown(n: usize) -> Self {
        Self { transform: RankTransform::default(), items: Hubness::unknown(n) }
    }
}

impl Search {
    /// The link, on all known pairs: those of columns with the hubness that leaves the column out.
    pub(super) fn fit_link(&self, pool: &Pool) -> HubLink {
        let n = pool.len();
        let ColumnHubness { transform, items: hubness } = self.hubness();
        let h = hubness.values();
        let rows = |chunk: usize, take: &mut dyn FnMut(LinkRow<'_>)| {
            for i in chunk * ROWS_PER_CHUNK..((chunk + 1) * ROWS_PER_CHUNK).min(n) {
                for slot in pool.row(i).filter(|&slot| pool.teaches(i, slot)) {
                    let (j, score) = (pool.other(slot), pool.score(slot));
                    let one = match (self.columns.number(i), self.columns.number(j)) {
                        (_, Some(a)) if hubness.is_known() => {
                            hubness.without(i, self.columns.score(i, a).map(|score| (a, transform.at(score))))
                        }
                        (None, None) if i < j => h[i],
                        // known columns are read from the other side
                        (_, None) => continue,
                        _ => h[i],
                    };
                    take(LinkRow { hubness: (one, h[j]), proxies: pool.proxies(slot), score });
                }
            }
        };
        HubLink::fit(self.proxies.len(), hubness.is_known(), n.div_ceil(ROWS_PER_CHUNK), rows)
    }

    /// E of every candidate pair, unless it stands already; `is_last`: no round follows, the lists do.
    pub(super) fn estimate(&mut self, is_last: bool) -> Result<(), NeighborError> {
        self.pool()?;
        if self.is_estimated {
            return Ok(());
        }
        if self.is_seeded && self.best_arm != Arm::Learnt {
            self.show(false);
            self.estimate_by_seed();
            return Ok(());
        }
        self.learn(is_last)
    }

    /// E by the link, kriging and the process; by the seed if nothing teaches.
    pub(super) fn learn(&mut self, is_last: bool) -> Result<(), NeighborError> {
        self.pool()?;
        if self.is_seeded && !self.is_taught() {
            self.estimate_by_seed();
            return Ok(());
        }
        // freed first: they are computed again below
        (self.estimates, self.is_estimated, self.others) = (Vec::new(), false, Vec::new());
        // the process lost its place to another way, which makes the lists, too
        let is_without = is_last && matches!(self.best_arm, Arm::WithoutProcess | Arm::OtherScale);
        let link = self.choose_transform()?;
        self.expand(&link)?;
        let is_compared = self.rounds.params().looks && !is_last && !self.is_seeded && !self.call_plan.is_plain;
        let other_scale = if is_compared { self.other_scale()? } else { None };
        let (process, weights) = if is_without { (None, Weights::KRIGING) } else { self.process(&link, is_last)? };
        let pool = self.pool.as_ref().expect("made above");
        let (choice, kriged) = self.krige(pool, &link, |_| true)?;
        let kriged = kriged.unwrap_or_else(|| vec![0.0; pool.pair_count()]);
        let mut others = Vec::new();
        if is_compared && process.is_some() {
            let estimates = self.linked_and(pool, &link, kriged.clone(), 1.0);
            others.push(Learnt { arm: Arm::WithoutProcess, by_rank: self.by_rank, estimates });
        }
        let mut estimates = self.linked_and(pool, &link, kriged, weights.kriging);
        if let Some(process) = &process {
            let predicted = pairwise::predict(process, pool);
            estimates
                .par_iter_mut()
                .zip(predicted)
                .for_each(|(value, predicted)| *value += weights.process * predicted);
        }
        let judged = |&i: &usize| pool.row(i).filter(|&slot| pool.teaches(i, slot)).count();
        let count = self.judges.iter().map(judged).sum::<usize>().max(1) as f64;
        self.reports.push(RoundReport {
            asked: self.asked,
            ranks: self.by_rank,
            lambda: choice.lambda,
            error_without: (choice.without / count).sqrt(),
            error_with: (choice.with / count).sqrt(),
            kriging_weight: if choice.lambda.is_some() { weights.kriging } else { 0.0 },
            process_weight: weights.process,
        });
        others.extend(other_scale.map(|link| self.of_other_scale(&link)).transpose()?);
        (self.estimates, self.is_estimated, self.others) = (estimates, true, others);
        self.correct(|i, j| process.as_ref().map_or(0.0, |process| weights.process * process.at(i, j)));
        Ok(())
    }

    /// The link, and what kriging adds to it of a pair without a score, in the memory of the latter.
    fn linked_and(&self, pool: &Pool, link: &HubLink, mut kriged: Vec<f64>, weight: f64) -> Vec<f64> {
        by_rows(pool.firsts(), &mut kriged).enumerate().for_each(|(i, row)| {
            for (value, slot) in row.iter_mut().zip(pool.upper(i)) {
                let kriged = if pool.is_asked(slot) { 0.0 } else { weight * *value };
                *value = self.linked(pool, link, i, slot) + kriged;
            }
        });
        kriged
    }

    /// The link of ranks where scores are shown, of scores where ranks are, with its candidates; none where there is one scale, or where it takes too long.
    fn other_scale(&mut self) -> Result<Option<HubLink>, NeighborError> {
        if !self.rounds.params().rank_transform || self.is_large {
            return Ok(None);
        }
        let by_rank = self.by_rank;
        let link = self.transform(!by_rank);
        self.expand(&link)?;
        self.show(by_rank);
        Ok(Some(link))
    }

    /// Estimates by the link of the other scale, and kriging.
    fn of_other_scale(&mut self, link: &HubLink) -> Result<Learnt, NeighborError> {
        let by_rank = !self.by_rank;
        self.show(by_rank);
        let pool = self.pool.as_ref().expect("made before");
        let (_, kriged) = self.krige(pool, link, |_| true)?;
        let estimates = self.linked_and(pool, link, kriged.unwrap_or_else(|| vec![0.0; pool.pair_count()]), 1.0);
        self.show(!by_rank);
        Ok(Learnt { arm: Arm::OtherScale, by_rank, estimates })
    }

    /// The link on the scale that rounds have shown to be better; before, on scores, or on their ranks where they predict the order of known pairs clearly
    /// better. The pool and hubness show the same.
    fn choose_transform(&mut self) -> Result<HubLink, NeighborError> {
        if let Some(ranks) = self.learns_ranks {
            return Ok(self.transform(ranks));
        }
        let by_scores = self.transform(false);
        if !self.rounds.params().rank_transform || self.call_plan.is_plain {
            return Ok(by_scores);
        }
        let order_by_scores = self.concordance(&by_scores)?;
        let by_ranks = self.transform(true);
        if self.concordance(&by_ranks)? - order_by_scores >= CLEARLY {
            return Ok(by_ranks);
        }
        self.show(false);
        Ok(by_scores)
    }

    /// The link on ranks, or on the scores, which the pool and hubness show from now on.
    fn transform(&mut self, to_ranks: bool) -> HubLink {
        if to_ranks {
            self.ranks = self.pool.as_ref().expect("made before").ranks();
        }
        self.show(to_ranks);
        self.fit_link(self.pool.as_ref().expect("made before"))
    }

    /// Makes the pool and hubness show ranks, those of the scores that were known when they were last learnt from, or the scores.
    pub(super) fn show(&mut self, ranks: bool) {
        self.by_rank = ranks;
        if let Some(pool) = &mut self.pool {
            pool.transform_by(if ranks { self.ranks.clone() } else { RankTransform::default() });
        }
    }

    /// How much of the order of known pairs is predicted, each without its own score.
    fn concordance(&self, link: &HubLink) -> Result<f64, NeighborError> {
        let pool = self.pool.as_ref().expect("made before");
        let failed = |source| NeighborError::Proxy { role: PROXY, number: 1, source };
        let kernel = self.kernel().transpose().map_err(failed)?;
        concordance(kernel.as_ref(), pool, &|i, slot| self.linked(pool, link, i, slot), &self.judges).map_err(failed)
    }

    /// The seed, pair by pair.
    fn by_seed(&self) -> Vec<f64> {
        let pool = self.pool.as_ref().expect("made before");
        let seed = self.place_of_seed();
        (0..pool.pair_count()).map(|pair| pool.proxies_of(pair)[seed]).collect()
    }

    /// E is the seed: where nothing teaches, or where another way of choosing than by what was learnt found more neighbors.
    fn estimate_by_seed(&mut self) {
        self.estimates = self.by_seed();
        self.is_estimated = true;
        let (mut sum, mut count) = (0.0, 0.0);
        let pool = self.pool.as_ref().expect("made before");
        let taught = |&i: &usize| pool.row(i).filter(move |&slot| pool.teaches(i, slot));
        for slot in self.judges.iter().flat_map(taught) {
            (sum, count) = (sum + (pool.score(slot) - self.estimates[pool.number(slot)]).powi(2), count + 1.0);
        }
        let error = (sum / f64::max(count, 1.0)).sqrt();
        let (asked, error_without, error_with) = (self.asked, error, error);
        self.reports.push(RoundReport { asked, error_without, error_with, ..RoundReport::default() });
    }

    /// True where some pair of the pool teaches.
    fn is_taught(&self) -> bool {
        self.pool.as_ref().is_some_and(|pool| (0..pool.len()).any(|i| pool.upper(i).any(|slot| pool.teaches(i, slot))))
    }

    /// Hubness as the link sees it.
    pub(super) fn hubness(&self) -> &ColumnHubness {
        &self.hubness[usize::from(self.by_rank)]
    }

    /// The main proxy, where rows are kriged.
    fn kernel(&self) -> Option<Result<Kernel<'_>, OracleError>> {
        let proxy = self.proxies.first().filter(|_| self.rounds.params().kriging);
        proxy.map(|proxy| Kernel::new(&**proxy))
    }

    /// The link at the pair of slot of row i.
    fn linked(&self, pool: &Pool, link: &HubLink, i: usize, slot: usize) -> f64 {
        let h = self.hubness().items.values();
        link.at((h[i], h[pool.other(slot)]), pool.proxies(slot))
    }

    /// New candidates: the proxy's nearest of those that an item scores with far better than the link expects. Kriging ranks them high,
    /// and the link alone had no reason to list them. Where all pairs are candidates there is nothing to add.
    fn expand(&mut self, link: &HubLink) -> Result<(), NeighborError> {
        let pool = self.pool.as_ref().expect("made before");
        let n = pool.len();
        // of two lists a neighbor of a neighbor is in the list of the item itself
        let adds_nothing = self.is_whole(pool) || self.rounds.params().left.is_some();
        if self.proxies.is_empty() || !self.rounds.params().kriging || self.call_plan.is_plain || adds_nothing {
            return Ok(());
        }
        let nearest = Lists::by_rows(n, |i, row| {
            let slots =
                ranked(pool, i, &|_, slot: usize| pool.first_proxy(slot)).into_iter().take(NEIGHBORS_OF_NEIGHBOR);
            // the index of an item in a pool fits
            row.extend(slots.map(|slot| pool.other(slot) as u32));
        });
        let neighbors = if n < MANY { NEIGHBORS } else { NEIGHBORS / 2 };
        let lists = Lists::by_rows(n, |i, row| {
            let known = pool.row(i).filter(|&slot| pool.teaches(i, slot));
            let left = known.map(|slot| (pool.score(slot) - self.linked(pool, link, i, slot), pool.other(slot)));
            let mut better: Vec<(f64, usize)> = left.filter(|&(left, _)| left > 0.0).collect();
            better.sort_unstable_by(|one, other| other.0.rank_cmp(&one.0).then(one.1.cmp(&other.1)));
            let second = better.into_iter().take(neighbors).flat_map(|(_, o)| nearest.list(o).iter().copied());
            row.extend(second.filter(|&j| j as usize != i && pool.slot(i, j as usize).is_none()));
        });
        let pool = self.pool.take().expect("made before");
        self.pool = Some(pool.with(&[], vec![lists], &self.proxies)?);
        Ok(())
    }

    /// True if all pairs that exist are candidates.
    fn is_whole(&self, pool: &Pool) -> bool {
        pool.pair_count() as u64 == self.universe().len()
    }

    /// The link, pair by pair.
    fn linked_pairs(&self, pool: &Pool, link: &HubLink) -> Vec<f64> {
        let mut linked = vec![0.0; pool.pair_count()];
        by_rows(pool.firsts(), &mut linked).enumerate().for_each(|(i, row)| {
            for (value, slot) in row.iter_mut().zip(pool.upper(i)) {
                *value = self.linked(pool, link, i, slot);
            }
        });
        linked
    }

    /// What kriging adds to the link, pair by pair, at `wanted` slots without a score; `None` where it adds nothing.
    fn krige(
        &self,
        pool: &Pool,
        link: &HubLink,
        wanted: impl Fn(usize) -> bool + Sync,
    ) -> Result<(Choice, Option<Vec<f64>>), NeighborError> {
        let none = Choice { lambda: None, without: 0.0, with: 0.0 };
        let failed = |source| NeighborError::Proxy { role: PROXY, number: 1, source };
        let Some(kernel) = self.kernel().transpose().map_err(failed)? else { return Ok((none, None)) };
        let linked = |i: usize, slot: usize| self.linked(pool, link, i, slot);
        let choice = kernel.choose(pool, &linked, &self.judges).map_err(failed)?;
        let Some(lambda) = choice.lambda else { return Ok((choice, None)) };
        Ok((choice, Some(kernel.predict(pool, &linked, lambda, wanted).map_err(failed)?)))
    }

    /// The Gaussian process over pairs, fitted to what the link leaves over, and the weights of kriging and of it. Pairs that stand high by it become candidates.
    fn process(&mut self, link: &HubLink, is_last: bool) -> Result<(Option<Process>, Weights), NeighborError> {
        let mut pool = self.pool.take().expect("made before");
        let fitted = self.process_of(&mut pool, link, is_last);
        self.pool = Some(pool);
        let (process, weights) = fitted?;
        if let Some(process) = &process {
            self.scan_by(process, link, weights)?;
        }
        Ok((process, weights))
    }

    fn process_of(
        &mut self,
        pool: &mut Pool,
        link: &HubLink,
        is_last: bool,
    ) -> Result<(Option<Process>, Weights), NeighborError> {
        let is_wanted = self.rounds.params().pairwise && !self.call_plan.is_plain && pool.len() <= pairwise::MOST_ITEMS;
        if !is_wanted || self.order.is_empty() {
            return Ok((None, Weights::KRIGING));
        }
        let mut pairwise = match self.pairwise.take() {
            Some(pairwise) => pairwise,
            // factors describe the items by the score itself
            None => {
                let only = self.is_seeded.then(|| self.place_of_seed());
                Pairwise::new(pool.len(), &self.order, &self.proxies, only, self.is_large)?
            }
        };
        let h = self.hubness().items.values();
        let at = |i: usize, j: usize, proxies: &[f64]| link.at((h[i], h[j]), proxies);
        let linked = self.linked_pairs(pool, link);
        if pairwise.is_to_be_weighed(is_last, self.by_rank) {
            let hidden = pairwise.hidden(pool);
            if hidden.is_empty() {
                pairwise.weigh_nothing();
            } else {
                let slots = || hidden.iter().map(|&(_, slot)| slot);
                let left: Vec<f64> = slots().map(|slot| pool.score(slot) - linked[pool.number(slot)]).collect();
                pool.hide(slots());
                let mut is_hidden = vec![false; pool.pair_count()];
                slots().for_each(|slot| is_hidden[pool.number(slot)] = true);
                let kriged = self.krige(pool, link, |slot| is_hidden[pool.number(slot)]);
                let kriged = kriged.map(|(_, kriged)| -> Vec<f64> {
                    slots().map(|slot| kriged.as_ref().map_or(0.0, |kriged| kriged[pool.number(slot)])).collect()
                });
                let process = pairwise.fit(pool, &linked, &at, true);
                pool.reveal(slots());
                let kriged = kriged?;
                let rows = hidden.iter().map(|&(i, slot)| (i, pool.other(slot)));
                let predicted: Vec<f64> = match process? {
                    Some(process) => rows.map(|(i, j)| process.at(i, j)).collect(),
                    None => vec![0.0; hidden.len()],
                };
                pairwise.weigh(&left, &kriged, &predicted, self.by_rank);
            }
        }
        let weights = pairwise.weights();
        let process = if weights.process > 0.0 { pairwise.fit(pool, &linked, &at, false)? } else { None };
        pairwise.end_round();
        self.pairwise = Some(pairwise);
        Ok((process, weights))
    }

    /// Adds the best pairs of every item by the link and the process to the pool: in every round where all pairs can be looked at in a moment,
    /// else once.
    fn scan_by(&mut self, process: &Process, link: &HubLink, weights: Weights) -> Result<(), NeighborError> {
        let pool = self.pool.as_ref().expect("made before");
        let n = pool.len();
        if self.is_whole(pool) || self.has_index || (self.is_large && self.is_scanned) {
            return Ok(());
        }
        self.is_scanned = true;
        let hubness = &self.hubness().items;
        // of many items, half as many keep the pool within its memory
        let width = self.rounds.width(n) / if self.is_large { 2 } else { 1 };
        let lists = scan_estimates(
            self.universe(),
            &self.proxies,
            (link, hubness),
            (&|rows, columns| process.block(rows, columns), weights.process),
            width,
            self.is_large,
        )?;
        let pool = self.pool.take().expect("made before");
        self.pool = Some(pool.with(&[], vec![lists], &self.proxies)?);
        Ok(())
    }
}
