//! `runner plan | worker | status | merge`: one configuration on many machines.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use landmark_core::oracle::{Budget, Metered, Oracle};
use landmark_oracles::tile_store::{OracleLabel, TileStore};
use miette::{IntoDiagnostic, Result};
use serde_json::json;

use crate::cli::{LogArgs, ScaleArgs};
use crate::config::{Config, MatrixSubject, Subject};
use crate::exit::{Exit, UsageError};
use crate::run::{self, Ended, RunOptions, count, duration};
use crate::scale::{Entries, PLAN, Plan, parse_share, parse_tiles};
use crate::stage::{Preparation, Stage};

mod make;

pub(super) use make::{TileSize, plan};

/// Seconds that a worker may be silent before its tile is taken over.
const LEASE: u64 = 60;
/// Between two looks at tiles that others are working on.
const PATIENCE: Duration = Duration::from_secs(2);

/// A configuration and its place in the store.
struct Desk {
    config: Config,
    matrix: MatrixSubject,
    options: RunOptions,
    store: TileStore,
    arguments: ScaleArgs,
}

impl Desk {
    fn open(arguments: &ScaleArgs, log: LogArgs) -> Result<Self> {
        let config = Config::load(&arguments.config, &arguments.overlay.overlays())?;
        let Subject::Matrix(matrix) = &config.subject else {
            let message = format!("`{}` is `experiment: {}`, which buys no matrix", config.name, config.subject.id());
            return Err(UsageError::new(
                message,
                Some("plan a configuration such as `configs/own_data.yaml`".to_owned()),
            )
            .into());
        };
        let matrix = matrix.as_ref().clone();
        let options = super::run::options(&arguments.places, log);
        let store = TileStore::open(&run::store_address(&config, &options)).into_diagnostic()?;
        Ok(Self { config, matrix, options, store, arguments: arguments.clone() })
    }

    /// The plan that was made for this configuration.
    fn plan(&self) -> Result<Plan> {
        let name = &self.config.name;
        match self.store.plan_document(name, PLAN).into_diagnostic()? {
            Some(bytes) => Plan::parse(&bytes).map_err(|reason| {
                let message = format!("the plan of `{name}` in `{}` can't be read: {reason}", self.store.address());
                UsageError::new(message, Some("make it anew with `runner plan … --force`".to_owned())).into()
            }),
            None => {
                let message = format!("there is no plan of `{name}` in `{}`", self.store.address());
                Err(UsageError::new(
                    message,
                    Some(format!("make one: `runner plan {}`", self.arguments.config.display())),
                )
                .into())
            }
        }
    }

    /// Loads the items and starts the oracle, and refuses those that the plan was not made for.
    fn stage(&self, plan: &Plan) -> Result<Stage> {
        // many workers at once must not each fine-tune a model: a run does so first
        let preparation = Preparation { may_train: false, quiet: true };
        let stage =
            Stage::set(&self.config, &self.matrix, self.options.data.as_deref(), preparation).into_diagnostic()?;
        let now = stage.raw.identity().to_hex();
        if now == plan.oracle {
            return Ok(stage);
        }
        let message = format!(
            "the data or the oracle have changed since the plan was made: it was `{}` and is `{now}`",
            plan.oracle
        );
        let help = "restore the items and the program, or plan anew: `runner plan … --force`".to_owned();
        Err(UsageError::new(message, Some(help)).into())
    }

    /// Seconds that a worker may be silent.
    fn lease(&self) -> u64 {
        self.config.cluster.lease.unwrap_or(LEASE).max(1)
    }

    fn label(&self, stage: &Stage) -> OracleLabel {
        OracleLabel::new(self.matrix.oracle.kind(), stage.description.clone())
    }

    /// Tiles by number that are marked as done, and those that a worker has, with the seconds since it was heard of.
    fn progress(&self, plan: &Plan) -> Result<Progress> {
        let documents = self.store.plan_documents(&self.config.name).into_diagnostic()?;
        let mut progress = Progress { done: vec![false; plan.tiles.len()], claimed: vec![None; plan.tiles.len()] };
        let prefix = &plan.tile_name(0)[..9];
        for (name, age) in documents {
            let Some((tile, kind)) = name.strip_prefix(prefix).and_then(|rest| rest.split_once('.')) else { continue };
            let Some(tile) = tile.parse::<usize>().ok().filter(|&tile| tile < plan.tiles.len()) else { continue };
            if kind == "done" {
                progress.done[tile] = true;
            } else if kind.starts_with("claim-") {
                let latest = progress.claimed[tile].map_or(age, |other: u64| other.min(age));
                progress.claimed[tile] = Some(latest);
            }
        }
        Ok(progress)
    }
}

struct Progress {
    done: Vec<bool>,
    claimed: Vec<Option<u64>>,
}

/// Buys tiles until all of those it is about are done, by itself or by others.
pub(super) fn worker(
    arguments: &ScaleArgs,
    tiles: Option<&str>,
    share: Option<&str>,
    lease: Option<u64>,
    log: LogArgs,
) -> Result<String> {
    let desk = Desk::open(arguments, log)?;
    let plan = desk.plan()?;
    let usage = |message: String| UsageError::new(message, None);
    let mut waiting: Vec<usize> = match (tiles, share) {
        (Some(list), _) => parse_tiles(list, plan.tiles.len()).map_err(usage)?,
        (None, Some(share)) => parse_share(share, plan.tiles.len()).map_err(usage)?,
        (None, None) => (0..plan.tiles.len()).collect(),
    };
    let stage = desk.stage(&plan)?;
    let order = plan.row_order();
    let lease = Duration::from_secs(lease.unwrap_or_else(|| desk.lease()));
    let (mut bought, mut own, start) = (0, 0, Instant::now());
    loop {
        let progress = desk.progress(&plan)?;
        waiting.retain(|&tile| !progress.done[tile]);
        let mut was_work = false;
        for &tile in &waiting {
            let work = plan.tile_name(tile);
            let Some(claim) = desk.store.claim(&desk.config.name, &work, lease).into_diagnostic()? else { continue };
            // another may have finished it between the look and the claim
            let is_done =
                desk.store.plan_document(&desk.config.name, &format!("{work}.done")).into_diagnostic()?.is_some();
            if !is_done {
                bought += buy(&desk, &plan, &stage, &order, tile)?;
                own += 1;
            }
            was_work = true;
            drop(claim);
        }
        if waiting.is_empty() {
            break;
        }
        if !was_work {
            std::thread::sleep(PATIENCE.min(lease));
        }
    }
    Ok(format!(
        "{own} tiles done by this worker, {} entries bought in {}\n",
        count(bought),
        duration(start.elapsed().as_secs_f64())
    ))
}

/// Buys what is missing of a tile and marks it as done; answers how many entries that were.
fn buy(desk: &Desk, plan: &Plan, stage: &Stage, order: &[usize], tile: usize) -> Result<u64> {
    let start = Instant::now();
    let work = plan.tile_name(tile);
    let wanted = &plan.tiles[tile];
    let budget = Budget { entries: None, seconds: desk.matrix.budget.seconds };
    let meter = Arc::new(Metered::with_budget(Arc::clone(&stage.raw), budget));
    let stored = desk.store.attach_part(Arc::clone(&meter), desk.label(stage), &work).into_diagnostic()?;
    match plan.entries_of(wanted.part, order) {
        Entries::Block(rows, cols) => stored.stock(&rows, &cols).into_diagnostic()?,
        Entries::Pairs(pairs) => stored.evaluate(&pairs, &mut vec![0.0; pairs.len()]).into_diagnostic()?,
    }
    stored.flush().into_diagnostic()?;
    if stored.entries() < wanted.entries {
        let message = format!("tile {tile} has {} entries of {}", stored.entries(), wanted.entries);
        return Err(UsageError::new(message, Some("run `runner store verify`".to_owned())).into());
    }
    let seconds = start.elapsed().as_secs_f64();
    let mark = json!({ "entries": wanted.entries, "bought": stored.bought(), "seconds": seconds });
    let name = format!("{work}.done");
    desk.store.write_plan_document(&desk.config.name, &name, mark.to_string().into_bytes()).into_diagnostic()?;
    if !desk.options.quiet {
        let (bought, all) = (count(stored.bought()), count(wanted.entries));
        eprintln!("tile {tile} of {}: {bought} of {all} entries bought in {}", plan.tiles.len(), duration(seconds));
    }
    Ok(stored.bought())
}

/// How far the workers are.
pub(super) fn status(arguments: &ScaleArgs, log: LogArgs) -> Result<String> {
    let desk = Desk::open(arguments, log)?;
    let plan = desk.plan()?;
    let progress = desk.progress(&plan)?;
    let done = progress.done.iter().filter(|&&done| done).count();
    let entries: u64 =
        plan.tiles.iter().zip(&progress.done).filter(|(_, done)| **done).map(|(tile, _)| tile.entries).sum();
    let open = || progress.claimed.iter().zip(&progress.done).filter(|(_, done)| !**done).filter_map(|(age, _)| *age);
    let alive = open().filter(|&age| age < desk.lease()).count();
    let silent = open().count() - alive;
    let mut text = format!(
        "plan {} of `{}`: {done} of {} tiles done, {} of {} entries; {alive} being bought",
        &plan.id[..12],
        desk.config.name,
        plan.tiles.len(),
        count(entries),
        count(plan.evaluations())
    );
    if silent > 0 {
        text += &format!(", {silent} left by workers that have fallen silent: any worker takes them over");
    }
    text.push('\n');
    if done == plan.tiles.len() {
        text += &format!("all done: `runner merge {}`\n", desk.arguments.config.display());
    } else if let Some(each) = plan.seconds_each {
        let left = (plan.evaluations() - entries) as f64 * each;
        text += &format!("about {} of buying are left, for one worker\n", duration(left));
    }
    Ok(text)
}

/// Runs the configuration, which finds everything bought.
pub(super) fn merge(arguments: &ScaleArgs, log: LogArgs) -> Result<Exit> {
    let desk = Desk::open(arguments, log)?;
    let plan = desk.plan()?;
    let progress = desk.progress(&plan)?;
    let left: Vec<usize> = (0..plan.tiles.len()).filter(|&tile| !progress.done[tile]).collect();
    if !left.is_empty() {
        let first: Vec<String> = left.iter().take(5).map(usize::to_string).collect();
        let more = if left.len() > 5 { ", …" } else { "" };
        let message = format!("{} of {} tiles are not done: {}{more}", left.len(), plan.tiles.len(), first.join(", "));
        let help = format!("start workers: `runner worker {}`", desk.arguments.config.display());
        return Err(UsageError::new(message, Some(help)).into());
    }
    drop(desk.stage(&plan)?);
    let options = RunOptions { bought_already: true, ..desk.options };
    Ok(match run::run(&desk.config, &options)? {
        Ended::Done => Exit::Done,
        Ended::BudgetExhausted => Exit::Budget,
        Ended::SomeFailed(_) => Exit::Partial,
    })
}

/// An absolute path, for a script that runs elsewhere.
fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).into_diagnostic()
}
