//! `experiment: own_data` — the factors of a user's own matrix, in files, as good as the budget allows.
//!
//! One method at one rank. With `target_error` the rank grows until the estimate meets it. A budget of entries or money is
//! known before the first call: the largest rank that it pays for is fitted, and no call is made for a rank that would
//! not be finished. A budget of seconds is not: the rank grows step by step, and the best step so far is the result.
//! [`held_out`] reports what its uniform columns show of the recall of the factors.

use landmark_core::approximation::{Approximation, Embedding, Known, ScatteredEntries};
use landmark_core::error_estimate::Sample;
use landmark_core::error_estimate::Stop;
use landmark_core::oracle::{Metered, OracleError, Spent};
use landmark_core::stream::stream;
use landmark_report::amounts::counted;
use landmark_report::{CellKey, Metric, ResultRow};
use landmark_yaml::{Entry, Keys, Problem, Section};
use serde_json::json;
use std::path::Path;

use crate::factors::{FactorError, FactorInfo, Factors};
use landmark_harness::config::matrix::{ExperimentEntry, MatrixSubject, Purpose};
use landmark_harness::config::{LandmarkConfig, OutputConfig};
use landmark_harness::experiment::{Experiment, FinishedRun};
use landmark_harness::experiments::error_curve::{report_rows, with_seconds};
use landmark_harness::experiments::errors::{self, Errors};
use landmark_harness::facts::Facts;
use landmark_harness::job::{ExtraCalls, Job, JobError, Request};
use landmark_harness::layout::Layout;
use landmark_harness::oracles::scorer::Scorer;
use landmark_harness::program_check;
use landmark_harness::sweep::context::{SweepContext, group};
use landmark_harness::sweep::{Cell, Comparison, Setting};

mod curve;
pub mod export;
pub mod held_out;
pub mod labels;
mod layout;
mod page;
mod statement;

pub use page::central_items;
pub use statement::{GROUPS_RECALL, NEIGHBORS_RECALL, PAIRS_RECALL, Statement};

pub const NEIGHBORS: &str = "neighbors.tsv";
pub const PAIRS: &str = "pairs.tsv";
pub const GROUPS: &str = "groups.tsv";
pub const CLUSTERS: &str = "clusters.tsv";
pub const LABELS: &str = "labels.tsv";
/// Confusion and doubt of those labels.
pub const LABELS_REPORT: &str = "labels.json";
/// Tables that are made from the factors, in the folder of the results.
const ANSWERS: [&str; 10] = [
    NEIGHBORS,
    NEIGHBORS_RECALL,
    PAIRS,
    PAIRS_RECALL,
    GROUPS,
    GROUPS_RECALL,
    CLUSTERS,
    LABELS,
    LABELS_REPORT,
    page::GATHERED,
];
/// The folder of new items that were projected.
pub const PROJECTED: &str = "projected";
/// Reason why two lists are not approximated.
const NO_FACTORS: &str = "cannot make factors of two lists: they are those of a symmetric matrix, and pairs within a list do not exist; use \
    `landmark topk --calls-per-item`, `landmark mine --budget` or `landmark audit`, which need no run";
/// The folder of the factors, in that of the results.
pub use landmark_harness::sweep::kept::FACTORS;

static ENTRY: ExperimentEntry = ExperimentEntry {
    own: Some(|section| Some(std::sync::Arc::new(OutputConfig::read(section)?))),
    check,
    ..ExperimentEntry::new(
        Entry {
            id: "own_data",
            summary: "factors of a matrix of your own, in files, with an error estimate, within a budget",
            keys: Keys::of::<OutputConfig>().under("output"),
            source: "this project",
        },
        Purpose::Factors,
    )
};

/// Requirements of one set of factors: one method at one rank, which draws landmarks.
fn check(matrix: &MatrixSubject, section: &Section<'_>) {
    if matrix.methods.len() > 1 {
        section.refuse(
            "methods",
            "`own_data` writes the factors of one method: name one, and compare with `experiment: error_curve`",
        );
    }
    if matrix.ranks.len() > 1 && matrix.target_error.is_none() {
        section.refuse(
            "ranks",
            "`own_data` writes factors of one rank: name one, or set `target_error` to grow from the first to the last",
        );
    }
    let grows = [("target_error", matrix.target_error.is_some()), ("budget.seconds", matrix.budget.seconds.is_some())];
    if let (LandmarkConfig::Seen(policy), Some((key, _))) =
        (&matrix.landmarks, grows.iter().find(|(_, is_set)| *is_set))
    {
        let message = format!(
            "`{key}` grows the rank, and landmarks by `{}` read columns of the largest before the first fit: take `uniform`",
            policy.id()
        );
        section.refuse("landmarks", message);
    }
    for method in matrix.methods.iter().filter(|method| !method.entry.draws || method.id == "wme") {
        let message = format!("`{}` has no factors of evaluated columns, which `own_data` writes", method.id);
        section
            .problems()
            .add(Problem::new(message).at(method.place).help("use `shift_ridge`, `sms_nystrom` or `sicur`"));
    }
    if matrix.budget.seconds.is_some() && matrix.error_estimate.is_none() {
        section.refuse(
            "budget",
            "`budget.seconds` grows the rank step by step and keeps the best: it needs an `error_estimate`",
        );
    }
}

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

    fn note_facts(&self, context: &SweepContext<'_>, rows: &[ResultRow], facts: &mut Facts) -> Result<(), JobError> {
        facts.calls = page::calls(context, rows);
        facts.notes.extend(context.problem.scorer().map(Scorer::notes).unwrap_or_default());
        facts.notes.extend(page::gather(context));
        Ok(())
    }

    fn layout(&self, run: &FinishedRun<'_>) -> Layout {
        layout::layout(run)
    }
}

fn jobs<'a>(context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
    if context.matrix.dataset.has_two_lists() {
        return Err(NO_FACTORS.into());
    }
    let is_first = |cell: &Cell| cell.replicate == 0 && cell.comparison == Comparison::Rank;
    let Some(cell) = context.sweep.cells().into_iter().rfind(is_first) else { return Ok(Vec::new()) };
    let requests = full_plan(context, &cell)?;
    let more = json!({
        "errors": Errors::of(context),
        "budget": context.matrix.budget,
        "output": output(context),
        // recall of prefixes at items that the fit treats like any other
        "curve": 2,
    });
    let key = context.key("own data", Some(&cell), &more)?;
    Ok(vec![Job {
        key: key.clone(),
        title: context.sweep.title(&cell),
        group: group(context.sweep, "", &cell),
        requests,
        extra: ExtraCalls::NONE,
        work: Box::new(move |_, _| measure(context, &key, &cell)),
    }])
}

/// The forms of the factors.
fn output(context: &SweepContext<'_>) -> OutputConfig {
    context.matrix.own_section().cloned().unwrap_or_default()
}

/// Entries that the fit and its error estimate will request.
fn full_plan(context: &SweepContext<'_>, cell: &Cell) -> Result<Vec<Request>, JobError> {
    let fit = context.plan(cell)?;
    // a growing rank has its samples in its plan
    if context.target(cell).is_some() {
        return Ok(Request::of_sweep(fit));
    }
    errors::requests(context, Errors::of(context), cell, &fit)
}

/// True where the factors on disk are those of this job, and whole: what a budget cut short resumes in the next run.
fn is_kept(context: &SweepContext<'_>, job: &Job<'_>) -> bool {
    let folder = context.folder.join(FACTORS);
    let key = job.key.to_string();
    Factors::peek(&folder).is_some_and(|info| {
        let is_same = info.job.as_ref() == Some(&key)
            && info.config.as_ref().is_none_or(|made_by| *made_by == context.config_hash);
        is_same && !info.cut_short && Factors::are_whole(&folder, &info)
    })
}

fn measure(context: &SweepContext<'_>, key: &CellKey, cell: &Cell) -> Result<Vec<ResultRow>, JobError> {
    let wanted = cell.rank;
    let cell = &affordable(context, cell)?;
    let mut entries = context.metered.entries();
    full_plan(context, cell)?.iter().for_each(|request| entries.add(&request.plan));
    if cell.rank < wanted {
        context.is_cut_short.set(true);
        // the checks before a run are of all that it asks for, which is more than its budget
        program_check::check(context, &entries)?.iter().for_each(|warning| tracing::warn!("{warning}"));
    } else if context.target(cell).is_none() && program_check::are_left_out(context, &entries)? {
        let checks = counted(context.most_checks(), "evaluation");
        tracing::warn!("the budget leaves nothing for the checks of the scorer: {checks} more have them made");
    }
    let gamma = context.fixed_gamma();
    let Fitted { approximation, spent, grown } = fit(context, cell, gamma)?;
    let rank = approximation.report().rank.clamp(1, cell.rank);
    // where the rank grew, the columns are those that it grew to
    let columns = if grown.is_some() { approximation.landmarks().len() } else { cell.columns };
    let cell = &Cell { rank, columns, ..cell.clone() };
    let blank = |metric, value| context.row(cell, &spent, metric, value);
    let mut rows = report_rows(&approximation, &blank);
    rows.push(blank(Metric::Rank, approximation.report().rank as f64));
    let error = |approximation: &Approximation| match &grown {
        Some((confidence, sample)) => {
            let reference = context.metered.similarities(gamma)?;
            Ok(errors::estimated_rows(&sample.estimate(&reference, approximation, *confidence)?, &blank))
        }
        None => errors::rows(context, Errors::of(context), cell, gamma, approximation, &blank),
    };
    let with_known = all_entries(&error(&approximation)?);
    let made = Made::of(approximation)?;
    let of_files = error(&made.approximation)?;
    let errors = FactorErrors::of(all_entries(&of_files), with_known);
    rows.extend(with_seconds(of_files, &made.approximation));
    rows.extend(errors.with_known.clone());
    rows.extend(curve::rows(context, cell, gamma)?);
    rows.extend(curve::true_recall(context, cell, gamma, &made.approximation, &blank)?);
    write(context, key, made, gamma, &errors)?;
    Ok(rows)
}

/// The row of the error over all entries.
fn all_entries(rows: &[ResultRow]) -> Option<ResultRow> {
    rows.iter().find(|row| matches!(row.metric, Metric::RelativeError | Metric::EstimatedError)).cloned()
}

/// The error of what the files hold and, where it is another, with the known entries put back.
struct FactorErrors {
    of_files: Option<ResultRow>,
    with_known: Option<ResultRow>,
}

/// Error off the diagonal from which on lists made from factors are candidates.
const POOR: f64 = 0.5;

/// Errors that differ by less than this of themselves differ by rounding.
const SAME_ERROR: f64 = 1e-9;

impl FactorErrors {
    fn of(of_files: Option<ResultRow>, with_known: Option<ResultRow>) -> Self {
        match (of_files, with_known) {
            (Some(files), Some(known)) if (files.value - known.value).abs() > SAME_ERROR * files.value => {
                let known = ResultRow { metric: Metric::ErrorWithKnown, ..known };
                Self { of_files: Some(files), with_known: Some(known) }
            }
            (_, same) => Self { of_files: same, with_known: None },
        }
    }
}

/// Factors as they are written, and the approximation that they alone are.
struct Made {
    embedding: Embedding,
    approximation: Approximation,
    proxy: bool,
}

impl Made {
    /// Memory: Z twice more while the error is measured.
    fn of(approximation: Approximation) -> Result<Self, JobError> {
        let (landmarks, report) = (approximation.landmarks().to_vec(), approximation.report().clone());
        let (proxy, scattered) = (approximation.addend().is_some(), approximation.scattered().cloned());
        let embedding = approximation.into_embedding()?;
        let bare = embedding.product(landmarks, report);
        let approximation = match scattered {
            Some(entries) => bare.with_scattered(entries)?,
            None => bare,
        };
        Ok(Self { embedding, approximation, proxy })
    }
}

/// A fit, what it took, and what a growing rank was judged by.
struct Fitted {
    approximation: Approximation,
    spent: Spent,
    /// Confidence of one look among those that the growth took, and the sample.
    grown: Option<(f64, Sample)>,
}

fn fit(context: &SweepContext<'_>, cell: &Cell, gamma: Option<f64>) -> Result<Fitted, JobError> {
    let Some(target) = context.target(cell) else {
        let (approximation, spent) = context.fit(cell, Setting::at(gamma))?;
        return Ok(Fitted { approximation, spent, grown: None });
    };
    let oracle = Metered::new(context.similarities(gamma)?);
    let method = context.sweep.approximator(cell, Setting::at(gamma))?;
    let landmarks = context.landmarks(cell)?;
    let mut rng = stream(context.run.seed, &context.problem.dataset, "fit", cell.replicate);
    // known entries are in no file: what is judged is what the files hold
    let outcome = target.run(method.as_ref(), &oracle, &landmarks, Known::NOTHING, &mut rng)?;
    if matches!(outcome.stop, Stop::BudgetExhausted(_)) {
        context.is_cut_short.set(true);
    }
    let grown = outcome.estimate.map(|estimate| estimate.confidence).zip(outcome.sample);
    Ok(Fitted { approximation: outcome.approximation, spent: oracle.spent(), grown })
}

/// The embedding of a fit that was made before, from what the store holds: a proxy's part of it stands in no file.
pub fn embedding_again(context: &SweepContext<'_>, rank: usize) -> Result<Embedding, JobError> {
    let first = context.sweep.cells().into_iter().find(|cell| cell.comparison == Comparison::Rank);
    let Some(cell) = first else { return Err("the configuration names no rank".into()) };
    let (approximation, _) =
        context.fit_at(&Cell { rank, columns: rank, ..cell }, Setting::at(context.fixed_gamma()))?;
    Ok(approximation.into_embedding()?)
}

/// The cell at the largest rank that a budget of entries or money pays for, the error estimate and, of a smaller rank, the checks of a program included.
fn affordable(context: &SweepContext<'_>, cell: &Cell) -> Result<Cell, JobError> {
    let sees = matches!(context.matrix.landmarks, LandmarkConfig::Seen(_));
    let Some(limit) = context.matrix.budget.limit().filter(|_| !sees && context.matrix.target_error.is_none()) else {
        return Ok(cell.clone());
    };
    let at = |rank: usize| Cell { rank, columns: rank, ..cell.clone() };
    let missing = |rank: usize| -> Result<u64, JobError> {
        let cell = at(rank);
        let fit = context.sweep.plan(&cell, context.metered.shape())?;
        let requests = errors::requests(context, Errors::of(context), &cell, &fit)?;
        Ok(context.missing(&requests))
    };
    if missing(cell.rank)? <= limit {
        return Ok(cell.clone());
    }
    let checks = context.most_checks();
    let for_entries = limit.saturating_sub(checks);
    let (mut low, mut high) = (0, cell.rank - 1);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if missing(middle)? <= for_entries { low = middle } else { high = middle - 1 }
    }
    if low == 0 {
        let requested = missing(1)? + checks;
        return Err(OracleError::BudgetExhausted { budget: limit, spent: 0, requested }.into());
    }
    Ok(at(low))
}

fn write(
    context: &SweepContext<'_>,
    key: &CellKey,
    made: Made,
    gamma: Option<f64>,
    errors: &FactorErrors,
) -> Result<(), JobError> {
    let Made { embedding, approximation, proxy } = made;
    let (landmarks, rank) = (approximation.landmarks().to_vec(), approximation.report().rank);
    let scattered = approximation.scattered().cloned();
    drop(approximation);
    let error = |row: &Option<ResultRow>| {
        row.as_ref().map(|row| FactorError {
            relative: row.value,
            lower: row.interval.map(|interval| interval.lower),
            upper: row.interval.map(|interval| interval.upper),
        })
    };
    let oracle = context.problem.raw.identity().to_hex();
    let folder = context.folder.join(FACTORS);
    // what a run before this one met is in the store still
    let failed_before = Factors::peek(&folder).filter(|info| info.oracle == oracle).map_or(0, |info| info.failed_pairs);
    let (scorer, failed) = (context.problem.scorer(), context.metered.failed_pairs());
    // a program that does not state what it sees may see the id
    let sees_texts = scorer.is_none() || context.problem.contents.is_some();
    let diagonal = context.metered.similarities(gamma)?.known_diagonal().filter(|_| sees_texts);
    let info = FactorInfo {
        version: 1,
        items: embedding.vectors.nrows(),
        columns: embedding.vectors.ncols(),
        method: context.matrix.methods.first().map_or_else(String::new, |method| method.name.clone()),
        rank,
        landmark_contents: context
            .problem
            .contents
            .as_deref()
            .map_or_else(Vec::new, |contents| landmarks.iter().map(|&item| contents.name(item)).collect()),
        landmarks,
        oracle,
        texts: context.problem.texts().map(|items| items.identity().to_hex()),
        gamma,
        diagonal,
        error: error(&errors.of_files),
        error_with_known: error(&errors.with_known),
        scattered: scattered.as_ref().map_or(0, ScatteredEntries::len),
        proxy,
        cut_short: context.is_cut_short.get(),
        failed_pairs: if failed.is_all { failed.count } else { failed.count.max(failed_before) },
        job: Some(key.to_string()),
        scorer: scorer.map(|scorer| scorer.name().to_owned()),
        config: Some(context.config_hash.clone()),
    };
    let Embedding { vectors, signature, projector, .. } = embedding;
    let factors = Factors { info, vectors, signature, projector, scattered };
    let ids = context.problem.texts().map(|items| items.ids());
    factors.write(&folder, ids, &output(context).formats).map_err(|error| JobError::Failed(error.into()))?;
    remove_answers(context.folder)
}

/// Answers that were made from the factors before these: they would pass for answers of these.
fn remove_answers(folder: &Path) -> Result<(), JobError> {
    let failed = |path: &Path, error: std::io::Error| {
        JobError::Failed(format!("`{}`, made from other factors, can't be removed: {error}", path.display()).into())
    };
    for name in ANSWERS {
        let path = folder.join(name);
        if path.exists() {
            std::fs::remove_file(&path).map_err(|error| failed(&path, error))?;
        }
    }
    let projected = folder.join(PROJECTED);
    if projected.exists() {
        std::fs::remove_dir_all(&projected).map_err(|error| failed(&projected, error))
    } else {
        Ok(())
    }
}

/// True where a rank grows and the estimate decides when it is large enough: what the fit takes holds the entries of the estimate.
fn is_judged_on_the_way(context: &SweepContext<'_>) -> bool {
    context.sweep.cells().iter().any(|cell| context.target(cell).is_some())
}
