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
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry};
use landmark_store::{OracleLabel, StoreError, Stored, TileStore};
use ndarray::ArrayViewMut2;
use serde::{Deserialize, Serialize};

use super::TilePlan;
use super::tiles::{NextTile, OpenTiles, evaluate};

/// Names of the documents.
const SESSION: &str = "session.json";
const BATCH: &str = "batch.json";

/// Tiles that a batch is cut into, and the fewest entries of one: a tile takes a few requests to the store.
const TILES: usize = 64;
const FEWEST_ENTRIES: usize = 128;

/// Time between two looks at what others do.
const PAUSE: Duration = Duration::from_millis(250);

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
/// A request for few entries is answered by this run alone.
pub struct SharedScores<O: Oracle + Clone> {
    stored: Arc<Stored<O>>,
    oracle: O,
    label: OracleLabel,
    store: TileStore,
    plan: String,
    /// Name of this run.
    id: String,
    lease: Duration,
    /// Held while a batch is under way.
    batch: Mutex<()>,
}

impl<O: Oracle + Clone> SharedScores<O> {
    /// Hands out what `stored` over `oracle` lacks; a worker that is silent for the lease loses its tile.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn begin(
        configuration: &str,
        (stored, oracle): (Arc<Stored<O>>, O),
        (store, label): (TileStore, OracleLabel),
        lease: Duration,
    ) -> Result<Self, StoreError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let id = format!("{now}-{}", std::process::id());
        let (plan, batch) = (plan_name(configuration), Mutex::default());
        let shared = Self { stored, oracle, label, store, plan, id, lease, batch };
        shared.tell(None, false)?;
        Ok(shared)
    }

    fn tell(&self, batch: Option<&TilePlan>, is_over: bool) -> Result<(), StoreError> {
        let session = Session { id: self.id.clone(), batch: batch.map(|batch| batch.id.clone()), is_over };
        self.store.write_plan_document(&self.plan, SESSION, to_bytes(&session)?)
    }

    /// Has missing entries evaluated, where they are enough to be shared.
    fn share(&self, pairs: impl IntoIterator<Item = Pair> + Clone) -> Result<(), OracleError> {
        if self.stored.missing_pairs(pairs.clone())?.len() < 2 * FEWEST_ENTRIES {
            return Ok(());
        }
        let _under_way = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = usize::MAX;
        loop {
            // another thread, or a worker, may have had some evaluated
            self.stored.refresh()?;
            let missing = self.stored.missing_pairs(pairs.clone())?;
            // what is missing although its tiles are marked as done is left to this run alone
            if missing.len() < 2 * FEWEST_ENTRIES || missing.len() >= before {
                return Ok(());
            }
            before = missing.len();
            let batch = match self.left(&missing)? {
                Some(left) => left,
                None => self.cut(&missing)?,
            };
            self.tell(Some(&batch), false)?;
            let source = || (self.oracle.clone(), self.label.clone());
            do_tiles(&self.store, (&self.plan, &batch), self.lease, source, || Ok(true))?;
        }
    }

    /// The batch that a run before this one left, where it asks for nothing but what is missing: workers may still be at its tiles.
    fn left(&self, missing: &[Pair]) -> Result<Option<TilePlan>, OracleError> {
        let Some(left) = batch(&self.store, &self.plan)? else { return Ok(None) };
        let Some(purchase) = left.purchase().filter(|_| left.subject == self.oracle.identity().to_hex()) else {
            return Ok(None);
        };
        let order = |&(i, j): &Pair| if self.symmetry() == Symmetry::Symmetric { (i.min(j), i.max(j)) } else { (i, j) };
        let wanted: HashSet<Pair> = missing.iter().map(order).collect();
        let open = self.stored.missing_pairs(purchase.scattered().iter().copied())?;
        Ok((!open.is_empty() && open.iter().all(|pair| wanted.contains(&order(pair)))).then_some(left))
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

fn to_bytes(document: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(document).map_err(unwritten)
}

fn unwritten(error: serde_json::Error) -> StoreError {
    StoreError::System { action: "write down what is handed out", source: error.into() }
}

impl<O: Oracle + Clone> Drop for SharedScores<O> {
    fn drop(&mut self) {
        if let Err(error) = self.tell(None, true) {
            tracing::warn!("workers that follow this run were not told that it is over, and will wait: {error}");
        }
    }
}

impl<O: Oracle + Clone> Oracle for SharedScores<O> {
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
        self.share(pairs.iter().copied())?;
        self.stored.evaluate(pairs, out)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.share(cols.iter().flat_map(|&j| rows.iter().map(move |&i| (i, j))))?;
        self.stored.block(rows, cols, out)
    }
}

/// Does tiles of a batch until all are done, or it is under way no more; answers how many, and how many pairs were evaluated for them.
fn do_tiles<O: Oracle>(
    store: &TileStore,
    (name, batch): (&str, &TilePlan),
    lease: Duration,
    source: impl Fn() -> (O, OracleLabel),
    is_under_way: impl Fn() -> Result<bool, StoreError>,
) -> Result<(usize, u64), OracleError> {
    let Some(purchase) = batch.purchase() else { return Ok((0, 0)) };
    let order = purchase.row_order();
    let mut tiles = OpenTiles::new(store, name, batch, (0..batch.tiles.len()).collect(), lease);
    let (mut own, mut new) = (0, 0);
    while is_under_way()? {
        match tiles.next()? {
            NextTile::AllDone => break,
            NextTile::Wait(_) => std::thread::sleep(PAUSE),
            NextTile::Do(tile, _claim) => {
                let evaluated = evaluate(store, source(), (batch, tile), (purchase, &order))?;
                own += 1;
                new += evaluated.new;
                store.mark_done(name, &batch.tile_name(tile), b"{}".to_vec())?;
            }
        }
    }
    Ok((own, new))
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

/// Does tiles of the batches that runs of a configuration hand out, until a run that was at work meanwhile is over, or nothing was handed out for `patience`.
///
/// # Errors
/// Those of the oracle and of the store; a run about another oracle.
pub fn follow<O: Oracle + Clone>(
    configuration: &str,
    (oracle, label): (O, OracleLabel),
    store: &TileStore,
    (lease, patience): (Duration, Duration),
) -> Result<Followed, FollowError> {
    let (name, here) = (plan_name(configuration), oracle.identity().to_hex());
    let under_way = || Ok::<_, StoreError>(session(store, &name)?.filter(|run| !run.is_over).and_then(|run| run.batch));
    // a run that was over before says nothing of the one to come
    let before = session(store, &name)?.filter(|session| session.is_over);
    let (mut followed, mut last, mut since) = (Followed { tiles: 0, pairs: 0, is_over: false }, None, Instant::now());
    while since.elapsed() <= patience {
        let now = session(store, &name)?;
        if now.as_ref().is_some_and(|now| now.is_over && Some(now) != before.as_ref()) {
            return Ok(Followed { is_over: true, ..followed });
        }
        let id = under_way()?.filter(|id| last.as_ref() != Some(id));
        let handed_out =
            id.map_or(Ok(None), |id| Ok::<_, StoreError>(batch(store, &name)?.filter(|batch| batch.id == id)))?;
        let Some(batch) = handed_out else {
            std::thread::sleep(PAUSE);
            continue;
        };
        if batch.subject != here {
            return Err(FollowError::OtherOracle { there: batch.subject, here });
        }
        let source = || (oracle.clone(), label.clone());
        let is_under_way = || Ok(under_way()?.as_ref() == Some(&batch.id));
        let (tiles, pairs) = do_tiles(store, (&name, &batch), lease, source, is_under_way)?;
        followed = Followed { tiles: followed.tiles + tiles, pairs: followed.pairs + pairs, ..followed };
        (last, since) = (Some(batch.id), Instant::now());
    }
    Ok(followed)
}
