//! The kinds of experiment: what is measured, in which jobs, and which tables and figures it becomes.

use std::path::Path;

use landmark_core::approximate::{Approximate, ApproximateError};
use landmark_core::approximation::{Approximation, Known};
use landmark_core::entries::{Certainty, EntryBlock, EntryPlan, Rows};
use landmark_core::error_estimate::{Stop, TargetError};
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Metered, Oracle, OracleError, Spent};
use landmark_core::stream::{Rng, stream};
use landmark_data::Split;
use landmark_tasks::TaskError;
use serde_json::{Value as Json, json};

use crate::config::{Config, Experiment, MatrixSubject, OracleConfig, Tuned};
use crate::plan::Beside;
use crate::progress::Progress;
use crate::report::{FigureSpec, Stamp, TableSpec};
use crate::results::{CellKey, Metric, ResultRow, ResultStore, ResultsError, cell_key};
use crate::stage::{Negligible, Skipped, Stage, StageError};
use crate::study::StudyError;
use crate::sweep::{Cell, Comparison, Setting, Sweep};
use crate::till::Till;

mod classification;
mod error_curve;
mod errors;
mod glue;
pub(crate) mod own_data;
mod ranked_search;
mod spectrum;
mod wme;

pub use wme::RandomTills;

/// A unit of work: planned, run, resumed and written as a whole.
#[derive(Debug, Clone)]
pub struct Job {
    /// Names its results: a hash of everything that moves them.
    pub key: CellKey,
    /// What it is, for the progress line.
    pub title: String,
    /// The line of the dry run it belongs to: the title without the replicate.
    pub group: String,
    /// What it will request.
    pub plan: EntryPlan,
    /// Evaluations that it may buy of pairs outside the matrix.
    pub beside: Beside,
    /// What it does.
    pub task: Task,
}

/// What a job does.
#[derive(Debug, Clone)]
pub enum Task {
    /// Buys all of K, against which errors are measured.
    Reference,
    /// Chooses γ and C for a method at a size by cross-validation on the training items of a split.
    Tune(Cell),
    /// Buys what a search over ranks will read.
    Stock(Cell),
    /// The trial of this number of a search over ranks.
    Trial(Cell, usize),
    /// Fits and measures.
    Measure(Cell),
    /// The threshold of a yes.
    Threshold,
    /// What the scores themselves are worth.
    Unapproximated,
    /// All eigenvalues of K.
    Spectrum,
    /// Eigenvalues of one sampled principal submatrix.
    Sample(u64),
    /// The part of a study of this number.
    Part(usize),
}

/// Why a job failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The approximation.
    #[error(transparent)]
    Approximate(#[from] ApproximateError),
    /// The oracle.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// The task.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A metric.
    #[error(transparent)]
    Metric(#[from] landmark_tasks::metrics::MetricError),
    /// The search for γ.
    #[error(transparent)]
    Search(#[from] landmark_tasks::search::SearchError),
    /// The data.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The results.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A factorisation.
    #[error(transparent)]
    Linalg(#[from] landmark_core::linalg::LinalgError),
    /// A study.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A job that must come first has no result.
    #[error("`{title}` needs `{needs}`, which did not finish")]
    Needs {
        /// The job.
        title: String,
        /// What it waits for.
        needs: &'static str,
    },
}

impl JobError {
    /// Whether the budget ended, so that what is finished is the result.
    pub fn is_budget(&self) -> bool {
        let oracle = match self {
            Self::Oracle(error) | Self::Approximate(ApproximateError::Oracle(error)) => error,
            _ => return false,
        };
        matches!(oracle, OracleError::BudgetExhausted { .. } | OracleError::TimeExhausted { .. })
    }
}

/// Which tables and figures the rows become.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Rows that repeat others under the paper's own headings, for the report alone.
    pub restated: Vec<ResultRow>,
    /// Tables, in order.
    pub tables: Vec<TableSpec>,
    /// Figures, in order.
    pub figures: Vec<FigureSpec>,
    /// What departs from the paper, in sentences.
    pub notes: Vec<String>,
}

/// What a run walks through: jobs, then tables and figures.
pub trait Workplace {
    /// What it works on.
    fn about(&self) -> About<'_>;

    /// Where entries are bought, if any are.
    fn till(&self) -> Option<&Till> {
        None
    }

    /// What the oracle did not solve, where it was told not to.
    fn skipped(&self) -> Option<Skipped> {
        None
    }

    /// Whether a budget ended a job early, whose best so far is a result.
    fn is_cut_short(&self) -> bool {
        false
    }

    /// The jobs, in the order they run.
    ///
    /// # Errors
    /// An impossible rank, too few landmarks, a dataset without a split.
    fn jobs(&self) -> Result<Vec<Job>, JobError>;

    /// Runs one job; `results` holds what came before it.
    ///
    /// # Errors
    /// Whatever it meets, named.
    fn run(&self, job: &Job, results: &ResultStore, progress: &Progress) -> Result<Vec<ResultRow>, JobError>;

    /// Whether what a finished job left beside its rows is still there.
    fn is_kept(&self, _job: &Job) -> bool {
        true
    }

    /// The tables and figures that the rows become.
    fn layout(&self, rows: &[ResultRow]) -> Layout;
}

/// What a workplace works on, in words and figures.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The items and the score, in a line.
    pub description: &'a str,
    /// What a reader must be warned of.
    pub stamps: &'a [Stamp],
    /// What was dropped, filled or replaced, in sentences.
    pub notes: &'a [String],
    /// Hashes and counts for `run.json`.
    pub facts: &'a Json,
}

/// Everything a job of a sweep can reach.
pub struct Bench<'a> {
    /// The checked configuration.
    pub config: &'a Config,
    /// Its part about the matrix.
    pub matrix: &'a MatrixSubject,
    /// Items, labels, proxies.
    pub stage: &'a Stage,
    /// Where entries are bought.
    pub till: &'a Till,
    /// Methods × sizes × replicates.
    pub sweep: &'a Sweep<'a>,
    /// Where distances to random documents are bought (WME).
    pub random: RandomTills,
    /// Its folder of results.
    pub folder: &'a Path,
    /// Whether a budget ended the growth of a rank: its best so far is a result.
    pub is_cut_short: std::cell::Cell<bool>,
}

impl Workplace for Bench<'_> {
    fn about(&self) -> About<'_> {
        let Stage { dataset: _, description, stamps, notes, facts, .. } = self.stage;
        About { description, stamps, notes, facts }
    }

    fn till(&self) -> Option<&Till> {
        Some(self.till)
    }

    fn skipped(&self) -> Option<Skipped> {
        self.stage.negligible.as_ref().map(Negligible::skipped)
    }

    fn is_cut_short(&self) -> bool {
        self.is_cut_short.get()
    }

    fn jobs(&self) -> Result<Vec<Job>, JobError> {
        match self.matrix.experiment {
            Experiment::Classification => classification::jobs(self),
            Experiment::ErrorCurve => error_curve::jobs(self),
            Experiment::Glue => glue::jobs(self),
            Experiment::Spectrum => spectrum::jobs(self),
            Experiment::OwnData => own_data::jobs(self),
        }
    }

    fn run(&self, job: &Job, results: &ResultStore, _progress: &Progress) -> Result<Vec<ResultRow>, JobError> {
        match (&job.task, self.matrix.experiment) {
            (Task::Reference, _) => errors::buy_reference(self).map(|()| Vec::new()),
            (Task::Tune(cell), _) => classification::tune(self, cell),
            (Task::Stock(_), _) => errors::buy(self, &job.plan).map(|()| Vec::new()),
            (Task::Trial(cell, number), _) => ranked_search::run_trial(self, cell, *number, results),
            (Task::Measure(cell), Experiment::Classification) => classification::measure(self, job, cell, results),
            (Task::Measure(cell), Experiment::OwnData) => own_data::measure(self, job, cell),
            (Task::Threshold, _) => glue::threshold(self),
            (Task::Unapproximated, _) => glue::unapproximated(self, results),
            (Task::Measure(cell), Experiment::Glue) => glue::measure(self, cell, results),
            (Task::Measure(cell), _) => error_curve::measure(self, cell, results),
            (Task::Spectrum, _) => spectrum::of_all(self),
            (Task::Sample(number), _) => spectrum::of_sample(self, *number),
            // parts belong to studies
            (Task::Part(_), _) => Ok(Vec::new()),
        }
    }

    fn is_kept(&self, job: &Job) -> bool {
        self.matrix.experiment != Experiment::OwnData || own_data::is_kept(self, job)
    }

    fn layout(&self, rows: &[ResultRow]) -> Layout {
        match self.matrix.experiment {
            Experiment::Classification => classification::layout(self, rows),
            Experiment::ErrorCurve => error_curve::layout(self, rows),
            Experiment::Glue => glue::layout(self, rows),
            Experiment::Spectrum => spectrum::layout(self, rows),
            Experiment::OwnData => own_data::layout(self, rows),
        }
    }
}

impl Bench<'_> {
    /// Who trains and who tests in a replicate.
    fn split(&self, replicate: u64) -> Result<Split, StageError> {
        self.stage.split(self.matrix.dataset.split(), self.config.seed, replicate)
    }

    /// γ where the configuration fixes it.
    fn fixed_gamma(&self) -> Option<f64> {
        match self.matrix.oracle.gamma() {
            Some(Tuned::Fixed(gamma)) => Some(gamma),
            Some(Tuned::Search) | None => None,
        }
    }

    /// The γ that all methods share: the one that is fixed, or the (geometric) middle of those searched.
    fn common_gamma(&self) -> Option<f64> {
        let searched = || {
            let (from, to) = self.matrix.search.gamma.bounds();
            (from * to).sqrt()
        };
        has_gamma(self.matrix).then(|| self.fixed_gamma().unwrap_or_else(searched))
    }

    /// Fits the method of a cell through a meter of its own: the approximation, and what it would have cost alone.
    fn fit(&self, cell: &Cell, setting: Setting) -> Result<(Approximation, Spent), JobError> {
        self.fit_to(self.target(cell), cell, setting)
    }

    /// The same at the rank of the cell, whatever the configuration says of growing.
    fn fit_at(&self, cell: &Cell, setting: Setting) -> Result<(Approximation, Spent), JobError> {
        self.fit_to(None, cell, setting)
    }

    fn fit_to(
        &self,
        target: Option<TargetError>,
        cell: &Cell,
        setting: Setting,
    ) -> Result<(Approximation, Spent), JobError> {
        let oracle = Metered::new(self.till.similarities(setting.gamma)?);
        let mut rng = stream(self.config.seed, &self.stage.dataset, "fit", cell.replicate);
        let is_wme = self.sweep.method(cell).id == wme::ID;
        let method = if is_wme { wme::method(self, cell, setting)? } else { self.sweep.approximator(cell, setting)? };
        let landmarks = self.landmarks(cell)?;
        let known = self.sweep.method(cell).known;
        let approximation = match target {
            Some(target) => self.grow(&target, method.as_ref(), &oracle, &landmarks, known, &mut rng)?,
            None => method.fit(&oracle, &landmarks, cell.rank, known, &mut rng)?,
        };
        let mut spent = oracle.spent();
        if is_wme {
            // no cell of K, but so many distances to random documents
            spent.evaluations = (self.stage.items() * cell.rank) as u64;
        }
        Ok((approximation, spent))
    }

    /// What the growth of a cell's rank stops at, where `target_error` asks for one and the method draws landmarks.
    fn target(&self, cell: &Cell) -> Option<TargetError> {
        if self.matrix.experiment == Experiment::OwnData {
            return own_data::target(self, cell);
        }
        self.grown(cell, self.matrix.target_error?, self.sweep.sizes().first().copied().unwrap_or(1))
    }

    /// A rank that grows from `first_rank` to that of the cell until the estimate is below `target`.
    fn grown(&self, cell: &Cell, target: f64, first_rank: usize) -> Option<TargetError> {
        let estimate = self.matrix.error_estimate?;
        let draws = self.sweep.method(cell).entry.draws;
        draws.then(|| TargetError {
            target,
            first_rank,
            largest_rank: Some(cell.rank),
            samples: estimate.samples,
            confidence: estimate.confidence,
            ..TargetError::default()
        })
    }

    fn grow(
        &self,
        target: &TargetError,
        method: &dyn Approximate,
        oracle: &dyn Oracle,
        landmarks: &Landmarks,
        known: Known,
        rng: &mut Rng,
    ) -> Result<Approximation, JobError> {
        let outcome = target.run(method, oracle, landmarks, known, rng)?;
        if matches!(outcome.stop, Stop::BudgetExhausted(_)) {
            self.is_cut_short.set(true);
        }
        Ok(outcome.approximation)
    }

    /// What the fit of a cell will request: exactly, or all that a growing rank may come to.
    fn plan(&self, cell: &Cell) -> Result<EntryPlan, JobError> {
        let shape = self.till.shape();
        let Some(target) = self.target(cell) else { return Ok(self.sweep.plan(cell, shape)?) };
        let method = self.sweep.method(cell).approximator.as_ref();
        let mut rng = stream(self.config.seed, &self.stage.dataset, "fit", cell.replicate);
        let most = target.most(method, shape, &self.sweep.drawn_landmarks(cell)?, &mut rng)?;
        let mut blocks = vec![EntryBlock { rows: Rows::All, cols: most.columns() }];
        blocks.extend(
            most.scattered().into_iter().map(|(i, j)| EntryBlock { rows: Rows::These(vec![i]), cols: vec![j] }),
        );
        Ok(EntryPlan { blocks, certainty: Certainty::UpperBound })
    }

    /// The landmarks of a cell, chosen on the similarities at the γ that is fixed, or at the middle of those searched.
    fn landmarks(&self, cell: &Cell) -> Result<Landmarks, JobError> {
        Ok(self.sweep.landmarks(cell, self.till.similarities(self.common_gamma())?.as_ref())?)
    }

    /// A row of a cell, to be filled with metric and value.
    fn row(&self, cell: &Cell, spent: &Spent, metric: Metric, value: f64) -> ResultRow {
        let method = self.sweep.method(cell);
        ResultRow {
            dataset: self.stage.dataset.clone(),
            method: method.name.clone(),
            method_id: method.id.to_owned(),
            variant: variant(method),
            comparison: cell.comparison.id().to_owned(),
            items: self.stage.items() as u64,
            columns: cell.columns as u64,
            rank: cell.rank as u64,
            cells: spent.cells,
            evaluations: spent.evaluations,
            replicate: cell.replicate,
            metric,
            position: None,
            value,
            lower: None,
            upper: None,
            seconds: None,
            note: None,
            profile: self.config.profile.name.clone(),
        }
    }

    /// The key of a job: everything that moves its rows.
    fn key(&self, what: &str, cell: Option<&Cell>, more: &serde_json::Value) -> Result<CellKey, ResultsError> {
        let (config, matrix) = (self.config, self.matrix);
        let method = cell.map(|cell| {
            let method = self.sweep.method(cell);
            let proxy = method.proxy.as_ref().map(|proxy| {
                let identity = self.stage.proxies.get(&proxy.kind).map(|oracle| oracle.identity().to_hex());
                (proxy, identity)
            });
            (method.id, &method.name, &method.params, method.known, proxy, cell.comparison, cell.columns, cell.rank)
        });
        cell_key(&json!({
            "version": 1,
            "what": what,
            "dataset": self.stage.dataset,
            "oracle": self.stage.raw.identity().to_hex(),
            "gamma": matrix.oracle.gamma(),
            // a file may change under its name: what counts is what it holds
            "landmarks": self.sweep.given().map_or_else(|| json!(matrix.landmarks), |indices| json!(indices)),
            "labels": self.stage.labels.as_ref().map(|labels| (&labels.of, &labels.names)),
            "seed": config.seed,
            "target_error": matrix.target_error.map(|target| (target, matrix.error_estimate, self.sweep.sizes(), matrix.budget)),
            "replicate": cell.map(|cell| cell.replicate),
            "method": method,
            "profile": config.profile.name,
            "more": more,
        }))
    }
}

/// The rows of a cell whose twin was computed.
fn rows_of_twin(rows: &[ResultRow], cell: &Cell) -> Vec<ResultRow> {
    let comparison = cell.comparison.id();
    rows.iter().map(|row| ResultRow { comparison: comparison.to_owned(), ..row.clone() }).collect()
}

/// Extras of a method in words, empty for the paper's own.
fn variant(method: &crate::config::MethodConfig) -> String {
    let mut parts = Vec::new();
    parts.extend(method.entry.parameters.iter().filter_map(|parameter| {
        let text = method.params.get(parameter.name)?.to_string();
        let is_default = text.trim_matches('"') == parameter.default;
        (!is_default).then(|| format!("{}: {text}", parameter.name))
    }));
    match (method.known.landmarks, method.known.diagonal) {
        (false, false) => {}
        (true, false) => parts.push("known: landmarks".to_owned()),
        (false, true) => parts.push("known: diagonal".to_owned()),
        (true, true) => parts.push("known: landmarks, diagonal".to_owned()),
    }
    if let Some(proxy) = &method.proxy {
        parts.push(format!("proxy: {}", proxy.kind.id()));
    }
    parts.join(" · ")
}

/// All of K.
fn whole(n: usize) -> EntryPlan {
    EntryPlan { blocks: vec![EntryBlock { rows: Rows::All, cols: (0..n).collect() }], certainty: Certainty::Exact }
}

/// A title without its replicate.
fn group(sweep: &Sweep<'_>, what: &str, cell: &Cell) -> String {
    let by = match cell.comparison {
        Comparison::Rank => "rank",
        Comparison::Entries => "entries of",
        Comparison::SmallRank => "small rank, at most",
        Comparison::LargeRank => "large rank, at most",
    };
    format!("{what}{} · {by} {}", sweep.method(cell).name, cell.columns)
}

/// Whether the raw score is a distance seen through γ.
fn has_gamma(matrix: &MatrixSubject) -> bool {
    matches!(matrix.oracle, OracleConfig::Wmd { .. }) || matrix.oracle.gamma().is_some()
}
