//! `runner plan | worker | status | merge`: one configuration on many machines.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use landmark_core::oracle::Identity;
use landmark_report::amounts::{count, counted, duration};
use landmark_store::TileStore;
use miette::{IntoDiagnostic, Result};
use serde_json::json;

use super::batches::{self, FollowError, Followed};
use super::executor::command_line;
use super::tiles::{NextTile, OpenTiles, TileProgress};
use super::{LEASE, PLAN, TilePlan, parse_share, parse_tiles};
use crate::config::{Config, Subject};
use crate::invocation::{Invocation, UsageError};
use crate::run::{self, Ended, RunOptions};

mod entries;
mod plan;
mod stream;

pub use plan::{TileSize, plan};

/// Between two looks at tiles that others are working on.
const PATIENCE: Duration = Duration::from_secs(2);

/// A kind of work that is cut into tiles: [`entries`] to be bought, or a [`stream`] to be sketched.
trait TiledWork {
    /// Cuts what is to be done; `there` is the plan that was made before, if any.
    fn plan(&self, size: TileSize, there: Option<&TilePlan>) -> Result<Cut>;

    /// Price of work of this size in money, where that is known.
    fn price(&self, size: u64) -> Option<f64>;

    /// Brings what the work needs into memory, and refuses data that the plan was not made for.
    fn begin<'a>(&'a self, plan: &'a TilePlan) -> Result<Box<dyn TileWorker + 'a>>;

    /// When all tiles are done: makes of them what the run then finds.
    fn gather(&self, plan: &TilePlan) -> Result<()>;

    /// The amount in words: `1,234 entries`.
    fn amount(&self, size: u64) -> String;

    /// Rate in words, at so many seconds for a unit of size.
    fn rate(&self, seconds_each: f64) -> String;

    /// Word for what was done to a tile: `bought`.
    fn done(&self) -> &'static str;
}

/// A plan, and how much of it was not there when it was made.
struct Cut {
    plan: TilePlan,
    left: u64,
}

/// One that does tiles.
trait TileWorker {
    /// Does what is missing of a tile, so that it is kept, and answers how much that was.
    fn work(&self, tile: usize) -> Result<u64>;
}

/// A configuration and its place in the store.
struct WorkerContext {
    config: Config,
    options: RunOptions,
    store: TileStore,
    invocation: Invocation,
}

impl WorkerContext {
    fn open(invocation: &Invocation) -> Result<Self> {
        let (config, options) = (invocation.config()?, invocation.options.clone());
        let sync = config.subject.matrix().map(|matrix| matrix.sync).unwrap_or_default();
        let store = TileStore::open(&run::store_address(&config, &options)).into_diagnostic()?.with_sync(sync);
        Ok(Self { config, options, store, invocation: invocation.clone() })
    }

    /// Another command on the same configuration, as this one was called.
    fn again(&self, command: &str) -> String {
        let mut words = vec![command.to_owned(), self.invocation.file.display().to_string()];
        words.extend(self.options.flags.clone());
        command_line(Path::new("runner"), &words)
    }

    /// Work of the configuration.
    fn tiled_work(&self) -> Result<Box<dyn TiledWork + '_>> {
        match &self.config.subject {
            Subject::Matrix(matrix, experiment) => Ok(Box::new(entries::EntryWork::new(self, matrix, *experiment))),
            Subject::Study(study) => stream::StreamWork::open(self, study.as_ref()),
            Subject::Collection(_) => Err(self.indivisible()),
        }
    }

    /// The error of a configuration that is done by one process or not at all.
    fn indivisible(&self) -> miette::Report {
        let (name, id) = (&self.config.run.name, self.config.subject.id());
        let message = format!("`{name}` is `experiment: {id}`, which can't be cut into tiles");
        let help = "a matrix can, such as `configs/own_data.yaml`, and a `text_sketch`; run this one with `runner CONFIG.yaml`";
        UsageError::new(message, Some(help.to_owned())).into()
    }

    /// The plan that was made for this configuration, if one was.
    fn there(&self) -> Result<Option<TilePlan>> {
        let name = &self.config.run.name;
        let document = self.store.plan_document(name, PLAN).into_diagnostic()?;
        let plan = document.map(|bytes| TilePlan::parse(&bytes)).transpose();
        plan.map_err(|reason| {
            let message = format!("the plan of `{name}` in `{}` can't be read: {reason}", self.store.address());
            UsageError::new(message, Some(format!("make it anew: `{} --force`", self.again("plan")))).into()
        })
    }

    /// The plan that was made for this configuration.
    fn plan(&self) -> Result<TilePlan> {
        self.there()?.ok_or_else(|| {
            let message = format!("there is no plan of `{}` in `{}`", self.config.run.name, self.store.address());
            UsageError::new(message, Some(format!("make one: `{}`", self.again("plan")))).into()
        })
    }

    /// Refuses data that the plan was not made for; `what` names them.
    fn check(&self, plan: &TilePlan, subject: Identity, what: &str) -> Result<()> {
        let now = subject.to_hex();
        if now == plan.subject {
            return Ok(());
        }
        let message = format!(
            "{what} have changed since the plan was made, whose digest is `{}` and now would be `{now}`",
            plan.subject
        );
        let help = format!("restore them, or plan anew: `{} --force`", self.again("plan"));
        Err(UsageError::new(message, Some(help)).into())
    }

    /// Seconds that a worker may be silent.
    fn lease(&self) -> u64 {
        self.config.cluster.lease.unwrap_or(LEASE).max(1)
    }

    /// How far the workers are.
    fn progress(&self, plan: &TilePlan) -> Result<TileProgress> {
        TileProgress::of(&self.store, &self.config.run.name, plan).into_diagnostic()
    }
}

/// Does tiles until all of those it is about are done, by itself or by others.
///
/// # Errors
/// No plan, another plan, an oracle or a store that fails.
pub fn worker(invocation: &Invocation, tiles: Option<&str>, share: Option<&str>, lease: Option<u64>) -> Result<String> {
    let worker = WorkerContext::open(invocation)?;
    let plan = worker.plan()?;
    let usage = |message: String| UsageError::new(message, None);
    let tiles: Vec<usize> = match (tiles, share) {
        (Some(list), _) => parse_tiles(list, plan.tiles.len()).map_err(usage)?,
        (None, Some(share)) => parse_share(share, plan.tiles.len()).map_err(usage)?,
        (None, None) => (0..plan.tiles.len()).collect(),
    };
    let work = worker.tiled_work()?;
    let hand = work.begin(&plan)?;
    let lease = Duration::from_secs(lease.unwrap_or_else(|| worker.lease()));
    let (mut new, mut own, mut is_told, start) = (0, 0, false, Instant::now());
    let mut tiles = OpenTiles::new(&worker.store, &worker.config.run.name, &plan, tiles, lease);
    loop {
        match tiles.next().into_diagnostic()? {
            NextTile::AllDone => break,
            NextTile::Do(tile, _claim) => {
                new += worker.finish(&plan, tile, work.as_ref(), hand.as_ref())?;
                own += 1;
            }
            NextTile::Wait(left) => {
                if !worker.options.quiet && !is_told {
                    let lease = lease.as_secs();
                    eprintln!(
                        "waiting for {left} of other workers' tiles; one that is silent for {lease} s is taken over"
                    );
                    is_told = true;
                }
                std::thread::sleep(PATIENCE.min(lease));
            }
        }
    }
    Ok(format!(
        "{own} tiles done by this worker, {} {} in {}\n",
        work.amount(new),
        work.done(),
        duration(start.elapsed().as_secs_f64())
    ))
}

impl WorkerContext {
    /// Does a tile and marks it as done; answers how much of it was missing.
    fn finish(&self, plan: &TilePlan, tile: usize, work: &dyn TiledWork, hand: &dyn TileWorker) -> Result<u64> {
        let start = Instant::now();
        let (size, new) = (plan.tiles[tile].size, hand.work(tile)?);
        let seconds = start.elapsed().as_secs_f64();
        let mark = json!({ "size": size, "new": new, "seconds": seconds }).to_string();
        let name = plan.tile_name(tile);
        self.store.mark_done(&self.config.run.name, &name, mark.into_bytes()).into_diagnostic()?;
        if !self.options.quiet {
            let (new, all, tiles) = (work.amount(new), work.amount(size), plan.tiles.len());
            eprintln!("tile {tile} of {tiles}: {new} of {all} {} in {}", work.done(), duration(seconds));
        }
        Ok(new)
    }
}

/// Does tiles of the batches that runs of the configuration hand out while they go, until such a run is over, or nothing was handed out for `patience` seconds.
///
/// # Errors
/// A configuration without a matrix whose entries are evaluated, an oracle or a store that fails.
pub fn follow(invocation: &Invocation, lease: Option<u64>, patience: u64) -> Result<String> {
    let worker = WorkerContext::open(invocation)?;
    let Subject::Matrix(matrix, experiment) = &worker.config.subject else { return Err(worker.indivisible()) };
    let (oracle, label) = entries::EntryWork::new(&worker, matrix, *experiment).source()?;
    let lease = Duration::from_secs(lease.unwrap_or_else(|| worker.lease()));
    let (name, start) = (&worker.config.run.name, Instant::now());
    if !worker.options.quiet {
        eprintln!("ready for what runs of `{name}` with `--workers` hand out in `{}`", worker.store.address());
    }
    let times = (lease, Duration::from_secs(patience));
    let report = |tiles: usize, pairs: u64| {
        if !worker.options.quiet {
            eprintln!("{} of a batch done, {} pairs bought", counted(tiles as u64, "tile"), count(pairs));
        }
    };
    let followed = batches::follow(name, (oracle, label), &worker.store, times, report);
    let Followed { tiles, pairs, is_over } = match followed {
        Err(error @ FollowError::OtherOracle { .. }) => {
            let help = "give this worker the files and the settings of that run; if that run was killed, start the new one first".to_owned();
            return Err(UsageError::new(error.to_string(), Some(help)).into());
        }
        followed => followed.into_diagnostic()?,
    };
    let end = if is_over { "the run is over".to_owned() } else { format!("nothing was handed out for {patience} s") };
    Ok(format!(
        "{end}: {tiles} tiles done by this worker, {} pairs bought in {}\n",
        count(pairs),
        duration(start.elapsed().as_secs_f64())
    ))
}

/// Progress of the workers.
///
/// # Errors
/// No plan, or a store that can't be read.
pub fn status(invocation: &Invocation) -> Result<String> {
    let worker = WorkerContext::open(invocation)?;
    let (plan, work) = (worker.plan()?, worker.tiled_work()?);
    let progress = worker.progress(&plan)?;
    let done = progress.done.iter().filter(|&&done| done).count();
    let size: u64 = plan.tiles.iter().zip(&progress.done).filter(|(_, done)| **done).map(|(tile, _)| tile.size).sum();
    let open = || progress.claimed.iter().zip(&progress.done).filter(|(_, done)| !**done).filter_map(|(age, _)| *age);
    let alive = open().filter(|&age| age < worker.lease()).count();
    let silent = open().count() - alive;
    let mut text = format!(
        "plan {} of `{}`: {done} of {} tiles done, {} of {}; {alive} in work",
        &plan.id[..12],
        worker.config.run.name,
        count(plan.tiles.len() as u64),
        work.amount(size),
        work.amount(plan.size())
    );
    if silent > 0 {
        text += &format!(", {silent} left by workers that have fallen silent: any worker takes them over");
    }
    text.push('\n');
    if done == plan.tiles.len() {
        text += &format!("all done: `{}`\n", worker.again("merge"));
    } else if let Some(each) = plan.seconds_each {
        let left = (plan.size() - size) as f64 * each;
        text += &format!("about {} of work are left, for one worker\n", duration(left));
    }
    Ok(text)
}

/// Runs the configuration, which finds everything done.
///
/// # Errors
/// Tiles that are not done, and what a run may refuse.
pub fn merge(invocation: &Invocation) -> Result<Ended> {
    let worker = WorkerContext::open(invocation)?;
    if worker.options.workers && worker.config.subject.matrix().is_none() {
        let message = format!("`--workers` shares entries of a matrix, and `{}` has none", worker.config.run.name);
        return Err(UsageError::new(message, Some("leave it out".to_owned())).into());
    }
    let plan = worker.plan()?;
    let progress = worker.progress(&plan)?;
    let left: Vec<usize> = (0..plan.tiles.len()).filter(|&tile| !progress.done[tile]).collect();
    if !left.is_empty() {
        let first: Vec<String> = left.iter().take(5).map(usize::to_string).collect();
        let more = if left.len() > 5 { ", …" } else { "" };
        let message = format!("{} of {} tiles are not done: {}{more}", left.len(), plan.tiles.len(), first.join(", "));
        let help = format!("start workers: `{}`", worker.again("worker"));
        return Err(UsageError::new(message, Some(help)).into());
    }
    worker.tiled_work()?.gather(&plan)?;
    let options = RunOptions { bought_already: true, ..worker.options };
    Ok(run::run(&worker.config, &options)?)
}

/// An absolute path, for a script that runs elsewhere.
fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).into_diagnostic()
}
