//! Training input of a machine: factors, all of an approximation, or K itself.

use landmark_core::approximation::Approximation;
use landmark_core::oracle::block_of;
use landmark_data::Split;
use landmark_tasks::TaskError;
use landmark_tasks::classification::{
    self as task, ClassificationParams, ClassificationValidParams, KernelClassificationParams,
    KernelClassificationValidParams, Outcome,
};
use landmark_tasks::kernel_svm::KernelSvmParams;
use ndarray::Array2;

use landmark_harness::config::TrainedOn;
use landmark_harness::job::JobError;
use landmark_harness::sweep::context::SweepContext;
use landmark_harness::sweep::{Cell, Setting};

/// The method that is K itself.
pub(super) const EXACT: &str = "exact";

/// Training input of an SVM.
pub(crate) enum Evidence {
    /// n × r factors of K̃.
    Factors(Array2<f64>),
    /// All of a matrix.
    Gram(Array2<f64>),
}

impl Evidence {
    /// The evidence that `svm.on` names.
    pub(super) fn of(context: &SweepContext<'_>, approximation: Approximation) -> Result<Self, JobError> {
        match context.matrix.svm.on {
            TrainedOn::Embedding => Ok(Self::Factors(approximation.into_embedding()?.vectors)),
            TrainedOn::Matrix => {
                let all: Vec<usize> = (0..context.problem.items()).collect();
                let mut gram = Array2::zeros((all.len(), all.len()));
                approximation.block(&all, &all, gram.view_mut())?;
                Ok(Self::Gram(gram))
            }
        }
    }
}

/// The factors of K̃ at a γ, or K where the method is `exact`.
pub(crate) fn evidence(context: &SweepContext<'_>, cell: &Cell, setting: Setting) -> Result<Evidence, JobError> {
    if context.sweep.method(cell).id == EXACT {
        let similarities = context.metered.similarities(setting.gamma)?;
        let all: Vec<usize> = (0..context.problem.items()).collect();
        return Ok(Evidence::Gram(block_of(&similarities, &all, &all)?));
    }
    let (approximation, _) = context.fit(cell, setting)?;
    Evidence::of(context, approximation)
}

/// The class of every item.
fn labels<'a>(context: &'a SweepContext<'_>) -> Result<&'a [usize], JobError> {
    match context.problem.labels() {
        Some(labels) => Ok(&labels.of),
        None => Err(JobError::Needs { title: context.problem.dataset.clone(), needs: "labels" }),
    }
}

/// The linear machine with these costs to choose from.
fn linear(context: &SweepContext<'_>, costs: &[f64]) -> Result<ClassificationValidParams, JobError> {
    let params = ClassificationParams {
        svm: context.matrix.svm.params.clone(),
        costs: costs.to_vec(),
        folds: context.matrix.search.folds,
        ..ClassificationParams::default()
    };
    Ok(params.check().map_err(TaskError::from)?)
}

/// The kernel machine with these costs to choose from.
fn kernel(context: &SweepContext<'_>, costs: &[f64]) -> Result<KernelClassificationValidParams, JobError> {
    let svm = KernelSvmParams::default();
    let folds = context.matrix.search.folds;
    Ok(KernelClassificationParams { svm, costs: costs.to_vec(), folds }.check().map_err(TaskError::from)?)
}

/// The best cost and its accuracy by cross-validation on the training items.
pub(crate) fn validate(
    context: &SweepContext<'_>,
    evidence: &Evidence,
    split: &Split,
    costs: &[f64],
) -> Result<(f64, f64), JobError> {
    let (labels, train, seed) = (labels(context)?, &split.train, context.run.seed);
    let scores = match evidence {
        Evidence::Factors(x) => task::cross_validate(x.view(), labels, train, &linear(context, costs)?, seed)?,
        Evidence::Gram(k) => task::cross_validate_kernel(k.view(), labels, train, &kernel(context, costs)?, seed)?,
    };
    let best = scores.best();
    Ok((best.c, best.accuracy.mean))
}

/// Trains on the training items and scores the test items.
pub(super) fn test(
    context: &SweepContext<'_>,
    evidence: &Evidence,
    Split { train, test }: &Split,
    cost: f64,
) -> Result<Outcome, JobError> {
    let (labels, seed) = (labels(context)?, context.run.seed);
    Ok(match evidence {
        Evidence::Factors(x) => task::classify(x.view(), labels, train, test, &linear(context, &[cost])?, seed)?,
        Evidence::Gram(k) => task::classify_kernel(k.view(), labels, train, test, &kernel(context, &[cost])?, seed)?,
    })
}
