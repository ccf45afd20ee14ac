//! A run that is killed in the middle of evaluating.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use landmark_core::oracle::Oracle;
use ndarray::Array2;

use crate::counting::{Counting, attach, tiles};

const CHILD: &str = "LANDMARK_TEST_EVALUATE_INTO";
const ITEMS: usize = 400;

/// The run to be killed: this test binary once more, with a folder to buy into. 80,000 scores of 1 ms each.
#[test]
fn child_that_evaluates_until_it_is_killed() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let all: Vec<usize> = (0..ITEMS).collect();
    let stored = attach(folder.as_ref(), Counting { delay: Duration::from_millis(1), ..Counting::symmetric(ITEMS) });
    stored.block(&all, &all, Array2::zeros((ITEMS, ITEMS)).view_mut()).unwrap();
    panic!("it should have been killed");
}

#[test]
fn after_kill_9_the_next_run_evaluates_only_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child_that_evaluates_until_it_is_killed"])
        .env(CHILD, folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while tiles(folder.path()).len() < 2 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(tiles(folder.path()).len() >= 2, "nothing was published within a minute of evaluating");

    let all: Vec<usize> = (0..ITEMS).collect();
    let stored = attach(folder.path(), Counting::symmetric(ITEMS));
    let kept = stored.entries();
    assert!(kept > 0);
    let mut out = Array2::zeros((ITEMS, ITEMS));
    stored.block(&all, &all, out.view_mut()).unwrap();
    assert!(out.indexed_iter().all(|((i, j), &value)| value == stored.inner().score(i, j)));
    assert_eq!(stored.inner().calls(), ((ITEMS * (ITEMS - 1) / 2) as u64 - kept, 1));
}
