//! An oracle whose scores are looked up in the store first and kept there after.

use std::collections::HashSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use landmark_core::entries::EntrySet;
use landmark_core::oracle::{Attempt, Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, check_finite};
use ndarray::ArrayViewMut2;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::active_writers::ActiveWriters;
use super::batch_sizer::{BatchSizer, LARGEST, Landing};
use super::call_log::{CallLog, Subject, SyncPolicy};
use super::entry_cache::EntryCache;
use super::entry_request::{Batch, Cursor, EntryRequest, UnderWay};
use super::failures::{Failures, kept_as};
use super::tile::{self, Entry};
use super::{MANIFEST, Manifest, OracleLabel, StoreError, TileStore};

mod failing;
mod parts;
mod reading;

/// Looking for new tiles may take this share of the time at most.
const LOOKING_SHARE: u32 = 20;

/// An [`Oracle`] that evaluates each entry once, from whichever run, method or machine comes first.
///
/// Missing pairs go to the inner oracle in batches of about half a second, in the order they were asked for, and are
/// published about every second or 2¹⁸ entries; what waits stands in a log where the store is a folder, and is published by
/// [`flush`](Stored::flush), on any error, and when this is dropped. When the inner oracle stops half-way (budget, a score that is not finite), what it
/// had scored is kept, and a hard budget is spent to the last evaluation. A known diagonal is neither evaluated nor kept.
///
/// Any number of threads may ask at once. Evaluating happens one batch at a time, or two where the oracle works on several calls at
/// once, on a thread pool of its own: a caller inside another pool therefore blocks without taking up other work that might ask
/// again and wait for itself.
pub struct Stored<O: Oracle> {
    oracle: O,
    /// Identity that the scores are kept under.
    identity: Identity,
    /// Failed pairs are kept apart from them.
    is_apart: bool,
    shape: OracleShape,
    store: TileStore,
    /// The part of a plan that this is about, where it is one.
    part: Option<String>,
    held: RwLock<EntryCache>,
    state: Mutex<WriteState>,
    /// A batch was evaluated, or failed.
    has_landed: Condvar,
    bought: AtomicU64,
    is_closing: AtomicBool,
}

/// State that one thread at a time may touch.
struct WriteState {
    manifest: Manifest,
    /// The manifest has been seen in the store.
    is_described: bool,
    seen: HashSet<String>,
    looked: Option<(Instant, Duration)>,
    unpublished: Vec<Entry>,
    failures: Failures,
    sizer: BatchSizer,
    /// What of `unpublished` a kill would spare.
    log: CallLog,
    writers: ActiveWriters,
    pool: Option<Arc<ThreadPool>>,
    under_way: UnderWay,
    /// Entries evaluated so far.
    landed: usize,
}

impl WriteState {
    fn pool(&mut self) -> Result<Arc<ThreadPool>, StoreError> {
        if let Some(pool) = &self.pool {
            return Ok(Arc::clone(pool));
        }
        let pool = ThreadPoolBuilder::new()
            // an oracle that waits for others occupies a thread with each batch
            .num_threads(rayon::current_num_threads().max(self.sizer.batches_at_once()))
            .thread_name(|thread| format!("store-{thread}"))
            .build()
            .map_err(|error| StoreError::System { action: "start threads", source: io::Error::other(error) })?;
        Ok(Arc::clone(self.pool.insert(Arc::new(pool))))
    }
}

/// A batch that came back.
struct Scored {
    pairs: Vec<Pair>,
    scores: Vec<f64>,
    attempt: Attempt,
}

/// Progress of the threads that evaluate for one request.
struct Search {
    cursor: Cursor,
    /// Its beginning, as a share of the request.
    share: f64,
    /// A pair was left to a request that has it under way.
    left_some: bool,
    /// One of the threads met an error.
    is_over: bool,
}

fn lock(search: &Mutex<Search>) -> MutexGuard<'_, Search> {
    search.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<O: Oracle> Stored<O> {
    pub(super) fn new(
        store: TileStore,
        oracle: O,
        label: OracleLabel,
        part: Option<String>,
    ) -> Result<Self, StoreError> {
        let shape = OracleShape::of(&oracle);
        if u32::try_from(shape.len).is_err() {
            return Err(StoreError::TooManyItems { len: shape.len });
        }
        let (identity, is_apart) = kept_as(&store, &oracle)?;
        let manifest = Manifest::of(&oracle, identity, label);
        if let Some(there) = store.manifest(&manifest.identity)?
            && there.items != shape.len
        {
            return Err(StoreError::Foreign {
                file: store.backend.describe(&format!("{}/{MANIFEST}", manifest.identity)),
                what: "the number of items",
                seen: there.items.to_string(),
                wanted: shape.len.to_string(),
            });
        }
        let held = EntryCache::new(shape, store.memory);
        // two of one process differ in where their values lie
        let writers = ActiveWriters::new(std::ptr::from_ref(&store).addr() as u64, part.as_deref());
        let sizer = BatchSizer::new(oracle.calls_at_once());
        let folder = store.backend.folder().map(|root| root.join(&manifest.identity));
        let state = WriteState {
            log: CallLog::new(folder, part.as_deref(), store.sync),
            manifest,
            is_described: false,
            seen: HashSet::new(),
            looked: None,
            unpublished: Vec::new(),
            failures: Failures::default(),
            under_way: UnderWay::new(sizer.batches_at_once()),
            sizer,
            writers,
            pool: None,
            landed: 0,
        };
        let (held, state) = (RwLock::new(held), Mutex::new(state));
        let (has_landed, bought, is_closing) = (Condvar::new(), AtomicU64::new(0), AtomicBool::new(false));
        let stored =
            Self { oracle, identity, is_apart, shape, store, part, held, state, has_landed, bought, is_closing };
        stored.refresh()?;
        Ok(stored)
    }

    /// The oracle that is asked for what is not there.
    pub fn inner(&self) -> &O {
        &self.oracle
    }

    /// Distinct pairs that are there, from whichever run.
    pub fn entries(&self) -> u64 {
        self.held().entries()
    }

    /// Distinct pairs evaluated through this value.
    pub fn bought(&self) -> u64 {
        self.bought.load(Ordering::Relaxed)
    }

    /// Evaluations that `set` would still cost: what a dry run subtracts from
    /// [`EntrySet::evaluations`]; at most, where it has pairs that are chosen on the way. One look per entry of the set.
    ///
    /// # Errors
    /// [`StoreError::System`] where the scratch file cannot be read.
    pub fn missing(&self, set: &EntrySet) -> Result<u64, StoreError> {
        self.count_missing(set).map_err(scratch_failed)
    }

    fn count_missing(&self, set: &EntrySet) -> io::Result<u64> {
        // what failed is not asked again
        let failed = self.state().failures.final_keys();
        let held = self.held();
        let all: Vec<usize> = (0..self.shape.len).collect();
        let mut scores = vec![0.0; self.shape.len];
        let symmetric = self.shape.symmetry == Symmetry::Symmetric;
        let mut evaluations = 0;
        for j in set.columns() {
            held.gather_column(&all, j, &mut scores)?;
            for (i, score) in scores.iter().enumerate() {
                let counted = symmetric && i < j && set.has_column(i);
                if score.is_nan() && !counted && !failed.contains(&held.key(i, j)) {
                    evaluations += self.price(i, j);
                }
            }
        }
        for (i, j) in set.scattered() {
            if held.get(i, j)?.is_none() && !failed.contains(&held.key(i, j)) {
                evaluations += self.price(i, j);
            }
        }
        // which pairs are chosen on the way is not known, so none of them counts as here
        Ok(evaluations + set.chosen_evaluations())
    }

    /// `scores[a]` = f(rows[a], j) where it is there, NaN where it is not; nothing is evaluated.
    ///
    /// # Errors
    /// [`StoreError::System`] where the scratch file cannot be read.
    ///
    /// # Panics
    /// When `scores` is of another length than `rows`.
    pub fn known_column(&self, rows: &[usize], j: usize, scores: &mut [f64]) -> Result<(), StoreError> {
        assert_eq!(rows.len(), scores.len(), "rows and room for their scores");
        self.held().gather_column(rows, j, scores).map_err(scratch_failed)
    }

    fn price(&self, i: usize, j: usize) -> u64 {
        match (i == j, self.shape.diagonal_known) {
            (false, _) => self.shape.evaluations_per_pair,
            (true, known) => u64::from(!known),
        }
    }

    /// Publishes what was evaluated and waits. To be called at the end of a run, for only here a full disk can be reported.
    ///
    /// # Errors
    /// A store that cannot be written; what waits is kept and tried again.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.publish(&mut self.state())
    }

    /// Publishes what waits, and lets nobody evaluate any more: for a program that is about to end. Waits for what is being evaluated, about
    /// half a second. Who asks for an entry that is not there waits for ever.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn close(&self) -> Result<(), StoreError> {
        self.is_closing.store(true, Ordering::Relaxed);
        let mut state = self.state();
        while !state.under_way.is_empty() {
            state = self.await_landing(state);
        }
        let published = self.publish(&mut state);
        let folder = state.manifest.identity.clone();
        state.writers.leave(&self.store.backend, &folder);
        std::mem::forget(state);
        published
    }

    /// Reads the tiles that other runs have published since the last look; answers how many.
    ///
    /// # Errors
    /// The first tile that is torn, edited or foreign, by name; [`StoreError::Vanished`].
    pub fn refresh(&self) -> Result<usize, StoreError> {
        self.look(&mut self.state())
    }

    /// Evaluates what of a request is not there yet.
    fn evaluate_missing(&self, request: EntryRequest<'_>) -> Result<(), OracleError> {
        let search = Mutex::new(Search { cursor: request.cursor(0.0), share: 0.0, left_some: false, is_over: false });
        let search = &search;
        let outcome = std::thread::scope(|scope| {
            let mut helper = None;
            let outcome = self.evaluate_batches(request, search, &mut || {
                helper.get_or_insert_with(|| scope.spawn(move || self.evaluate_batches(request, search, &mut || {})));
            });
            outcome.and(helper.map_or(Ok(()), |helper| helper.join().unwrap_or_else(|panic| resume_unwind(panic))))
        });
        if outcome.is_err() {
            self.publish(&mut self.state())?;
        }
        outcome
    }

    /// Evaluates batch after batch of a request; `call_help` is called where another could be under way beside one.
    fn evaluate_batches(
        &self,
        request: EntryRequest<'_>,
        search: &Mutex<Search>,
        call_help: &mut dyn FnMut(),
    ) -> Result<(), OracleError> {
        let mut state = self.state();
        let outcome = loop {
            match self.evaluate_next(state, request, search, call_help) {
                Ok(Some(still)) => state = still,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        if outcome.is_err() {
            lock(search).is_over = true;
        }
        outcome
    }

    /// Evaluates one batch, or waits for one; `None` at the end of the request. The state is free while the oracle is at work.
    fn evaluate_next<'a>(
        &'a self,
        mut state: MutexGuard<'a, WriteState>,
        request: EntryRequest<'_>,
        search: &Mutex<Search>,
        call_help: &mut dyn FnMut(),
    ) -> Result<Option<MutexGuard<'a, WriteState>>, OracleError> {
        // a store that is closing never gives the state back
        if self.is_closing.load(Ordering::Relaxed) || state.under_way.is_full() {
            return Ok(Some(self.await_landing(state)));
        }
        let mut search_now = lock(search);
        if search_now.is_over {
            return Ok(None);
        }
        let mut batch = self.next_batch(&mut state, request, &mut search_now)?;
        if batch.pairs.is_empty() {
            if !search_now.left_some {
                return Ok(None);
            }
            // what was left to another request may have failed there
            (search_now.left_some, search_now.cursor) = (false, request.cursor(search_now.share));
            drop(search_now);
            let is_idle = state.under_way.is_empty();
            return Ok(Some(if is_idle { state } else { self.await_landing(state) }));
        }
        let is_last = search_now.cursor.is_at_end();
        drop(search_now);
        let pool = state.pool()?;
        let keys = state.under_way.begin(&mut batch);
        let has_room = !state.under_way.is_full();
        let (start, landed_before, asked) = (Instant::now(), state.landed, batch.pairs.len());
        drop(state);
        tracing::debug!("{asked} calls are under way");
        if has_room && !is_last {
            call_help();
        }
        let scored = catch_unwind(AssertUnwindSafe(|| self.score(&pool, batch.pairs)));
        let mut state = self.state();
        state.under_way.end(&keys);
        self.has_landed.notify_all();
        let Scored { pairs, scores, attempt } = scored.unwrap_or_else(|panic| resume_unwind(panic));
        state.landed += pairs.len();
        let landed = state.landed - landed_before;
        state.sizer.adapt(&Landing { batch: pairs.len(), landed, seconds: start.elapsed().as_secs_f64() });
        let waiting = state.unpublished.len();
        self.keep(&mut state, &pairs, scores, attempt)?;
        if pairs.len() < asked {
            let mut search = lock(search);
            search.cursor = request.cursor(search.share);
        }
        if state.sizer.is_due() || state.writers.count() > 1 || !self.is_logged(&mut state, waiting) {
            self.announce(&mut state)?;
            self.publish(&mut state)?;
        }
        Ok(Some(state))
    }

    /// The next pairs of a request that are to be evaluated; none at its end.
    fn next_batch(
        &self,
        state: &mut WriteState,
        request: EntryRequest<'_>,
        search: &mut Search,
    ) -> Result<Batch, OracleError> {
        loop {
            if state.looked.is_none_or(|(when, took)| when.elapsed() >= took * LOOKING_SHARE) {
                self.look(state)?;
            }
            if state.writers.share() != search.share {
                search.share = state.writers.share();
                search.cursor = request.cursor(search.share);
            }
            let limit = match state.writers.count() {
                1 => state.sizer.batch(),
                runs => state.sizer.batch().min(request.cells().div_ceil(2 * runs)),
            };
            let (diagonal_known, cursor) = (self.shape.diagonal_known, &mut search.cursor);
            let batch = request
                .missing(&self.held(), &state.under_way, diagonal_known, cursor, limit)
                .map_err(scratch_failed)?;
            search.left_some |= batch.left_some;
            self.check_failed(state, &batch.pairs)?;
            if batch.pairs.is_empty() || state.writers.is_announced() {
                return Ok(batch);
            }
            // nothing is evaluated that could not be kept
            self.announce(state)?;
            state.looked = None;
            search.cursor = request.cursor(search.share);
        }
    }

    /// The scores of a batch, or of as much of it as a budget allows.
    fn score(&self, pool: &ThreadPool, mut pairs: Vec<Pair>) -> Scored {
        let mut scores = vec![f64::NAN; pairs.len()];
        loop {
            let attempt = self.evaluate_inner(pool, &pairs, &mut scores);
            if let Some(OracleError::BudgetExhausted { budget, spent, .. }) = attempt.error {
                let affordable = budget.saturating_sub(spent) / self.shape.evaluations_per_pair.max(1);
                let affordable = usize::try_from(affordable).unwrap_or(usize::MAX);
                if (1..pairs.len()).contains(&affordable) {
                    pairs.truncate(affordable);
                    scores.truncate(affordable);
                    continue;
                }
            }
            return Scored { pairs, scores, attempt };
        }
    }

    /// Keeps the scores of a batch that are numbers and the failures, and refuses the first that is neither.
    fn keep(
        &self,
        state: &mut WriteState,
        pairs: &[Pair],
        mut scores: Vec<f64>,
        attempt: Attempt,
    ) -> Result<(), OracleError> {
        let entries: Vec<Entry> = pairs
            .iter()
            .zip(&scores)
            .filter(|(_, value)| value.is_finite())
            .map(|(&(i, j), &value)| Entry { row: id(i), col: id(j), value })
            .collect();
        self.held_mut().insert(&entries).map_err(scratch_failed)?;
        self.bought.fetch_add((entries.len() + attempt.failed.len()) as u64, Ordering::Relaxed);
        state.unpublished.extend(entries);
        let failed = self.keep_failures(state, (pairs, &mut scores), &attempt.failed);
        attempt.error.map_or(Ok(()), Err)?;
        failed?;
        check_finite(pairs, &scores)
    }

    /// Appends what waits from `first` on to the log; answers false where it has to be published at once instead.
    fn is_logged(&self, state: &mut WriteState, first: usize) -> bool {
        let WriteState { log, unpublished, .. } = state;
        if !log.is_possible() {
            return self.store.sync == SyncPolicy::Second;
        }
        let subject = Subject { identity: self.identity.as_bytes(), len: self.shape.len };
        let logged = log.append(subject, &unpublished[first..]);
        if let Err(error) = &logged
            && log.name().is_none()
            && error.kind() != io::ErrorKind::StorageFull
        {
            tracing::warn!(
                "calls cannot be logged in `{}`, a kill loses those of no tile: {error}",
                self.store.address()
            );
            log.give_up();
        }
        logged.is_ok()
    }

    fn evaluate_inner(&self, pool: &ThreadPool, pairs: &[Pair], scores: &mut [f64]) -> Attempt {
        let mut evaluate = || pool.install(|| self.attempt(pairs, scores));
        if rayon::current_thread_index().is_none() {
            return evaluate();
        }
        // a worker of another pool would take up other work while it waits, and that work might ask this oracle
        std::thread::scope(|scope| scope.spawn(evaluate).join()).unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Describes the oracle in the store and joins those that evaluate, or stays with them.
    fn announce(&self, state: &mut WriteState) -> Result<(), StoreError> {
        let folder = state.manifest.identity.clone();
        if !state.is_described {
            let text = serde_json::to_vec_pretty(&state.manifest)
                .map_err(|error| StoreError::System { action: "describe the oracle", source: error.into() })?;
            let name = format!("{folder}/{MANIFEST}");
            let is_new = self.store.backend.create(&name, text.clone())?;
            if !is_new && matches!(self.store.manifest(&folder), Err(StoreError::Manifest { .. })) {
                self.store.backend.replace(&name, text)?;
            }
            state.is_described = true;
        }
        state.writers.announce(&self.store.backend, &folder)
    }

    fn publish(&self, state: &mut WriteState) -> Result<(), StoreError> {
        let folder = state.manifest.identity.clone();
        while !state.unpublished.is_empty() {
            let first = state.unpublished.len().min(LARGEST);
            let (name, bytes) =
                tile::encode(self.identity.as_bytes(), self.shape.len, state.unpublished[..first].to_vec());
            let name = tile::named(self.part.as_deref(), &name);
            self.store.backend.create_content(&format!("{folder}/{name}"), bytes)?;
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

    fn await_landing<'a>(&self, state: MutexGuard<'a, WriteState>) -> MutexGuard<'a, WriteState> {
        self.has_landed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O: Oracle> Oracle for Stored<O> {
    fn len(&self) -> usize {
        self.shape.len
    }

    fn symmetry(&self) -> Symmetry {
        self.shape.symmetry
    }

    fn identity(&self) -> Identity {
        self.oracle.identity()
    }

    fn known_diagonal(&self) -> Option<f64> {
        self.oracle.known_diagonal()
    }

    fn evaluations_per_pair(&self) -> u64 {
        self.shape.evaluations_per_pair
    }

    fn calls_at_once(&self) -> usize {
        self.oracle.calls_at_once()
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
                match known.map_or_else(|| held.get(i, j), |value| Ok(Some(value)))? {
                    Some(value) => *score = value,
                    None => return Ok(Some((i, j))),
                }
            }
            Ok(None)
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
        look_up: impl Fn(&mut T) -> io::Result<Option<Pair>>,
    ) -> Result<(), OracleError> {
        if look_up(&mut out).map_err(scratch_failed)?.is_none() {
            return Ok(());
        }
        self.evaluate_missing(request)?;
        match look_up(&mut out).map_err(scratch_failed)? {
            None => Ok(()),
            Some((i, j)) => Err(OracleError::NotFinite { i, j, value: f64::NAN }),
        }
    }
}

impl<O: Oracle> Drop for Stored<O> {
    fn drop(&mut self) {
        if *self.is_closing.get_mut() {
            // all is published, and the lock is never given back
            return;
        }
        let mut state = self.state();
        if let Err(error) = self.publish(&mut state) {
            let waiting = state.unpublished.len();
            match state.log.name() {
                Some(log) => tracing::error!(
                    "{waiting} bought entries could not be published; the next run reads what `{log}` has of them: {error}"
                ),
                None => tracing::error!("{waiting} bought entries could not be published and are lost: {error}"),
            }
        }
        let folder = state.manifest.identity.clone();
        state.writers.leave(&self.store.backend, &folder);
    }
}

/// Items are fewer than 2³² (checked on attaching).
fn id(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn scratch_failed(source: io::Error) -> StoreError {
    StoreError::System { action: "use its scratch file in the folder for temporary files (`TMPDIR`)", source }
}
