//! Running a configuration: plan, evaluate, measure, write, report.
//!
//! A job's rows are kept the moment it ends, so a run that is killed, refused by its budget or stopped by an error resumes where it was;
//! running a finished configuration again makes no call and changes no byte of a result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use landmark_report::amounts::counted;
use landmark_report::differences::digest;
use landmark_report::{Caveat, ResultRow, ResultStore, ResultsError, VerdictCounts, write_file};
use landmark_yaml::DEFAULT_PROFILE;
use serde_json::json;

use crate::advice;
use crate::config::{Config, LandmarkConfig, MatrixSubject, Subject};
use crate::facts::Facts;
use crate::job::{Job, JobError};
use crate::job_costs::{self, CostTotal, JobCost};
use crate::metered_store::MeteredStore;
use crate::oracles::{Preparation, Training};
use crate::plan::Forecast;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::provenance::{self, Build, Calls, Machine, Provenance, Source};
use crate::recorded::CommandRecord;
use crate::run_source::RunSource;
use crate::share::Share;
use crate::study::{StudyContext, StudyRun};
use crate::sweep::context::SweepContext;
use crate::sweep::kept::kept_landmarks;
use crate::sweep::wme::RandomStores;
use crate::sweep::{Sweep, given_landmarks};
use crate::sweep_run::SweepRun;

mod closing;
mod collection;
mod console;
mod cost;
mod error;
mod one_share;
mod report;
mod section;

pub use collection::take_largest_runs;
pub use cost::{Cost, cost};
pub use error::RunError;
pub use report::{render_again, report_again, rows_folder};
use section::ReportSection;

/// Default folder of the runs of a working copy.
const RUNS: &str = "runs";
const PUBLISHED: &str = "results";
const STORE: &str = "store";
/// Bytes of a stored entry: a 64-bit score, its share of ids and checksum.
const BYTES_PER_ENTRY: u64 = 8;

/// Options of a run beyond its configuration.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    pub data: Option<PathBuf>,
    /// Folder of results, instead of the configuration's.
    pub results: Option<PathBuf>,
    /// Tile store, instead of the configuration's.
    pub store: Option<String>,
    /// Only evaluate this share of the planned calls, so that a later run finds them in the store.
    pub share: Option<Share>,
    /// Only print what the run would cost, which takes no call.
    pub dry_run: bool,
    /// Calls that a dry run may make to learn how long one takes.
    pub sample: Option<u64>,
    /// Compute again what is finished; stored scores stay.
    pub force: bool,
    /// Continue after a job that failed.
    pub keep_going: bool,
    pub quiet: bool,
    /// List every job of a dry run.
    pub verbose: bool,
    pub command: String,
    pub build: Build,
    /// Flags that another command on the same configuration needs besides its file, to find what this run leaves.
    pub flags: Vec<String>,
    /// Files and facts of the command, for its answer in JSON.
    pub record: CommandRecord,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Done,
    /// The budget ended first; what is finished was written.
    BudgetExhausted,
    /// This number of jobs failed and the rest was written.
    SomeFailed(usize),
}

/// Runs a configuration or a share of its calls, or prints what it would cost.
///
/// # Errors
/// Whatever stops it; scores and finished jobs are kept.
pub fn run(config: &Config, options: &RunOptions) -> Result<Ended, RunError> {
    if let Some(share) = options.share {
        return one_share::run(config, options, share).map(|()| Ended::Done);
    }
    let (ended, _) = run_sections(config, options)?;
    Ok(ended)
}

/// Runs a configuration; what its report is made of comes back, a section for each section of the page. A dry run has none.
fn run_sections(config: &Config, options: &RunOptions) -> Result<(Ended, Vec<ReportSection>), RunError> {
    match &config.subject {
        Subject::Collection(collection) => collection::run(config, collection, options),
        _ => with_source(config, options, |source| run_at(config, source, options)),
    }
}

/// Opens what a configuration is about, and hands it over.
fn with_source<T>(
    config: &Config,
    options: &RunOptions,
    visit: impl FnOnce(&dyn RunSource) -> Result<T, RunError>,
) -> Result<T, RunError> {
    let plan = |error| RunError::Plan(Box::new(error));
    match &config.subject {
        Subject::Matrix(matrix, experiment) => {
            with_sweep(config, matrix, options, |context| {
                let (there, items) = (context.problem.dataset.clone(), context.problem.items());
                visit(&SweepRun { experiment: *experiment, context }).map_err(|error| match error {
                    // what does not fit a sample is the fault of the corpus that is not there
                    RunError::Plan(error) if matrix.dataset.falls_back() && there != matrix.dataset.name => {
                        RunError::MissingCorpus { wanted: matrix.dataset.name, items, reason: error.to_string() }
                    }
                    error => error,
                })
            })
        }
        Subject::Study(study) => {
            let folder = results_folder(config, options);
            let store = store_address(config, options);
            let context =
                StudyContext { run: &config.run, data: options.data.as_deref(), folder: &folder, store: &store };
            visit(&StudyRun::open(study.as_ref(), &context).map_err(plan)?)
        }
        Subject::Collection(_) => Err(plan("a collection has no work of its own".into())),
    }
}

/// Loads the items, starts the oracle, opens the store, and hands all of it over.
pub fn with_sweep<T>(
    config: &Config,
    matrix: &MatrixSubject,
    options: &RunOptions,
    visit: impl FnOnce(SweepContext<'_>) -> Result<T, RunError>,
) -> Result<T, RunError> {
    // of many processes at once one alone fine-tunes a model
    let is_later = options.dry_run || options.share.is_some_and(|share| share.number() > 0);
    let training = if is_later { Training::Later { sample: options.sample } } else { Training::Now };
    let preparation = Preparation { training, quiet: options.quiet };
    let problem = Problem::load(&config.run, matrix, options.data.as_deref(), preparation)?;
    let folder = results_folder(config, options);
    let given = match &matrix.landmarks {
        LandmarkConfig::Kept => Some(kept_landmarks(&problem, config.run.seed, &folder)),
        _ => given_landmarks(matrix).transpose(),
    };
    let given = given.transpose().map_err(RunError::Landmarks)?;
    let metered = MeteredStore::open(&problem, matrix, &store_address(config, options), config.run.seed)?;
    // what a dry run samples is kept, and with it this list
    let keep = !options.dry_run || options.sample.is_some();
    let carried = metered.carry_over(matrix.oracle.orders(), keep)?;
    if carried > 0 && !options.quiet {
        eprintln!("{} of the same scorer on other lists of items serve this one", counted(carried, "score"));
    }
    let sweep = Sweep::new(&config.run, matrix, &problem, given);
    let encode = |source| ResultsError::Encode { what: "the configuration", source };
    visit(SweepContext {
        run: &config.run,
        config_hash: config.config_hash().map_err(encode)?.to_hex(),
        matrix,
        problem: &problem,
        metered: &metered,
        sweep: &sweep,
        random: RandomStores::default(),
        folder: &folder,
        is_cut_short: false.into(),
    })
}

fn run_at(
    config: &Config,
    source: &dyn RunSource,
    options: &RunOptions,
) -> Result<(Ended, Vec<ReportSection>), RunError> {
    let start = Instant::now();
    let jobs = source.jobs().map_err(|error| RunError::Plan(Box::new(error)))?;
    let folder = results_folder(config, options);
    let empty = source.matrices().entries();

    if options.dry_run {
        let finished = ResultStore::peek(&folder)?;
        let is_finished = |job: &Job<'_>| !options.force && finished.contains(&job.key) && source.is_kept(job);
        let forecast = Forecast::of(&jobs, empty, is_finished);
        console::print_subject(config, source);
        let checks = || source.checks(&forecast).map_err(|error| RunError::Plan(Box::new(error)));
        console::print_dry_run(config, &source.matrices(), (&forecast, checks), options)?;
        return Ok((Ended::Done, Vec::new()));
    }
    if options.force {
        ResultStore::forget(&folder)?;
    }
    let mut results = ResultStore::open(&folder)?;
    let forecast = Forecast::of(&jobs, empty, |job| results.get(&job.key).is_some() && source.is_kept(job));
    let were_open = source.matrices().are_open();
    let missing = source.matrices().missing(&forecast);
    // what is known of the run before it starts; the report repeats it
    let early = source.about();
    let (early_stamps, early_notes) = (early.stamps.to_vec(), early.notes.to_vec());
    if !options.quiet {
        console::print_subject(config, source);
        console::print_todo(&source.matrices(), &forecast, jobs.len(), missing);
        results.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
    }
    let plan = |error| RunError::Plan(Box::new(error));
    let checks = source.checks(&forecast).map_err(plan)?;
    if checks > 0 {
        let warnings = source.check(&forecast).map_err(|error| RunError::Asked(Box::new(error)))?;
        if !options.quiet {
            eprintln!("{} checked the scorer", counted(checks, "call"));
        }
        warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    }
    let opening = start.elapsed();
    let outcome = work(source, &jobs, &mut results, &folder, missing, options)?;
    // opened by now, those behind a model that was trained on the way included
    let matrices = source.matrices();
    matrices.flush()?;

    let keys: Vec<_> = jobs.iter().map(|job| job.key.clone()).collect();
    let rows = results.finished_rows(&keys);
    results.publish(&rows)?;
    let calls = Calls {
        planned: forecast.evaluations(),
        evaluated: matrices.calls(),
        at_most: !forecast.is_exact(),
        reused: match forecast.are_named() {
            // behind a model that was trained on the way, what the store held shows only now
            true => forecast.evaluations().saturating_sub(if were_open { missing } else { matrices.calls() }),
            false => matrices.found().min(forecast.evaluations().saturating_sub(matrices.calls())),
        },
        skipped: source.skipped(),
    };
    let was_work = forecast.finished < jobs.len();
    let provenance = match provenance::kept(&folder).filter(|_| !was_work) {
        Some(kept) => kept,
        None => {
            let costs = CostTotal::of(&job_costs::read(&folder)?, &keys);
            let calls = calls_of_all(source, &jobs, &outcome, calls, costs.calls)?;
            gather_provenance(config, source, &calls, costs, opening, options)?
        }
    };
    let facts = match provenance["facts"].is_null() {
        true => Some(facts_of(config, source, &rows, &outcome)?),
        false => None,
    };
    let provenance = completed(provenance, facts, &rows, &folder)?;
    let section = ReportSection::new(config, &folder, rows, provenance, options)?;
    publish(&section, &folder)?;
    if !options.quiet {
        let whole = Forecast::of(&jobs, matrices.entries(), |_| false);
        let late = section.stamps.iter().filter(|stamp| !early_stamps.contains(stamp));
        late.for_each(|stamp| eprintln!("warning: {}", stamp.text));
        // the report of a paper explains its tables
        let notes = section.notes.iter().filter(|note| config.run.paper.is_none() && !early_notes.contains(note));
        notes.for_each(|note| eprintln!("note: {note}"));
        console::print_outcome(config, &matrices, &section.rows, (&calls, &whole), &outcome, options);
    }
    let ended = match outcome {
        Outcome { budget: true, .. } => Ended::BudgetExhausted,
        Outcome { failed: 0, .. } => Ended::Done,
        Outcome { failed, .. } => Ended::SomeFailed(failed),
    };
    Ok((ended, vec![section]))
}

#[derive(Debug, Default)]
struct Outcome {
    failed: usize,
    budget: bool,
    errors: Vec<String>,
}

fn work(
    source: &dyn RunSource,
    jobs: &[Job<'_>],
    results: &mut ResultStore,
    folder: &Path,
    missing: u64,
    options: &RunOptions,
) -> Result<Outcome, RunError> {
    let mut outcome = Outcome::default();
    let (machine, sources) = (Machine::look().words(), Source::look(&options.build));
    let finished = Arc::new(AtomicU64::new(0));
    let matrices = source.matrices();
    let progress = if matrices.is_empty() || !matrices.are_open() {
        let finished = Arc::clone(&finished);
        Progress::start(jobs.len() as u64, "parts done", options.quiet, move || finished.load(Ordering::Relaxed))
    } else {
        Progress::start(missing, "calls", options.quiet, matrices.counter())
    };
    for job in jobs {
        finished.fetch_add(1, Ordering::Relaxed);
        if results.get(&job.key).is_some() && source.is_kept(job) {
            continue;
        }
        progress.now(job.title.clone());
        let (started, calls) = (Instant::now(), source.matrices().calls());
        let done = (job.work)(results, &progress);
        let cost = JobCost {
            key: job.key.clone(),
            calls: source.matrices().calls().saturating_sub(calls),
            seconds: started.elapsed().as_secs_f64(),
            machine: machine.clone(),
            revision: sources.revision.clone(),
            dirty: sources.dirty,
        };
        job_costs::append(folder, &cost)?;
        match done {
            Ok(rows) => {
                results.record(&job.key, rows)?;
                outcome.budget |= source.is_cut_short();
            }
            Err(JobError::Budget(error)) => {
                if !outcome.budget {
                    let keys = advice::on_oracle(&error).map_or_else(String::new, |keys| format!(" ({keys})"));
                    progress.say(&format!("{error}{keys}; continuing with the stored scores"));
                }
                outcome.budget = true;
            }
            Err(JobError::Needs { .. }) if outcome.budget || outcome.failed > 0 => {}
            Err(error) if options.keep_going => {
                let error = format!("{} failed: {}", job.title, with_causes(&error));
                progress.say(&error);
                outcome.failed += 1;
                outcome.errors.push(error);
            }
            Err(error) => {
                source.matrices().flush()?;
                return Err(RunError::Job { title: job.title.clone(), source: Box::new(error) });
            }
        }
    }
    Ok(outcome)
}

/// An error with what caused it: `A: B: C`. A cause that only repeats what stands above it is left out.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = inner.source();
    }
    text
}

/// Calls of all cells, whichever run made them: those of this run, and those that earlier runs recorded.
fn calls_of_all(
    source: &dyn RunSource,
    jobs: &[Job<'_>],
    outcome: &Outcome,
    this_run: Calls,
    evaluated: u64,
) -> Result<Calls, RunError> {
    let forecast = Forecast::of(jobs, source.matrices().entries(), |_| false);
    let planned = forecast.evaluations();
    let is_whole = !outcome.budget && outcome.failed == 0;
    let reused = match (forecast.is_exact(), is_whole) {
        (true, true) => planned.saturating_sub(evaluated),
        (true, false) => planned.saturating_sub(evaluated + source.matrices().missing(&forecast)),
        // an upper bound: what it has too much was reused by nobody
        (false, _) => this_run.reused.min(planned.saturating_sub(evaluated)),
    };
    Ok(Calls { planned, at_most: !forecast.is_exact(), evaluated, reused, skipped: this_run.skipped })
}

/// What `run.json` states about a run, but for its rows.
fn gather_provenance(
    config: &Config,
    source: &dyn RunSource,
    calls: &Calls,
    cells: CostTotal,
    opening: Duration,
    options: &RunOptions,
) -> Result<serde_json::Value, RunError> {
    let facts = Provenance::gather(config, source.about().facts.clone(), calls, cells, opening, &options.build)
        .map_err(encode_provenance)?;
    let mut value = serde_json::to_value(facts).map_err(encode_provenance)?;
    value["command"] = json!(options.command);
    Ok(value)
}

/// What the report of a run needs in addition to its configuration and rows, with what stopped or failed on the way.
fn facts_of(config: &Config, source: &dyn RunSource, rows: &[ResultRow], outcome: &Outcome) -> Result<Facts, RunError> {
    let mut facts = source.facts(rows).map_err(|error| RunError::Asked(Box::new(error)))?;
    if outcome.budget {
        let end = if source.is_cut_short() { "the rank is lower than was asked for" } else { "some jobs are missing" };
        let text = format!("the budget was exhausted: {end}");
        facts.caveats.push(Caveat { dataset: None, text, breaks_comparison: config.run.paper.is_some() });
    }
    facts.notes.extend(outcome.errors.iter().cloned());
    Ok(facts)
}

/// Writes `run.json` with these facts, and with count and digest of the rows that it is published with. A digest that it has is left as it is, so
/// that rows that were changed later can be recognized.
fn completed(
    mut run: serde_json::Value,
    facts: Option<Facts>,
    rows: &[ResultRow],
    folder: &Path,
) -> Result<serde_json::Value, RunError> {
    let mut is_new = facts.is_some();
    if let Some(facts) = facts {
        run["facts"] = json!(facts);
    }
    if run["rows"].is_null() {
        run["rows"] = json!({ "count": rows.len(), "digest": digest(rows).map_err(encode_provenance)? });
        is_new = true;
    }
    if is_new {
        write_file(&folder.join("run.json"), facts_text(&run)?.as_bytes())?;
    }
    Ok(run)
}

/// Writes tables, figures and page of a section, and into `run.json` the counts of its verdicts.
fn publish(section: &ReportSection, folder: &Path) -> Result<(), RunError> {
    let rendered = landmark_report::render(&section.input())?;
    rendered.write(folder)?;
    let mut facts = section.facts().clone();
    let verdicts = json!(rendered.verdicts);
    if facts["verdicts"] != verdicts && rendered.verdicts != VerdictCounts::default() {
        facts["verdicts"] = verdicts;
        write_file(&folder.join("run.json"), facts_text(&facts)?.as_bytes())?;
    }
    Ok(())
}

fn facts_text(facts: &serde_json::Value) -> Result<String, ResultsError> {
    Ok(serde_json::to_string_pretty(facts).map_err(encode_provenance)? + "\n")
}

fn encode_provenance(source: serde_json::Error) -> ResultsError {
    ResultsError::Encode { what: "the provenance of the run", source }
}

/// The folder of results of a configuration: `<name>` in the option's or its own, or `runs/<name>`. There, other profiles than `laptop` have
/// `runs/<profile>/<name>`, so that runs of two sizes stand side by side.
pub fn results_folder(config: &Config, options: &RunOptions) -> PathBuf {
    let is_given = options.results.is_some() || config.results.is_some();
    let (base, profile) = (results_base(config, options), &config.run.profile.name);
    let base = if is_given || profile == DEFAULT_PROFILE { base } else { base.join(profile) };
    base.join(&config.run.name)
}

/// The folder that holds the results of all configurations: the option's, the configuration's, or `runs`.
fn results_base(config: &Config, options: &RunOptions) -> PathBuf {
    options.results.clone().or_else(|| config.results.clone()).unwrap_or_else(|| PathBuf::from(RUNS))
}

/// The store of a configuration: the option's, its own, or `store`.
pub fn store_address(config: &Config, options: &RunOptions) -> String {
    options.store.clone().or_else(|| config.store.clone()).unwrap_or_else(|| STORE.to_owned())
}
