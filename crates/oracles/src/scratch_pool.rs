//! Pool of scratch memory for parallel work: as many pieces as threads ever work at a time, however finely the work is cut.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

#[derive(Debug)]
pub(crate) struct ScratchPool<S> {
    free: Mutex<Vec<S>>,
}

/// Scratch memory that goes back to its pool when dropped.
#[derive(Debug)]
pub(crate) struct PoolGuard<'a, S: Default> {
    pool: &'a ScratchPool<S>,
    scratch: S,
}

impl<S: Default> ScratchPool<S> {
    pub(crate) fn new() -> Self {
        Self { free: Mutex::new(Vec::new()) }
    }

    /// A piece that was used before, if there is one.
    pub(crate) fn lend(&self) -> PoolGuard<'_, S> {
        let used = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        PoolGuard { pool: self, scratch: used.unwrap_or_default() }
    }
}

impl<S: Default> Drop for PoolGuard<'_, S> {
    fn drop(&mut self) {
        let scratch = std::mem::take(&mut self.scratch);
        self.pool.free.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    }
}

impl<S: Default> Deref for PoolGuard<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.scratch
    }
}

impl<S: Default> DerefMut for PoolGuard<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.scratch
    }
}
