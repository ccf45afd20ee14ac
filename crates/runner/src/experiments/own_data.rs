//! `experiment: own_data` — the factors of a user's own matrix, in files, as good as the budget allows.
//!
//! One method at one rank. With `target_error` the rank grows until the estimate meets it. A budget of entries or money is
//! known before the first call: the largest rank that it pays for is fitted, and nothing is bought for a rank that would
//! not be finished. A budget of seconds is not: the rank grows step by step, and the best step so far is the result.

use landmark_core::approximation::{Approximation, Embedding};
use landmark_core::entries::{EntryPlan, EntrySet};
use landmark_core::error_estimate::Stop;
use landmark_core::oracle::{Metered, OracleError, Spent};
use landmark_core::stream::stream;
use landmark_report::amounts::counted;
use landmark_report::{CellKey, Metric, ResultRow, TableKind, TableSpec};
use landmark_yaml::{Entry, parameter};
use serde_json::json;

use super::error_curve::report_rows;
use super::errors::{self, Errors};
use crate::config::LandmarkConfig;
use crate::config::matrix::ExperimentEntry;
use crate::experiment::Experiment;
use crate::factors::{FactorError, FactorInfo, Factors};
use crate::job::{ExtraCalls, Job, JobError};
use crate::layout::Layout;
use crate::sweep::context::{SweepContext, group};
use crate::sweep::{Cell, Comparison, Setting};

/// The folder of the factors, in that of the results.
pub(crate) const FACTORS: &str = "factors";

static ENTRY: ExperimentEntry = ExperimentEntry {
    unread: &["spectrum", "svm", "search", "compare"],
    makes_factors: true,
    ..ExperimentEntry::new(Entry {
        id: "own_data",
        summary: "factors of a matrix of your own, in files, with an error estimate, within a budget",
        parameters: &[parameter("output", "{ formats: [npy, safetensors, parquet] }", "forms of the factors")],
        source: "this project",
    })
};

/// Factors of a matrix of the user's own.
pub struct OwnData;

impl Experiment for OwnData {
    fn entry(&self) -> &'static ExperimentEntry {
        &ENTRY
    }

    fn jobs<'a>(&self, context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
        jobs(context)
    }

    fn is_kept(&self, context: &SweepContext<'_>, job: &Job<'_>) -> bool {
        is_kept(context, job)
    }

    fn layout(&self, context: &SweepContext<'_>, rows: &[ResultRow]) -> Layout {
        layout(context, rows)
    }
}

fn jobs<'a>(context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
    let is_first = |cell: &Cell| cell.replicate == 0 && cell.comparison == Comparison::Rank;
    let Some(cell) = context.sweep.cells().into_iter().rfind(is_first) else { return Ok(Vec::new()) };
    let plan = full_plan(context, &cell)?;
    let more = json!({
        "errors": Errors::of(context),
        "budget": context.matrix.budget,
        "output": context.matrix.output,
    });
    let key = context.key("own data", Some(&cell), &more)?;
    Ok(vec![Job {
        key: key.clone(),
        title: context.sweep.title(&cell),
        group: group(context.sweep, "", &cell),
        plan,
        extra: ExtraCalls::NONE,
        work: Box::new(move |_, _| measure(context, &key, &cell)),
    }])
}

/// What the fit and its error estimate will request.
fn full_plan(context: &SweepContext<'_>, cell: &Cell) -> Result<EntryPlan, JobError> {
    let fit = context.plan(cell)?;
    // a growing rank has its samples in its plan
    if context.target(cell).is_some() { Ok(fit) } else { errors::plan(context, Errors::of(context), cell, &fit) }
}

/// Whether the factors on disk are those of this job, and whole.
fn is_kept(context: &SweepContext<'_>, job: &Job<'_>) -> bool {
    let folder = context.folder.join(FACTORS);
    let key = job.key.to_string();
    Factors::peek(&folder).is_some_and(|info| info.job.as_ref() == Some(&key) && Factors::are_whole(&folder, &info))
}

fn measure(context: &SweepContext<'_>, key: &CellKey, cell: &Cell) -> Result<Vec<ResultRow>, JobError> {
    let wanted = cell.rank;
    let cell = &affordable(context, cell)?;
    if cell.rank < wanted {
        context.is_cut_short.set(true);
    }
    let gamma = context.fixed_gamma();
    let (approximation, spent, grown) = fit(context, cell, gamma)?;
    let cell = &Cell { rank: approximation.report().rank.clamp(1, cell.rank), ..cell.clone() };
    let blank = |metric, value| context.row(cell, &spent, metric, value);
    let mut rows = report_rows(&approximation, &blank);
    rows.push(blank(Metric::Rank, approximation.report().rank as f64));
    let error = match grown {
        Some(row) => Some(row(&blank)),
        None => errors::row(context, Errors::of(context), cell, gamma, &approximation, &blank)?,
    };
    let known = error.as_ref().map(|row| FactorError { relative: row.value, lower: row.lower, upper: row.upper });
    rows.extend(error.map(|row| ResultRow { seconds: Some(approximation.report().seconds), ..row }));
    write(context, key, approximation, gamma, known)?;
    Ok(rows)
}

/// The row of an estimate that the growth of the rank has made.
type GrownRow = Box<dyn Fn(&dyn Fn(Metric, f64) -> ResultRow) -> ResultRow>;

fn fit(
    context: &SweepContext<'_>,
    cell: &Cell,
    gamma: Option<f64>,
) -> Result<(Approximation, Spent, Option<GrownRow>), JobError> {
    let Some(target) = context.target(cell) else {
        let (approximation, spent) = context.fit(cell, Setting::at(gamma))?;
        return Ok((approximation, spent, None));
    };
    let oracle = Metered::new(context.till.similarities(gamma)?);
    let method = context.sweep.approximator(cell, Setting::at(gamma))?;
    let landmarks = context.landmarks(cell)?;
    let mut rng = stream(context.run.seed, &context.stage.dataset, "fit", cell.replicate);
    let known = context.sweep.method(cell).known;
    let outcome = target.run(method.as_ref(), &oracle, &landmarks, known, &mut rng)?;
    if matches!(outcome.stop, Stop::BudgetExhausted(_)) {
        context.is_cut_short.set(true);
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
pub(crate) fn embedding_again(context: &SweepContext<'_>, rank: usize) -> Result<Embedding, JobError> {
    let first = context.sweep.cells().into_iter().find(|cell| cell.comparison == Comparison::Rank);
    let Some(cell) = first else { return Err("the configuration names no rank".into()) };
    let (approximation, _) =
        context.fit_at(&Cell { rank, columns: rank, ..cell }, Setting::at(context.fixed_gamma()))?;
    Ok(approximation.into_embedding()?)
}

/// The cell at the largest rank that a budget of entries or money pays for, the error estimate included.
fn affordable(context: &SweepContext<'_>, cell: &Cell) -> Result<Cell, JobError> {
    let sees = matches!(context.matrix.landmarks, LandmarkConfig::Seen(_));
    let Some(limit) = context.matrix.budget.limit().filter(|_| !sees && context.matrix.target_error.is_none()) else {
        return Ok(cell.clone());
    };
    let at = |rank: usize| Cell { rank, columns: rank, ..cell.clone() };
    let missing = |rank: usize| -> Result<u64, JobError> {
        let cell = at(rank);
        let mut entries = EntrySet::new(context.till.shape());
        let fit = context.sweep.plan(&cell, context.till.shape())?;
        entries.add(&errors::plan(context, Errors::of(context), &cell, &fit)?);
        context.till.missing(&entries).map_err(|error| OracleError::from(error).into())
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
    context: &SweepContext<'_>,
    key: &CellKey,
    approximation: Approximation,
    gamma: Option<f64>,
    error: Option<FactorError>,
) -> Result<(), JobError> {
    let landmarks = approximation.landmarks().to_vec();
    let (rank, proxy) = (approximation.report().rank, approximation.addend().is_some());
    let embedding: Embedding = approximation.into_embedding()?;
    let oracle = context.stage.raw.identity().to_hex();
    let folder = context.folder.join(FACTORS);
    // what a run before this one met is in the store still
    let failed_before = Factors::peek(&folder).filter(|info| info.oracle == oracle).map_or(0, |info| info.failed_pairs);
    let program = context.stage.program.as_ref();
    let info = FactorInfo {
        version: 1,
        items: embedding.vectors.nrows(),
        columns: embedding.vectors.ncols(),
        method: context.matrix.methods.first().map_or_else(String::new, |method| method.name.clone()),
        rank,
        landmarks,
        oracle,
        texts: context.stage.own.as_ref().map(|items| items.identity().to_hex()),
        gamma,
        error,
        proxy,
        cut_short: context.is_cut_short.get(),
        failed_pairs: program.map_or(0, |program| program.failed()).max(failed_before),
        job: Some(key.to_string()),
        scorer: program.map(|program| program.greeting().identity.clone()),
    };
    let factors =
        Factors { info, vectors: embedding.vectors, signature: embedding.signature, projector: embedding.projector };
    let ids = context.stage.own.as_ref().map(|items| items.ids());
    factors.write(&folder, ids, &context.matrix.output.formats).map_err(|error| JobError::Failed(error.into()))
}

fn layout(context: &SweepContext<'_>, rows: &[ResultRow]) -> Layout {
    let find = |metric: Metric| rows.iter().find(|row| row.metric == metric);
    let Some(first) = rows.first() else { return Layout::default() };
    let mut lines = vec![
        line("items", &first.items.to_string()),
        line("method", &first.method),
        line("landmarks", &find(Metric::Rank).map_or(0.0, |row| row.value).to_string()),
        line("evaluations, without those of the error estimate", &first.evaluations.to_string()),
    ];
    if let Some(price) = context.matrix.budget.price(first.evaluations) {
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
    let failed = Factors::peek(&context.folder.join(FACTORS)).map_or(0, |info| info.failed_pairs);
    let restarts = context.stage.program.as_ref().map_or(0, |program| program.restarts());
    let mut notes = Vec::new();
    let estimate = find(Metric::EstimatedError).map(|row| row.value);
    if let (Some(target), Some(estimate)) = (context.matrix.target_error, estimate)
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
