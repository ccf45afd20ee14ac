//! Running a configuration: plan, buy, measure, write, report.
//!
//! A job's rows are kept the moment it ends, so a run that is killed, refused by its budget or stopped by an error goes on where it was;
//! running a finished configuration again buys nothing and changes no byte of a result.

use std::path::{Path, PathBuf};
use std::time::Instant;

use landmark_oracles::tile_store::StoreError;
use serde_json::json;

use crate::config::Config;
use crate::experiments::{Bench, Job, JobError};
use crate::plan::Forecast;
use crate::progress::Progress;
use crate::provenance::{Calls, Provenance};
use crate::report::{self, Reference, ReferenceError, ReportError, ReportInput, Stamp};
use crate::results::{FileError, ResultRow, ResultStore, ResultsError, write_file};
use crate::stage::{Stage, StageError};
use crate::sweep::{Sweep, given_landmarks};
use crate::till::Till;

mod words;

pub use words::{bytes, count, duration};

/// Where results go when nothing else is said.
const RESULTS: &str = "results";
/// Where bought entries go when nothing else is said.
const STORE: &str = "store";
/// Bytes of a stored entry: a 64-bit score, its share of ids and checksum.
const BYTES_PER_ENTRY: u64 = 8;

/// What a person may ask of a run beyond its configuration.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The folder of corpora.
    pub data: Option<PathBuf>,
    /// Folder of results, instead of the configuration's.
    pub results: Option<PathBuf>,
    /// Tile store, instead of the configuration's.
    pub store: Option<String>,
    /// Only say what the run would cost.
    pub dry_run: bool,
    /// Compute again what is finished; bought entries stay.
    pub force: bool,
    /// Go on after a job that failed.
    pub keep_going: bool,
    /// Print only errors.
    pub quiet: bool,
    /// List every job of a dry run.
    pub verbose: bool,
    /// The command line, for the report.
    pub command: String,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Everything is there.
    Done,
    /// The budget ended first; what is finished was written.
    BudgetExhausted,
    /// So many jobs failed and the rest was written.
    SomeFailed(usize),
}

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Data or oracle.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The results.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The report.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The paper's numbers.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// A job could not be planned.
    #[error(transparent)]
    Plan(Box<JobError>),
    /// A job failed.
    #[error("{title} failed")]
    Job {
        /// Which.
        title: String,
        /// Why.
        #[source]
        source: Box<JobError>,
    },
    /// The list of landmarks.
    #[error("{0}")]
    Landmarks(String),
}

/// Runs a configuration, or says what it would cost.
///
/// # Errors
/// Whatever stops it; what was bought and what was finished are kept.
pub fn run(config: &Config, options: &RunOptions) -> Result<Ended, RunError> {
    let start = Instant::now();
    let stage = Stage::set(config, options.data.as_deref())?;
    let given = given_landmarks(config).map_err(RunError::Landmarks)?;
    let till = Till::open(&stage, config, &store_address(config, options))?;
    let sweep = Sweep::new(config, &stage, given);
    let bench = Bench { config, stage: &stage, till: &till, sweep: &sweep, is_cut_short: false.into() };
    let jobs = bench.jobs().map_err(|error| RunError::Plan(Box::new(error)))?;
    let folder = results_folder(config, options);

    if options.dry_run {
        let finished = ResultStore::peek(&folder)?;
        let forecast = Forecast::of(&jobs, till.shape(), |job| !options.force && finished.contains(&job.key));
        words::introduce(&bench);
        words::print_dry_run(&bench, &forecast, options.verbose)?;
        return Ok(Ended::Done);
    }
    if options.force {
        ResultStore::forget(&folder)?;
    }
    let mut results = ResultStore::open(&folder)?;
    let forecast = Forecast::of(&jobs, till.shape(), |job| results.get(&job.key).is_some());
    let missing = forecast.to_buy(|entries| till.missing(entries))?;
    if !options.quiet {
        words::introduce(&bench);
        words::announce(&forecast, jobs.len(), missing, stage.is_priced);
        results.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));
    }
    let outcome = work(&bench, &jobs, &mut results, missing, options)?;
    till.flush()?;

    let keys: Vec<_> = jobs.iter().map(|job| job.key.clone()).collect();
    let rows = results.finished_rows(&keys);
    results.publish(&rows)?;
    let calls = Calls {
        planned: forecast.evaluations(),
        bought: till.spent().evaluations,
        reused: forecast.evaluations().saturating_sub(missing),
    };
    let was_work = forecast.finished < jobs.len();
    let provenance = provenance(&bench, &calls, start, &folder, was_work)?;
    write_report(&bench, &rows, &folder, &outcome, provenance, options)?;
    if !options.quiet {
        words::conclude(&bench, &rows, &folder, &calls, &outcome);
    }
    Ok(match outcome {
        Outcome { budget: true, .. } => Ended::BudgetExhausted,
        Outcome { failed: 0, .. } => Ended::Done,
        Outcome { failed, .. } => Ended::SomeFailed(failed),
    })
}

/// Draws tables, figures and the page again from what a run has kept.
///
/// # Errors
/// Results that are not there or cannot be written.
pub fn report_again(config: &Config, options: &RunOptions) -> Result<PathBuf, RunError> {
    let stage = Stage::set(config, options.data.as_deref())?;
    let given = given_landmarks(config).map_err(RunError::Landmarks)?;
    let till = Till::open(&stage, config, &store_address(config, options))?;
    let sweep = Sweep::new(config, &stage, given);
    let bench = Bench { config, stage: &stage, till: &till, sweep: &sweep, is_cut_short: false.into() };
    let jobs = bench.jobs().map_err(|error| RunError::Plan(Box::new(error)))?;
    let folder = results_folder(config, options);
    let results = ResultStore::open(&folder)?;
    let keys: Vec<_> = jobs.iter().map(|job| job.key.clone()).collect();
    let rows = results.rows(&keys)?;
    let calls = Calls { planned: 0, bought: 0, reused: 0 };
    let provenance = provenance(&bench, &calls, Instant::now(), &folder, false)?;
    write_report(&bench, &rows, &folder, &Outcome::default(), provenance, options)?;
    Ok(folder)
}

/// How the jobs went.
#[derive(Debug, Default)]
struct Outcome {
    failed: usize,
    budget: bool,
    complaints: Vec<String>,
}

fn work(
    bench: &Bench<'_>,
    jobs: &[Job],
    results: &mut ResultStore,
    missing: u64,
    options: &RunOptions,
) -> Result<Outcome, RunError> {
    let mut outcome = Outcome::default();
    let progress = Progress::start(missing, options.quiet, bench.till.counter());
    for job in jobs {
        if results.get(&job.key).is_some() {
            continue;
        }
        progress.now(job.title.clone());
        match bench.run(job, results) {
            Ok(rows) => {
                results.record(&job.key, rows)?;
                outcome.budget |= bench.is_cut_short.get();
            }
            Err(error) if error.is_budget() => {
                if !outcome.budget {
                    progress.say(&format!("{error}; going on with what is bought"));
                }
                outcome.budget = true;
            }
            Err(JobError::Needs { .. }) if outcome.budget || outcome.failed > 0 => {}
            Err(error) if options.keep_going => {
                progress.say(&format!("{} failed: {error}", job.title));
                outcome.failed += 1;
                outcome.complaints.push(format!("{} failed: {error}", job.title));
            }
            Err(source) => {
                bench.till.flush()?;
                return Err(RunError::Job { title: job.title.clone(), source: Box::new(source) });
            }
        }
    }
    Ok(outcome)
}

/// `run.json`: written by a run that did some work; one that found all done leaves the file as it is.
fn provenance(
    bench: &Bench<'_>,
    calls: &Calls,
    start: Instant,
    folder: &Path,
    was_work: bool,
) -> Result<serde_json::Value, RunError> {
    let path = folder.join("run.json");
    if !was_work
        && let Ok(text) = std::fs::read_to_string(&path)
        && let Ok(value) = serde_json::from_str(&text)
    {
        return Ok(value);
    }
    let facts = Provenance::gather(bench.config, bench.stage.facts.clone(), calls, start.elapsed());
    let value = json!(facts);
    let text = serde_json::to_string_pretty(&value).unwrap_or_default() + "\n";
    write_file(&path, text.as_bytes())?;
    Ok(value)
}

fn write_report(
    bench: &Bench<'_>,
    rows: &[ResultRow],
    folder: &Path,
    outcome: &Outcome,
    provenance: serde_json::Value,
    options: &RunOptions,
) -> Result<(), RunError> {
    let config = bench.config;
    let layout = bench.layout(rows);
    let shown: Vec<ResultRow> = rows.iter().cloned().chain(layout.restated).collect();
    let reference = match &config.paper {
        None => None,
        Some(paper) => Reference::find(paper, &config.file)?,
    };
    let mut stamps = bench.stage.stamps.clone();
    stamps.extend(config.reduction().map(|text| Stamp { dataset: None, text, breaks_comparison: false }));
    if outcome.budget {
        let text = "the budget was exhausted: some cells are missing".to_owned();
        stamps.push(Stamp { dataset: None, text, breaks_comparison: true });
    }
    let mut notes = bench.stage.notes.clone();
    notes.extend(layout.notes);
    notes.extend(outcome.complaints.iter().cloned());
    let input = ReportInput {
        title: config.title.clone().unwrap_or_else(|| config.name.clone()),
        config_name: config.name.clone(),
        profile: config.profile.name.clone(),
        command: options.command.clone(),
        stamps,
        rows: &shown,
        reference: reference.as_ref(),
        tables: layout.tables,
        figures: layout.figures,
        provenance,
        notes,
    };
    report::render(&input)?.write(folder)?;
    Ok(())
}

fn results_folder(config: &Config, options: &RunOptions) -> PathBuf {
    let base = options.results.clone().or_else(|| config.results.clone()).unwrap_or_else(|| PathBuf::from(RESULTS));
    base.join(&config.name)
}

fn store_address(config: &Config, options: &RunOptions) -> String {
    options.store.clone().or_else(|| config.store.clone()).unwrap_or_else(|| STORE.to_owned())
}
