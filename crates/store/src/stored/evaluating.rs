//! Batch after batch of a request, evaluated and kept: what is next, who works on it beside this thread, and what came back.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use landmark_core::oracle::{Attempt, Oracle, OracleError, Pair, check_finite};
use rayon::ThreadPool;

use super::super::StoreError;
use super::super::batch_sizer::Landing;
use super::super::call_log::{Subject, SyncPolicy};
use super::super::entry_request::{Batch, Cursor, EntryRequest};
use super::super::tile::Entry;
use super::{AfterClose, OPEN, Stored, WriteState, id, scratch_failed};

/// Looking for new tiles may take this share of the time at most, 1/20.
const LOOKING_SHARE: u32 = 20;
/// The same where others evaluate too: what is looked for late is evaluated twice.
const LOOKING_SHARE_AMONG_OTHERS: u32 = 4;
/// Near its end a request is cut into shares of what is open; a batch is no smaller than this part of half a second's.
const SMALLEST_PART: usize = 16;

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
    /// Evaluates what of a request is not there yet.
    pub(super) fn evaluate_missing(&self, request: EntryRequest<'_>) -> Result<(), OracleError> {
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
        let closing = self.closing.load(Ordering::Relaxed);
        if closing == AfterClose::Refuse as u8 {
            return Err(StoreError::Closed { action: "evaluate a pair" }.into());
        }
        if closing != OPEN || state.under_way.is_full() {
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
        let Scored { pairs, scores, attempt } = scored.unwrap_or_else(|panic| {
            lock(search).is_over = true;
            resume_unwind(panic)
        });
        state.landed += pairs.len();
        let landed = state.landed - landed_before;
        state.sizer.adapt(&Landing { batch: pairs.len(), landed, seconds: start.elapsed().as_secs_f64() });
        let waiting = state.unpublished.len();
        // said before the state is free again: the other thread would ask for what was just refused
        let kept = self.keep(&mut state, &pairs, scores, attempt).inspect_err(|_| lock(search).is_over = true);
        if pairs.len() < asked {
            let mut search = lock(search);
            search.cursor = request.cursor(search.share);
        }
        if state.sizer.is_due() || state.writers.count() > 1 || !self.is_logged(&mut state, waiting) {
            self.announce(&mut state)?;
            self.publish(&mut state)?;
        }
        // after its scores are safe: the request ends only when the batch beside it has landed
        kept?;
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
            let share = if state.writers.count() > 1 { LOOKING_SHARE_AMONG_OTHERS } else { LOOKING_SHARE };
            if state.looked.is_none_or(|(when, took)| when.elapsed() >= took * share) {
                self.look(state)?;
            }
            if state.writers.share() != search.share {
                search.share = state.writers.share();
                search.cursor = request.cursor(search.share);
            }
            let limit = match state.writers.count() {
                1 => state.sizer.batch(),
                runs => self.share_of(state, request, &search.cursor, runs).map_err(scratch_failed)?,
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

    /// Size of a batch where several runs evaluate: less and less towards the end of a request, where they meet and what both have under way is
    /// evaluated twice. Counts what is open only where that could matter, in a few times the cells of a batch.
    fn share_of(
        &self,
        state: &WriteState,
        request: EntryRequest<'_>,
        cursor: &Cursor,
        runs: usize,
    ) -> io::Result<usize> {
        let (batch, diagonal_known) = (state.sizer.batch(), self.shape.diagonal_known);
        let open = match cursor.left() <= 8 * runs * batch {
            true => request.open(&self.held(), diagonal_known, cursor)?,
            false => cursor.left(),
        };
        let smallest = batch.div_ceil(SMALLEST_PART).max(self.oracle.calls_at_once()).min(batch);
        Ok(batch.min(open.div_ceil(2 * runs)).max(smallest))
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
}
