//! A finished run of `own_data`: its configuration, its factors, its items, and where answers go.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::equal_items::EqualItems;
use crate::factors::{Factors, FactorsError};
use crate::own_data::{FACTORS, Statement};
use landmark_core::oracle::block_of;
use landmark_harness::command_line::command_line;
use landmark_harness::config::{Config, MatrixSubject, Subject};
use landmark_harness::invocation::{Invocation, UsageError};
use landmark_harness::items::OwnItems;
use landmark_harness::progress::Progress;
use landmark_harness::run::{self, Ended, RunOptions};
use landmark_harness::sweep::context::SweepContext;
use landmark_neighbors::recall::Target;
use landmark_report::amounts::count;
use landmark_report::columns::{Column, write_parquet, write_separated};
use landmark_report::{check_writable, write_file};
use landmark_tasks::neighbors::SignedVectors;
use miette::{IntoDiagnostic, Report, Result};
use ndarray::Array2;
use serde_json::json;

use crate::named::Named;

/// Sentence on an answer that nothing was scored for.
pub(crate) const ESTIMATES: &str = "warning: these scores are estimates, and their recall is unknown: use `--rerank ITEMS` for exact scores, or `--target-recall 0.9` for a guarantee\n";

/// Sentence on one that was read off a matrix.
pub(crate) const GIVEN: &str = "read from the given matrix: exact and complete\n";
/// Pairs asked of the oracle at a time: a budget cuts off no more than that.
pub(crate) const PAIRS_AT_A_TIME: usize = 256;

/// Error of the command line, and what to do about it.
pub(crate) fn refused(message: impl Into<String>, help: impl Into<String>) -> Report {
    UsageError::new(message, Some(help.into())).into()
}

/// A recall to be reached, as a command has it.
pub fn target(recall: f64, delta: f64) -> Result<Target> {
    let fail = |error| {
        let is_percent = recall > 1.0 && recall <= 100.0;
        let help =
            is_percent.then(|| format!("a recall is a number between 0 and 1: `--target-recall {}`", recall / 100.0));
        UsageError::new(format!("cannot guarantee a recall: {error}"), help).into()
    };
    Target::new(recall, delta).map_err(fail)
}

pub(crate) struct Own {
    pub(crate) config: Config,
    pub(crate) matrix: MatrixSubject,
    pub(crate) options: RunOptions,
    pub(crate) folder: PathBuf,
    pub(crate) factors: Factors,
    pub(crate) items: Option<OwnItems>,
    /// Equal items, if their score is known.
    pub(crate) equal: Option<EqualItems>,
    out: Option<PathBuf>,
}

impl Own {
    /// As [`open`](Self::open), for a table: `--out` is tried first.
    pub(crate) fn open_for_table(invocation: &Invocation) -> Result<Self> {
        check_out(invocation)?;
        Self::open(invocation)
    }

    pub(crate) fn open(invocation: &Invocation) -> Result<Self> {
        let config = invocation.config()?;
        let matrix = own_matrix(&config)?.clone();
        one_list_only(&matrix, "there are no factors of two lists")?;
        let options = invocation.options.clone();
        let folder = run::results_folder(&config, &options);
        let factors = Factors::read(&folder.join(FACTORS)).map_err(|error| match error {
            FactorsError::Missing(_) => never_run(error, &invocation.file, &options),
            other => UsageError::of(other),
        })?;
        let texts = matrix.dataset.texts().map(|texts| OwnItems::of(texts, options.data.as_deref()));
        let items = texts.transpose().map_err(UsageError::of)?;
        let equal = items.as_ref().zip(factors.info.diagonal);
        let equal = equal.map(|(items, score)| EqualItems::of(items.texts.iter(), score));
        let own = Self { config, matrix, options, folder, factors, items, equal, out: invocation.out.clone() };
        own.check_settings(&invocation.file)?;
        own.check_items()?;
        Ok(own)
    }

    /// Refuses factors that another configuration has made, or this one with other settings: they lie in the same folder.
    fn check_settings(&self, file: &Path) -> Result<()> {
        let now = self.config.config_hash().into_diagnostic()?.to_hex();
        let info = &self.factors.info;
        let Some(then) = info.config.as_ref().filter(|then| **then != now) else { return Ok(()) };
        let place = self.folder.join(FACTORS);
        let scorer = info.scorer.as_ref().map_or_else(String::new, |scorer| format!(", scored by `{scorer}`"));
        let wanted = json!(self.matrix.ranks);
        let method = self.matrix.methods.first().map_or("", |method| method.name.as_str());
        let message = format!(
            "the factors in `{}` were made with other settings: `{}` of rank {}{scorer}, hash `{}`; this configuration is `{method}` with \
             `ranks` {wanted}, hash `{}`",
            place.display(),
            info.method,
            info.rank,
            &then[..12.min(then.len())],
            &now[..12.min(now.len())]
        );
        let again = run_of(file, &self.options);
        let help = format!(
            "run it first: `{again}`, which makes only the calls that are not stored; or pass the flags of the run that made the factors"
        );
        Err(refused(message, help))
    }

    /// Refuses factors of other items than those of the file now.
    fn check_items(&self) -> Result<()> {
        let (Some(items), Some(then)) = (&self.items, &self.factors.info.texts) else { return Ok(()) };
        let scored = landmark_oracles::subprocess::ScoredItems::new(items.ids.clone(), items.texts.clone());
        let now = scored.into_diagnostic()?.identity().to_hex();
        if now == *then {
            return Ok(());
        }
        let how = match (self.factors.info.items, items.ids.len()) {
            (then, now) if then == now => "some of their ids or texts, or their order".to_owned(),
            (then, now) => format!("there were {} and are {}", count(then as u64), count(now as u64)),
        };
        let message = format!("cannot use the factors: the items have changed since they were made ({how})");
        Err(refused(message, "run the configuration again; stored scores of unchanged items are reused"))
    }

    /// Refuses another oracle than the one that the factors approximate.
    pub(crate) fn check_oracle(&self, context: &SweepContext<'_>) -> Result<()> {
        let (then, now) = (&self.factors.info.oracle, context.problem.raw.identity().to_hex());
        if *then == now {
            return Ok(());
        }
        match (&self.factors.info.scorer, context.problem.scorer()) {
            (Some(then), Some(scorer)) if then != scorer.name() => Err(other_scorer(then, scorer.name())),
            // the same scorer under other settings
            _ => Err(other_scorer(then, &now)),
        }
    }

    pub(crate) fn vectors(&self) -> SignedVectors<'_> {
        let Factors { vectors, signature, scattered, .. } = &self.factors;
        SignedVectors { vectors: vectors.view(), signature, scattered: scattered.as_ref() }
    }

    /// All scores, n × n, where they are in a file.
    pub(crate) fn given(&self) -> Result<Option<Array2<f64>>> {
        if !self.matrix.oracle.settings().is_given() {
            return Ok(None);
        }
        let all: Vec<usize> = (0..self.factors.info.items).collect();
        let read = run::with_sweep(&self.config, &self.matrix, &self.options, |context| {
            let checked = self.check_oracle(&context);
            let oracle = context.metered.similarities(self.factors.info.gamma)?;
            let matrix = block_of(oracle.as_ref(), &all, &all)?;
            Ok(checked.map(|()| Some(matrix)))
        });
        read?
    }

    /// The id of an item; its number where there are none.
    pub(crate) fn id(&self, item: usize) -> String {
        self.named().id(item)
    }

    pub(crate) fn named(&self) -> Named<'_> {
        Named(self.items.as_ref())
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        (0..self.factors.info.items).map(|item| self.id(item)).collect()
    }

    /// Place of each item among the landmarks.
    pub(crate) fn places(&self) -> Vec<Option<usize>> {
        let mut place = vec![None; self.factors.info.items];
        self.factors.info.landmarks.iter().enumerate().for_each(|(at, &item)| place[item] = Some(at));
        place
    }

    pub(crate) fn write(&self, default: &str, columns: Vec<Column>) -> Result<PathBuf> {
        let path = self.out.clone().unwrap_or_else(|| self.folder.join(default));
        write_table(&path, columns)?;
        self.options.record.file(&path);
        Ok(path)
    }

    /// Writes what the page is to report of a table next to it, where the table lies next to the results.
    pub(crate) fn write_facts(&self, table: &Path, name: &str, facts: &impl serde::Serialize) -> Result<()> {
        self.options.record.fact(name.trim_end_matches(".json"), facts);
        if self.out.is_some() {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(facts).into_diagnostic()?;
        let path = table.with_file_name(name);
        write_file(&path, (text + "\n").as_bytes()).into_diagnostic()?;
        self.options.record.file(&path);
        Ok(())
    }

    /// Writes what is known of the recall next to a table, or removes what an earlier table left there.
    pub(crate) fn write_statement(&self, table: &Path, statement: Option<&Statement>) -> Result<()> {
        write_statement(table, statement, self.out.is_none(), &self.options)
    }

    /// Draws the page again with what was written, where it was written next to the results. The answer is there either way.
    pub(crate) fn draw_again(&self) -> String {
        if self.out.is_some() { String::new() } else { draw_again(&self.config, &self.options) }
    }

    /// A progress line over the items, and a function that moves it to a share of them.
    pub(crate) fn progress(&self, what: &'static str) -> (Progress, impl FnMut(f64) + use<>) {
        self.progress_over(self.factors.info.items as u64, what)
    }

    /// A progress line over `all` of something, and a function that moves it to a share of them.
    pub(crate) fn progress_over(&self, all: u64, what: &'static str) -> (Progress, impl FnMut(f64) + use<>) {
        progress_over(all, what, self.options.quiet)
    }
}

/// Writes what is known of the recall next to a table, or removes what an earlier table left there, if that `is_ours`.
pub(crate) fn write_statement(
    table: &Path,
    statement: Option<&Statement>,
    is_ours: bool,
    options: &RunOptions,
) -> Result<()> {
    let path = table.with_extension("json");
    match statement {
        Some(statement) => {
            let text = serde_json::to_string_pretty(statement).into_diagnostic()?;
            write_file(&path, (text + "\n").as_bytes()).into_diagnostic()?;
            options.record.file(&path);
            options.record.fact("recall", statement);
        }
        None if is_ours && path.exists() => std::fs::remove_file(&path).into_diagnostic()?,
        None => {}
    }
    Ok(())
}

/// A progress line over `all` of something, and a function that moves it to a share of them.
pub(crate) fn progress_over(all: u64, what: &'static str, quiet: bool) -> (Progress, impl FnMut(f64) + use<>) {
    let done = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&done);
    let progress = Progress::start(all, what, quiet, move || seen.load(Ordering::Relaxed));
    // a share of a count that fits in an f64
    (progress, move |share: f64| done.store((share * all as f64) as u64, Ordering::Relaxed))
}

/// Draws the page of a run again: where to look, or why not.
pub(crate) fn draw_again(config: &Config, options: &RunOptions) -> String {
    match run::report_again(config, options) {
        Ok(folder) => {
            options.record.file(&folder.join("report.html"));
            format!("report: `{}`\n", folder.join("report.html").display())
        }
        Err(error) => format!("warning: cannot update the report: {error}\n"),
    }
}

/// End of a command whose answer a budget may have cut short.
pub(crate) fn ended(is_cut_short: bool) -> Ended {
    if is_cut_short { Ended::BudgetExhausted } else { Ended::Done }
}

/// Scores of one oracle do not apply to the factors of another.
pub(crate) fn other_scorer(then: &str, now: &str) -> Report {
    let message = format!(
        "cannot use the factors: they were built with the scorer `{then}`, but the configuration now uses `{now}`"
    );
    refused(message, "run the configuration again, or undo the change of the scorer or of `oracle`")
}

/// The command that runs a configuration with the flags of this one.
fn run_of(file: &Path, options: &RunOptions) -> String {
    let words = std::iter::once(file.display().to_string()).chain(options.flags.clone()).collect::<Vec<_>>();
    command_line(Path::new("landmark"), &words)
}

/// Refusal of a command that needs what a run leaves, where there was none.
pub(crate) fn never_run(error: impl std::error::Error, file: &Path, options: &RunOptions) -> UsageError {
    let help = format!("run `{}` first", run_of(file, options));
    UsageError::new(error.to_string(), Some(help))
}

/// Refuses two lists, of which pairs within a list do not exist.
pub(crate) fn one_list_only(matrix: &MatrixSubject, reason: &str) -> Result<()> {
    if !matrix.dataset.has_two_lists() {
        return Ok(());
    }
    Err(refused(
        format!("cannot use two lists here: {reason}"),
        "use `landmark topk --calls-per-item CALLS`, `landmark mine --budget CALLS` or `landmark audit`",
    ))
}

/// The matrix of a configuration whose experiment is `own_data`.
pub(crate) fn own_matrix(config: &Config) -> Result<&MatrixSubject> {
    match &config.subject {
        Subject::Matrix(matrix, _) if matrix.experiment.makes_factors() => Ok(matrix),
        other => {
            let message = format!("cannot use `{}`: `experiment: {}` writes no factors", config.run.name, other.id());
            Err(refused(message, "use a configuration with `experiment: own_data`, such as `configs/own_data.yaml`"))
        }
    }
}

/// Refuses an `--out` that no table could be written to, before anything is paid for it.
pub(crate) fn check_out(invocation: &Invocation) -> Result<()> {
    let Some(path) = &invocation.out else { return Ok(()) };
    Form::of(path)?;
    check_writable(path).map_err(|error| UsageError::of(error).into())
}

enum Form {
    Separated(u8),
    Parquet,
}

impl Form {
    /// The one that the ending of a file names.
    fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()).unwrap_or_default() {
            "tsv" => Ok(Self::Separated(b'\t')),
            "csv" => Ok(Self::Separated(b',')),
            "parquet" => Ok(Self::Parquet),
            _ => {
                let message = format!("cannot write `{}`: unknown file extension", path.display());
                Err(refused(message, "use .tsv, .csv or .parquet"))
            }
        }
    }
}

/// Writes a table in the form that the ending of the file names; a kill leaves the old one, or none.
pub(crate) fn write_table(path: &Path, columns: Vec<Column>) -> Result<()> {
    let mut bytes = Vec::new();
    match Form::of(path)? {
        Form::Separated(separator) => write_separated(&mut bytes, separator, &columns).into_diagnostic()?,
        Form::Parquet => write_parquet(&mut bytes, [columns]).into_diagnostic()?,
    }
    write_file(path, &bytes).into_diagnostic()
}
