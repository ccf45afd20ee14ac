//! Kernel machines on a Gram matrix of similarities between items.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use super::{Choice, Classes, Outcome, check_split, classify_with};
use crate::cross_validation::{Answer, CrossValidation, Learner, cross_validate as cross_validate_with};
use crate::error::TaskError;
use crate::kernel_svm::{KernelSvm, KernelSvmParams, KernelSvmValidParams};
use crate::linear_svm::highest;
use crate::svm::SvmError;

/// Parameters of the classification of items described by a Gram matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KernelClassificationParams {
    pub svm: KernelSvmParams,
    /// As for [`ClassificationParams`](super::ClassificationParams).
    pub costs: Vec<f64>,
    /// Folds of the cross-validation.
    pub folds: usize,
}

impl Default for KernelClassificationParams {
    fn default() -> Self {
        Self { svm: KernelSvmParams::default(), costs: Vec::new(), folds: 10 }
    }
}

/// Checked [`KernelClassificationParams`].
#[derive(Debug, Clone, PartialEq)]
pub struct KernelClassificationValidParams {
    svm: KernelSvmValidParams,
    choice: Choice,
}

impl KernelClassificationParams {
    /// The parameters, checked once.
    ///
    /// # Errors
    /// As [`KernelSvmParams::check`]; a cost that is not positive and finite; fewer than two folds.
    pub fn check(self) -> Result<KernelClassificationValidParams, SvmError> {
        let choice = Choice::check(self.costs, self.svm.c, self.folds)?;
        Ok(KernelClassificationValidParams { svm: self.svm.check()?, choice })
    }
}

/// As [`classify`](super::classify), with a kernel machine on the Gram matrix of all items (n × n, symmetric, possibly indefinite).
///
/// # Errors
/// As [`classify`](super::classify), and for a matrix that is not square or not symmetric on the training items.
pub fn classify_kernel(
    gram: ArrayView2<'_, f64>,
    labels: &[usize],
    train: &[usize],
    test: &[usize],
    params: &KernelClassificationValidParams,
    seed: u64,
) -> Result<Outcome, TaskError> {
    check_square(gram)?;
    let learner = KernelLearner { gram: gram.view(), labels, svm: &params.svm };
    classify_with(&learner, gram.nrows(), train, test, &params.choice, seed)
}

/// As [`cross_validate`](super::cross_validate), on a Gram matrix.
pub fn cross_validate_kernel(
    gram: ArrayView2<'_, f64>,
    labels: &[usize],
    items: &[usize],
    params: &KernelClassificationValidParams,
    seed: u64,
) -> Result<CrossValidation, TaskError> {
    check_square(gram)?;
    check_split(gram.nrows(), labels.len(), &[("train", items)])?;
    let learner = KernelLearner { gram: gram.view(), labels, svm: &params.svm };
    cross_validate_with(&learner, items, params.choice.folds, &params.choice.costs, seed)
}

fn check_square(gram: ArrayView2<'_, f64>) -> Result<(), SvmError> {
    let (rows, columns) = gram.dim();
    if rows == columns { Ok(()) } else { Err(SvmError::NotSquare { rows, columns }) }
}

struct KernelLearner<'a> {
    gram: ArrayView2<'a, f64>,
    labels: &'a [usize],
    svm: &'a KernelSvmValidParams,
}

impl Learner for KernelLearner<'_> {
    fn labels(&self) -> &[usize] {
        self.labels
    }

    fn path(&self, train: &[usize], test: &[usize], costs: &[f64], seed: u64) -> Result<Vec<Answer>, TaskError> {
        let of =
            |rows: &[usize]| Array2::from_shape_fn((rows.len(), train.len()), |(i, j)| self.gram[[rows[i], train[j]]]);
        let (known, asked) = (of(train), of(test));
        let classes = Classes::of(self.labels, train);
        let encoded = classes.encode(self.labels, train);
        let machines = self
            .svm
            .train_path(known.view(), &encoded, classes.labels.len(), costs, seed)
            .map_err(|error| classes.rename(error))?;
        machines.iter().map(|machine| Ok(answer(&classes, machine, machine.decision(asked.view())?))).collect()
    }
}

fn answer(classes: &Classes, machine: &KernelSvm, scores: Array2<f64>) -> Answer {
    let predictions = classes.decode(highest(scores.view()));
    Answer { predictions, report: machine.report().clone(), support: Some(machine.support().len()) }
}
