//! Scores that are counted, limited and kept, as fits and searches read them.

use std::sync::Arc;

use landmark_core::contents::Contents;
use landmark_core::entries::EntrySet;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{
    Coin, Identity, Kernel, Kernelized, Oracle as CoreOracle, OracleError, OracleShape, Pair, Remembered,
    among_distinct,
};
use landmark_core::stream::Rng;
use landmark_store::{StoreError, Stored};
use ndarray::ArrayViewMut2;

use crate::one_order::{GivenOrders, Meter};
use crate::session::{Interruptible, Stopped};

/// A store in memory, where no other is named.
pub(crate) const IN_MEMORY: &str = "memory://";

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
    /// Single orders of each pair, if the mean of both is kept.
    pub(crate) given: Option<GivenOrders>,
    pub(crate) gamma: Option<f64>,
    /// Self-similarity, where it is known.
    pub(crate) diagonal: Option<f64>,
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
            Kept::Store(stored) => match &self.given {
                Some(given) => Arc::new(given.clone()),
                None => Arc::clone(stored) as _,
            },
            Kept::Blocks(remembered) => Arc::clone(remembered) as _,
            Kept::Nowhere => Arc::clone(&self.meter) as _,
        };
        self.similarity(Interruptible { inner: raw, stopped })
    }

    fn similarity(&self, raw: impl CoreOracle + 'static) -> Result<Arc<dyn CoreOracle>, OracleError> {
        let similarity: Arc<dyn CoreOracle> = match self.gamma {
            None => Arc::new(raw),
            Some(gamma) => Arc::new(Kernelized::new(raw, Kernel::Exponential { gamma })?),
        };
        // what is known is a similarity, and the store below keeps distances
        let similarity = match self.diagonal.filter(|_| self.gamma.is_some()) {
            Some(diagonal) => Arc::new(KnownDiagonal { inner: similarity, diagonal }) as Arc<dyn CoreOracle>,
            None => similarity,
        };
        Ok(among_distinct(similarity, self.contents.as_ref()))
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

    /// Makes this usable in a forked child, and does nothing elsewhere.
    ///
    /// # Errors
    /// A thread of the parent was at work at the time of the fork, which never ends here.
    pub(crate) fn after_fork(&self) -> Result<(), StoreError> {
        let forked = || StoreError::Forked { address: IN_MEMORY.to_owned() };
        let is_free = self.meter.is_free() && self.given.as_ref().is_none_or(GivenOrders::is_free);
        match &self.kept {
            _ if !is_free => Err(forked()),
            Kept::Store(stored) => {
                self.given.as_ref().map_or(Ok(()), GivenOrders::after_fork)?;
                stored.after_fork()
            }
            Kept::Blocks(remembered) if !remembered.is_free() => Err(forked()),
            Kept::Blocks(_) | Kept::Nowhere => Ok(()),
        }
    }

    /// Calls of a set that are not kept.
    pub(crate) fn missing(&self, set: &EntrySet) -> u64 {
        match &self.kept {
            Kept::Store(stored) => match &self.given {
                Some(given) => stored.missing_at(set, |i, j| given.calls(i, j)),
                None => stored.missing(set),
            },
            Kept::Blocks(remembered) => remembered.missing(set),
            Kept::Nowhere => set.evaluations(),
        }
    }

    /// Distinct pairs that a store holds.
    pub(crate) fn stored(&self) -> u64 {
        if let Kept::Store(stored) = &self.kept { stored.entries() } else { 0 }
    }

    /// Calls that the budget still allows.
    pub(crate) fn left(&self) -> Option<u64> {
        self.meter.budget().entries.map(|limit| limit.saturating_sub(self.spent()))
    }

    /// Calls made so far.
    pub(crate) fn spent(&self) -> u64 {
        self.meter.spent().evaluations + self.given.as_ref().map_or(0, GivenOrders::spent)
    }

    /// True if a search asks for one order of each pair first.
    pub(crate) fn has_orders(&self) -> bool {
        self.given.is_some()
    }

    /// Similarities of one order of each pair, and of both, for a search; `None` if there is one order alone.
    ///
    /// # Errors
    /// A γ that is none.
    pub(crate) fn orders(&self, coin: Coin, stopped: &Stopped) -> Result<Option<Orders>, OracleError> {
        let Some(given) = &self.given else { return Ok(None) };
        let one = self.similarity(Interruptible { inner: given.one(coin), stopped: Arc::clone(stopped) })?;
        Ok(Some(Orders { one, given: given.clone(), coin, contents: self.contents.clone() }))
    }

    /// Similarities in the order in which they are asked for; `None` if there is one order alone.
    ///
    /// # Errors
    /// A γ that is none.
    pub(crate) fn in_order(&self, stopped: Stopped) -> Result<Option<Arc<dyn CoreOracle>>, OracleError> {
        let Some(given) = &self.given else { return Ok(None) };
        self.similarity(Interruptible { inner: Arc::clone(given.given()), stopped }).map(Some)
    }

    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.given.as_ref().map_or(Ok(()), GivenOrders::flush)?;
        if let Kept::Store(stored) = &self.kept { stored.flush() } else { Ok(()) }
    }
}

/// Similarities of single orders, for a search.
pub(crate) struct Orders {
    /// The order that the coin draws.
    pub(crate) one: Arc<dyn CoreOracle>,
    given: GivenOrders,
    coin: Coin,
    contents: Option<Arc<Contents>>,
}

impl Orders {
    /// True if the mean of a pair is kept and the order that the coin draws is not: the mean takes no call.
    pub(crate) fn has_mean_alone(&self, (i, j): Pair) -> bool {
        let first = |item: usize| self.contents.as_ref().map_or(item, |contents| contents.first(item));
        self.given.has_mean_alone((first(i), first(j)), self.coin)
    }
}

/// Similarities whose diagonal is known though that of what they are made of is not.
struct KnownDiagonal {
    inner: Arc<dyn CoreOracle>,
    diagonal: f64,
}

impl CoreOracle for KnownDiagonal {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: Some(self.diagonal), ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.inner.evaluate(pairs, out)?;
        for (score, _) in out.iter_mut().zip(pairs).filter(|(_, (i, j))| i == j) {
            *score = self.diagonal;
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.inner.block(rows, cols, out.view_mut())?;
        for (a, i) in rows.iter().enumerate() {
            for (b, _) in cols.iter().enumerate().filter(|(_, j)| *j == i) {
                out[[a, b]] = self.diagonal;
            }
        }
        Ok(())
    }
}
