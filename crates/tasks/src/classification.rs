//! Classification with a factored similarity matrix, as the papers evaluate it: a linear machine on the rows of the embedding Z, with C
//! chosen by cross-validation on the training items; and the exact baseline, a kernel machine on the whole Gram matrix.
//!
//! Input is an embedding (n × r) or a Gram matrix (n × n) of all items and a split of them into train and test, never an oracle. Where
//! the factorization has a signature ±1 a column (an indefinite K̃ = Z diag(±1) Zᵀ), Z is used as plain features: a linear
//! machine can flip the sign of a weight by itself.
//!
//! Cost: folds × costs machines on the training rows, warm-started along the costs.

use std::collections::BTreeSet;

use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use landmark_core::parameter::BadParameter;

use crate::cross_validation::{Answer, CrossValidation, Fold, Learner, cross_validate as cross_validate_with};
use crate::error::TaskError;
use crate::linear_svm::{LinearSvm, LinearSvmParams, LinearSvmValidParams, TrainingReport};
use crate::metrics::{accuracy, f1_macro};
use crate::svm::{Features, SvmError, TrainingSet, check_positive};

mod kernel;
mod sparse;

pub use kernel::{KernelClassificationParams, KernelClassificationValidParams, classify_kernel, cross_validate_kernel};
pub use sparse::classify_sparse;

/// Scaling of features before the machine sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    #[default]
    None,
    /// Every row to length 1 (rows of zeros stay).
    Rows,
    /// Every column to root mean square 1 over the training rows (columns of zeros stay).
    Columns,
}

/// Parameters of the classification of items described by features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClassificationParams {
    pub svm: LinearSvmParams,
    /// The costs C among which cross-validation chooses; with none or one there is nothing to choose (none: the machine's own C).
    pub costs: Vec<f64>,
    /// Folds of the cross-validation.
    pub folds: usize,
    /// Scaling of the features, done first.
    pub scaling: Scaling,
}

impl Default for ClassificationParams {
    fn default() -> Self {
        Self { svm: LinearSvmParams::default(), costs: Vec::new(), folds: 10, scaling: Scaling::None }
    }
}

/// Checked [`ClassificationParams`].
#[derive(Debug, Clone, PartialEq)]
pub struct ClassificationValidParams {
    svm: LinearSvmValidParams,
    choice: Choice,
    scaling: Scaling,
}

#[derive(Debug, Clone, PartialEq)]
struct Choice {
    costs: Vec<f64>,
    folds: usize,
}

impl Choice {
    fn check(costs: Vec<f64>, own: f64, folds: usize) -> Result<Self, SvmError> {
        costs.iter().try_for_each(|&c| check_positive("costs", c))?;
        if folds < 2 {
            return Err(BadParameter::new("folds", folds, "at least 2").into());
        }
        Ok(Self { costs: if costs.is_empty() { vec![own] } else { costs }, folds })
    }
}

impl ClassificationParams {
    /// The parameters, checked once.
    ///
    /// # Errors
    /// As [`LinearSvmParams::check`]; a cost that is not positive and finite; fewer than two folds.
    pub fn check(self) -> Result<ClassificationValidParams, SvmError> {
        let choice = Choice::check(self.costs, self.svm.c, self.folds)?;
        Ok(ClassificationValidParams { svm: self.svm.check()?, choice, scaling: self.scaling })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Share of test items with the right label.
    pub accuracy: f64,
    /// Mean F1 over the labels true or predicted on the test items.
    pub f1_macro: f64,
    /// The cost the final machine was trained with.
    pub c: f64,
    /// Cross-validation that chose that cost, where there was a choice.
    pub cross_validation: Option<CrossValidation>,
    /// One label a test item, in the order of `test`.
    pub predictions: Vec<usize>,
    /// Labels of test items that no training item has: they cannot be predicted.
    pub unseen_labels: Vec<usize>,
    /// Report of the training of the final machine.
    pub report: TrainingReport,
    /// Training items that carry the machine, for a kernel machine.
    pub support: Option<usize>,
}

/// Trains a linear machine on rows `train` of the features (n × r) and labels rows `test`. C is chosen by cross-validation
/// on the training rows alone. Labels are any numbers; the machine learns those of the training rows.
///
/// # Errors
/// A split that is not disjoint, in range and without an empty side; another number of labels than rows; fewer than two labels
/// among the training rows (of any fold); NaN or ∞ among the features.
pub fn classify(
    features: ArrayView2<'_, f64>,
    labels: &[usize],
    train: &[usize],
    test: &[usize],
    params: &ClassificationValidParams,
    seed: u64,
) -> Result<Outcome, TaskError> {
    let learner = FeatureLearner { features: features.view(), labels, svm: &params.svm, scaling: params.scaling };
    classify_with(&learner, features.nrows(), train, test, &params.choice, seed)
}

/// The cross-validated accuracy of every cost on the rows `items`: what a search over anything upstream (the γ of exp(−γ·d), the rank)
/// maximizes.
pub fn cross_validate(
    features: ArrayView2<'_, f64>,
    labels: &[usize],
    items: &[usize],
    params: &ClassificationValidParams,
    seed: u64,
) -> Result<CrossValidation, TaskError> {
    check_split(features.nrows(), labels.len(), &[("train", items)])?;
    let learner = FeatureLearner { features: features.view(), labels, svm: &params.svm, scaling: params.scaling };
    cross_validate_with(&learner, items, params.choice.folds, &params.choice.costs, seed)
}

fn classify_with(
    learner: &impl Learner,
    items: usize,
    train: &[usize],
    test: &[usize],
    choice: &Choice,
    seed: u64,
) -> Result<Outcome, TaskError> {
    check_split(items, learner.labels().len(), &[("train", train), ("test", test)])?;
    let cross_validation = match choice.costs.as_slice() {
        [_] => None,
        several => Some(cross_validate_with(learner, train, choice.folds, several, seed)?),
    };
    let c = cross_validation.as_ref().map_or(choice.costs[0], |table| table.best().c);
    let mut answers = learner.path(train, test, &[c], seed)?;
    let Answer { predictions, report, support } = answers.swap_remove(0);
    let labels_of = |items: &[usize]| -> Vec<usize> { items.iter().map(|&i| learner.labels()[i]).collect() };
    let truth = labels_of(test);
    let learned: BTreeSet<usize> = labels_of(train).into_iter().collect();
    let tested: BTreeSet<usize> = truth.iter().copied().collect();
    Ok(Outcome {
        accuracy: accuracy(&truth, &predictions)?,
        f1_macro: f1_macro(&truth, &predictions)?,
        c,
        cross_validation,
        predictions,
        unseen_labels: tested.difference(&learned).copied().collect(),
        report,
        support,
    })
}

/// One label an item; parts that are not empty, in range, disjoint.
fn check_split(items: usize, labels: usize, parts: &[(&'static str, &[usize])]) -> Result<(), TaskError> {
    if items != labels {
        return Err(TaskError::Labels { items, labels });
    }
    let mut seen = vec![false; items];
    for &(part, indices) in parts {
        if indices.is_empty() {
            return Err(TaskError::EmptyPart { part });
        }
        for &item in indices {
            let slot = seen.get_mut(item).ok_or(TaskError::NoSuchItem { part, item, items })?;
            if std::mem::replace(slot, true) {
                return Err(TaskError::Repeated { item });
            }
        }
    }
    Ok(())
}

/// The labels that training items have, as classes `0..len`.
struct Classes {
    labels: Vec<usize>,
}

impl Classes {
    fn of(labels: &[usize], items: &[usize]) -> Self {
        let distinct: BTreeSet<usize> = items.iter().map(|&item| labels[item]).collect();
        Self { labels: distinct.into_iter().collect() }
    }

    fn encode(&self, labels: &[usize], items: &[usize]) -> Vec<usize> {
        // every label of these items is among the distinct ones, and those are sorted
        items.iter().map(|&item| self.labels.partition_point(|&label| label < labels[item])).collect()
    }

    fn decode(&self, classes: Vec<usize>) -> Vec<usize> {
        classes.into_iter().map(|class| self.labels[class]).collect()
    }

    fn answer(&self, machine: &LinearSvm, asked: Features<'_>) -> Result<Answer, TaskError> {
        let predictions = self.decode(machine.predict(asked)?);
        Ok(Answer { predictions, report: machine.report().clone(), support: None })
    }

    /// The error for a single label names the label, not its class.
    fn rename(&self, error: SvmError) -> SvmError {
        match error {
            SvmError::OneClass { label, rows } => SvmError::OneClass { label: self.labels[label], rows },
            other => other,
        }
    }
}

struct FeatureLearner<'a> {
    features: ArrayView2<'a, f64>,
    labels: &'a [usize],
    svm: &'a LinearSvmValidParams,
    scaling: Scaling,
}

impl Learner for FeatureLearner<'_> {
    fn labels(&self) -> &[usize] {
        self.labels
    }

    fn path(&self, train: &[usize], test: &[usize], costs: &[f64], seed: u64) -> Result<Vec<Answer>, TaskError> {
        let (mut known, mut asked) = (self.features.select(Axis(0), train), self.features.select(Axis(0), test));
        scale(self.scaling, &mut known, &mut asked);
        linear_path(self.svm, self.labels, (&known, train), (&asked, test), costs, seed)
    }

    fn paths(&self, items: &[usize], folds: &[Fold], costs: &[f64]) -> Result<Option<Vec<Vec<Answer>>>, TaskError> {
        // columns are scaled by the training rows, each fold's own
        if self.scaling == Scaling::Columns {
            return Ok(None);
        }
        let mut rows = self.features.select(Axis(0), items);
        scale(self.scaling, &mut rows, &mut Array2::zeros((0, 0)));
        let classes = Classes::of(self.labels, items);
        let encoded = classes.encode(self.labels, items);
        let parts: Vec<&[usize]> = folds.iter().map(|fold| fold.train.as_slice()).collect();
        // what is wrong is reported by the fold that meets it
        let Ok(Some(paths)) = self.svm.train_folds(rows.view(), &encoded, classes.labels.len(), &parts, costs) else {
            return Ok(None);
        };
        let of_fold = |(fold, machines): (&Fold, Vec<LinearSvm>)| {
            let asked = rows.select(Axis(0), &fold.test);
            machines.iter().map(|machine| classes.answer(machine, (&asked).into())).collect()
        };
        folds.iter().zip(paths).map(of_fold).collect::<Result<_, TaskError>>().map(Some)
    }
}

/// Linear machines for each cost, trained on the rows of `train`, and their answers for those of `test`.
fn linear_path<F>(
    svm: &LinearSvmValidParams,
    labels: &[usize],
    (known, train): (&F, &[usize]),
    (asked, test): (&F, &[usize]),
    costs: &[f64],
    seed: u64,
) -> Result<Vec<Answer>, TaskError>
where
    for<'a> &'a F: Into<Features<'a>>,
{
    let asked: Features<'_> = asked.into();
    let classes = Classes::of(labels, train);
    let encoded = classes.encode(labels, train);
    let set = TrainingSet::new(known, &encoded, classes.labels.len())
        .map_err(|error| classes.rename(at_item(error, train)))?;
    asked.check_finite().map_err(|error| at_item(error, test))?;
    svm.train_path(&set, costs, seed)?.iter().map(|machine| classes.answer(machine, asked)).collect()
}

/// The row that an error names, as an item of the whole.
fn at_item(error: SvmError, items: &[usize]) -> SvmError {
    match error {
        SvmError::NotFinite { row, column, value } => SvmError::NotFinite { row: items[row], column, value },
        SvmError::TooLong { row } => SvmError::TooLong { row: items[row] },
        other => other,
    }
}

/// Scales training and test rows alike; what is measured is measured on the training rows.
fn scale(scaling: Scaling, known: &mut Array2<f64>, asked: &mut Array2<f64>) {
    match scaling {
        Scaling::None => {}
        Scaling::Rows => {
            for mut row in known.outer_iter_mut().chain(asked.outer_iter_mut()) {
                let length = row.dot(&row).sqrt();
                if length > 0.0 {
                    row /= length;
                }
            }
        }
        Scaling::Columns => {
            for (mut known, mut asked) in known.columns_mut().into_iter().zip(asked.columns_mut()) {
                let size = (known.dot(&known) / known.len() as f64).sqrt();
                if size > 0.0 {
                    known /= size;
                    asked /= size;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn columns_are_scaled_by_the_training_rows_alone() {
        let (mut known, mut asked) = (array![[2.0, 0.0], [-2.0, 0.0]], array![[8.0, 5.0]]);
        scale(Scaling::Columns, &mut known, &mut asked);
        assert_eq!((known, asked), (array![[1.0, 0.0], [-1.0, 0.0]], array![[4.0, 5.0]]));
    }

    #[test]
    fn rows_are_scaled_to_length_one_and_zeros_stay() {
        let (mut known, mut asked) = (array![[3.0, 4.0]], array![[0.0, 0.0]]);
        scale(Scaling::Rows, &mut known, &mut asked);
        assert_eq!((known, asked), (array![[0.6, 0.8]], array![[0.0, 0.0]]));
    }

    #[test]
    fn a_split_is_checked_item_by_item() {
        let refused = |train: &[usize], test: &[usize]| {
            check_split(4, 4, &[("train", train), ("test", test)]).unwrap_err().to_string()
        };
        assert_eq!(refused(&[0, 4], &[1]), "the train set names item 4, but there are 4 items (0 to 3)");
        assert_eq!(refused(&[], &[1]), "the train set is empty");
        assert_eq!(
            refused(&[0, 1], &[1]),
            "item 1 is in the split twice: train and test sets must be disjoint and without repetition"
        );
    }
}
