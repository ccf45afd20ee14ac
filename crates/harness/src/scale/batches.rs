//! Batches of entries that a run decides on while it goes, evaluated by any number of workers beside it.
//!
//! The columns of a sweep are known before the first call, and a plan cuts them. What a search in rounds asks for next, or which entries are scattered, depends on scores. So
//! the run cuts each batch when it comes to it, does tiles of it itself, and goes on when all are done:
//!
//! ```text
//! runner topk … --workers      <store>/plans/<name>.batches/session.json   which run it is, and whether it is over
//!                                                           batch.json     the batch under way: a plan like any other
//! runner worker --follow                                    claims and marks of its tiles
//! ```
//! A tile is claimed by one worker, so that no entry is evaluated twice; that of a worker that died is done by another. The run asks for the same batches and ends in the same
//! results with any number of workers, none included, and when it is killed and started again.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry};
use landmark_store::{Claim, OracleLabel, StoreError, Stored, Taken, TileStore};
use ndarray::ArrayViewMut2;
use serde::{Deserialize, Serialize};

use super::TilePlan;
use super::tiles::{NextTile, OpenTiles, evaluate};

/// Names of the documents.
const SESSION: &str = "session.json";
const BATCH: &str = "batch.json";

/// Tiles that a batch is cut into, and so the most workers at once, and the fewest entries of one: a tile takes a few requests to the store.
const TILES: usize = 64;
const FEWEST_ENTRIES: usize = 128;

/// Name of the claim that a run holds while it hands out batches.
const RUN: &str = "run";

/// Time between two looks at what others do.
const PAUSE: Duration = Duration::from_millis(250);

/// Time in which a tile that another machine has published should be seen here.
const ARRIVAL: Duration = Duration::from_secs(10);

/// A run that hands out batches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    /// Name of the run among those of one configuration.
    id: String,
    /// Plan of the batch under way.
    batch: Option<String>,
    is_over: bool,
}

/// The plan that the batches of a configuration are handed out under.
fn plan_name(configuration: &str) -> String {
    format!("{configuration}.batches")
}

/// The run that hands out batches, or was the last to do so.
fn session(store: &TileStore, plan: &str) -> Result<Option<Session>, StoreError> {
    // one that is torn is written again by the run
    Ok(store.plan_document(plan, SESSION)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// The last batch that was handed out.
fn batch(store: &TileStore, plan: &str) -> Result<Option<TilePlan>, StoreError> {
    Ok(store.plan_document(plan, BATCH)?.and_then(|bytes| TilePlan::parse(&bytes).ok()))
}

/// Scores whose missing entries are evaluated in tiles, by this run and by those who follow it.
///
/// A request for few entries is answered by this run alone, and nobody is told of the run before there is a batch.
pub struct SharedScores<O: Oracle + Clone + 'static> {
    stored: Arc<Stored<O>>,
    oracle: O,
    label: OracleLabel,
    store: TileStore,
    plan: String,
    /// Name of this run.
    id: String,
    lease: Duration,
    /// Held while a batch is under way.
    run: Mutex<Run>,
    /// Pairs that others evaluated.
    by_others: AtomicU64,
}

/// State of a run that hands out batches.
#[derive(Default)]
struct Run {
    /// Its claim, once there was a batch.
    claim: Option<Claim>,
    /// It has looked for what a run before it left.
    has_looked: bool,
    /// The batch that a run before it left: workers may still be at its tiles.
    left: Option<TilePlan>,
}

impl<O: Oracle + Clone + 'static> SharedScores<O> {
    /// Hands out what `stored` over `oracle` lacks; a worker that is silent for the lease loses its tile.
    pub fn new(
        configuration: &str,
        (stored, oracle): (Arc<Stored<O>>, O),
        (store, label): (TileStore, OracleLabel),
        lease: Duration,
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let id = format!("{now}-{}", std::process::id());
        let (plan, run) = (plan_name(configuration), Mutex::default());
        Self { stored, oracle, label, store, plan, id, lease, run, by_others: AtomicU64::new(0) }
    }

    /// Pairs that workers evaluated for this run so far.
    pub fn by_others(&self) -> u64 {
        self.by_others.load(Ordering::Relaxed)
    }

    /// Tells those who follow that this run is over, if it handed anything out.
    pub fn end(&self) {
        // who is in the midst of a batch does not come here to wait for it
        let has_begun = self.run.try_lock().map_or(true, |run| run.claim.is_some());
        if let Some(Err(error)) = has_begun.then(|| self.tell(None, true)) {
            tracing::warn!("workers that follow this run were not told that it is over, and will wait: {error}");
        }
    }

    fn tell(&self, batch: Option<&TilePlan>, is_over: bool) -> Result<(), StoreError> {
        let session = Session { id: self.id.clone(), batch: batch.map(|batch| batch.id.clone()), is_over };
        self.store.write_plan_document(&self.plan, SESSION, to_bytes(&session)?)
    }

    /// Waits until no other run of this configuration hands out batches: two would hand out pairs that the other has under way.
    fn begin(&self) -> Result<Claim, StoreError> {
        let mut is_told = false;
        loop {
            if let Taken::Claimed(claim) = self.store.take(&self.plan, RUN, self.lease)? {
                return Ok(claim);
            }
            if !is_told {
                let (plan, lease) = (&self.plan, self.lease.as_secs());
                tracing::warn!(
                    "another run hands out `{plan}`: waiting for its end, or until it is silent for {lease} s"
                );
                is_told = true;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Has missing entries evaluated, where they are enough to be shared.
    fn share(&self, pairs: impl IntoIterator<Item = Pair> + Clone) -> Result<(), OracleError> {
        if self.stored.missing_pairs(pairs.clone())?.is_empty() {
            return Ok(());
        }
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        if !run.has_looked {
            let is_ours = |batch: &TilePlan| batch.subject == self.oracle.identity().to_hex();
            (run.has_looked, run.left) = (true, batch(&self.store, &self.plan)?.filter(is_ours));
        }
        loop {
            // another thread, or a worker, may have had some evaluated
            self.stored.refresh()?;
            let missing = self.stored.missing_pairs(pairs.clone())?;
            let batch = match self.left(&mut run, &missing)? {
                Some(left) => Some(left),
                None if missing.len() < 2 * FEWEST_ENTRIES => return Ok(()),
                None => None,
            };
            if run.claim.is_none() {
                run.claim = Some(self.begin()?);
                continue;
            }
            let batch = match batch {
                Some(left) => left,
                None => self.cut(&missing)?,
            };
            let open = self.stored.missing_pairs(batch_pairs(&batch))?.len() as u64;
            self.tell(Some(&batch), false)?;
            let source = || (self.oracle.clone(), self.label.clone());
            let own = do_tiles(&self.store, (&self.plan, &batch), self.lease, source, || Ok(true))?;
            let lost = self.await_arrival(&batch)?;
            self.by_others.fetch_add(open.saturating_sub(own.pairs + lost), Ordering::Relaxed);
            self.tell(None, false)?;
            self.store.remove_plan_documents(&self.plan, &batch.tile_prefix())?;
            if lost > 0 {
                tracing::warn!(
                    "{lost} entries of tiles that are done are not in `{}`, and are evaluated again: `runner store verify`",
                    self.store.address()
                );
                return Ok(());
            }
        }
    }

    /// Waits for what other machines have published; answers how many pairs of the batch did not come.
    fn await_arrival(&self, batch: &TilePlan) -> Result<u64, OracleError> {
        let start = Instant::now();
        loop {
            self.stored.refresh()?;
            let missing = self.stored.missing_pairs(batch_pairs(batch))?.len();
            if missing == 0 || start.elapsed() > ARRIVAL {
                return Ok(missing as u64);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The batch that a run before this one left, where it asks for nothing but what is missing; forgotten once nothing of it is open.
    fn left(&self, run: &mut Run, missing: &[Pair]) -> Result<Option<TilePlan>, OracleError> {
        let Some(left) = &run.left else { return Ok(None) };
        let open = self.stored.missing_pairs(batch_pairs(left))?;
        if open.is_empty() {
            run.left = None;
            return Ok(None);
        }
        let order = |&(i, j): &Pair| if self.symmetry() == Symmetry::Symmetric { (i.min(j), i.max(j)) } else { (i, j) };
        let wanted: HashSet<Pair> = missing.iter().map(order).collect();
        Ok(open.iter().all(|pair| wanted.contains(&order(pair))).then(|| left.clone()))
    }

    /// Writes a batch of pairs.
    fn cut(&self, missing: &[Pair]) -> Result<TilePlan, OracleError> {
        let shape = OracleShape::of(&self.oracle);
        let mut set = EntrySet::new(shape);
        missing.iter().for_each(|&(i, j)| set.add_entry(i, j));
        let each = missing.len().div_ceil(TILES).max(FEWEST_ENTRIES) as u64;
        let batch = TilePlan::of_entries(&set, shape, self.oracle.identity(), each, None).map_err(unwritten)?;
        self.store.write_plan_document(&self.plan, BATCH, to_bytes(&batch)?)?;
        Ok(batch)
    }
}

/// Pairs of a batch.
fn batch_pairs(batch: &TilePlan) -> impl Iterator<Item = Pair> {
    batch.purchase().into_iter().flat_map(|purchase| purchase.scattered().iter().copied())
}

fn to_bytes(document: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(document).map_err(unwritten)
}

fn unwritten(error: serde_json::Error) -> StoreError {
    StoreError::System { action: "write down what is handed out", source: error.into() }
}

impl<O: Oracle + Clone + 'static> Drop for SharedScores<O> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<O: Oracle + Clone + 'static> Oracle for SharedScores<O> {
    fn len(&self) -> usize {
        self.stored.len()
    }

    fn symmetry(&self) -> Symmetry {
        self.stored.symmetry()
    }

    fn identity(&self) -> Identity {
        self.stored.identity()
    }

    fn known_diagonal(&self) -> Option<f64> {
        self.stored.known_diagonal()
    }

    fn evaluations_per_pair(&self) -> u64 {
        self.stored.evaluations_per_pair()
    }

    fn calls_at_once(&self) -> usize {
        self.stored.calls_at_once()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        // items that are none are refused below
        if pairs.iter().all(|&(i, j)| i.max(j) < self.len()) {
            self.share(pairs.iter().copied())?;
        }
        self.stored.evaluate(pairs, out)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        if rows.iter().chain(cols).all(|&item| item < self.len()) {
            self.share(cols.iter().flat_map(|&j| rows.iter().map(move |&i| (i, j))))?;
        }
        self.stored.block(rows, cols, out)
    }
}

/// Work of one worker on a batch.
struct Work {
    tiles: usize,
    /// Pairs that were evaluated for these.
    pairs: u64,
    /// Every tile is done.
    is_whole: bool,
}

/// Does tiles of a batch until all are done, or it is under way no more.
fn do_tiles<O: Oracle + 'static>(
    store: &TileStore,
    (name, batch): (&str, &TilePlan),
    lease: Duration,
    source: impl Fn() -> (O, OracleLabel),
    is_under_way: impl Fn() -> Result<bool, StoreError>,
) -> Result<Work, OracleError> {
    let mut work = Work { tiles: 0, pairs: 0, is_whole: false };
    let Some(purchase) = batch.purchase() else { return Ok(work) };
    let order = purchase.row_order();
    let mut tiles = OpenTiles::new(store, name, batch, (0..batch.tiles.len()).collect(), lease);
    while is_under_way()? {
        match tiles.next()? {
            NextTile::AllDone => {
                work.is_whole = true;
                break;
            }
            NextTile::Wait(_) => std::thread::sleep(PAUSE),
            NextTile::Do(tile, _claim) => {
                let evaluated = evaluate(store, source(), (batch, tile), (purchase, &order))?;
                work.tiles += 1;
                work.pairs += evaluated.new;
                store.mark_done(name, &batch.tile_name(tile), b"{}".to_vec())?;
            }
        }
    }
    Ok(work)
}

/// End of a worker that follows a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Followed {
    /// Tiles that it did.
    pub tiles: usize,
    /// Pairs that it evaluated.
    pub pairs: u64,
    /// The run said that it is over; else there was nothing to do for too long.
    pub is_over: bool,
}

/// Reason why a run could not be followed.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The run is about another oracle.
    #[error(
        "the run evaluates `{there}`, and this worker would `{here}`: items, program or settings of the score differ"
    )]
    OtherOracle {
        /// Identity of the run's.
        there: String,
        /// That of the worker's.
        here: String,
    },
    /// The score's own error.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A store that can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Does tiles of the batches that runs of a configuration hand out, until a run that was at work meanwhile is over, or nothing was handed out for `patience`. `report` hears of the
/// tiles and pairs of each batch.
///
/// # Errors
/// Those of the oracle and of the store; a run about another oracle.
pub fn follow<O: Oracle + Clone + 'static>(
    configuration: &str,
    (oracle, label): (O, OracleLabel),
    store: &TileStore,
    (lease, patience): (Duration, Duration),
    report: impl Fn(usize, u64),
) -> Result<Followed, FollowError> {
    let (name, here) = (plan_name(configuration), oracle.identity().to_hex());
    let under_way = || {
        let run = session(store, &name)?.filter(|run| !run.is_over);
        Ok::<_, StoreError>(run.and_then(|run| run.batch))
    };
    // a run that was over before says nothing of the one to come
    let before = session(store, &name)?.filter(|run| run.is_over);
    let (mut followed, mut last, mut since) = (Followed { tiles: 0, pairs: 0, is_over: false }, None, Instant::now());
    while since.elapsed() <= patience {
        let now = session(store, &name)?;
        if now.as_ref().is_some_and(|now| now.is_over && Some(now) != before.as_ref()) {
            return Ok(Followed { is_over: true, ..followed });
        }
        let id = under_way()?.filter(|id| last.as_ref() != Some(id));
        let document = id.as_ref().map_or(Ok(None), |_| batch(store, &name))?;
        // between two batches it may be the other
        let Some(batch) = document.filter(|batch| Some(&batch.id) == id.as_ref()) else {
            std::thread::sleep(PAUSE);
            continue;
        };
        if batch.subject != here {
            return Err(FollowError::OtherOracle { there: batch.subject, here });
        }
        let source = || (oracle.clone(), label.clone());
        let is_under_way = || Ok(under_way()?.as_ref() == Some(&batch.id));
        let work = do_tiles(store, (&name, &batch), lease, source, is_under_way)?;
        followed = Followed { tiles: followed.tiles + work.tiles, pairs: followed.pairs + work.pairs, ..followed };
        report(work.tiles, work.pairs);
        // one that was left amid its tiles comes again when the run is begun anew
        last = work.is_whole.then_some(batch.id);
        since = Instant::now();
    }
    Ok(followed)
}
