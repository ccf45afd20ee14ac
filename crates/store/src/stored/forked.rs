//! A store in a forked child, which has the memory of its parent and none of its threads.

use std::sync::atomic::Ordering;
use std::sync::{TryLockError, TryLockResult};
use std::time::{Duration, Instant};

use landmark_core::oracle::Oracle;

use super::super::StoreError;
use super::super::call_log::CallLog;
use super::{Stored, scratch_failed};

impl<O: Oracle> Stored<O> {
    /// Makes this usable in a forked child, once, and does nothing in the process that opened it. To be called before anything else is asked of it.
    ///
    /// What was evaluated stays known here; what the parent had not published is left to it.
    ///
    /// # Errors
    /// [`StoreError::Forked`] where a thread of the parent was at work on it; [`StoreError::System`] where a scratch file cannot be copied.
    pub fn after_fork(&self) -> Result<(), StoreError> {
        /// Time that another thread of this process may take for the same.
        const PATIENCE: Duration = Duration::from_secs(5);
        let (ours, start) = (std::process::id(), Instant::now());
        while self.process.load(Ordering::Acquire) != ours {
            let (Some(mut state), Some(mut held)) = (free(self.state.try_lock()), free(self.held.try_write())) else {
                if start.elapsed() > PATIENCE {
                    return Err(StoreError::Forked { address: self.store.address().to_owned() });
                }
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            held.after_fork().map_err(scratch_failed)?;
            // threads of the parent, and a batch that it is at work on
            std::mem::forget(state.pool.take());
            state.is_evaluating = false;
            // files that the parent continues to write
            state.unpublished.clear();
            let folder = self.store.backend.folder().map(|root| root.join(&state.manifest.identity));
            std::mem::forget(std::mem::replace(&mut state.log, CallLog::new(folder, self.store.sync)));
            state.looked = None;
            self.process.store(ours, Ordering::Release);
        }
        Ok(())
    }
}

/// The guard of a lock that nobody holds.
fn free<G>(locked: TryLockResult<G>) -> Option<G> {
    match locked {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
