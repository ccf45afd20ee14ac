//! The errors of an approximation: exact where all of K is available, estimated from a sample of extra entries otherwise.
//!
//! Off the diagonal first, since neighbors, pairs and clusters leave the diagonal out; then over all entries; over the entries that the fit did not
//! evaluate, which shows what was learned rather than read; and at sampled entries of those the error of large scores, and the correlation.

use landmark_core::approximation::Approximation;
use landmark_core::entries::{EntryBlock, EntryPlan, Rows};
use landmark_core::error_estimate::{self, Agreement, ErrorEstimate, Estimate, Sample};
use landmark_core::landmarks::Landmarks;
use landmark_core::stream::stream;
use landmark_report::{Metric, ResultRow};
use ndarray::Array2;
use serde::Serialize;

use crate::config::ErrorEstimateConfig;
use crate::job::{JobError, Request};
use crate::problem::similarity;
use crate::sweep::Cell;
use crate::sweep::context::{OTHER_ORDER, SweepContext, whole};

/// Cells of K evaluated at a time: 8 MB.
const CELLS_PER_BLOCK: usize = 1 << 20;

/// Unevaluated entries that agreement is measured at where all of K is available.
const AGREEMENT_SAMPLES: usize = 20_000;

/// One evaluated pair is sampled for this number of unevaluated ones, where columns hold one order a pair.
const EVALUATED_SHARE: usize = 4;

/// Mark in the variant of rows that read less than all of K̃.
pub const READING: &str = "read";

/// Way in which the errors of a run are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum Errors {
    /// Against all of K.
    Exact,
    /// From a sample.
    Estimated(ErrorEstimateConfig),
    /// Not at all.
    Unknown,
}

impl Errors {
    /// Exact where K is there anyway (a matrix that is given, an error curve, a method that needs all of it) and within the budget.
    pub fn of(context: &SweepContext<'_>) -> Self {
        let is_there = !context.problem.is_priced
            || context.matrix.experiment.is_about_errors() && context.matrix.error_estimate.is_none()
            || context.matrix.methods.iter().any(|method| !method.entry.draws);
        let all = context.evaluations(&context.requests(whole(context.problem.items())));
        let affordable = context.matrix.budget.limit().is_none_or(|budget| budget >= all);
        match context.matrix.error_estimate {
            _ if is_there && affordable => Self::Exact,
            Some(estimate) => Self::Estimated(estimate),
            None if is_there && context.matrix.experiment.is_about_errors() => Self::Exact,
            None => Self::Unknown,
        }
    }
}

/// The entries of K that the error of a cell is measured against, beyond its fit.
pub fn plan(context: &SweepContext<'_>, errors: Errors, cell: &Cell, fit: &EntryPlan) -> Result<EntryPlan, JobError> {
    let mut plan = fit.clone();
    let sample = planned_sample(context, errors, cell, fit)?;
    plan.blocks.extend(sample.iter().flat_map(|sample| sample.plan().blocks));
    Ok(plan)
}

/// The entries of K that a cell requests: those of its fit, and those that its error is measured against.
pub fn requests(
    context: &SweepContext<'_>,
    errors: Errors,
    cell: &Cell,
    fit: &EntryPlan,
) -> Result<Vec<Request>, JobError> {
    let plan = plan(context, errors, cell, fit)?;
    if context.sweep.coin(cell).is_none() {
        return Ok(context.requests(plan));
    }
    let other = planned_sample(context, errors, cell, fit)?
        .map(|sample| Request { matrix: OTHER_ORDER, plan: sample.plan_of_pairs() });
    Ok(Request::of_sweep(plan).into_iter().chain(other).collect())
}

fn planned_sample(
    context: &SweepContext<'_>,
    errors: Errors,
    cell: &Cell,
    fit: &EntryPlan,
) -> Result<Option<Sample>, JobError> {
    let Errors::Estimated(estimate) = errors else { return Ok(None) };
    Ok(Some(sample(context, estimate, cell, &columns(cell, &context.sweep.drawn_landmarks(cell)?, fit))))
}

/// The sample that was planned for a fit.
fn sample_of(context: &SweepContext<'_>, estimate: ErrorEstimateConfig, cell: &Cell) -> Result<Sample, JobError> {
    let landmarks = context.landmarks(cell)?;
    let fit = context.sweep.method(cell).approximator.plan(context.metered.shape(), &landmarks, cell.rank)?;
    Ok(sample(context, estimate, cell, &columns(cell, &landmarks, &fit)))
}

/// Columns of a fit. Where pairs are chosen a part of the landmarks has no column, or has one only by what the fit saw.
fn columns(cell: &Cell, landmarks: &Landmarks, fit: &EntryPlan) -> Vec<usize> {
    if fit.chosen == 0 { landmarks.order()[..cell.rank].to_vec() } else { fit.full_columns() }
}

/// Evaluates all of K by blocks of rows.
pub fn evaluate_all(context: &SweepContext<'_>) -> Result<(), JobError> {
    evaluate(context, &whole(context.problem.items()))
}

/// Evaluates the entries of a plan by blocks.
pub fn evaluate(context: &SweepContext<'_>, plan: &EntryPlan) -> Result<(), JobError> {
    let scores = context.metered.wanted();
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

/// The rows of the errors of a cell, as far as they are known, off the diagonal first.
pub fn rows(
    context: &SweepContext<'_>,
    errors: Errors,
    cell: &Cell,
    gamma: Option<f64>,
    approximation: &Approximation,
    blank: &dyn Fn(Metric, f64) -> ResultRow,
) -> Result<Vec<ResultRow>, JobError> {
    let reference = similarity(context.metered.wanted(), gamma)?;
    Ok(match errors {
        Errors::Unknown => Vec::new(),
        Errors::Exact => {
            let exact = error_estimate::relative_errors(&reference, approximation)?;
            let agreement = agreement(context, cell, approximation).agreement(&reference, approximation)?;
            let first = [(Metric::OffDiagonalError, exact.off_diagonal), (Metric::RelativeError, exact.raw)];
            let unevaluated = exact.unevaluated.map(|error| (Metric::UnevaluatedError, error));
            let known = first.into_iter().chain(unevaluated).map(|(metric, value)| blank(metric, value));
            known.chain(agreement_rows(agreement, blank)).collect()
        }
        Errors::Estimated(estimate) => {
            let sample = sample_of(context, estimate, cell)?;
            estimated_rows(&sample.estimate(&reference, approximation, estimate.confidence)?, blank)
        }
    })
}

/// The row of the error over all entries alone, where it is known.
pub fn row(
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
            let sample = sample_of(context, estimate, cell)?;
            let ErrorEstimate { relative_error, lower, upper, .. } =
                sample.estimate(&reference, approximation, estimate.confidence)?;
            Some(blank(Metric::EstimatedError, relative_error).within(lower, upper))
        }
    })
}

pub fn estimated_rows(estimate: &ErrorEstimate, blank: &dyn Fn(Metric, f64) -> ResultRow) -> Vec<ResultRow> {
    let row = |metric, Estimate { value, lower, upper }| blank(metric, value).within(lower, upper);
    let ErrorEstimate { relative_error: value, lower, upper, .. } = *estimate;
    let all = row(Metric::EstimatedError, Estimate { value, lower, upper });
    let unevaluated = estimate.unevaluated.map(|error| row(Metric::UnevaluatedError, error));
    let first = [row(Metric::OffDiagonalError, estimate.off_diagonal), all].into_iter();
    first.chain(unevaluated).chain(agreement_rows(estimate.agreement, blank)).collect()
}

fn agreement_rows(
    Agreement { large_scores, correlation }: Agreement,
    blank: &dyn Fn(Metric, f64) -> ResultRow,
) -> impl Iterator<Item = ResultRow> {
    let measured = [(Metric::LargeScoreError, large_scores), (Metric::ScoreCorrelation, correlation)];
    measured.into_iter().filter_map(|(metric, value)| value.map(|value| blank(metric, value)))
}

/// Parts of K̃ that are measured in addition to the whole of it, by name: what it predicts in the place of its scattered entries, and where a cheap
/// matrix is added to its core the inner products of its embedding, whose vectors only approximate that matrix.
pub fn readings(approximation: &Approximation) -> Result<Vec<(&'static str, Approximation)>, JobError> {
    let mut readings = Vec::new();
    if approximation.scattered().is_some() {
        readings.push(("columns", approximation.clone().without_scattered()));
    }
    if approximation.addend().is_some() && approximation.is_symmetric() {
        let embedding = approximation.clone().into_embedding()?;
        let product = embedding.product(approximation.landmarks().to_vec(), approximation.report().clone());
        readings.push(("embedding", product));
    }
    Ok(readings)
}

/// A row of the same cell that reads less than all of K̃.
pub fn reading(row: ResultRow, what: &str) -> ResultRow {
    let mut subject = row.subject.clone().called(format!("{}, its {what}", row.subject.method));
    subject.variant.set(READING, what);
    ResultRow { subject, ..row }
}

fn sample(context: &SweepContext<'_>, estimate: ErrorEstimateConfig, cell: &Cell, columns: &[usize]) -> Sample {
    let mut rng = stream(context.run.seed, &context.problem.dataset, "error estimate", cell.replicate);
    let sample = match &context.problem.contents {
        Some(contents) => Sample::draw_by_content(contents, columns, estimate.samples, &mut rng),
        None => Sample::draw(context.problem.items(), columns, estimate.samples, &mut rng),
    };
    match context.sweep.coin(cell) {
        Some(_) => sample.with_evaluated((estimate.samples / EVALUATED_SHARE).max(1), &mut rng),
        None => sample,
    }
}

/// Entries to measure agreement at where all of K is there.
fn agreement(context: &SweepContext<'_>, cell: &Cell, approximation: &Approximation) -> Sample {
    let mut rng = stream(context.run.seed, &context.problem.dataset, "agreement", cell.replicate);
    Sample::draw(context.problem.items(), approximation.landmarks(), AGREEMENT_SAMPLES, &mut rng)
}
