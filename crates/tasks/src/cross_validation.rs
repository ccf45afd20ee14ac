//! k-fold cross-validation: stratified, seeded, parallel over folds, warm-started along the cost C within a fold.
//!
//! The accuracy of a cost is the mean over folds of the accuracy on the fold left out. Folds have sizes that differ by at most one, and
//! so does the number of items of each label in them. A class that a fold's training part lacks is never predicted there.
//!
//! Cost: k paths of machines, which a learner may walk all at once; memory: the rows of the folds at work, copied.

use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use landmark_core::stream::stream;

use crate::error::TaskError;
use crate::metrics::{Summary, accuracy};

/// One cut of the items: ascending, disjoint, together all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fold {
    pub train: Vec<usize>,
    pub test: Vec<usize>,
}

/// Cuts items `0..labels.len()` into folds with nearly equal shares of every label.
///
/// # Errors
/// [`TaskError::Folds`] for fewer than two folds or more folds than items.
pub fn stratified_folds(labels: &[usize], folds: usize, seed: u64) -> Result<Vec<Fold>, TaskError> {
    if folds < 2 || folds > labels.len() {
        return Err(TaskError::Folds { folds, items: labels.len() });
    }
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.shuffle(&mut stream(seed, "", "cross_validation.folds", 0));
    // a stable sort by label keeps the shuffle within each; dealing round robin then gives every fold its share
    order.sort_by_key(|&item| labels[item]);
    let mut fold_of = vec![0; labels.len()];
    for (place, &item) in order.iter().enumerate() {
        fold_of[item] = place % folds;
    }
    let cut = |fold| {
        let (test, train) = (0..labels.len()).partition(|&item| fold_of[item] == fold);
        Fold { train, test }
    };
    Ok((0..folds).map(cut).collect())
}

/// Results of cross-validation at each cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossValidation {
    /// One entry a cost, in the order the costs were given.
    pub costs: Vec<CostAccuracy>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostAccuracy {
    /// C.
    pub c: f64,
    pub folds: Vec<f64>,
    /// Mean and sd over the folds.
    pub accuracy: Summary,
    /// True where the machines of all folds met their tolerance.
    pub converged: bool,
}

impl CrossValidation {
    /// The cost of the highest mean accuracy; the smallest such cost in a tie.
    pub fn best(&self) -> &CostAccuracy {
        let first = &self.costs[0];
        self.costs.iter().fold(first, |best, entry| {
            let (mean, best_mean) = (entry.accuracy.mean, best.accuracy.mean);
            let is_better = if is_tied(mean, best_mean) { entry.c < best.c } else { mean > best_mean };
            if is_better { entry } else { best }
        })
    }
}

/// True of two accuracies that differ by rounding alone: one item in 10⁶ moves a mean over folds by a thousand times as much.
pub fn is_tied(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// Answer of a machine of one cost to the test items.
pub(crate) struct Answer {
    pub(crate) predictions: Vec<usize>,
    pub(crate) report: crate::linear_svm::TrainingReport,
    pub(crate) support: Option<usize>,
}

/// Something that learns labels of some items and predicts those of others, for each cost of an ascending path.
pub(crate) trait Learner: Sync {
    fn labels(&self) -> &[usize];

    /// Learns from `train`, answers for `test`.
    fn path(&self, train: &[usize], test: &[usize], costs: &[f64], seed: u64) -> Result<Vec<Answer>, TaskError>;

    /// The paths of all folds of `items` (whose places they name) at once, by fold; `None` where each is to be walked by itself.
    fn paths(&self, _items: &[usize], _folds: &[Fold], _costs: &[f64]) -> Result<Option<Vec<Vec<Answer>>>, TaskError> {
        Ok(None)
    }
}

/// Cross-validates the costs on `items` only.
pub(crate) fn cross_validate(
    learner: &impl Learner,
    items: &[usize],
    folds: usize,
    costs: &[f64],
    seed: u64,
) -> Result<CrossValidation, TaskError> {
    let labels: Vec<usize> = items.iter().map(|&item| learner.labels()[item]).collect();
    let mut ascending: Vec<usize> = (0..costs.len()).collect();
    ascending.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    let path: Vec<f64> = ascending.iter().map(|&k| costs[k]).collect();
    let cut = stratified_folds(&labels, folds, seed)?;
    let walk = |(number, fold): (usize, &Fold)| {
        let of = |places: &[usize]| -> Vec<usize> { places.iter().map(|&place| items[place]).collect() };
        learner.path(&of(&fold.train), &of(&fold.test), &path, seed).map_err(|source| TaskError::Fold {
            fold: number,
            folds,
            source: Box::new(source),
        })
    };
    let answers = match learner.paths(items, &cut, &path)? {
        Some(answers) => answers,
        // all are collected first, so that the error is that of the first fold and not of the fastest
        None => {
            cut.par_iter().enumerate().map(walk).collect::<Vec<_>>().into_iter().collect::<Result<_, TaskError>>()?
        }
    };
    let score = |(fold, answers): (&Fold, Vec<Answer>)| -> Result<Vec<(f64, bool)>, TaskError> {
        let truth: Vec<usize> = fold.test.iter().map(|&place| labels[place]).collect();
        let score = |answer: Answer| Ok((accuracy(&truth, &answer.predictions)?, answer.report.converged()));
        answers.into_iter().map(score).collect()
    };
    let of_folds: Vec<Vec<(f64, bool)>> = cut.iter().zip(answers).map(score).collect::<Result<_, TaskError>>()?;
    let of_cost = |k: usize| {
        let place = ascending.iter().position(|&a| a == k).unwrap_or(k);
        let folds: Vec<f64> = of_folds.iter().map(|fold| fold[place].0).collect();
        let converged = of_folds.iter().all(|fold| fold[place].1);
        Ok(CostAccuracy { c: costs[k], accuracy: Summary::of(&folds)?, folds, converged })
    };
    Ok(CrossValidation { costs: (0..costs.len()).map(of_cost).collect::<Result<_, TaskError>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn folds_partition_the_items_and_share_every_label(
            labels in proptest::collection::vec(0usize..4, 10..80), folds in 2usize..10, seed: u64
        ) {
            let cut = stratified_folds(&labels, folds, seed).unwrap();
            let mut tested: Vec<usize> = cut.iter().flat_map(|fold| fold.test.clone()).collect();
            tested.sort_unstable();
            prop_assert_eq!(tested, (0..labels.len()).collect::<Vec<_>>());
            for fold in &cut {
                let mut both = [fold.train.clone(), fold.test.clone()].concat();
                both.sort_unstable();
                prop_assert_eq!(both.len(), labels.len());
                both.dedup();
                prop_assert_eq!(both.len(), labels.len());
            }
            for label in 0..4 {
                let counts = cut.iter().map(|fold| fold.test.iter().filter(|&&i| labels[i] == label).count());
                let (low, high) = (counts.clone().min().unwrap(), counts.max().unwrap());
                prop_assert!(high - low <= 1);
            }
        }
    }

    #[test]
    fn impossible_folds_are_refused() {
        let error = stratified_folds(&[0, 1], 3, 1).unwrap_err().to_string();
        assert_eq!(error, "cannot cut 2 items into 3 folds: `folds` must be between 2 and the number of items");
        assert!(stratified_folds(&[0, 1], 1, 1).is_err());
    }

    #[test]
    fn the_best_cost_is_the_smallest_of_those_with_the_highest_mean() {
        let entry = |c: f64, mean: f64| CostAccuracy {
            c,
            folds: vec![mean],
            accuracy: Summary { mean, sd: None, count: 1 },
            converged: true,
        };
        let table = CrossValidation { costs: vec![entry(10.0, 0.9), entry(1.0, 0.9), entry(0.1, 0.8)] };
        assert_eq!(table.best().c, 1.0);
    }
}
