//! `experiment: own_data` — the factors of a user's own matrix, in files, as good as the budget allows.
//!
//! One method at one rank. With `target_error` the rank grows until the estimate meets it. A budget of entries or money is
//! known before the first call: the largest rank that it pays for is fitted, and nothing is bought for a rank that would
//! not be finished. A budget of seconds is not: the rank grows step by step, and the best step so far is the result.

use landmark_core::approximation::{Approximation, Embedding};
use landmark_core::entries::{EntryPlan, EntrySet};
use landmark_core::error_estimate::{Stop, TargetError};
use landmark_core::oracle::{Metered, OracleError, Spent};
use landmark_core::stream::stream;
use serde_json::json;

use super::error_curve::report_rows;
use super::errors::{self, Errors};
use super::{Bench, Beside, Job, JobError, Layout, Task, group};
use crate::config::LandmarkConfig;
use crate::factors::{FactorError, FactorInfo, Factors};
use crate::report::{TableKind, TableSpec};
use crate::results::{Metric, ResultRow};
use crate::run::counted;
use crate::sweep::{Cell, Comparison, Setting};

/// The folder of the factors, in that of the results.
pub(crate) const FACTORS: &str = "factors";
/// A budget of seconds is spent in steps of about twice the rank each.
const FIRST_SHARE: usize = 8;

pub(super) fn jobs(bench: &Bench<'_>) -> Result<Vec<Job>, JobError> {
    let is_first = |cell: &Cell| cell.replicate == 0 && cell.comparison == Comparison::Rank;
    let Some(cell) = bench.sweep.cells().into_iter().rfind(is_first) else { return Ok(Vec::new()) };
    let plan = full_plan(bench, &cell)?;
    let more = json!({
        "errors": Errors::of(bench),
        "budget": bench.matrix.budget,
        "output": bench.matrix.output,
    });
    Ok(vec![Job {
        key: bench.key("own data", Some(&cell), &more)?,
        title: bench.sweep.title(&cell),
        group: group(bench.sweep, "", &cell),
        plan,
        beside: Beside::NONE,
        task: Task::Measure(cell),
    }])
}

/// What the fit and its error estimate will request.
fn full_plan(bench: &Bench<'_>, cell: &Cell) -> Result<EntryPlan, JobError> {
    let fit = bench.plan(cell)?;
    // a growing rank has its samples in its plan
    if target(bench, cell).is_some() { Ok(fit) } else { errors::plan(bench, Errors::of(bench), cell, &fit) }
}

/// What a growing rank stops at: the error that is wanted, or the end of the time.
pub(super) fn target(bench: &Bench<'_>, cell: &Cell) -> Option<TargetError> {
    if bench.matrix.target_error.is_some() {
        return bench.grown(cell, bench.matrix.target_error?, bench.sweep.sizes().first().copied().unwrap_or(1));
    }
    bench.matrix.budget.seconds?;
    let steps = bench.grown(cell, f64::MIN_POSITIVE, (cell.rank / FIRST_SHARE).max(1))?;
    Some(TargetError { growth: 2.0, ..steps })
}

/// Whether the factors on disk are those of this job, and whole.
pub(super) fn is_kept(bench: &Bench<'_>, job: &Job) -> bool {
    let folder = bench.folder.join(FACTORS);
    let key = job.key.to_string();
    Factors::peek(&folder).is_some_and(|info| info.job.as_ref() == Some(&key) && Factors::are_whole(&folder, &info))
}

pub(super) fn measure(bench: &Bench<'_>, job: &Job, cell: &Cell) -> Result<Vec<ResultRow>, JobError> {
    let wanted = cell.rank;
    let cell = &affordable(bench, cell)?;
    if cell.rank < wanted {
        bench.is_cut_short.set(true);
    }
    let gamma = bench.fixed_gamma();
    let (approximation, spent, grown) = fit(bench, cell, gamma)?;
    let cell = &Cell { rank: approximation.report().rank.clamp(1, cell.rank), ..cell.clone() };
    let blank = |metric, value| bench.row(cell, &spent, metric, value);
    let mut rows = report_rows(&approximation, &blank);
    rows.push(blank(Metric::Rank, approximation.report().rank as f64));
    let error = match grown {
        Some(row) => Some(row(&blank)),
        None => errors::row(bench, Errors::of(bench), cell, gamma, &approximation, &blank)?,
    };
    let known = error.as_ref().map(|row| FactorError { relative: row.value, lower: row.lower, upper: row.upper });
    rows.extend(error.map(|row| ResultRow { seconds: Some(approximation.report().seconds), ..row }));
    write(bench, job, approximation, gamma, known)?;
    Ok(rows)
}

/// The row of an estimate that the growth of the rank has made.
type GrownRow = Box<dyn Fn(&dyn Fn(Metric, f64) -> ResultRow) -> ResultRow>;

fn fit(
    bench: &Bench<'_>,
    cell: &Cell,
    gamma: Option<f64>,
) -> Result<(Approximation, Spent, Option<GrownRow>), JobError> {
    let Some(target) = target(bench, cell) else {
        let (approximation, spent) = bench.fit(cell, Setting::at(gamma))?;
        return Ok((approximation, spent, None));
    };
    let oracle = Metered::new(bench.till.similarities(gamma)?);
    let method = bench.sweep.approximator(cell, Setting::at(gamma))?;
    let landmarks = bench.landmarks(cell)?;
    let mut rng = stream(bench.config.seed, &bench.stage.dataset, "fit", cell.replicate);
    let known = bench.sweep.method(cell).known;
    let outcome = target.run(method.as_ref(), &oracle, &landmarks, known, &mut rng)?;
    if matches!(outcome.stop, Stop::BudgetExhausted(_)) {
        bench.is_cut_short.set(true);
    }
    let row = outcome.estimate.map(|estimate| -> GrownRow {
        Box::new(move |blank| {
            let row = blank(Metric::EstimatedError, estimate.relative_error);
            ResultRow { lower: Some(estimate.lower), upper: Some(estimate.upper), ..row }
        })
    });
    Ok((outcome.approximation, oracle.spent(), row))
}

/// The embedding of a fit that was made before, from what the store holds: a proxy's part of it stands in no file.
pub(crate) fn embedding_again(bench: &Bench<'_>, rank: usize) -> Result<Embedding, JobError> {
    let first = bench.sweep.cells().into_iter().find(|cell| cell.comparison == Comparison::Rank);
    let Some(cell) = first else { return Err(JobError::Study("the configuration names no rank".into())) };
    let (approximation, _) = bench.fit_at(&Cell { rank, columns: rank, ..cell }, Setting::at(bench.fixed_gamma()))?;
    Ok(approximation.into_embedding()?)
}

/// The cell at the largest rank that a budget of entries or money pays for, the error estimate included.
fn affordable(bench: &Bench<'_>, cell: &Cell) -> Result<Cell, JobError> {
    let sees = matches!(bench.matrix.landmarks, LandmarkConfig::Seen(_));
    let Some(limit) = bench.matrix.budget.limit().filter(|_| !sees && bench.matrix.target_error.is_none()) else {
        return Ok(cell.clone());
    };
    let at = |rank: usize| Cell { rank, columns: rank, ..cell.clone() };
    let missing = |rank: usize| -> Result<u64, JobError> {
        let cell = at(rank);
        let mut entries = EntrySet::new(bench.till.shape());
        let fit = bench.sweep.plan(&cell, bench.till.shape())?;
        entries.add(&errors::plan(bench, Errors::of(bench), &cell, &fit)?);
        bench.till.missing(&entries).map_err(|error| OracleError::from(error).into())
    };
    if missing(cell.rank)? <= limit {
        return Ok(cell.clone());
    }
    let (mut low, mut high) = (0, cell.rank - 1);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if missing(middle)? <= limit { low = middle } else { high = middle - 1 }
    }
    if low == 0 {
        let requested = missing(1)?;
        return Err(OracleError::BudgetExhausted { budget: limit, spent: 0, requested }.into());
    }
    Ok(at(low))
}

fn write(
    bench: &Bench<'_>,
    job: &Job,
    approximation: Approximation,
    gamma: Option<f64>,
    error: Option<FactorError>,
) -> Result<(), JobError> {
    let landmarks = approximation.landmarks().to_vec();
    let (rank, proxy) = (approximation.report().rank, approximation.addend().is_some());
    let embedding: Embedding = approximation.into_embedding()?;
    let oracle = bench.stage.raw.identity().to_hex();
    let folder = bench.folder.join(FACTORS);
    // what a run before this one met is in the store still
    let failed_before = Factors::peek(&folder).filter(|info| info.oracle == oracle).map_or(0, |info| info.failed_pairs);
    let program = bench.stage.program.as_ref();
    let info = FactorInfo {
        version: 1,
        items: embedding.vectors.nrows(),
        columns: embedding.vectors.ncols(),
        method: bench.matrix.methods.first().map_or_else(String::new, |method| method.name.clone()),
        rank,
        landmarks,
        oracle,
        texts: bench.stage.own.as_ref().map(|items| items.identity().to_hex()),
        gamma,
        error,
        proxy,
        cut_short: bench.is_cut_short.get(),
        failed_pairs: program.map_or(0, |program| program.failed()).max(failed_before),
        job: Some(job.key.to_string()),
        scorer: program.map(|program| program.greeting().identity.clone()),
    };
    let factors =
        Factors { info, vectors: embedding.vectors, signature: embedding.signature, projector: embedding.projector };
    let ids = bench.stage.own.as_ref().map(|items| items.ids());
    factors.write(&folder, ids, &bench.matrix.output.formats).map_err(|error| JobError::Study(error.into()))
}

pub(super) fn layout(bench: &Bench<'_>, rows: &[ResultRow]) -> Layout {
    let find = |metric: Metric| rows.iter().find(|row| row.metric == metric);
    let Some(first) = rows.first() else { return Layout::default() };
    let mut lines = vec![
        line("items", &first.items.to_string()),
        line("method", &first.method),
        line("landmarks", &find(Metric::Rank).map_or(0.0, |row| row.value).to_string()),
        line("evaluations, without those of the error estimate", &first.evaluations.to_string()),
    ];
    if let Some(price) = bench.matrix.budget.price(first.evaluations) {
        lines.push(line("their price", &format!("{price:.2}")));
    }
    if let Some(row) = find(Metric::EstimatedError).or_else(|| find(Metric::RelativeError)) {
        let interval = match (row.lower, row.upper) {
            (Some(lower), Some(upper)) => format!(" ({lower:.4} to {upper:.4})"),
            _ => " (exact)".to_owned(),
        };
        lines.push(line("relative error", &format!("{:.4}{interval}", row.value)));
    }
    lines.push(line("factors", &format!("{FACTORS}/")));
    let table = TableSpec {
        id: "table-factors".to_owned(),
        title: "The factors".to_owned(),
        caption: "The relative error is ‖K − K̃‖_F / ‖K‖_F with its 95 % interval, from entries bought for the purpose. Evaluations are \
                  those of an empty store."
            .to_owned(),
        kind: TableKind::Plain { figures: vec![1], head: vec![String::new(), String::new()], lines },
    };
    let failed = Factors::peek(&bench.folder.join(FACTORS)).map_or(0, |info| info.failed_pairs);
    let restarts = bench.stage.program.as_ref().map_or(0, |program| program.restarts());
    let mut notes = Vec::new();
    let estimate = find(Metric::EstimatedError).map(|row| row.value);
    if let (Some(target), Some(estimate)) = (bench.matrix.target_error, estimate)
        && estimate > target
    {
        notes.push(format!(
            "the relative error is {estimate:.4} and not the {target} that `target_error` asks for: `ranks` ends too early, or the method \
             cannot reach it on this matrix"
        ));
    }
    if failed > 0 {
        notes.push(format!(
            "{} could not be scored and got the score of `oracle.failed_pairs`",
            counted(failed, "pair")
        ));
    }
    if restarts > 0 {
        notes.push(format!(
            "the program ended, or was silent for too long, {} and was started again; nothing was lost, but \
             `oracle.timeout_seconds` and its own log are worth a look",
            counted(restarts, "time")
        ));
    }
    Layout { tables: vec![table], notes, ..Layout::default() }
}

fn line(name: &str, value: &str) -> Vec<String> {
    vec![name.to_owned(), value.to_owned()]
}
