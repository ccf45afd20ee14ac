//! Scores that are counted, limited and kept, as fits and searches read them.

use std::sync::Arc;

use landmark_core::contents::Contents;
use landmark_core::entries::EntrySet;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{
    Kernel, Kernelized, Metered, Oracle as CoreOracle, OracleError, OracleShape, Remembered, among_distinct,
};
use landmark_core::stream::Rng;
use landmark_store::{StoreError, Stored};

use crate::session::{Interruptible, Stopped};

/// A score that is counted and limited.
pub(crate) type Meter = Arc<Metered<Arc<dyn CoreOracle>>>;

/// Place where scores are kept.
pub(crate) enum Kept {
    /// The files of the program, or their like in memory: pair by pair.
    Store(Arc<Stored<Meter>>),
    /// The heap, block by block, as long as the estimator lives: for functions of blocks.
    Blocks(Arc<Remembered<Meter>>),
    /// Nowhere: a score that costs nothing.
    Nowhere,
}

/// Scores that are counted, limited and kept.
pub(crate) struct Scores {
    pub(crate) meter: Meter,
    pub(crate) kept: Kept,
    pub(crate) gamma: Option<f64>,
    /// Contents of the items, where they are known.
    pub(crate) contents: Option<Arc<Contents>>,
}

impl Scores {
    /// Similarities, until the caller is interrupted.
    pub(crate) fn oracle(
        &self,
        stopped: Arc<std::sync::atomic::AtomicBool>,
    ) -> Result<Arc<dyn CoreOracle>, OracleError> {
        let raw: Arc<dyn CoreOracle> = match &self.kept {
            Kept::Store(stored) => Arc::clone(stored) as _,
            Kept::Blocks(remembered) => Arc::clone(remembered) as _,
            Kept::Nowhere => Arc::clone(&self.meter) as _,
        };
        self.similarity(Interruptible { inner: raw, stopped })
    }

    fn similarity(&self, raw: impl CoreOracle + 'static) -> Result<Arc<dyn CoreOracle>, OracleError> {
        let raw = among_distinct(raw, self.contents.as_ref());
        Ok(match self.gamma {
            None => raw,
            Some(gamma) => Arc::new(Kernelized::new(raw, Kernel::Exponential { gamma })?),
        })
    }

    /// The same for entries that were evaluated before: unmetered where nothing is kept, so that they are counted once.
    pub(crate) fn again(&self, stopped: Stopped) -> Result<Arc<dyn CoreOracle>, OracleError> {
        if self.keeps() {
            return self.oracle(stopped);
        }
        self.similarity(Interruptible { inner: Arc::clone(self.meter.inner()), stopped })
    }

    /// True where scores are kept.
    pub(crate) fn keeps(&self) -> bool {
        !matches!(self.kept, Kept::Nowhere)
    }

    pub(crate) fn shape(&self) -> OracleShape {
        OracleShape::of(&self.meter)
    }

    /// An empty set of entries, of which those of equal items are one.
    pub(crate) fn set(&self) -> EntrySet {
        EntrySet::among(self.shape(), self.contents.as_ref())
    }

    /// True where some items are equal.
    pub(crate) fn has_copies(&self) -> bool {
        self.contents.as_ref().is_some_and(|contents| contents.has_copies())
    }

    /// Uniform landmarks: by content, where it is known.
    pub(crate) fn landmarks(&self, rng: &mut Rng) -> Landmarks {
        Landmarks::drawn(self.shape().len, self.contents.as_deref(), rng)
    }

    /// Calls of a set that are not kept.
    pub(crate) fn missing(&self, set: &EntrySet) -> Result<u64, StoreError> {
        match &self.kept {
            Kept::Store(stored) => stored.missing(set),
            Kept::Blocks(remembered) => Ok(remembered.missing(set)),
            Kept::Nowhere => Ok(set.evaluations()),
        }
    }

    /// Distinct pairs that a store holds.
    pub(crate) fn stored(&self) -> u64 {
        if let Kept::Store(stored) = &self.kept { stored.entries() } else { 0 }
    }

    /// Calls that the budget still allows.
    pub(crate) fn left(&self) -> Option<u64> {
        self.meter.budget().entries.map(|limit| limit.saturating_sub(self.meter.spent().evaluations))
    }

    /// Calls made so far.
    pub(crate) fn spent(&self) -> u64 {
        self.meter.spent().evaluations
    }

    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        if let Kept::Store(stored) = &self.kept { stored.flush() } else { Ok(()) }
    }
}
