//! All pairs from a similarity on: factors of uniform columns around the proxy estimate every pair, and those at or above a threshold θ on the estimate are evaluated.
//!
//! ```text
//! held-out columns     θ by `recall::PairAudit`, the rule that audited pairs replaced in `mine --target-recall`; a baseline
//! columns believed     θ by the same columns, without a bound
//! labels               no columns: so many labels an item, drawn by the proxy; θ on the proxy by `recall::LabelSample` (SUPG, LOTUS)
//! told the truth       the highest θ on the estimate that finds the share
//! ```

use std::collections::HashSet;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError, Link, Proxied, ShiftRidgeParams};
use landmark_core::approximation::{Embedding, Known};
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, block_of};
use landmark_core::rank::RankCmp;
use landmark_neighbours::recall::{LabelSample, PairAudit, Target};

use super::super::own_data::held_out;
use super::{Draw, Stated, Statements, Way};
use crate::job::JobError;

/// What is drawn.
pub(super) const DRAWN: &str = "Over draws of columns, and of single pairs to be labelled by the score. A label budget pays for no columns and ranks pairs by the proxy; its labelled \
     pairs are calls, and found where they are wanted, so that its price can be below 0.";

/// Pairs of a draw, as the columns and as the labels see them.
pub(super) struct Pairs {
    items: usize,
    /// Pairs that are to be found.
    wanted: usize,
    /// Pairs of the columns.
    column_pairs: usize,
    /// Those of them that are to be found.
    wanted_in_columns: usize,
    /// All others, the highest estimate first.
    candidates: Vec<Candidate>,
    audit: PairAudit,
    labels: Vec<Labels>,
}

/// A pair outside the columns.
struct Candidate {
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
                    candidates.push(Candidate { estimate: estimates[j], is_wanted });
                }
            }
        }
        candidates.sort_by(|one, other| other.estimate.rank_cmp(&one.estimate));
        let wanted = wanted_in_columns + candidates.iter().filter(|candidate| candidate.is_wanted).count();
        if wanted == 0 {
            return Ok(None);
        }
        let audit = held_out::pairs(draw.oracle, columns, at_least, |held| fit(draw, columns, held))?;
        let labels = Labels::draw(draw, at_least, labels)?;
        Ok(Some(Self { items, wanted, column_pairs, wanted_in_columns, candidates, audit, labels }))
    }

    /// Statements of the draw, for each target.
    pub(super) fn statements(&self, targets: &[Target]) -> Vec<Option<Statements>> {
        let of = |&target: &Target| {
            let bound = self.audit.threshold(target).ok().map(|bound| bound.threshold);
            let mut by = vec![
                (Way::new("default", "held-out columns"), bound.map(|threshold| self.above(threshold))),
                (
                    Way::new("plug_in", "columns believed"),
                    self.audit.believed(target.recall()).map(|threshold| self.above(threshold)),
                ),
            ];
            for labels in &self.labels {
                let name = format!("{} labels an item (SUPG)", labels.sample.records.len() / self.items);
                by.push((Way::new("labels", name), Some(labels.stated(target, self.wanted))));
            }
            Some(Statements { told: self.above(self.truth(target.recall())), by })
        };
        targets.iter().map(of).collect()
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
    proxy: f64,
    is_wanted: bool,
}

impl Labels {
    /// Samples of so many labels an item.
    fn draw(draw: &Draw<'_>, at_least: f64, per_item: &[usize]) -> Result<Vec<Self>, JobError> {
        let matrix = draw.oracle.matrix();
        let all: Vec<usize> = (0..matrix.nrows()).collect();
        let proxy = block_of(draw.proxy.as_ref(), &all, &all)?;
        let below = all.iter().flat_map(|&i| (0..i).map(move |j| [i, j]));
        let pairs: Vec<Labelled> =
            below.map(|pair| Labelled { proxy: proxy[pair], is_wanted: matrix[pair] >= at_least }).collect();
        let pairs = Arc::new(pairs);
        let proxies: Vec<f64> = pairs.iter().map(|pair| pair.proxy).collect();
        let sampled = |&labels: &usize| {
            let sample = LabelSample::draw(&proxies, labels * all.len(), &mut draw.stream("labels"));
            let is_wanted = sample.records.iter().map(|&record| pairs[record].is_wanted).collect();
            Self { sample, is_wanted, pairs: Arc::clone(&pairs) }
        };
        Ok(per_item.iter().map(sampled).collect())
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
