//! All pairs from a similarity on: factors of uniform columns around the proxy estimate every pair, and those of high estimate are evaluated.
//!
//! ```text
//! audited pairs        by the estimate down to a cut, then a uniform sample of the rest (`recall::pairs_with_recall`), as `mine --target-recall` does
//! no columns           the same, with the proxy alone for an estimate
//! held-out columns     θ by `held_out_columns`, the rule that audited pairs replaced
//! columns believed     θ by the same columns, without a bound
//! labels               no columns: a number of labels an item, drawn by the proxy; θ on the proxy by `LabelSample` (SUPG, LOTUS)
//! truth                the highest θ on the estimate that finds the share
//! ```

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError, Link, Proxied, ShiftRidgeParams};
use landmark_core::approximation::{Embedding, Known};
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, Pair, block_of};
use landmark_core::rank::RankCmp;
use landmark_neighbors::recall::{Batch, PairQuery, PairSource, PairsEnd, Target, pairs_with_recall};

use super::held_out_columns::PairAudit;
use super::labels::LabelSample;
use super::{Draw, Stated, Statements, Way};
use landmark_harness::job::JobError;
use landmark_own::own_data::held_out::{Positives, positives};

pub(super) const DRAWN: &str = "Over draws of columns, of audited pairs and of labeled pairs. A label budget evaluates no columns and ranks pairs by the proxy. Its labeled \
     pairs are calls and count as found, so its price can be below 0.";

/// Pairs of a draw, as the columns and as the labels see them.
pub(super) struct Pairs {
    items: usize,
    at_least: f64,
    /// Pairs that are to be found.
    wanted: usize,
    column_pairs: usize,
    /// Those of them that are to be found.
    wanted_in_columns: usize,
    /// All others, the highest estimate first.
    candidates: Vec<Candidate>,
    is_column: Vec<bool>,
    /// All pairs, the highest proxy first.
    by_proxy: Vec<Candidate>,
    held_out: PairAudit,
    labels: Vec<Labels>,
}

/// A pair outside the columns.
struct Candidate {
    pair: Pair,
    estimate: f64,
    is_wanted: bool,
}

impl Pairs {
    /// `None` where no pair is wanted.
    pub(super) fn of(
        draw: &Draw<'_>,
        at_least: f64,
        columns: usize,
        labels: &[usize],
    ) -> Result<Option<Self>, JobError> {
        let matrix = draw.oracle.matrix();
        let items = matrix.nrows();
        if columns >= items {
            let message =
                format!("`coverage.columns` is {columns}, but must be below the {items} items: else all is known");
            return Err(message.as_str().into());
        }
        let columns = &draw.landmarks.order()[..columns];
        let mut is_column = vec![false; items];
        columns.iter().for_each(|&item| is_column[item] = true);

        let embedding = fit(draw, columns, &HashSet::new())?;
        let (mut candidates, mut column_pairs, mut wanted_in_columns) = (Vec::new(), 0, 0);
        for i in 0..items {
            let estimates = embedding.vectors.dot(&(&embedding.vectors.row(i) * &embedding.signature));
            for j in 0..i {
                let is_wanted = matrix[[i, j]] >= at_least;
                if is_column[i] || is_column[j] {
                    column_pairs += 1;
                    wanted_in_columns += usize::from(is_wanted);
                } else {
                    candidates.push(Candidate { pair: (j, i), estimate: estimates[j], is_wanted });
                }
            }
        }
        candidates.sort_by(|one, other| other.estimate.rank_cmp(&one.estimate));
        let wanted = wanted_in_columns + candidates.iter().filter(|candidate| candidate.is_wanted).count();
        if wanted == 0 {
            return Ok(None);
        }
        let Positives { estimates, between } =
            positives(draw.oracle, columns, at_least, |held| fit(draw, columns, held))?;
        let held_out = PairAudit::new(items, estimates, between);
        let all = labelled(draw, at_least)?;
        let by_proxy = |one: &Labelled| Candidate { pair: one.pair, estimate: one.proxy, is_wanted: one.is_wanted };
        let mut by_proxy: Vec<Candidate> = all.iter().map(by_proxy).collect();
        by_proxy.sort_by(|one, other| other.estimate.total_cmp(&one.estimate));
        let labels = Labels::draw(draw, &all, labels);
        Ok(Some(Self {
            items,
            at_least,
            wanted,
            column_pairs,
            wanted_in_columns,
            candidates,
            is_column,
            by_proxy,
            held_out,
            labels,
        }))
    }

    /// Statements of the draw, for each target.
    pub(super) fn statements(&self, draw: &Draw<'_>, targets: &[Target]) -> Vec<Option<Statements>> {
        let of = |&target: &Target| {
            let bound = self.held_out.threshold(target).map(|bound| bound.threshold);
            let mut by = vec![
                (Way::new("default", "audited pairs"), self.audited(draw, target)),
                (Way::new("audited_proxy", "audited pairs, no columns"), self.audited_by_proxy(draw, target)),
                (Way::new("held_out", "held-out columns"), bound.map(|threshold| self.above(threshold))),
                (
                    Way::new("plug_in", "columns believed"),
                    self.held_out.believed(target.recall()).map(|threshold| self.above(threshold)),
                ),
            ];
            for labels in &self.labels {
                let name = format!("{} labels an item (SUPG)", labels.sample.records.len() / self.items);
                by.push((Way::new("labels", name), Some(labels.stated(target, self.wanted))));
            }
            Some(Statements { by_truth: self.above(self.truth(target.recall())), by })
        };
        targets.iter().map(of).collect()
    }

    /// The columns, and pairs until an audit of the others passes.
    fn audited(&self, draw: &Draw<'_>, target: Target) -> Option<Stated> {
        let mut source = Scored { draw, is_known: &self.is_column, order: &self.candidates, calls: 0 };
        let found = source.search(self.query(target, self.column_pairs, self.wanted_in_columns))?;
        let found = self.wanted_in_columns + found;
        let calls = self.column_pairs as u64 + source.calls;
        Some(Stated { recall: found as f64 / self.wanted as f64, calls })
    }

    /// The same without columns, in the order of the proxy.
    fn audited_by_proxy(&self, draw: &Draw<'_>, target: Target) -> Option<Stated> {
        let is_known = vec![false; self.items];
        let mut source = Scored { draw, is_known: &is_known, order: &self.by_proxy, calls: 0 };
        let found = source.search(self.query(target, 0, 0))?;
        Some(Stated { recall: found as f64 / self.wanted as f64, calls: source.calls })
    }

    fn query(&self, target: Target, known: usize, positives: usize) -> PairQuery {
        let (known, known_positives) = (known as u64, positives as u64);
        PairQuery { items: self.items, at_least: self.at_least, target, known, known_positives }
    }

    /// The columns, and every other pair whose estimate is at least this, evaluated.
    fn above(&self, threshold: f64) -> Stated {
        let taken = self.candidates.partition_point(|candidate| candidate.estimate >= threshold);
        let wanted = self.candidates[..taken].iter().filter(|candidate| candidate.is_wanted).count();
        // counts far below 2^52
        Stated {
            recall: (self.wanted_in_columns + wanted) as f64 / self.wanted as f64,
            calls: (self.column_pairs + taken) as u64,
        }
    }

    /// The highest threshold whose recall is ρ; infinite where the columns are enough.
    fn truth(&self, recall: f64) -> f64 {
        // in whole pairs; rounding adds none
        let needed = (recall * self.wanted as f64 - 1e-9).ceil() as usize;
        let Some(missing) = needed.checked_sub(self.wanted_in_columns + 1) else { return f64::INFINITY };
        let mut wanted = self.candidates.iter().filter(|candidate| candidate.is_wanted);
        wanted.nth(missing).map_or(f64::INFINITY, |candidate| candidate.estimate)
    }
}

/// Pairs whose scores are known to the study: each that is asked for counts as a call.
struct Scored<'a, 'b> {
    draw: &'a Draw<'b>,
    /// Items whose columns were evaluated.
    is_known: &'a [bool],
    order: &'a [Candidate],
    calls: u64,
}

impl Scored<'_, '_> {
    /// Pairs found beyond those that were known; `None` without a statement.
    fn search(&mut self, query: PairQuery) -> Option<usize> {
        let target = query.target;
        let mut rng = self.draw.stream(&format!("audited pairs, {} at {}", target.recall(), target.delta()));
        let found = pairs_with_recall(query, self, &mut rng).unwrap_or_else(|never| match never {});
        matches!(found.end, PairsEnd::Reached | PairsEnd::Exact).then_some(found.found.len())
    }
}

impl PairSource for Scored<'_, '_> {
    type Error = Infallible;

    fn is_known(&self, (i, j): Pair) -> bool {
        self.is_known[i] || self.is_known[j]
    }

    fn best(&mut self, count: usize) -> Vec<Pair> {
        self.order.iter().take(count).map(|one| one.pair).collect()
    }

    fn evaluate(&mut self, pairs: &[Pair]) -> Result<Vec<f64>, Infallible> {
        self.calls += pairs.len() as u64;
        let matrix = self.draw.oracle.matrix();
        Ok(pairs.iter().map(|&(i, j)| matrix[[j, i]]).collect())
    }

    fn may_evaluate(&mut self, _: &Batch<'_>) -> Result<bool, Infallible> {
        Ok(true)
    }
}

/// shift_ridge around the proxy on the columns that are not held out, as the factors of `mine` are.
fn fit(draw: &Draw<'_>, columns: &[usize], held: &HashSet<usize>) -> Result<Embedding, JobError> {
    let left: Vec<usize> = columns.iter().copied().filter(|item| !held.contains(item)).collect();
    let rank = left.len();
    let landmarks = Landmarks::new(draw.oracle.len(), left, Vec::new()).map_err(ApproximateError::from)?;
    let shift_ridge = ShiftRidgeParams::default().check()?;
    let method = Proxied::new(Arc::new(shift_ridge), Arc::clone(&draw.proxy), Link::default());
    let fit = method.fit(draw.oracle, &landmarks, rank, Known::NOTHING, &mut draw.stream("fit"))?;
    Ok(fit.into_embedding()?)
}

/// Single pairs that were labelled, and all pairs by their proxy.
struct Labels {
    sample: LabelSample,
    /// Of each draw of the sample.
    is_wanted: Vec<bool>,
    pairs: Arc<Vec<Labelled>>,
}

/// A pair as the labels see it.
struct Labelled {
    pair: Pair,
    proxy: f64,
    is_wanted: bool,
}

/// All pairs by their proxy.
fn labelled(draw: &Draw<'_>, at_least: f64) -> Result<Arc<Vec<Labelled>>, JobError> {
    let matrix = draw.oracle.matrix();
    let all: Vec<usize> = (0..matrix.nrows()).collect();
    let proxy = block_of(draw.proxy.as_ref(), &all, &all)?;
    let below = all.iter().flat_map(|&i| (0..i).map(move |j| [i, j]));
    let pair = |at: [usize; 2]| Labelled { pair: (at[1], at[0]), proxy: proxy[at], is_wanted: matrix[at] >= at_least };
    Ok(Arc::new(below.map(pair).collect()))
}

impl Labels {
    /// Samples of each of these numbers of labels an item.
    fn draw(draw: &Draw<'_>, pairs: &Arc<Vec<Labelled>>, per_item: &[usize]) -> Vec<Self> {
        let proxies: Vec<f64> = pairs.iter().map(|pair| pair.proxy).collect();
        let sampled = |&labels: &usize| {
            let sample = LabelSample::draw(&proxies, labels * draw.oracle.len(), &mut draw.stream("labels"));
            let is_wanted = sample.records.iter().map(|&record| pairs[record].is_wanted).collect();
            Self { sample, is_wanted, pairs: Arc::clone(pairs) }
        };
        per_item.iter().map(sampled).collect()
    }

    /// Pairs at or above the threshold are evaluated, labelled ones are already.
    fn stated(&self, target: Target, wanted: usize) -> Stated {
        let threshold = self.sample.threshold(&self.is_wanted, target);
        let mut is_known: Vec<bool> = self.pairs.iter().map(|pair| pair.proxy >= threshold).collect();
        self.sample.records.iter().for_each(|&record| is_known[record] = true);
        let known = || self.pairs.iter().zip(&is_known).filter(|(_, is_known)| **is_known);
        let found = known().filter(|(pair, _)| pair.is_wanted).count();
        Stated { recall: found as f64 / wanted as f64, calls: known().count() as u64 }
    }
}
