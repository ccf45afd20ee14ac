//! Tiles of a matrix: entries that are bought into the store.

use std::sync::Arc;

use landmark_core::oracle::{Budget, Metered};
use landmark_report::amounts::count;
use landmark_store::{OracleLabel, StoreError};
use miette::{IntoDiagnostic, Result};

use super::{Cut, TileSize, TileWorker, TiledWork, WorkerContext};
use crate::config::MatrixSubject;
use crate::experiment::Experiment;
use crate::invocation::UsageError;
use crate::job::JobError;
use crate::metered_store::{Meter, Timed};
use crate::oracles::{Preparation, Training};
use crate::plan::Forecast;
use crate::problem::Problem;
use crate::run::{self, RunError};
use crate::scale::TilePlan;
use crate::scale::purchase::{Entries, Purchase};
use crate::scale::tiles::evaluate;
use crate::sweep::context::SweepContext;

/// Entries that a configuration asks of its oracle.
pub(super) struct EntryWork<'a> {
    worker: &'a WorkerContext,
    matrix: &'a MatrixSubject,
    experiment: &'static dyn Experiment,
}

impl<'a> EntryWork<'a> {
    pub(super) fn new(
        worker: &'a WorkerContext,
        matrix: &'a MatrixSubject,
        experiment: &'static dyn Experiment,
    ) -> Self {
        Self { worker, matrix, experiment }
    }

    /// The oracle and what it is, for a worker of batches.
    pub(super) fn source(&self) -> Result<(Meter, OracleLabel)> {
        let problem = self.load()?;
        if !problem.is_priced || problem.orders.is_some() {
            let message = "there is nothing to follow: the matrix is given, or each pair is scored in one order of two";
            return Err(UsageError::new(message, None).into());
        }
        if let Some(key) = self.matrix.budget.limits() {
            let message = format!("`budget.{key}` is kept by one process, and several would spend it each");
            return Err(UsageError::new(
                message,
                Some("leave it out, here and in the run that is followed".to_owned()),
            )
            .into());
        }
        Ok((self.meter(&problem), self.label(&problem)))
    }

    fn meter(&self, problem: &Problem) -> Meter {
        let budget = Budget { entries: None, seconds: self.matrix.budget.seconds };
        Arc::new(Metered::with_budget(Arc::clone(&problem.raw), budget))
    }

    fn label(&self, problem: &Problem) -> OracleLabel {
        OracleLabel::new(self.matrix.oracle.kind(), problem.description.clone())
    }

    /// Loads the items and starts the oracle.
    fn load(&self) -> Result<Problem> {
        // many workers at once must not each fine-tune a model: a run does so first
        let preparation = Preparation { training: Training::Later, quiet: true, greeting: None };
        let data = self.worker.options.data.as_deref();
        Problem::load(&self.worker.config.run, self.matrix, data, preparation).into_diagnostic()
    }

    /// The same, refused where the plan was not made for them.
    fn problem(&self, plan: &TilePlan) -> Result<Problem> {
        let problem = self.load()?;
        self.worker.check(plan, problem.raw.identity(), "the items, the program or the settings of its score")?;
        Ok(problem)
    }
}

impl TiledWork for EntryWork<'_> {
    fn plan(&self, size: TileSize, there: Option<&TilePlan>) -> Result<Cut> {
        if size.seconds.is_some() && size.sample.is_none() && size.size.is_none() {
            let message = "`--tile-seconds` needs to know how long an entry takes, and `plan` makes no call unasked";
            let help = "add `--sample N`, which makes N calls and keeps their scores, or give `--tile-size`, a number of entries";
            return Err(UsageError::new(message, Some(help.to_owned())).into());
        }
        let WorkerContext { config, options, .. } = self.worker;
        Ok(run::with_sweep(config, self.matrix, options, |context| make(self.experiment, &context, size, there))?)
    }

    fn price(&self, size: u64) -> Option<f64> {
        self.matrix.budget.price(size)
    }

    fn begin<'a>(&'a self, plan: &'a TilePlan) -> Result<Box<dyn TileWorker + 'a>> {
        let problem = self.problem(plan)?;
        let Some(purchase) = plan.purchase() else { return Err(self.worker.indivisible()) };
        let order = purchase.row_order();
        Ok(Box::new(Buyer { labour: self, plan, purchase, problem, order }))
    }

    /// Everything is in the store.
    fn gather(&self, plan: &TilePlan) -> Result<()> {
        self.problem(plan).map(drop)
    }

    fn amount(&self, size: u64) -> String {
        format!("{} entries", count(size))
    }

    fn rate(&self, seconds_each: f64) -> String {
        format!("{:.1} µs an entry", seconds_each * 1e6)
    }

    fn done(&self) -> &'static str {
        "bought"
    }
}

/// A worker with its oracle.
struct Buyer<'a> {
    labour: &'a EntryWork<'a>,
    plan: &'a TilePlan,
    purchase: &'a Purchase,
    problem: Problem,
    order: Vec<usize>,
}

impl TileWorker for Buyer<'_> {
    fn work(&self, tile: usize) -> Result<u64> {
        let EntryWork { worker, .. } = self.labour;
        let source = (self.labour.meter(&self.problem), self.labour.label(&self.problem));
        let tile_of = (self.plan, tile);
        let evaluated = evaluate(&worker.store, source, tile_of, (self.purchase, &self.order)).into_diagnostic()?;
        let wanted = self.plan.tiles[tile].size;
        if evaluated.entries < wanted {
            let message = format!("tile {tile} has {} entries of {wanted}", evaluated.entries);
            return Err(UsageError::new(message, Some("run `runner store verify`".to_owned())).into());
        }
        Ok(evaluated.new)
    }
}

/// The union of all requests, cut; what the store holds of a tile is handed over to it.
fn make(
    experiment: &dyn Experiment,
    context: &SweepContext<'_>,
    size: TileSize,
    there: Option<&TilePlan>,
) -> Result<Cut, RunError> {
    let refuse = |sentence: String| RunError::Plan(Box::new(JobError::Failed(sentence.into())));
    let failed = |error: StoreError| refuse(error.to_string());
    let jobs = experiment.jobs(context).map_err(|error| RunError::Plan(Box::new(error)))?;
    if context.metered.other_order().is_some() && jobs.iter().any(|job| job.requests.len() > 1) {
        let what = "the errors of this run read both orders of a pair, and a plan holds the entries of one";
        return Err(refuse(format!("{what}: leave `error_estimate` out, and estimate with a run of your own")));
    }
    let shape = context.metered.shape();
    let forecast = Forecast::of(&jobs, vec![context.metered.entries()], |_| false);
    if !forecast.are_named() {
        let what = "what this configuration buys depends on what it sees (`target_error`, a budget of seconds, or landmarks chosen by scores)";
        return Err(refuse(format!("{what}; a plan needs a fixed `ranks` with `uniform` or `given` landmarks")));
    }
    let Some(stored) = context.metered.stored() else {
        return Err(refuse("the matrix is given: there is nothing to buy".to_owned()));
    };
    let set = &forecast.entries[0];
    if !set.rows().is_empty() {
        return Err(refuse(
            "an asymmetric score bought by rows can't be cut into tiles: set `oracle.symmetrize`".to_owned(),
        ));
    }
    let missing = context.metered.missing(set)?;
    if let Some(limit) = context.matrix.budget.limit().filter(|&limit| missing > limit) {
        return Err(refuse(format!(
            "{missing} entries are missing, but `budget` allows {limit}: lower `ranks`, or raise it"
        )));
    }
    let identity = context.problem.raw.identity();
    // the same purchase cut by another timing is the plan that is there
    let purchase = Purchase::new(set, shape);
    let same =
        |plan: &&TilePlan| !size.is_given() && plan.subject == identity.to_hex() && plan.purchase() == Some(&purchase);
    if let Some(plan) = there.filter(same) {
        return Ok(Cut { plan: plan.clone(), left: missing - set.chosen_evaluations() });
    }
    let timed = match size.sample {
        Some(calls) => context.metered.time(set, calls)?,
        None => None,
    };
    let seconds_each = timed.map(Timed::seconds_each);
    let height = seconds_each.map_or_else(|| size.counted(set.evaluations()), |each| size.at(each));
    let plan = TilePlan::of_entries(set, shape, identity, height, seconds_each)
        .map_err(|error| refuse(format!("the plan can't be written down: {error}")))?;
    stored.flush()?;
    let order = purchase.row_order();
    for (number, tile) in plan.tiles.iter().enumerate() {
        let part = plan.tile_name(number);
        match purchase.entries_of(tile.part, &order) {
            Entries::Block(rows, cols) => stored.hand_over(&rows, &cols, &part).map_err(failed)?,
            Entries::Pairs(pairs) => stored.hand_over_pairs(&pairs, &part).map_err(failed)?,
        };
    }
    // what was bought to time it is there now
    // pairs that are chosen by what the columns hold are bought by `merge`
    Ok(Cut { plan, left: context.metered.missing(set)? - set.chosen_evaluations() })
}
