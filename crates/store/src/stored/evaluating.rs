//! Batch after batch of a request, evaluated and kept: what is next, and what came back.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::time::Instant;

use landmark_core::oracle::{Attempt, Oracle, OracleError, Pair, check_finite};
use rayon::ThreadPool;

use super::super::StoreError;
use super::super::call_log::{Subject, SyncPolicy};
use super::super::entry_request::EntryRequest;
use super::super::tile::Entry;
use super::{AfterClose, OPEN, Stored, WriteState, id, scratch_failed};

/// Looking for new tiles may take this share of the time at most, 1/20.
const LOOKING_SHARE: u32 = 20;

impl<O: Oracle> Stored<O> {
    pub(super) fn evaluate_missing(&self, request: EntryRequest<'_>) -> Result<(), OracleError> {
        let outcome = self.evaluate_batches(request);
        if outcome.is_err() {
            self.publish(&mut self.state())?;
        }
        outcome
    }

    /// Evaluates batch after batch of a request, one at a time of all threads. The state is free while the oracle is at work.
    fn evaluate_batches(&self, request: EntryRequest<'_>) -> Result<(), OracleError> {
        let (mut state, mut next) = (self.state(), 0);
        loop {
            let closing = self.closing.load(Ordering::Relaxed);
            if closing == AfterClose::Refuse as u8 {
                return Err(StoreError::Closed { action: "evaluate a pair" }.into());
            }
            if closing != OPEN || state.is_evaluating {
                state = self.await_landing(state);
                continue;
            }
            let pairs = self.next_batch(&mut state, request, &mut next)?;
            if pairs.is_empty() {
                return Ok(());
            }
            let pool = state.pool()?;
            state.is_evaluating = true;
            drop(state);
            let (start, asked) = (Instant::now(), pairs.len());
            tracing::debug!("{asked} calls are in flight");
            let scored = catch_unwind(AssertUnwindSafe(|| self.score(&pool, pairs)));
            state = self.state();
            state.is_evaluating = false;
            self.has_landed.notify_all();
            let (pairs, scores, attempt) = scored.unwrap_or_else(|panic| resume_unwind(panic));
            state.sizer.adapt(pairs.len(), start.elapsed().as_secs_f64());
            let waiting = state.unpublished.len();
            let kept = self.keep(&mut state, &pairs, scores, attempt);
            if pairs.len() < asked {
                next = 0;
            }
            if state.sizer.is_due() || !self.is_logged(&mut state, waiting) {
                self.announce(&mut state)?;
                self.publish(&mut state)?;
            }
            kept?;
        }
    }

    /// The next pairs of a request that are to be evaluated; none at its end.
    fn next_batch(
        &self,
        state: &mut WriteState,
        request: EntryRequest<'_>,
        next: &mut usize,
    ) -> Result<Vec<Pair>, OracleError> {
        if state.looked.is_none_or(|(when, took)| when.elapsed() >= took * LOOKING_SHARE) {
            self.look(state)?;
        }
        let batch = state.sizer.batch();
        let pairs = request.missing(&self.held(), self.shape.diagonal_known(), next, batch);
        self.check_failed(state, &pairs)?;
        if !pairs.is_empty() {
            // nothing is evaluated that could not be kept
            self.announce(state)?;
        }
        Ok(pairs)
    }

    /// The scores of a batch, or of as much of it as a budget allows.
    fn score(&self, pool: &ThreadPool, mut pairs: Vec<Pair>) -> (Vec<Pair>, Vec<f64>, Attempt) {
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
            return (pairs, scores, attempt);
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
        self.evaluated.fetch_add((entries.len() + attempt.failed.len()) as u64, Ordering::Relaxed);
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
