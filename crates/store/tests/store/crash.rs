//! A run that is killed in the middle of evaluating.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use landmark_core::oracle::Oracle;
use ndarray::Array2;

use crate::counting::{Counting, attach, tiles};

const CHILD: &str = "LANDMARK_TEST_EVALUATE_INTO";
const ITEMS: usize = 400;

/// The run to be killed: this test binary once more, with a folder to evaluate into. 80,000 scores of 1 ms each.
#[test]
fn child_that_evaluates_until_it_is_killed() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let all: Vec<usize> = (0..ITEMS).collect();
    let stored = attach(folder.as_ref(), Counting { delay: Duration::from_millis(1), ..Counting::symmetric(ITEMS) });
    stored.block(&all, &all, Array2::zeros((ITEMS, ITEMS)).view_mut()).unwrap();
    panic!("it should have been killed");
}

/// True once the log of the only oracle holds a batch: its head has 68 bytes.
fn is_logged(folder: &Path) -> bool {
    let oracles = std::fs::read_dir(folder).into_iter().flatten();
    let mut files = oracles.flat_map(|oracle| std::fs::read_dir(oracle.unwrap().path()).unwrap());
    files.any(|file| {
        let file = file.unwrap();
        file.path().extension().is_some_and(|end| end == "log") && file.metadata().is_ok_and(|facts| facts.len() > 68)
    })
}

#[test]
fn after_kill_9_the_next_run_evaluates_only_what_is_missing() {
    // before the first tile, and after the second
    for published in [0, 2] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::child_that_evaluates_until_it_is_killed"])
            .env(CHILD, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while tiles(folder.path()).len() < published || !is_logged(folder.path()) {
            assert!(start.elapsed() < Duration::from_secs(60), "nothing was kept within a minute of evaluating");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let all: Vec<usize> = (0..ITEMS).collect();
        let stored = attach(folder.path(), Counting::symmetric(ITEMS));
        let kept = stored.entries();
        assert!(kept > 0);
        let mut out = Array2::zeros((ITEMS, ITEMS));
        stored.block(&all, &all, out.view_mut()).unwrap();
        assert!(out.indexed_iter().all(|((i, j), &value)| value == stored.inner().score(i, j)));
        assert_eq!(stored.inner().calls(), ((ITEMS * (ITEMS - 1) / 2) as u64 - kept, 1));
    }
}
