//! The relative error of an approximation: exact where all of K is at hand, estimated from a sample of extra entries otherwise.

use landmark_core::approximation::Approximation;
use landmark_core::entries::{EntryBlock, EntryPlan, Rows};
use landmark_core::error_estimate::{self, ErrorEstimate, Sample};
use landmark_core::landmarks::Landmarks;
use landmark_core::stream::stream;
use ndarray::Array2;
use serde::Serialize;

use super::{Bench, JobError, whole};
use crate::config::{ErrorEstimateConfig, Experiment};
use crate::results::{Metric, ResultRow};
use crate::sweep::Cell;

/// Cells of K bought at a time: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;

/// Way in which the errors of a run are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
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
    pub(super) fn of(bench: &Bench<'_>) -> Self {
        let is_there = !bench.stage.is_priced
            || is_about_errors(bench) && bench.matrix.error_estimate.is_none()
            || bench.matrix.methods.iter().any(|method| !method.entry.draws);
        let all = whole(bench.stage.items()).evaluations(bench.till.shape());
        let affordable = bench.matrix.budget.limit().is_none_or(|budget| budget >= all);
        match bench.matrix.error_estimate {
            _ if is_there && affordable => Self::Exact,
            Some(estimate) => Self::Estimated(estimate),
            None if is_there && is_about_errors(bench) => Self::Exact,
            None => Self::Unknown,
        }
    }
}

fn is_about_errors(bench: &Bench<'_>) -> bool {
    matches!(bench.matrix.experiment, Experiment::ErrorCurve | Experiment::Glue)
}

/// The entries of K that the error of a cell is measured against, beyond its fit.
pub(super) fn plan(bench: &Bench<'_>, errors: Errors, cell: &Cell, fit: &EntryPlan) -> Result<EntryPlan, JobError> {
    let mut plan = fit.clone();
    if let Errors::Estimated(estimate) = errors {
        let sample = sample(bench, estimate, cell, &bench.sweep.drawn_landmarks(cell)?);
        plan.blocks.extend(sample.plan().blocks);
    }
    Ok(plan)
}

/// Buys all of K by blocks of rows.
pub(super) fn buy_reference(bench: &Bench<'_>) -> Result<(), JobError> {
    buy(bench, &whole(bench.stage.items()))
}

/// Buys the entries of a plan by blocks.
pub(super) fn buy(bench: &Bench<'_>, plan: &EntryPlan) -> Result<(), JobError> {
    let scores = bench.till.scores();
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
    bench: &Bench<'_>,
    errors: Errors,
    cell: &Cell,
    gamma: Option<f64>,
    approximation: &Approximation,
    blank: &dyn Fn(Metric, f64) -> ResultRow,
) -> Result<Option<ResultRow>, JobError> {
    let reference = bench.till.similarities(gamma)?;
    Ok(match errors {
        Errors::Unknown => None,
        Errors::Exact => {
            let error = error_estimate::relative_error(&reference, approximation)?;
            Some(blank(Metric::RelativeError, error))
        }
        Errors::Estimated(estimate) => {
            let sample = sample(bench, estimate, cell, &bench.landmarks(cell)?);
            let ErrorEstimate { relative_error, lower, upper, .. } =
                sample.estimate(&reference, approximation, estimate.confidence)?;
            let row = blank(Metric::EstimatedError, relative_error);
            Some(ResultRow { lower: Some(lower), upper: Some(upper), ..row })
        }
    })
}

fn sample(bench: &Bench<'_>, estimate: ErrorEstimateConfig, cell: &Cell, landmarks: &Landmarks) -> Sample {
    let mut rng = stream(bench.config.seed, &bench.stage.dataset, "error estimate", cell.replicate);
    Sample::draw(bench.stage.items(), &landmarks.order()[..cell.rank], estimate.samples, &mut rng)
}
