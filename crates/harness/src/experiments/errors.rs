//! The relative error of an approximation: exact where all of K is at hand, estimated from a sample of extra entries otherwise.

use landmark_core::approximation::Approximation;
use landmark_core::entries::{EntryBlock, EntryPlan, Rows};
use landmark_core::error_estimate::{self, ErrorEstimate, Sample};
use landmark_core::stream::stream;
use landmark_report::{Metric, ResultRow};
use ndarray::Array2;
use serde::Serialize;

use crate::config::ErrorEstimateConfig;
use crate::job::JobError;
use crate::sweep::Cell;
use crate::sweep::context::{SweepContext, whole};

/// Cells of K bought at a time: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;

/// Way in which the errors of a run are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) enum Errors {
    /// Against all of K.
    Exact,
    /// From a sample.
    Estimated(ErrorEstimateConfig),
    /// Not at all.
    Unknown,
}

impl Errors {
    /// Exact where K is there anyway (a matrix that is given, an error curve, a method that needs all of it) and within the budget.
    pub(super) fn of(context: &SweepContext<'_>) -> Self {
        let is_there = !context.problem.is_priced
            || context.matrix.experiment.is_about_errors && context.matrix.error_estimate.is_none()
            || context.matrix.methods.iter().any(|method| !method.entry.draws);
        let all = whole(context.problem.items()).evaluations(context.metered.shape());
        let affordable = context.matrix.budget.limit().is_none_or(|budget| budget >= all);
        match context.matrix.error_estimate {
            _ if is_there && affordable => Self::Exact,
            Some(estimate) => Self::Estimated(estimate),
            None if is_there && context.matrix.experiment.is_about_errors => Self::Exact,
            None => Self::Unknown,
        }
    }
}

/// The entries of K that the error of a cell is measured against, beyond its fit.
pub(super) fn plan(
    context: &SweepContext<'_>,
    errors: Errors,
    cell: &Cell,
    fit: &EntryPlan,
) -> Result<EntryPlan, JobError> {
    let mut plan = fit.clone();
    if let Errors::Estimated(estimate) = errors {
        let landmarks = context.sweep.drawn_landmarks(cell)?;
        let columns = if fit.chosen == 0 { landmarks.order()[..cell.rank].to_vec() } else { fit.full_columns() };
        plan.blocks.extend(sample(context, estimate, cell, &columns).plan().blocks);
    }
    Ok(plan)
}

/// Buys all of K by blocks of rows.
pub(super) fn buy_reference(context: &SweepContext<'_>) -> Result<(), JobError> {
    buy(context, &whole(context.problem.items()))
}

/// Buys the entries of a plan by blocks.
pub(super) fn buy(context: &SweepContext<'_>, plan: &EntryPlan) -> Result<(), JobError> {
    let scores = context.metered.scores();
    let all: Vec<usize> = (0..scores.len()).collect();
    for EntryBlock { rows, cols } in &plan.blocks {
        let rows = match rows {
            Rows::All => &all,
            Rows::These(rows) => rows,
        };
        let height = (CELLS_PER_BLOCK / cols.len().max(1)).max(1);
        for rows in rows.chunks(height) {
            let mut block = Array2::zeros((rows.len(), cols.len()));
            scores.block(rows, cols, block.view_mut())?;
        }
    }
    Ok(())
}

/// The row of the error of a cell, where it is known.
pub(super) fn row(
    context: &SweepContext<'_>,
    errors: Errors,
    cell: &Cell,
    gamma: Option<f64>,
    approximation: &Approximation,
    blank: &dyn Fn(Metric, f64) -> ResultRow,
) -> Result<Option<ResultRow>, JobError> {
    let reference = context.metered.similarities(gamma)?;
    Ok(match errors {
        Errors::Unknown => None,
        Errors::Exact => {
            let error = error_estimate::relative_error(&reference, approximation)?;
            Some(blank(Metric::RelativeError, error))
        }
        Errors::Estimated(estimate) => {
            // with scattered entries a part of the landmarks has no column
            let columns = match approximation.scattered() {
                Some(_) => approximation.landmarks().to_vec(),
                None => context.landmarks(cell)?.order()[..cell.rank].to_vec(),
            };
            let sample = sample(context, estimate, cell, &columns);
            let ErrorEstimate { relative_error, lower, upper, .. } =
                sample.estimate(&reference, approximation, estimate.confidence)?;
            Some(blank(Metric::EstimatedError, relative_error).within(lower, upper))
        }
    })
}

fn sample(context: &SweepContext<'_>, estimate: ErrorEstimateConfig, cell: &Cell, columns: &[usize]) -> Sample {
    let mut rng = stream(context.run.seed, &context.problem.dataset, "error estimate", cell.replicate);
    Sample::draw(context.problem.items(), columns, estimate.samples, &mut rng)
}
