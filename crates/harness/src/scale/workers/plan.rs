//! `runner plan`: what is missing, timed, cut, and written where the workers find it.

use std::time::Instant;

use landmark_report::amounts::{counted, duration};
use landmark_report::write_file;
use miette::{IntoDiagnostic, Result};

use super::{Cut, WorkerContext, absolute};
use crate::invocation::{Invocation, UsageError};
use crate::run;
use crate::scale::executor::{Executor, command_line, scripts};
use crate::scale::{PLAN, TilePlan};

/// Seconds that a tile takes where nothing is said.
const TILE_SECONDS: f64 = 120.0;
/// Tiles of a matrix whose speed is not known.
const TILES: u64 = 100;
/// Entries that such a tile has at least.
const FEWEST_ENTRIES: u64 = 1000;

/// Size that a tile should have.
#[derive(Debug, Clone, Copy)]
pub struct TileSize {
    /// Seconds that it takes.
    pub seconds: Option<f64>,
    /// Entries, or bytes of a stream, instead.
    pub size: Option<u64>,
    /// Calls that may be made to learn how long one takes.
    pub sample: Option<u64>,
}

impl TileSize {
    /// True where the user asked for a size: a plan that is there is then cut anew.
    pub(super) fn is_given(self) -> bool {
        self.seconds.is_some() || self.size.is_some()
    }

    /// The size of a tile, at so many seconds for a unit of it.
    pub(super) fn at(self, seconds_each: f64) -> u64 {
        let seconds = self.seconds.unwrap_or(TILE_SECONDS);
        // a float above 2⁶⁴ becomes the largest number
        self.size.unwrap_or((seconds / seconds_each.max(1e-12)) as u64).max(1)
    }

    /// The entries of a tile where nobody knows how long one takes.
    pub(super) fn counted(self, entries: u64) -> u64 {
        self.size.unwrap_or(entries.div_ceil(TILES).max(FEWEST_ENTRIES)).max(1)
    }
}

/// Makes a plan, or finds the one that is there.
///
/// # Errors
/// Work that can't be cut, another plan that is there, and what opening an oracle may refuse.
pub fn plan(invocation: &Invocation, executor: Executor, size: TileSize, force: bool) -> Result<String> {
    let worker = WorkerContext::open(invocation)?;
    if let Some(seconds) = size.seconds.filter(|seconds| !(*seconds > 0.0 && seconds.is_finite())) {
        let message = format!("`--tile-seconds` is {seconds}, but must be a number above 0");
        return Err(UsageError::new(message, None).into());
    }
    let start = Instant::now();
    let there = match worker.there() {
        Err(_) if force => None,
        there => there?,
    };
    let work = worker.tiled_work()?;
    let Cut { plan, left } = work.plan(size, there.as_ref())?;
    if let Some(there) = there.filter(|there| there.id != plan.id && !force) {
        let message = format!(
            "there is another plan of `{}` in `{}`: it is `{}` of `{}`, and this one is `{}` of `{}`",
            worker.config.run.name,
            worker.store.address(),
            there.id,
            there.subject,
            plan.id,
            plan.subject
        );
        let help = "`--force` replaces it; entries that its workers bought are kept and used where they fit".to_owned();
        return Err(UsageError::new(message, Some(help)).into());
    }
    let bytes = plan.to_bytes().into_diagnostic()?;
    worker.store.write_plan_document(&worker.config.run.name, PLAN, bytes).into_diagnostic()?;
    let mut text = format!(
        "plan {} of `{}`: {} in {}, made in {}; {} of it left to be {}\n",
        &plan.id[..12],
        worker.config.run.name,
        work.amount(plan.size()),
        counted(plan.tiles.len() as u64, "tile"),
        duration(start.elapsed().as_secs_f64()),
        work.amount(left),
        work.done()
    );
    if let Some(each) = plan.seconds_each {
        let all = each * left as f64;
        let largest = plan.tiles.iter().map(|tile| tile.size).max().unwrap_or(0) as f64 * each;
        text += &format!(
            "at {}: {} for one worker, at most {} a tile\n",
            work.rate(each),
            duration(all),
            duration(largest)
        );
    }
    if let Some(price) = work.price(left) {
        text += &format!("price: {price:.2}\n");
    }
    text += &submission(&worker, &plan, executor)?;
    Ok(text)
}

/// Writes the files of an executor and says how to go on.
fn submission(worker: &WorkerContext, plan: &TilePlan, executor: Executor) -> Result<String> {
    let folder = absolute(&run::results_folder(&worker.config, &worker.options).join("cluster"))?;
    let program = std::env::current_exe().into_diagnostic()?;
    let mut words = vec!["worker".to_owned(), absolute(&worker.invocation.file)?.display().to_string()];
    words.extend(worker.invocation.overlays.words());
    let address = run::store_address(&worker.config, &worker.options);
    let address = if address.contains("://") { address } else { absolute(address.as_ref())?.display().to_string() };
    words.extend(["--store".to_owned(), address]);
    if let Some(data) = &worker.options.data {
        words.extend(["--data".to_owned(), absolute(data)?.display().to_string()]);
    }
    let command = command_line(&program, &words);
    let (files, submit) = scripts(executor, &worker.config.run.name, plan, &command, &worker.config.cluster, &folder);
    for file in &files {
        write_file(&folder.join(file.name), file.text.as_bytes()).into_diagnostic()?;
    }
    Ok(format!("workers: {submit}\nthen: {}\n", worker.again("merge")))
}
