//! `runner plan`: what is missing, timed, cut, and written where the workers find it.

use std::time::Instant;

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{OracleError, Pair};
use landmark_oracles::tile_store::StoreError;
use miette::{IntoDiagnostic, Result};

use super::{Desk, absolute};
use crate::cli::{LogArgs, ScaleArgs};
use crate::exit::UsageError;
use crate::experiments::{Bench, JobError, Workplace};
use crate::plan::Forecast;
use crate::results::write_file;
use crate::run::{self, RunError, count, duration};
use crate::scale::executor::{Executor, scripts, worker_command};
use crate::scale::{Entries, LARGEST_TILE, PLAN, Plan};
use crate::till::Till;

/// Seconds of buying that are enough to know the price of an entry.
const TIMED_SECONDS: f64 = 2.0;
/// Entries of the first sample, which is quadrupled until it takes long enough.
const FIRST_SAMPLE: usize = 32;

/// How large a tile should be.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands) struct TileSize {
    /// Seconds that it takes.
    pub(in crate::commands) seconds: f64,
    /// Entries, instead.
    pub(in crate::commands) entries: Option<u64>,
}

/// Makes a plan, or finds the one that is there.
pub(in crate::commands) fn plan(
    arguments: &ScaleArgs,
    executor: Executor,
    size: TileSize,
    force: bool,
    log: LogArgs,
) -> Result<String> {
    let desk = Desk::open(arguments, log)?;
    if !(size.seconds > 0.0 && size.seconds.is_finite()) {
        let message = format!("`--tile-seconds` is {}, but must be a number above 0", size.seconds);
        return Err(UsageError::new(message, None).into());
    }
    let start = Instant::now();
    let there = desk.store.plan_document(&desk.config.name, PLAN).into_diagnostic()?;
    let there = there.and_then(|bytes| Plan::parse(&bytes).ok());
    let made = run::with_bench(&desk.config, &desk.matrix, &desk.options, |bench| make(bench, size, there.as_ref()));
    let plan = made?;
    if let Some(there) = there.filter(|there| there.id != plan.id && !force) {
        let message = format!(
            "there is another plan of `{}` in `{}`: it is `{}` of oracle `{}`, and this one is `{}` of oracle `{}`",
            desk.config.name,
            desk.store.address(),
            there.id,
            there.oracle,
            plan.id,
            plan.oracle
        );
        let help = "`--force` replaces it; what its workers bought is kept and used where it fits".to_owned();
        return Err(UsageError::new(message, Some(help)).into());
    }
    desk.store.write_plan_document(&desk.config.name, PLAN, plan.to_bytes()).into_diagnostic()?;
    let mut text = format!(
        "plan {} of `{}`: {} entries in {} tiles, made in {}\n",
        &plan.id[..12],
        desk.config.name,
        count(plan.evaluations()),
        plan.tiles.len(),
        duration(start.elapsed().as_secs_f64())
    );
    if let Some(each) = plan.seconds_each {
        let all = each * plan.evaluations() as f64;
        let largest = plan.tiles.iter().map(|tile| tile.entries).max().unwrap_or(0) as f64 * each;
        text += &format!(
            "at {:.1} µs an entry: {} for one worker, at most {} a tile\n",
            each * 1e6,
            duration(all),
            duration(largest)
        );
    }
    if let Some(price) = desk.matrix.budget.price(plan.evaluations()) {
        text += &format!("price: {price:.2}\n");
    }
    text += &submission(&desk, &plan, executor)?;
    Ok(text)
}

/// The union of all requests, cut; what the store holds of a tile is handed over to it.
fn make(bench: &Bench<'_>, size: TileSize, there: Option<&Plan>) -> Result<Plan, RunError> {
    let refuse = |sentence: String| RunError::Plan(Box::new(JobError::Study(sentence.into())));
    let failed = |error: StoreError| refuse(error.to_string());
    let jobs = bench.jobs().map_err(|error| RunError::Plan(Box::new(error)))?;
    let shape = bench.till.shape();
    let forecast = Forecast::of(&jobs, shape, |_| false);
    if !forecast.is_exact() {
        let what = "what this configuration buys depends on what it sees (`target_error`, a budget of seconds, or landmarks chosen by scores)";
        return Err(refuse(format!("{what}; a plan needs a fixed `ranks` with `uniform` or `given` landmarks")));
    }
    let Some(stored) = bench.till.stored() else {
        return Err(refuse("the matrix is given: there is nothing to buy".to_owned()));
    };
    let set = &forecast.entries;
    if !set.rows().is_empty() {
        return Err(refuse(
            "an asymmetric score bought by rows can't be cut into tiles: set `oracle.symmetrize`".to_owned(),
        ));
    }
    let missing = bench.till.missing(set)?;
    if let Some(limit) = bench.matrix.budget.limit().filter(|&limit| missing > limit) {
        return Err(refuse(format!(
            "{missing} entries are missing, but `budget` allows {limit}: lower `ranks`, or raise it"
        )));
    }
    let identity = bench.stage.raw.identity();
    // the same purchase cut by another timing is the plan that is there
    let same = |plan: &&Plan| size.entries.is_none() && plan.is_same_purchase(set, identity);
    if let Some(plan) = there.filter(same) {
        return Ok(plan.clone());
    }
    let seconds_each = time(bench.till, set)?;
    let largest = LARGEST_TILE as f64;
    let by_time = seconds_each.map_or(largest, |each| (size.seconds / each.max(1e-9)).min(largest));
    // between 1 and 2^24
    let entries = size.entries.unwrap_or((by_time as u64).max(1));
    let plan = Plan::cut(set, shape, identity, entries, seconds_each);
    stored.flush()?;
    let order = plan.row_order();
    for (number, tile) in plan.tiles.iter().enumerate() {
        let part = plan.tile_name(number);
        match plan.entries_of(tile.part, &order) {
            Entries::Block(rows, cols) => stored.hand_over(&rows, &cols, &part).map_err(failed)?,
            Entries::Pairs(pairs) => stored.hand_over_pairs(&pairs, &part).map_err(failed)?,
        };
    }
    Ok(plan)
}

/// Buys a few entries of the plan to learn what one takes; they are kept, so nothing is wasted.
fn time(till: &Till, set: &EntrySet) -> Result<Option<f64>, RunError> {
    let failed = |error: OracleError| RunError::Plan(Box::new(JobError::from(error)));
    let (n, scores) = (till.shape().len, till.scores());
    let columns = set.columns();
    let pairs = columns.iter().flat_map(|&j| (0..n).map(move |i| (i, j))).chain(set.scattered());
    let mut pairs = pairs.filter(|(i, j)| i != j);
    let (mut size, mut seconds, mut bought) = (FIRST_SAMPLE, 0.0, 0);
    while seconds < TIMED_SECONDS {
        let sample: Vec<Pair> = pairs.by_ref().take(size).collect();
        if sample.is_empty() {
            break;
        }
        let (before, start) = (till.spent().evaluations, Instant::now());
        scores.evaluate(&sample, &mut vec![0.0; sample.len()]).map_err(failed)?;
        let new = till.spent().evaluations - before;
        if new > 0 {
            seconds += start.elapsed().as_secs_f64();
            bought += new;
        }
        size *= 4;
    }
    Ok((bought > 0).then(|| seconds / bought as f64))
}

/// Writes the files of an executor and says how to go on.
fn submission(desk: &Desk, plan: &Plan, executor: Executor) -> Result<String> {
    let folder = absolute(&run::results_folder(&desk.config, &desk.options).join("cluster"))?;
    let program = std::env::current_exe().into_diagnostic()?;
    let mut words = vec!["worker".to_owned(), absolute(&desk.arguments.config)?.display().to_string()];
    let overlay = &desk.arguments.overlay;
    words.extend(overlay.profile.iter().flat_map(|profile| ["--profile".to_owned(), profile.clone()]));
    words.extend(overlay.set.iter().flat_map(|set| ["--set".to_owned(), set.clone()]));
    let address = run::store_address(&desk.config, &desk.options);
    let address = if address.contains("://") { address } else { absolute(address.as_ref())?.display().to_string() };
    words.extend(["--store".to_owned(), address]);
    if let Some(data) = &desk.options.data {
        words.extend(["--data".to_owned(), absolute(data)?.display().to_string()]);
    }
    let command = worker_command(&program, &words);
    let (files, submit) = scripts(executor, &desk.config.name, plan, &command, &desk.config.cluster, &folder);
    for file in &files {
        write_file(&folder.join(file.name), file.text.as_bytes()).into_diagnostic()?;
    }
    Ok(format!("workers: {submit}\nthen: runner merge {}\n", desk.arguments.config.display()))
}
