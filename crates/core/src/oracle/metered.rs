//! Counts what is asked of an oracle, and refuses what would pass a hard budget.
//!
//! A stack has two meters. The one on top sees every request of a method and reports the papers' accounting, "if run
//! alone" (cells); the one below the store sees only what nobody had asked for before (evaluations), and holds the
//! [`Budget`]. Counting a block costs O(rows + cols).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use ndarray::ArrayViewMut2;

use super::{
    Attempt, DistinctPairs, Fallible, Identity, Oracle, OracleError, OracleShape, Pair, ask_block, ask_pairs,
    check_indices, check_pairs,
};

/// Hard limits, checked before anything is evaluated; absent means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Evaluations of the similarity function.
    pub entries: Option<u64>,
    /// Seconds during which the oracle is at work. A request that starts in time is finished, so small requests keep it tighter.
    pub seconds: Option<f64>,
}

/// Counts of a meter so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Cells of K that were requested: the papers' accounting.
    pub cells: u64,
    /// Calls of the similarity function: distinct pairs, both orders of a symmetrized one, no known diagonal.
    pub evaluations: u64,
    /// Seconds during which the oracle was at work, on one request or on several.
    pub seconds: f64,
}

impl Spent {
    /// Difference to an `earlier` reading of the same meter.
    #[must_use]
    pub fn since(&self, earlier: &Spent) -> Spent {
        Spent {
            cells: self.cells - earlier.cells,
            evaluations: self.evaluations - earlier.evaluations,
            seconds: self.seconds - earlier.seconds,
        }
    }
}

/// An oracle that counts, from any number of threads.
///
/// A request that fails stays counted, because it may have been paid for; a request the budget refuses does not.
#[derive(Debug)]
pub struct Metered<O> {
    inner: O,
    budget: Budget,
    total: Arc<AtomicU64>,
    cells: AtomicU64,
    evaluations: AtomicU64,
    clock: Mutex<Clock>,
}

/// Time during which at least one request was in flight.
#[derive(Debug, Default)]
struct Clock {
    under_way: usize,
    since: Option<Instant>,
    before: Duration,
}

impl Clock {
    fn read(&self) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// A request that is in flight, until it is dropped.
struct UnderWay<'a>(&'a Mutex<Clock>);

impl<'a> UnderWay<'a> {
    fn new(clock: &'a Mutex<Clock>) -> Self {
        let mut now = lock(clock);
        now.under_way += 1;
        now.since.get_or_insert_with(Instant::now);
        Self(clock)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut clock = lock(self.0);
        clock.under_way -= 1;
        if clock.under_way == 0 {
            clock.before = clock.read();
            clock.since = None;
        }
    }
}

fn lock(clock: &Mutex<Clock>) -> MutexGuard<'_, Clock> {
    clock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<O: Oracle> Metered<O> {
    /// Counts without a limit.
    pub fn new(inner: O) -> Self {
        Self::with_budget(inner, Budget::default())
    }

    /// Counts and refuses whatever would pass the budget.
    pub fn with_budget(inner: O, budget: Budget) -> Self {
        Self::with_total(inner, budget, Arc::default())
    }

    /// Counts on its own, and spends from the budget of another meter. Seconds are counted by each for itself.
    pub fn sharing<P>(inner: O, other: &Metered<P>) -> Self {
        Self::with_total(inner, other.budget, Arc::clone(&other.total))
    }

    fn with_total(inner: O, budget: Budget, total: Arc<AtomicU64>) -> Self {
        let (cells, evaluations) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { inner, budget, total, cells, evaluations, clock: Mutex::default() }
    }

    pub fn inner(&self) -> &O {
        &self.inner
    }

    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Counts evaluations that were made elsewhere: they take from the budget as if they had been asked for here.
    pub fn charge(&self, evaluations: u64) {
        self.total.fetch_add(evaluations, Ordering::Relaxed);
        self.evaluations.fetch_add(evaluations, Ordering::Relaxed);
    }

    /// False while a thread starts or ends a request. In a forked child that thread may be one of its parent, which never continues here.
    pub fn is_free(&self) -> bool {
        !matches!(self.clock.try_lock(), Err(TryLockError::WouldBlock))
    }

    pub fn spent(&self) -> Spent {
        Spent {
            cells: self.cells.load(Ordering::Relaxed),
            evaluations: self.evaluations.load(Ordering::Relaxed),
            seconds: self.elapsed().as_secs_f64(),
        }
    }

    fn elapsed(&self) -> Duration {
        lock(&self.clock).read()
    }

    fn reserve(&self, cells: u64, requested: u64) -> Result<(), OracleError> {
        if let Some(budget_seconds) = self.budget.seconds
            && requested > 0
            && self.elapsed().as_secs_f64() >= budget_seconds
        {
            return Err(OracleError::TimeExhausted { budget_seconds, spent: self.total.load(Ordering::Relaxed) });
        }
        let limit = self.budget.entries.unwrap_or(u64::MAX);
        self.total
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |spent| {
                spent.checked_add(requested).filter(|&total| total <= limit || requested == 0)
            })
            .map_err(|spent| OracleError::BudgetExhausted { budget: limit, spent, requested })?;
        self.evaluations.fetch_add(requested, Ordering::Relaxed);
        self.cells.fetch_add(cells, Ordering::Relaxed);
        Ok(())
    }

    fn book(&self, pairs: &[Pair], room: usize) -> Result<(), OracleError> {
        check_pairs(self.inner.len(), pairs, room)?;
        let cells = pairs.len() as u64;
        let diagonal = pairs.iter().filter(|(i, j)| i == j).count() as u64;
        self.reserve(cells, OracleShape::of(&self.inner).evaluations(cells - diagonal, diagonal))
    }

    fn timed<T>(&self, request: impl FnOnce() -> T) -> T {
        let _under_way = UnderWay::new(&self.clock);
        request()
    }
}

impl<O: Oracle> Oracle for Metered<O> {
    fn shape(&self) -> OracleShape {
        OracleShape { is_checked: true, ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn fallible(&self) -> Option<&dyn Fallible> {
        self.inner.fallible().map(|_| self as &dyn Fallible)
    }

    /// Counts every pair as it is listed; whoever lists a pair twice pays twice.
    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.book(pairs, out.len())?;
        self.timed(|| ask_pairs(&self.inner, pairs, out))
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        check_indices(self.len(), rows, cols)?;
        let shape = OracleShape::of(&self.inner);
        let (off_diagonal, diagonal) = DistinctPairs::new(shape, rows, cols).count();
        self.reserve(rows.len() as u64 * cols.len() as u64, shape.evaluations(off_diagonal, diagonal))?;
        self.timed(|| ask_block(&self.inner, rows, cols, out))
    }
}

impl<O: Oracle> Fallible for Metered<O> {
    fn identity_of_scores(&self) -> Identity {
        self.inner.fallible().map_or_else(|| self.inner.identity(), Fallible::identity_of_scores)
    }

    fn stand_in(&self) -> Option<f64> {
        self.inner.fallible()?.stand_in()
    }

    fn attempt(&self, pairs: &[Pair], out: &mut [f64]) -> Attempt {
        if let Err(error) = self.book(pairs, out.len()) {
            return Attempt::ended(error);
        }
        self.timed(|| match self.inner.fallible() {
            Some(inner) => inner.attempt(pairs, out),
            None => Attempt { failed: Vec::new(), error: ask_pairs(&self.inner, pairs, out).err() },
        })
    }
}
