//! Oracles that work on several calls at once: none of them waits for work, and nothing is bought twice for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use landmark_core::oracle::{Identity, Oracle, OracleError, Pair, Symmetrization, Symmetrized, Symmetry};
use landmark_store::{OracleLabel, SyncPolicy, TileStore};
use ndarray::Array2;

use crate::counting::{Counting, attach};

/// Its first batch is not answered before the second is there.
struct Meeting {
    inner: Counting,
    batches: Mutex<Vec<usize>>,
    has_come: Condvar,
}

impl Oracle for Meeting {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn symmetry(&self) -> Symmetry {
        self.inner.symmetry()
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn calls_at_once(&self) -> usize {
        self.inner.calls_at_once()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let mut batches = self.batches.lock().unwrap();
        batches.push(pairs.len());
        self.has_come.notify_all();
        let alone = |batches: &mut Vec<usize>| batches.len() < 2;
        let (batches, waited) = self.has_come.wait_timeout_while(batches, Duration::from_secs(60), alone).unwrap();
        assert!(!waited.timed_out(), "no second batch came while the first was under way");
        drop(batches);
        self.inner.evaluate(pairs, out)
    }
}

#[test]
fn two_batches_are_under_way_at_a_time_and_each_is_enough_for_all_lanes() {
    let folder = tempfile::tempdir().unwrap();
    let store = TileStore::open(&folder.path().display().to_string()).unwrap();
    let inner = Counting { at_once: 16, delay: Duration::from_millis(1), ..Counting::symmetric(40) };
    let oracle = Meeting { inner, batches: Mutex::default(), has_come: Condvar::new() };
    let stored = store.attach(oracle, OracleLabel::new("meeting", "")).unwrap();
    let all: Vec<usize> = (0..40).collect();
    let mut out = Array2::zeros((40, 5));
    stored.block(&all, &all[..5], out.view_mut()).unwrap();
    assert!(out.indexed_iter().all(|((i, j), &value)| value == stored.inner().inner.score(i, j)));
    // the diagonal is hidden: 40 · 5 − 10 distinct pairs
    assert_eq!(stored.inner().inner.calls(), (190, 1));
    let batches = stored.inner().batches.lock().unwrap();
    assert!(batches.iter().filter(|&&batch| batch < 16).count() <= 1, "{batches:?}");
}

#[test]
fn requests_that_overlap_share_what_is_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let n = 60;
    let counting = Counting { at_once: 4, delay: Duration::from_micros(20), ..Counting::symmetric(n) };
    let stored = attach(folder.path(), counting);
    let all: Vec<usize> = (0..n).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (stored, all) = (&stored, &all);
            scope.spawn(move || {
                let cols: Vec<usize> = (0..30).map(|k| (k * 7 + thread * 13) % n).collect();
                let mut out = Array2::zeros((n, cols.len()));
                stored.block(all, &cols, out.view_mut()).unwrap();
                for ((a, b), &value) in out.indexed_iter() {
                    assert_eq!(value, stored.inner().score(a, cols[b]));
                }
            });
        }
    });
    assert_eq!(stored.inner().calls(), (stored.bought(), 1));
}

#[test]
fn a_store_above_a_store_hands_both_orders_on_and_buys_each_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = TileStore::open(&folder.path().display().to_string()).unwrap();
    let label = || OracleLabel::new("counting", "");
    let n = 40;
    let given = Counting { at_once: 4, symmetry: Symmetry::Asymmetric, known_diagonal: None, ..Counting::symmetric(n) };
    let as_given = store.attach(given, label()).unwrap();
    let both = store.attach(Symmetrized::new(&as_given, Symmetrization::Mean), label()).unwrap();
    assert_eq!(both.calls_at_once(), 4);
    let all: Vec<usize> = (0..n).collect();
    both.block(&all, &all, Array2::zeros((n, n)).view_mut()).unwrap();
    assert_eq!(as_given.inner().calls(), ((n * n) as u64, 1));
}

#[test]
fn a_budget_is_spent_to_the_last_evaluation_by_two_batches_at_a_time() {
    for budget in [1, 8, 333, 500] {
        let folder = tempfile::tempdir().unwrap();
        let all: Vec<usize> = (0..50).collect();
        let stored = attach(folder.path(), Counting { at_once: 4, budget, ..Counting::symmetric(50) });
        let error = stored.block(&all, &all, Array2::zeros((50, 50)).view_mut()).unwrap_err();
        assert!(matches!(error, OracleError::BudgetExhausted { .. }), "{error}");
        assert_eq!((stored.bought(), stored.inner().calls()), (budget, (budget, 1)));
        assert_eq!(attach(folder.path(), Counting::symmetric(50)).entries(), budget);
    }
}

#[test]
fn a_score_that_is_not_a_number_ends_the_request_and_what_was_under_way_is_kept() {
    let all: Vec<usize> = (0..60).collect();
    // two threads evaluate: many draws of who is first
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let counting = Counting { at_once: 4, broken: Some((7, 2)), ..Counting::symmetric(60) };
        let stored = attach(folder.path(), counting);
        let error = stored.block(&all, &[0, 1, 2, 3, 4], Array2::zeros((60, 5)).view_mut()).unwrap_err();
        assert!(matches!(error, OracleError::NotFinite { i: 7, j: 2, .. }), "{error}");
        let (calls, most) = stored.inner().calls();
        assert_eq!(most, 1, "a pair was asked for twice");
        let mended = attach(folder.path(), Counting::symmetric(60));
        assert_eq!(mended.entries(), calls - 1);
    }
}

/// Its first batch holds a score that is not a number and ends once the second is under way; the second ends once the store keeps what the first brought.
struct Outlived {
    inner: Counting,
    store: TileStore,
    has_company: (Mutex<bool>, Condvar),
    /// Scores that were safe while the second was under way.
    safe: AtomicU64,
}

impl Oracle for Outlived {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn symmetry(&self) -> Symmetry {
        self.inner.symmetry()
    }

    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn calls_at_once(&self) -> usize {
        self.inner.calls_at_once()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let (has_company, has_come) = &self.has_company;
        if self.inner.broken.is_some_and(|broken| pairs.contains(&broken)) {
            let alone = |has_company: &mut bool| !*has_company;
            drop(has_come.wait_while(has_company.lock().unwrap(), alone).unwrap());
            return self.inner.evaluate(pairs, out);
        }
        *has_company.lock().unwrap() = true;
        has_come.notify_all();
        let start = Instant::now();
        while self.safe.load(Ordering::Relaxed) == 0 && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
            let verified = self.store.verify().unwrap();
            self.safe.store(verified.logged + verified.entries, Ordering::Relaxed);
        }
        self.inner.evaluate(pairs, out)
    }
}

#[test]
fn scores_of_a_batch_that_ends_in_an_error_are_safe_while_another_is_under_way() {
    let folder = tempfile::tempdir().unwrap();
    // a log of calls, and a tile a batch where there can be none
    for address in [&*folder.path().display().to_string(), "memory:///"] {
        let store = TileStore::open(address).unwrap().with_sync(SyncPolicy::Batch);
        let inner = Counting { at_once: 4, broken: Some((3, 0)), ..Counting::symmetric(60) };
        let (has_company, safe) = (Default::default(), AtomicU64::new(0));
        let oracle = Outlived { inner, store: store.clone(), has_company, safe };
        let stored = store.attach(oracle, OracleLabel::new("outlived", "")).unwrap();
        let all: Vec<usize> = (0..60).collect();
        let error = stored.block(&all, &[0, 1], Array2::zeros((60, 2)).view_mut()).unwrap_err();
        assert!(matches!(error, OracleError::NotFinite { i: 3, j: 0, .. }), "{error}");
        // all but one of the first eight
        assert_eq!(stored.inner().safe.load(Ordering::Relaxed), 7, "{address}");
    }
}
