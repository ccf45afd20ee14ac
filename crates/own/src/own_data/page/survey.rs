//! Similarities between the drawn items as well as they are known: evaluated where the store has them, else by the factors; of a matrix that
//! is given, its own.
//!
//! Memory: 9m² bytes for m items, 225 MB for 5,000. Cost: m²r multiply-adds and m² look-ups.

use std::collections::BinaryHeap;

use landmark_core::linalg;
use landmark_core::oracle::{Kernel, OracleError, block_of};
use landmark_core::rank::RankCmp;
use landmark_report::Near;
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::factors::Factors;
use landmark_harness::job::JobError;
use landmark_harness::sweep::context::SweepContext;

/// What is known of the similarities of m items.
pub(super) struct Survey {
    /// m × m.
    scores: Array2<f64>,
    /// m × m, true where the score was evaluated.
    is_exact: Array2<bool>,
}

/// A bar of a histogram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Bin {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) exact: u64,
    pub(super) estimated: u64,
}

/// A pair, best first in a heap that drops its worst.
#[derive(PartialEq)]
struct Candidate(f64, usize, usize);

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.0.rank_cmp(&self.0).then((self.1, self.2).cmp(&(other.1, other.2)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Survey {
    /// The similarities of some items. Nothing is evaluated; of a matrix that is given all are exact.
    pub(super) fn of(context: &SweepContext<'_>, factors: &Factors, items: &[usize]) -> Result<Self, JobError> {
        if !context.problem.is_priced {
            let oracle = context.metered.similarities(factors.info.gamma)?;
            let scores = block_of(oracle.as_ref(), items, items)?;
            let is_exact = Array2::from_elem(scores.dim(), true);
            return Ok(Self { scores, is_exact });
        }
        let rows = factors.vectors.select(Axis(0), items);
        let mut survey = Self::estimated(rows.view(), &factors.signature);
        if let Some(scattered) = &factors.scattered {
            let place: std::collections::HashMap<usize, usize> =
                items.iter().enumerate().map(|(place, &item)| (item, place)).collect();
            for (i, j, score) in scattered.pairs() {
                if let (Some(&a), Some(&b)) = (place.get(&i), place.get(&j)) {
                    survey.know(a, b, score);
                }
            }
        }
        let kernel = factors.info.gamma.map_or(Kernel::Identity, |gamma| Kernel::Exponential { gamma });
        survey.know_stored(|place, column| {
            let is_known = context.metered.stored_column(items, items[place], column);
            column.iter_mut().filter(|score| !score.is_nan()).for_each(|score| *score = kernel.apply(*score));
            Ok(is_known)
        })?;
        Ok(survey)
    }

    /// By the factors, all of it.
    pub(super) fn estimated(rows: ArrayView2<'_, f64>, signature: &Array1<f64>) -> Self {
        let scores = linalg::product((&rows * signature).view(), rows.t());
        let is_exact = Array2::from_elem(scores.dim(), false);
        Self { scores, is_exact }
    }

    fn know(&mut self, a: usize, b: usize, score: f64) {
        for cell in [[a, b], [b, a]] {
            (self.scores[cell], self.is_exact[cell]) = (score, true);
        }
    }

    /// Takes over columns of what was evaluated, NaN where nothing was; the reader answers false where it knows of none at all.
    fn know_stored(
        &mut self,
        read: impl Fn(usize, &mut [f64]) -> Result<bool, OracleError> + Sync,
    ) -> Result<(), JobError> {
        let m = self.scores.nrows();
        // row by row: the matrix is symmetric, and rows lie together
        let rows = self.scores.axis_iter_mut(Axis(0)).into_par_iter();
        let exact = self.is_exact.axis_iter_mut(Axis(0)).into_par_iter();
        rows.zip(exact).enumerate().try_for_each(|(place, (mut scores, mut is_exact))| -> Result<(), OracleError> {
            let mut column = vec![f64::NAN; m];
            if read(place, &mut column)? {
                for (other, &score) in column.iter().enumerate().filter(|(_, score)| !score.is_nan()) {
                    (scores[other], is_exact[other]) = (score, true);
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Number of items.
    pub(super) fn len(&self) -> usize {
        self.scores.nrows()
    }

    /// The `k` most similar others of each item, best first; ties go to the smaller number.
    pub(super) fn nearest(&self, k: usize) -> Vec<Vec<Near>> {
        let k = k.min(self.len().saturating_sub(1));
        let list = |(item, scores): (usize, ndarray::ArrayView1<'_, f64>)| {
            let mut others: Vec<usize> = (0..scores.len()).filter(|&other| other != item).collect();
            let order = |one: &usize, other: &usize| scores[*other].rank_cmp(&scores[*one]).then(one.cmp(other));
            if k > 0 && k < others.len() {
                others.select_nth_unstable_by(k - 1, order);
            }
            others.truncate(k);
            others.sort_unstable_by(order);
            let near = |place: usize| Near { place, score: scores[place], is_exact: self.is_exact[[item, place]] };
            others.into_iter().map(near).collect()
        };
        self.scores.axis_iter(Axis(0)).into_par_iter().enumerate().map(list).collect()
    }

    /// All pairs of two items, each once: places, score, and true where it was evaluated.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize, f64, bool)> {
        let m = self.len();
        (0..m).flat_map(move |i| (i + 1..m).map(move |j| (i, j, self.scores[[i, j]], self.is_exact[[i, j]])))
    }

    /// The `count` most similar pairs, best first.
    pub(super) fn best_pairs(&self, count: usize) -> Vec<(usize, usize, f64, bool)> {
        let mut best: BinaryHeap<Candidate> = BinaryHeap::with_capacity(count + 1);
        for (i, j, score, _) in self.pairs() {
            if best.len() < count || best.peek().is_some_and(|worst| score > worst.0) {
                best.push(Candidate(score, i, j));
                if best.len() > count {
                    best.pop();
                }
            }
        }
        best.into_sorted_vec().into_iter().map(|Candidate(score, i, j)| (i, j, score, self.is_exact[[i, j]])).collect()
    }

    /// Pairs in equal bins from the least similarity to the largest; none where there is no pair.
    pub(super) fn histogram(&self, bins: usize) -> Option<Vec<Bin>> {
        let ends = |(a, b): (f64, f64), (_, _, score, _): (usize, usize, f64, bool)| (a.min(score), b.max(score));
        let (low, high) = self.pairs().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
        if low > high {
            return None;
        }
        // all alike: one bar around them
        let (low, high) = if high > low { (low, high) } else { (low - 0.5, high + 0.5) };
        let width = (high - low) / bins as f64;
        let bin =
            |k: usize| Bin { from: low + k as f64 * width, to: low + (k + 1) as f64 * width, exact: 0, estimated: 0 };
        let mut all: Vec<Bin> = (0..bins).map(bin).collect();
        for (_, _, score, is_exact) in self.pairs() {
            // between 0 and the last
            let place = (((score - low) / width) as usize).min(bins - 1);
            let counted = if is_exact { &mut all[place].exact } else { &mut all[place].estimated };
            *counted += 1;
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use landmark_core::stream::stream;
    use ndarray::array;
    use rand::Rng as _;

    use super::*;

    fn survey(items: usize) -> Survey {
        let mut rng = stream(5, "survey", "test", items as u64);
        let rows = Array2::from_shape_fn((items, 3), |_| rng.gen_range(-1.0..1.0));
        Survey::estimated(rows.view(), &array![1.0, 1.0, -1.0])
    }

    #[test]
    fn lists_pairs_and_bars_are_those_of_a_sort_of_everything() {
        let mut survey = survey(40);
        survey.know(3, 17, 9.0);
        survey.know(4, 5, -9.0);
        let mut all: Vec<_> = survey.pairs().collect();
        assert_eq!(all.len(), 40 * 39 / 2);
        all.sort_by(|a, b| b.2.rank_cmp(&a.2));
        assert_eq!(survey.best_pairs(25), all[..25]);
        assert_eq!(all[0], (3, 17, 9.0, true));
        for (item, list) in survey.nearest(7).iter().enumerate() {
            let mut wanted: Vec<usize> = (0..40).filter(|&other| other != item).collect();
            wanted.sort_by(|&a, &b| survey.scores[[item, b]].rank_cmp(&survey.scores[[item, a]]));
            assert_eq!(list.iter().map(|near| near.place).collect::<Vec<_>>(), wanted[..7]);
        }
        assert!(survey.nearest(7)[17][0].is_exact && !survey.nearest(7)[17][1].is_exact);
        let bins = survey.histogram(11).unwrap();
        assert_eq!((bins[0].from, bins[10].to), (-9.0, 9.0));
        for bin in &bins {
            let inside = |score: f64| score >= bin.from && (score < bin.to || bin.to == 9.0);
            let wanted = all.iter().filter(|pair| !pair.3 && inside(pair.2)).count() as u64;
            assert_eq!(bin.estimated, wanted, "{bin:?}");
        }
        assert_eq!((bins[0].exact, bins[10].exact), (1, 1));
    }

    #[test]
    fn what_is_stored_stands_above_what_is_estimated() {
        let mut survey = survey(6);
        let before = survey.scores[[0, 1]];
        survey
            .know_stored(|place, column| {
                // the column of item 2 is whole
                let value = |other: usize| if place == 2 || other == 2 { (place + other) as f64 } else { f64::NAN };
                (0..6).for_each(|other| column[other] = value(other));
                Ok(true)
            })
            .unwrap();
        assert_eq!((survey.scores[[2, 5]], survey.scores[[5, 2]], survey.scores[[0, 1]]), (7.0, 7.0, before));
        assert!(survey.is_exact[[5, 2]] && survey.is_exact[[2, 5]] && !survey.is_exact[[0, 1]]);
    }

    #[test]
    fn few_items_duplicates_and_zeros_have_what_there_is() {
        let one = Survey::estimated(array![[1.0]].view(), &array![1.0]);
        assert_eq!((one.nearest(10), one.best_pairs(5).len(), one.histogram(4)), (vec![vec![]], 0, None));
        let alike = Survey::estimated(Array2::zeros((4, 2)).view(), &array![1.0, -1.0]);
        let bins = alike.histogram(4).unwrap();
        assert_eq!(bins.iter().map(|bin| bin.estimated).sum::<u64>(), 6);
        assert_eq!(alike.nearest(2)[3].iter().map(|near| near.place).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(alike.best_pairs(2), [(0, 1, 0.0, false), (0, 2, 0.0, false)]);
    }
}
