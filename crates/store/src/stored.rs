//! An oracle whose scores are looked up in the store first and kept there after.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry};
use ndarray::ArrayViewMut2;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::batch_sizer::{BatchSizer, LARGEST};
use super::call_log::CallLog;
use super::entry_cache::EntryCache;
use super::entry_request::EntryRequest;
use super::failures::{Failures, kept_as};
use super::tile::Entry;
use super::{MANIFEST, Manifest, OracleLabel, StoreError, TileStore};

mod evaluating;
mod failing;
mod forked;
mod reading;

/// An [`Oracle`] that evaluates each entry once, from whichever run, method or machine comes first.
///
/// Missing pairs go to the inner oracle in batches of about half a second, in the order they were asked for, and are
/// published about every second or 2¹⁸ entries; what waits stands in a log where the store is a folder, and is published by
/// [`flush`](Stored::flush), on any error, and when this is dropped. When the inner oracle stops half-way (budget, a score that is not finite), what it
/// had scored is kept, and a hard budget is spent to the last evaluation. A known diagonal is neither evaluated nor kept.
///
/// Any number of threads may ask at once. Evaluating happens one batch at a time, on a thread pool of its own: a caller inside another pool
/// therefore blocks without taking up other work that might ask again and wait for itself. Another process that asks for the same pair at the
/// same time may evaluate it as well.
pub struct Stored<O: Oracle> {
    oracle: O,
    identity: Identity,
    is_apart: bool,
    pub(super) shape: OracleShape,
    pub(super) store: TileStore,
    held: RwLock<EntryCache>,
    state: Mutex<WriteState>,
    has_landed: Condvar,
    evaluated: AtomicU64,
    /// [`OPEN`], or what becomes of those that ask after [`close`](Stored::close).
    closing: AtomicU8,
    process: AtomicU32,
}

/// Object that is written and removed to find out whether a store takes something in.
const PROBE: &str = "probe";
const OPEN: u8 = 0;

/// What becomes of a thread that asks a closed store for an entry that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterClose {
    /// It gets [`StoreError::Closed`].
    Refuse = 1,
    /// It waits for ever, and reports no error: for a program that is about to end.
    Wait = 2,
}

struct WriteState {
    is_closed: bool,
    manifest: Manifest,
    is_described: bool,
    is_writable: bool,
    seen: HashSet<String>,
    looked: Option<(Instant, Duration)>,
    unpublished: Vec<Entry>,
    failures: Failures,
    sizer: BatchSizer,
    /// What of `unpublished` a kill would spare.
    log: CallLog,
    pool: Option<Arc<ThreadPool>>,
    is_evaluating: bool,
}

impl WriteState {
    fn pool(&mut self) -> Result<Arc<ThreadPool>, StoreError> {
        if let Some(pool) = &self.pool {
            return Ok(Arc::clone(pool));
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(rayon::current_num_threads())
            .thread_name(|thread| format!("store-{thread}"))
            .build()
            .map_err(|error| StoreError::System { action: "start threads", source: io::Error::other(error) })?;
        Ok(Arc::clone(self.pool.insert(Arc::new(pool))))
    }
}

impl<O: Oracle> Stored<O> {
    pub(super) fn new(store: TileStore, oracle: O, label: OracleLabel) -> Result<Self, StoreError> {
        let shape = OracleShape::of(&oracle);
        if u32::try_from(shape.len).is_err() {
            return Err(StoreError::TooManyItems { len: shape.len });
        }
        let (identity, is_apart) = kept_as(&store, &oracle)?;
        let manifest = Manifest::new(identity, label, shape.len, shape.symmetry);
        if let Some(there) = store.manifest(&manifest.identity)?
            && there.items != shape.len
        {
            return Err(StoreError::ForeignManifest {
                file: store.backend.describe(&format!("{}/{MANIFEST}", manifest.identity)),
                what: "the number of items",
                seen: there.items.to_string(),
                wanted: shape.len.to_string(),
            });
        }
        let held = EntryCache::new(shape, store.memory);
        let sizer = BatchSizer::new(oracle.calls_at_once());
        let folder = store.backend.folder().map(|root| root.join(&manifest.identity));
        let state = WriteState {
            is_closed: false,
            log: CallLog::new(folder, store.sync),
            manifest,
            is_described: false,
            is_writable: false,
            seen: HashSet::new(),
            looked: None,
            unpublished: Vec::new(),
            failures: Failures::default(),
            sizer,
            pool: None,
            is_evaluating: false,
        };
        let (held, state) = (RwLock::new(held), Mutex::new(state));
        let (has_landed, evaluated, closing) = (Condvar::new(), AtomicU64::new(0), AtomicU8::new(OPEN));
        let process = AtomicU32::new(std::process::id());
        let stored =
            Self { oracle, identity, is_apart, shape, store, held, state, has_landed, evaluated, closing, process };
        stored.refresh()?;
        Ok(stored)
    }

    /// The oracle that is asked for what is not there.
    pub fn inner(&self) -> &O {
        &self.oracle
    }

    pub(super) fn folder(&self) -> String {
        self.state().manifest.identity.clone()
    }

    /// Takes scores in that were evaluated elsewhere, and answers those that were not there.
    pub(super) fn take_in(&self, entries: Vec<Entry>) -> Result<Vec<Entry>, StoreError> {
        let (mut seen, mut new) = (HashSet::new(), Vec::new());
        let held = self.held();
        for entry in entries {
            let (row, col) = (entry.row as usize, entry.col as usize);
            if !self.is_here(&held, row, col) && seen.insert(held.key(row, col)) {
                new.push(entry);
            }
        }
        drop(held);
        self.held_mut().insert(&new).map_err(scratch_failed)?;
        Ok(new)
    }

    /// Publishes scores that were taken in. Where that fails they are available all the same, and nothing of them waits to be published.
    pub(super) fn keep_taken(&self, entries: Vec<Entry>) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let (count, mut state) = (entries.len(), self.open_state("take scores in")?);
        state.unpublished.extend(entries);
        let kept = self.announce(&mut state).and_then(|()| self.publish(&mut state));
        if kept.is_err() {
            let left = state.unpublished.len();
            state.unpublished.truncate(left - left.min(count));
        }
        kept
    }

    /// Keeps scores that were evaluated elsewhere, and answers how many were not there before; those that were stay as they are.
    ///
    /// # Errors
    /// A store that cannot be written; [`StoreError::Closed`].
    ///
    /// # Panics
    /// When there is not one score per pair.
    pub fn put(&self, pairs: &[Pair], scores: &[f64]) -> Result<u64, StoreError> {
        assert_eq!(pairs.len(), scores.len(), "scores of pairs");
        let entry = |(&(i, j), &value): (&Pair, &f64)| Entry { row: id(i), col: id(j), value };
        let new = self.take_in(pairs.iter().zip(scores).map(entry).collect())?;
        let count = new.len() as u64;
        self.keep_taken(new)?;
        Ok(count)
    }

    /// Scores of these pairs that are there; no call is made.
    pub fn known(&self, pairs: &[Pair]) -> Vec<Option<f64>> {
        let held = self.held();
        pairs.iter().map(|&(i, j)| held.get(i, j)).collect()
    }

    /// Distinct pairs that are there, from whichever run.
    pub fn entries(&self) -> u64 {
        self.held().entries()
    }

    /// Distinct pairs evaluated through this value.
    pub fn evaluated(&self) -> u64 {
        self.evaluated.load(Ordering::Relaxed)
    }

    /// Evaluations that `set` would still cost: what a dry run subtracts from
    /// [`EntrySet::evaluations`]; at most, where it has pairs that are chosen on the way. One look per entry of the set.
    pub fn missing(&self, set: &EntrySet) -> u64 {
        self.missing_at(set, |i, j| self.calls_of(i, j))
    }

    /// The same where a pair that is not here takes `calls(i, j)`: scores that this one is made of may be kept elsewhere.
    pub fn missing_at(&self, set: &EntrySet, calls: impl Fn(usize, usize) -> u64) -> u64 {
        // what failed is not asked again
        let failed = self.state().failures.final_keys();
        let held = self.held();
        let all: Vec<usize> = (0..self.shape.len).collect();
        let mut scores = vec![0.0; self.shape.len];
        let symmetric = self.shape.symmetry == Symmetry::Symmetric;
        let mut evaluations = 0;
        for j in set.columns() {
            held.gather_column(&all, j, &mut scores);
            for (i, score) in scores.iter().enumerate() {
                let counted = symmetric && i < j && set.has_column(i) || i == j && self.shape.diagonal_known();
                if score.is_nan() && !counted && set.is_asked(i) && !failed.contains(&held.key(i, j)) {
                    evaluations += calls(i, j);
                }
            }
        }
        let of_rows = set.rows().into_iter().flat_map(|i| all.iter().map(move |&j| (i, j)));
        for (i, j) in of_rows.filter(|&(_, j)| !set.has_column(j)).chain(set.scattered()) {
            if !self.is_here(&held, i, j) && !failed.contains(&held.key(i, j)) {
                evaluations += calls(i, j);
            }
        }
        // which pairs are chosen on the way is not known, so none of them counts as here
        evaluations + set.chosen_evaluations()
    }

    /// Distinct pairs of a list that are not here and not known to fail; a known diagonal is here. One look per pair.
    ///
    /// # Panics
    /// When an item is beyond the oracle's.
    pub fn missing_pairs(&self, pairs: impl IntoIterator<Item = Pair>) -> Vec<Pair> {
        let mut seen = self.state().failures.final_keys();
        let held = self.held();
        let mut missing = Vec::new();
        for (i, j) in pairs {
            if !self.is_here(&held, i, j) && seen.insert(held.key(i, j)) {
                missing.push((i, j));
            }
        }
        missing
    }

    /// `scores[a]` = f(rows[a], j) where it is there, NaN where it is not; nothing is evaluated.
    ///
    /// # Panics
    /// When `scores` is of another length than `rows`.
    pub fn known_column(&self, rows: &[usize], j: usize, scores: &mut [f64]) {
        assert_eq!(rows.len(), scores.len(), "rows and room for their scores");
        self.held().gather_column(rows, j, scores);
    }

    /// Every pair whose score is here, once; of a symmetric oracle the larger item first. 8 bytes a pair while they are sorted.
    pub fn pairs(&self) -> Vec<Pair> {
        self.held().pairs()
    }

    /// True where the score of a pair is here, or on a diagonal that is known.
    pub fn has(&self, i: usize, j: usize) -> bool {
        self.is_here(&self.held(), i, j)
    }

    fn is_here(&self, held: &EntryCache, i: usize, j: usize) -> bool {
        i == j && self.shape.diagonal_known() || held.get(i, j).is_some()
    }

    fn calls_of(&self, i: usize, j: usize) -> u64 {
        if i == j { 1 } else { self.shape.evaluations_per_pair }
    }

    /// Evaluates what of rows × cols is not there yet, without handing it out: no room for the block is needed.
    pub fn stock(&self, rows: &[usize], cols: &[usize]) -> Result<(), OracleError> {
        let request = EntryRequest::Block { rows, cols };
        request.check(self.shape.len)?;
        self.evaluate_missing(request)
    }

    /// Publishes what was evaluated and waits. To be called at the end of a run, for only here a full disk can be reported.
    ///
    /// # Errors
    /// A store that cannot be written; what waits is kept and tried again. [`StoreError::Closed`].
    pub fn flush(&self) -> Result<(), StoreError> {
        self.publish(&mut *self.open_state("publish")?)
    }

    /// Publishes what waits, and lets nobody evaluate any more. Waits for what is being evaluated, about half a second. What is here is still
    /// answered; who asks for an entry that is not fares as `after` determines. A second time it does nothing.
    ///
    /// # Errors
    /// A store that cannot be written: what waits is kept, and closing or [`flush`](Self::flush) tries once more. Nobody evaluates then either.
    pub fn close(&self, after: AfterClose) -> Result<(), StoreError> {
        self.closing.store(after as u8, Ordering::Relaxed);
        let mut state = self.state();
        while state.is_evaluating {
            state = self.await_landing(state);
        }
        // those that wait for another's batch learn of the end
        self.has_landed.notify_all();
        if state.is_closed {
            return Ok(());
        }
        let published = self.publish(&mut state);
        state.is_closed = published.is_ok();
        published
    }

    /// Reads the tiles that other runs have published since the last look; answers how many.
    ///
    /// # Errors
    /// The first tile that is torn, edited or foreign, by name; [`StoreError::Vanished`]; [`StoreError::Closed`].
    pub fn refresh(&self) -> Result<usize, StoreError> {
        self.look(&mut *self.open_state("read what others published")?)
    }

    /// Describes the oracle in the store, and finds out before the first call whether the store can be written.
    fn announce(&self, state: &mut WriteState) -> Result<(), StoreError> {
        if state.is_described && state.is_writable {
            return Ok(());
        }
        let folder = state.manifest.identity.clone();
        let text = state.manifest.text()?;
        let name = format!("{folder}/{MANIFEST}");
        if !self.store.backend.create(&name, text.clone())? {
            if matches!(self.store.manifest(&folder), Err(StoreError::Manifest { .. })) {
                self.store.backend.replace(&name, text)?;
            } else {
                let probe = format!("{folder}/{PROBE}");
                self.store.backend.replace(&probe, Vec::new())?;
                self.store.backend.remove(&probe)?;
            }
        }
        (state.is_described, state.is_writable) = (true, true);
        Ok(())
    }

    fn publish(&self, state: &mut WriteState) -> Result<(), StoreError> {
        while !state.unpublished.is_empty() {
            let first = state.unpublished.len().min(LARGEST);
            let name = self.store.write_tile(self.identity.as_bytes(), self.shape.len, &state.unpublished[..first])?;
            state.seen.insert(name);
            state.unpublished.drain(..first);
        }
        state.log.remove();
        self.publish_failures(state)?;
        state.sizer.published();
        Ok(())
    }

    fn held(&self) -> RwLockReadGuard<'_, EntryCache> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn held_mut(&self) -> RwLockWriteGuard<'_, EntryCache> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, WriteState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_state(&self, action: &'static str) -> Result<MutexGuard<'_, WriteState>, StoreError> {
        let state = self.state();
        if state.is_closed { Err(StoreError::Closed { action }) } else { Ok(state) }
    }

    fn await_landing<'a>(&self, state: MutexGuard<'a, WriteState>) -> MutexGuard<'a, WriteState> {
        self.has_landed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O: Oracle> Oracle for Stored<O> {
    fn shape(&self) -> OracleShape {
        OracleShape { calls_at_once: self.oracle.calls_at_once(), is_checked: false, ..self.shape }
    }

    fn identity(&self) -> Identity {
        self.oracle.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        if pairs.len() != out.len() {
            return Err(OracleError::ShapeMismatch { op: "evaluate", pairs: pairs.len(), room: out.len() });
        }
        let request = EntryRequest::Pairs(pairs);
        request.check(self.shape.len)?;
        let diagonal = self.known_diagonal();
        let look_up = |out: &mut &mut [f64]| {
            let held = self.held();
            for (&(i, j), score) in pairs.iter().zip(out.iter_mut()) {
                let known = diagonal.filter(|_| i == j);
                match known.or_else(|| held.get(i, j)) {
                    Some(value) => *score = value,
                    None => return Some((i, j)),
                }
            }
            None
        };
        self.answer(request, out, look_up)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        if out.dim() != (rows.len(), cols.len()) {
            return Err(OracleError::ShapeMismatch { op: "block", pairs: rows.len() * cols.len(), room: out.len() });
        }
        let request = EntryRequest::Block { rows, cols };
        request.check(self.shape.len)?;
        let diagonal = self.known_diagonal();
        self.answer(request, out, |out| self.held().gather(rows, cols, diagonal, out.view_mut()))
    }
}

impl<O: Oracle> Stored<O> {
    /// Looks a request up, evaluates what is missing, and looks again. `look_up` names the first pair that is not there.
    fn answer<T>(
        &self,
        request: EntryRequest<'_>,
        mut out: T,
        look_up: impl Fn(&mut T) -> Option<Pair>,
    ) -> Result<(), OracleError> {
        if look_up(&mut out).is_none() {
            return Ok(());
        }
        self.evaluate_missing(request)?;
        match look_up(&mut out) {
            None => Ok(()),
            Some((i, j)) => Err(OracleError::NotFinite { i, j, value: f64::NAN }),
        }
    }
}

impl<O: Oracle> Drop for Stored<O> {
    fn drop(&mut self) {
        if *self.process.get_mut() != std::process::id() {
            // a forked child that never used it: all of it is the parent's
            return;
        }
        let mut state = self.state();
        if state.is_closed {
            return;
        }
        if let Err(error) = self.publish(&mut state) {
            let waiting = state.unpublished.len();
            match state.log.name() {
                Some(log) => tracing::error!(
                    "{waiting} evaluated entries could not be published; the next run reads what `{log}` has of them: {error}"
                ),
                None => tracing::error!("{waiting} evaluated entries could not be published and are lost: {error}"),
            }
        }
    }
}

/// Items are fewer than 2³² (checked on attaching).
fn id(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn scratch_failed(source: io::Error) -> StoreError {
    StoreError::System { action: "map a scratch file in the folder for temporary files (`TMPDIR`)", source }
}
