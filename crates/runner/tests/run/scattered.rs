//! `entries: scattered` by the real binary: its calls, its store, its shares, its files.
#![cfg(unix)]

use std::collections::HashSet;

use ndarray::{Array1, Array2};
use ndarray_npy::read_npy;

use serde_json::json;

use crate::own_data::{CONFIG, asked, place, twice};
use crate::scratch::{MATRIX, Scratch, number_before, smooth_matrix};

/// The items of `own_data`, a quarter of the calls on scattered pairs and none on an error estimate.
fn scattered() -> Scratch {
    let scratch = place();
    let config = CONFIG.replace("[shift_ridge]", "[{ id: shift_ridge, entries: scattered }]");
    scratch.write("config.yaml", &config.replace("error_estimate: 100\n", "error_estimate: false\n"));
    scratch
}

fn pairs(scratch: &Scratch) -> (Array2<u64>, Array1<f64>) {
    let folder = "runs/mine/factors";
    let read = |name: &str| scratch.path(&format!("{folder}/{name}"));
    (read_npy(read("scattered_pairs.npy")).unwrap(), read_npy(read("scattered_scores.npy")).unwrap())
}

#[test]
fn as_many_pairs_are_evaluated_as_the_columns_would_cost_and_none_twice() {
    let scratch = scattered();
    let printed = scratch.run_well("--dry-run").out;
    let planned = number_before(&printed, " calls: ");
    // 12 columns of 60 items whose diagonal is known
    assert!(planned == 12 * 60 - 12 * 13 / 2 && printed.contains("planned exactly"), "{printed}");
    scratch.run_well("--quiet");
    assert_eq!((asked(&scratch).len() as u64, twice(&scratch)), (planned, 0));
    let (pairs, scores) = pairs(&scratch);
    assert!(pairs.nrows() > 100, "a quarter of {planned}: {}", pairs.nrows());
    for (pair, score) in pairs.rows().into_iter().zip(&scores) {
        assert_eq!(*score, (-0.05 * (pair[1] - pair[0]) as f64).exp());
    }
    let before = scratch.files("runs/mine/factors");
    scratch.run_well("--quiet");
    assert!(scratch.files("runs/mine/factors") == before, "a finished run changes no byte");
    scratch.run_well("--quiet --force");
    assert!(scratch.files("runs/mine/factors") == before, "the same pairs are chosen again");
    assert_eq!(asked(&scratch).len() as u64, planned, "and are in the store");
}

#[test]
fn neighbors_know_the_scattered_entries() {
    let scratch = scattered();
    scratch.run_well("--quiet");
    scratch.well("mine config.yaml --pairs 1770 --out pairs.tsv");
    let text = scratch.read("pairs.tsv");
    let (pairs, _) = pairs(&scratch);
    let known: HashSet<(u64, u64)> = pairs.rows().into_iter().map(|pair| (pair[0], pair[1])).collect();
    let mut seen = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let item = |k: usize| cells[k].trim_start_matches('n').parse::<u64>().unwrap();
        let (i, j) = (item(0).min(item(1)), item(0).max(item(1)));
        if known.contains(&(i, j)) {
            seen += 1;
            assert!((cells[2].parse::<f64>().unwrap() - (-0.05 * (j - i) as f64).exp()).abs() < 1e-9, "{line}");
        }
    }
    assert_eq!(seen, known.len());
}

#[test]
fn the_columns_alone_are_a_row_of_their_own_and_no_better() {
    let methods = "[{ id: shift_ridge, name: scattered, entries: scattered }]";
    let config = MATRIX.replace("[nystrom, sms_nystrom, { id: sicur, ratio: 2 }]", methods);
    let scratch = Scratch::with(&config.replace("ranks: [5]", "ranks: [8]"));
    scratch.write_matrix("matrix.npy", &smooth_matrix());
    scratch.run_well("--quiet");
    let error = |method: &str| scratch.values("runs/mine", &json!({ "metric": "relative_error", "method": method }));
    let (whole, columns) = (error("scattered"), error("scattered, its columns"));
    assert!(!whole.is_empty() && whole.len() == columns.len(), "{whole:?} {columns:?}");
    assert!(whole.iter().zip(&columns).all(|(whole, columns)| whole < columns), "{whole:?} {columns:?}");
}

#[test]
fn shares_evaluate_the_columns_and_the_run_the_pairs_that_follow_from_them() {
    let alone = scattered();
    alone.run_well("--quiet");
    let scratch = scattered();
    let planned = number_before(&scratch.run_well("--dry-run").out, " calls: ");
    for share in ["1/2", "0/2"] {
        scratch.run_well(&["--share", share]);
        assert!((asked(&scratch).len() as u64) < planned);
    }
    scratch.run_well("--quiet");
    assert_eq!((asked(&scratch).len() as u64, twice(&scratch)), (planned, 0));
    let vectors = |scratch: &Scratch| std::fs::read(scratch.path("runs/mine/factors/vectors.npy")).unwrap();
    assert!(vectors(&scratch) == vectors(&alone));
    assert_eq!(pairs(&scratch), pairs(&alone));
}

#[test]
fn a_budget_is_kept_and_a_mistake_is_named() {
    let scratch = scattered();
    scratch.run("--quiet --set budget.calls=300");
    assert!(asked(&scratch).len() <= 300);
    scratch.complains(&["--set", "methods=[{ id: nystrom, entries: scatered }]"], &["scatered", "scattered"]);
    let half = "methods=[{ id: nystrom, entries: { kind: scattered, columns: 1.5 } }]";
    scratch.complains(&["--set", half], &["columns", "above 0 and below 1"]);
}
