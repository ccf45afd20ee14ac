//! Several threads, several runs and several methods on one store.

use std::time::Duration;

use landmark_core::oracle::Oracle;
use landmark_store::{OracleLabel, TileStore};
use ndarray::Array2;
use rayon::prelude::*;

use crate::counting::{Counting, attach};

#[test]
fn a_longer_prefix_of_the_same_landmarks_buys_only_the_difference() {
    let folder = tempfile::tempdir().unwrap();
    let n = 200;
    let all: Vec<usize> = (0..n).collect();
    let order: Vec<usize> = (0..n).map(|k| (37 * k) % n).collect();
    let stored = attach(folder.path(), Counting::symmetric(n));
    let mut before = 0;
    for rank in [10, 20, 50] {
        stored.block(&all, &order[..rank], Array2::zeros((n, rank)).view_mut()).unwrap();
        // full columns of a symmetric matrix without its diagonal: ns − s(s+1)/2
        let alone = (n * rank - rank * (rank + 1) / 2) as u64;
        assert_eq!(stored.inner().calls(), (alone, 1));
        assert!(alone > before);
        before = alone;
    }
}

#[test]
fn threads_that_ask_at_once_buy_each_pair_once() {
    let folder = tempfile::tempdir().unwrap();
    let n = 120;
    let stored = attach(folder.path(), Counting { delay: Duration::from_micros(5), ..Counting::symmetric(n) });
    let all: Vec<usize> = (0..n).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (stored, all) = (&stored, &all);
            scope.spawn(move || {
                let cols: Vec<usize> = (0..60).map(|k| (k * 7 + thread * 13) % n).collect();
                let mut out = Array2::zeros((n, cols.len()));
                stored.block(all, &cols, out.view_mut()).unwrap();
                for ((a, b), &value) in out.indexed_iter() {
                    assert_eq!(value, stored.inner().score(a, cols[b]));
                }
            });
        }
    });
    let (calls, largest) = stored.inner().calls();
    assert_eq!((calls, largest), (stored.bought(), 1));
}

/// Every score is itself computed on the thread pool, as word mover's distance does it.
struct Parallel(Counting);

impl Oracle for Parallel {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn symmetry(&self) -> landmark_core::oracle::Symmetry {
        self.0.symmetry()
    }

    fn identity(&self) -> landmark_core::oracle::Identity {
        self.0.identity()
    }

    fn evaluate(&self, pairs: &[(usize, usize)], out: &mut [f64]) -> Result<(), landmark_core::oracle::OracleError> {
        pairs
            .par_iter()
            .zip(out)
            .try_for_each(|(pair, score)| self.0.evaluate(std::slice::from_ref(pair), std::slice::from_mut(score)))
    }
}

#[test]
fn asking_from_inside_a_thread_pool_neither_hangs_nor_buys_twice() {
    let folder = tempfile::tempdir().unwrap();
    let store = TileStore::open(&folder.path().display().to_string()).unwrap();
    let n = 80;
    let oracle = Parallel(Counting { delay: Duration::from_micros(20), ..Counting::symmetric(n) });
    let stored = store.attach(oracle, OracleLabel::new("parallel", "")).unwrap();
    let all: Vec<usize> = (0..n).collect();
    (0..n).into_par_iter().for_each(|j| {
        let cols = [j, (j + 1) % n];
        stored.block(&all, &cols, Array2::zeros((n, 2)).view_mut()).unwrap();
    });
    // the wrapper hides the known diagonal, so it is bought as well
    assert_eq!(stored.inner().0.calls(), ((n * (n + 1) / 2) as u64, 1));
}

#[test]
fn a_run_sees_what_another_has_published_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<usize> = (0..60).collect();
    let first = attach(folder.path(), Counting::symmetric(60));
    let second = attach(folder.path(), Counting::symmetric(60));
    first.block(&all, &all, Array2::zeros((60, 60)).view_mut()).unwrap();
    first.flush().unwrap();
    assert!(second.refresh().unwrap() > 0);
    second.block(&all, &all, Array2::zeros((60, 60)).view_mut()).unwrap();
    assert_eq!(second.inner().calls().0, 0);
}

#[test]
fn two_runs_at_once_share_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let n = 100;
    let all: Vec<usize> = (0..n).collect();
    let slow = || Counting { delay: Duration::from_micros(400), ..Counting::symmetric(n) };
    let runs = [attach(folder.path(), slow()), attach(folder.path(), slow())];
    std::thread::scope(|scope| {
        for stored in &runs {
            let all = &all;
            scope.spawn(move || {
                let mut out = Array2::zeros((n, n));
                stored.block(all, all, out.view_mut()).unwrap();
                assert!(out.indexed_iter().all(|((i, j), &value)| value == stored.inner().score(i, j)));
            });
        }
    });
    let total = (n * (n - 1) / 2) as u64;
    let bought = runs.iter().map(|stored| stored.bought()).sum::<u64>();
    drop(runs);
    assert_eq!(attach(folder.path(), slow()).entries(), total);
    // Two runs that took no notice of each other would buy 2 × total. What is doubled are the first batches, before they
    // know of each other, and what is on its way when they meet; a slow machine may make both larger, hence the slack.
    assert!(bought < total * 8 / 5, "{bought} bought for {total}");
}

#[test]
fn a_store_works_inside_an_asynchronous_program() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = TileStore::open("memory:///").unwrap();
        let stored = store.attach(Counting::symmetric(9), OracleLabel::new("counting", "")).unwrap();
        stored.evaluate(&[(1, 2)], &mut [0.0]).unwrap();
        drop(stored);
        let again = store.attach(Counting::symmetric(9), OracleLabel::new("counting", "")).unwrap();
        assert_eq!(again.entries(), 1);
    });
}
