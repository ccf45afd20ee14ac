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
    is_over: bool,
}

/// The plan that the batches of a configuration are handed out under.
fn plan_name(configuration: &str) -> String {
    format!("{configuration}.batches")
}

fn read<T: serde::de::DeserializeOwned>(
    store: &TileStore,
    plan: &str,
    document: &str,
) -> Result<Option<T>, StoreError> {
    let bytes = store.plan_document(plan, document)?;
    // one that is torn is written again by the run
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
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
    session: Session,
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
        let session = Session { id: format!("{now}-{}", std::process::id()), is_over: false };
        let shared = Self {
            stored,
            oracle,
            label,
            store,
            plan: plan_name(configuration),
            session,
            lease,
            batch: Mutex::default(),
        };
        shared.tell(false)?;
        Ok(shared)
    }

    fn tell(&self, is_over: bool) -> Result<(), StoreError> {
        let session = Session { is_over, ..self.session.clone() };
        let bytes = serde_json::to_vec(&session)
            .map_err(|error| StoreError::System { action: "describe the run", source: error.into() })?;
        self.store.write_plan_document(&self.plan, SESSION, bytes)
    }

    /// Has missing entries evaluated, where they are enough to be shared.
    fn share(&self, pairs: impl IntoIterator<Item = Pair> + Clone) -> Result<(), OracleError> {
        if self.stored.missing_pairs(pairs.clone())?.len() < 2 * FEWEST_ENTRIES {
            return Ok(());
        }
        let _batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        // another thread, or a worker, may have had them evaluated
        self.stored.refresh()?;
        let missing = self.stored.missing_pairs(pairs)?;
        if missing.len() < 2 * FEWEST_ENTRIES {
            return Ok(());
        }
        let shape = OracleShape::of(&self.oracle);
        let mut set = EntrySet::new(shape);
        missing.iter().for_each(|&(i, j)| set.add_entry(i, j));
        let each = missing.len().div_ceil(TILES).max(FEWEST_ENTRIES) as u64;
        let failed =
            |error: serde_json::Error| StoreError::System { action: "write a batch down", source: error.into() };
        let plan = TilePlan::of_entries(&set, shape, self.oracle.identity(), each, None).map_err(failed)?;
        self.store.write_plan_document(&self.plan, BATCH, plan.to_bytes().map_err(failed)?)?;
        let source = || (self.oracle.clone(), self.label.clone());
        do_tiles(&self.store, &self.plan, &plan, self.lease, source)?;
        self.stored.refresh()?;
        Ok(())
    }
}

impl<O: Oracle + Clone> Drop for SharedScores<O> {
    fn drop(&mut self) {
        if let Err(error) = self.tell(true) {
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

/// Does tiles of a batch until all are done; answers how many of them, and how many pairs were evaluated for these.
fn do_tiles<O: Oracle>(
    store: &TileStore,
    name: &str,
    plan: &TilePlan,
    lease: Duration,
    source: impl Fn() -> (O, OracleLabel),
) -> Result<(usize, u64), OracleError> {
    let Some(purchase) = plan.purchase() else { return Ok((0, 0)) };
    let order = purchase.row_order();
    let mut tiles = OpenTiles::new(store, name, plan, (0..plan.tiles.len()).collect(), lease);
    let (mut own, mut new) = (0, 0);
    loop {
        match tiles.next()? {
            NextTile::AllDone => return Ok((own, new)),
            NextTile::Wait(_) => std::thread::sleep(PAUSE),
            NextTile::Do(tile, _claim) => {
                let evaluated = evaluate(store, source(), (plan, tile), (purchase, &order))?;
                own += 1;
                new += evaluated.new;
                store.mark_done(name, &plan.tile_name(tile), b"{}".to_vec())?;
            }
        }
    }
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

/// Does tiles of the batches that runs of a configuration hand out, until a run that was at work meanwhile is over, or nothing was handed out for `patience`.
///
/// # Errors
/// Those of the oracle and of the store; a batch of another oracle.
pub fn follow<O: Oracle + Clone>(
    configuration: &str,
    (oracle, label): (O, OracleLabel),
    store: &TileStore,
    (lease, patience): (Duration, Duration),
) -> Result<Followed, OracleError> {
    let name = plan_name(configuration);
    let session = || read::<Session>(store, &name, SESSION);
    // a run that was over before says nothing of the one to come
    let before = session()?.filter(|session| session.is_over);
    let (mut followed, mut last, mut since) = (Followed { tiles: 0, pairs: 0, is_over: false }, None, Instant::now());
    loop {
        let now = session()?;
        if now.as_ref().is_some_and(|now| now.is_over && Some(now) != before.as_ref()) {
            return Ok(Followed { is_over: true, ..followed });
        }
        let batch = store.plan_document(&name, BATCH)?.and_then(|bytes| TilePlan::parse(&bytes).ok());
        match batch.filter(|batch| last.as_ref() != Some(&batch.id)) {
            Some(batch) if batch.subject != oracle.identity().to_hex() => {
                let (there, here) = (batch.subject, oracle.identity().to_hex());
                // a batch of an earlier run, unless one is under way
                if now.is_some_and(|now| !now.is_over) {
                    return Err(OracleError::Failed {
                        what: "the run that is followed".to_owned(),
                        source: format!("it evaluates `{there}`, and this worker `{here}`: the items, the program or the settings of its score differ").into(),
                    });
                }
                last = Some(batch.id);
            }
            Some(batch) => {
                let (tiles, pairs) = do_tiles(store, &name, &batch, lease, || (oracle.clone(), label.clone()))?;
                followed = Followed { tiles: followed.tiles + tiles, pairs: followed.pairs + pairs, ..followed };
                (last, since) = (Some(batch.id), Instant::now());
            }
            None if since.elapsed() > patience => return Ok(followed),
            None => std::thread::sleep(PAUSE),
        }
    }
}
