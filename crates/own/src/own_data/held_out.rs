//! Landmark columns against fits that have not seen them: what is known of the recall of factors without a further call.
//!
//! ```text
//! 5 folds over the columns; for each one fit without it, from what the store holds; its columns are then rows of K whose candidates can be judged
//! ```
//! Bounds and their conditions: `landmark_neighbors::recall`. The landmarks must be uniform. Cost: five fits, no call; memory that of one fit.

use std::collections::HashSet;

use landmark_core::approximate::ApproximateError;
use landmark_core::approximation::{Embedding, Known};
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, block_of};
use landmark_core::rank::RankCmp;
use landmark_core::stream::stream;
use landmark_neighbors::recall::{depth_shares, folds};
use ndarray::{Array1, Array2};

use landmark_harness::config::{LandmarkConfig, MatrixSubject};
use landmark_harness::job::JobError;
use landmark_harness::sweep::context::SweepContext;
use landmark_harness::sweep::{Comparison, Setting};

/// Growth of the depth from step to step.
const GROWTH: f64 = 1.2;

/// Factors that are judged: their rank, and the items whose columns they were made from.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// s of the fit.
    pub rank: usize,
    /// T.
    pub columns: &'a [usize],
}

/// Reason why columns show nothing of the others, in words; `None` where they do.
pub fn not_uniform(matrix: &MatrixSubject) -> Option<String> {
    if let Some(method) = matrix.methods.iter().find(|method| method.chooses_pairs()) {
        return Some(format!(
            "`{}` chooses other pairs in every fit, and a fit without a part of the columns would evaluate others",
            method.name
        ));
    }
    match &matrix.landmarks {
        LandmarkConfig::Uniform => None,
        other => Some(format!("landmarks are `{}`, and only uniform ones represent the other items", other.id())),
    }
}

impl Judged<'_> {
    /// Share of the k nearest of every held-out landmark among the columns of its fit and its `depth` best candidates, depth by depth:
    /// (depth, shares).
    pub fn depths(&self, context: &SweepContext<'_>, k: usize) -> Result<Vec<(usize, Vec<f64>)>, JobError> {
        let items = context.problem.items();
        let depths = depths(items);
        let folds = folds(self.columns.len());
        let mut by_depth: Vec<Vec<f64>> = depths.iter().map(|_| Vec::with_capacity(self.columns.len())).collect();
        let oracle = context.metered.similarities(context.fixed_gamma())?;
        let fit = |held: &HashSet<usize>| self.fit_without(context, oracle.as_ref(), held);
        each(oracle.as_ref(), self.columns, fit, |place, row, estimate| {
            let fold = folds.iter().find(|fold| fold.contains(&place)).map_or(&[][..], Vec::as_slice);
            let held: HashSet<usize> = fold.iter().map(|&held| self.columns[held]).collect();
            let known: HashSet<usize> = self.columns.iter().copied().filter(|item| !held.contains(item)).collect();
            let mut ranked: Vec<usize> =
                (0..items).filter(|item| *item != self.columns[place] && !known.contains(item)).collect();
            ranked.sort_by(|one, other| estimate[*other].rank_cmp(&estimate[*one]).then(one.cmp(other)));
            let row: Vec<f64> = row.to_vec();
            let shares = depth_shares(&row, self.columns[place], k, &known, &ranked, &depths);
            by_depth.iter_mut().zip(shares).for_each(|(at, share)| at.push(share));
        })?;
        Ok(depths.into_iter().zip(by_depth).collect())
    }

    /// The method of the factors on the columns that are left, at the largest rank that these allow.
    fn fit_without(
        &self,
        context: &SweepContext<'_>,
        oracle: &dyn Oracle,
        held: &HashSet<usize>,
    ) -> Result<Embedding, JobError> {
        let first = context.sweep.cells().into_iter().find(|cell| cell.comparison == Comparison::Rank);
        let Some(cell) = first else { return Err("the configuration names no rank".into()) };
        let method = context.sweep.approximator(&cell, Setting::at(context.fixed_gamma()))?;
        let drawn = context.landmarks(&cell)?;
        let left: HashSet<usize> = self.columns.iter().copied().filter(|item| !held.contains(item)).collect();
        let of = |order: &[usize]| order.iter().copied().filter(|item| left.contains(item)).collect::<Vec<_>>();
        let n = context.problem.items();
        let landmarks =
            Landmarks::new(n, of(drawn.order()), of(drawn.independent())).map_err(ApproximateError::from)?;
        let is_enough = |rank: &usize| {
            method.landmarks_needed(n, *rank) <= landmarks.order().len()
                && method.independent_needed(*rank) <= landmarks.independent().len()
        };
        let Some(rank) = (1..=self.rank).rev().find(is_enough) else {
            return Err("too few landmark columns for folds; make factors of a larger rank".into());
        };
        let mut rng = stream(context.run.seed, &context.problem.dataset, "fit", cell.replicate);
        Ok(method.fit(oracle, &landmarks, rank, Known::NOTHING, &mut rng)?.into_embedding()?)
    }
}

/// Pairs with K ≥ t in the columns of landmarks.
#[derive(Debug)]
pub struct Positives {
    /// Of each landmark, the estimates of those with an item that is none.
    pub estimates: Vec<Vec<f64>>,
    /// Those of two landmarks.
    pub between: usize,
}

/// Pairs with K ≥ `at_least` in columns that `fit` has not seen; it is given the items of those that it must leave out.
pub fn positives(
    oracle: &dyn Oracle,
    columns: &[usize],
    at_least: f64,
    fit: impl FnMut(&HashSet<usize>) -> Result<Embedding, JobError>,
) -> Result<Positives, JobError> {
    let mut is_column = vec![false; oracle.len()];
    columns.iter().for_each(|&item| is_column[item] = true);
    let (mut estimates, mut between) = (vec![Vec::new(); columns.len()], 0);
    each(oracle, columns, fit, |place, row, estimate| {
        for (item, _) in row.iter().enumerate().filter(|&(_, &score)| score >= at_least) {
            if !is_column[item] {
                estimates[place].push(estimate[item]);
            } else if item < columns[place] {
                between += 1;
            }
        }
    })?;
    Ok(Positives { estimates, between })
}

/// Visits every landmark: its place, its row of K, and the same row by a fit without its fold.
fn each(
    oracle: &dyn Oracle,
    columns: &[usize],
    mut fit: impl FnMut(&HashSet<usize>) -> Result<Embedding, JobError>,
    mut visit: impl FnMut(usize, &Array1<f64>, &Array1<f64>),
) -> Result<(), JobError> {
    let items: Vec<usize> = (0..oracle.len()).collect();
    for fold in folds(columns.len()) {
        let embedding = fit(&fold.iter().map(|&place| columns[place]).collect())?;
        for place in fold {
            let item = columns[place];
            let column: Array2<f64> = block_of(oracle, &items, &[item])?;
            let weights = &embedding.vectors.row(item) * &embedding.signature;
            visit(place, &column.column(0).to_owned(), &embedding.vectors.dot(&weights));
        }
    }
    Ok(())
}

/// Depths from 1 to all of n items, a fifth deeper each time.
fn depths(n: usize) -> Vec<usize> {
    let most = n.saturating_sub(1);
    // a depth far below 2^52
    let next =
        |depth: &usize| (*depth < most).then(|| ((*depth as f64 * GROWTH).ceil() as usize).max(depth + 1).min(most));
    std::iter::successors((most > 0).then_some(1), next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_rise_by_a_fifth_up_to_all() {
        assert_eq!(depths(30), [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 29]);
        assert_eq!((depths(2), depths(1)), (vec![1], vec![]));
    }
}
