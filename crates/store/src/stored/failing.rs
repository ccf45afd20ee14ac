//! Pairs that fail, at the side of those that are scored.

use landmark_core::oracle::{Attempt, FailedPair, Fallible, Oracle, OracleError, Pair};

use super::{Stored, WriteState, id, scratch_failed};
use crate::StoreError;
use crate::backend::Object;
use crate::failures::{StoredFailure, listed};
use crate::tile::Entry;

impl<O: Oracle> Stored<O> {
    /// Pairs that are known to fail; 0 where stand-ins are kept among the scores.
    pub fn failed_pairs(&self) -> usize {
        self.state().failures.len()
    }

    /// True where failed pairs are kept apart from scored ones.
    pub fn keeps_failures_apart(&self) -> bool {
        self.is_apart
    }

    pub(super) fn stand_in(&self) -> Option<f64> {
        self.oracle.fallible().filter(|_| self.is_apart).and_then(Fallible::stand_in)
    }

    /// One attempt at a batch: what could be scored where failures are kept apart, and all or nothing elsewhere.
    pub(super) fn attempt(&self, pairs: &[Pair], scores: &mut [f64]) -> Attempt {
        scores.fill(f64::NAN);
        match self.oracle.fallible().filter(|_| self.is_apart) {
            Some(fallible) => fallible.attempt(pairs, scores),
            None => {
                let error = self.oracle.evaluate(pairs, scores).err();
                if error.is_some() {
                    // unspecified
                    scores.fill(f64::NAN);
                }
                Attempt { failed: Vec::new(), error }
            }
        }
    }

    /// Keeps new failures and fills their stand-ins in; without a stand-in the first is an error.
    pub(super) fn keep_failures(
        &self,
        state: &mut WriteState,
        (pairs, scores): (&[Pair], &mut [f64]),
        failed: &[FailedPair],
    ) -> Result<(), OracleError> {
        let finite = scores.iter().filter(|score| score.is_finite()).count();
        if !state.failures.is_empty() {
            let held = self.held();
            let scored = pairs.iter().zip(&*scores).filter(|(_, score)| score.is_finite());
            scored.for_each(|(&(i, j), _)| state.failures.remove(held.key(i, j)));
        }
        let stand_in = self.stand_in();
        let (mut new, mut entries) = (Vec::new(), Vec::new());
        for failure in failed {
            let (i, j) = pairs[failure.place];
            let ended_run = stand_in.is_none();
            let stored = StoredFailure { row: id(i), col: id(j), error: failure.error.clone(), ended_run };
            new.push((self.held().key(i, j), stored));
            if let Some(value) = stand_in {
                scores[failure.place] = value;
                entries.push(Entry { row: id(i), col: id(j), value });
            }
        }
        state.failures.add(finite, new);
        self.held_mut().insert(&entries).map_err(scratch_failed)?;
        match failed.first() {
            Some(failure) if stand_in.is_none() => Err(failure.as_error("a pair")),
            _ => Ok(()),
        }
    }

    /// Refuses to ask again for what failed before.
    pub(super) fn check_failed(&self, state: &WriteState, pairs: &[Pair]) -> Result<(), StoreError> {
        if state.failures.is_empty() || self.stand_in().is_some() {
            return Ok(());
        }
        let held = self.held();
        let failed = |&(i, j): &Pair| state.failures.get(held.key(i, j)).filter(|failure| !failure.ended_run);
        match pairs.iter().find_map(failed) {
            None => Ok(()),
            Some(failure) => {
                Err(StoreError::FailedBefore { address: self.store.address().to_owned(), error: failure.error.clone() })
            }
        }
    }

    /// Takes in what is listed and was not seen yet, after the scores, which come first.
    pub(super) fn read_new_failures(&self, state: &mut WriteState, objects: &[Object]) -> Result<(), StoreError> {
        if !self.is_apart {
            return Ok(());
        }
        let folder = state.manifest.identity.clone();
        for name in listed(objects) {
            if !state.seen.insert(name.clone()) {
                continue;
            }
            for failure in self.store.read_failures(&folder, &name)?.unwrap_or_default() {
                let (i, j) = (failure.row as usize, failure.col as usize);
                let is_item = i.max(j) < self.shape.len;
                if !is_item || self.held().get(i, j).is_some() {
                    continue;
                }
                if let Some(value) = self.stand_in() {
                    let entry = Entry { row: failure.row, col: failure.col, value };
                    self.held_mut().insert(&[entry]).map_err(scratch_failed)?;
                }
                let key = self.held().key(i, j);
                state.failures.read(key, failure);
            }
        }
        Ok(())
    }

    pub(super) fn publish_failures(&self, state: &mut WriteState) -> Result<(), StoreError> {
        let due = state.failures.due();
        if let Some(name) = self.store.write_failures(&state.manifest.identity, &due)? {
            state.seen.insert(name);
            state.failures.published();
        }
        Ok(())
    }
}
