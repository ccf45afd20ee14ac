//! Exit codes: what a script learns from how a command ended. An interrupt is tested where it happens, in `own_data`.
#![cfg(unix)]

use ndarray::Array2;

use crate::own_data::{PROGRAM, asked, place};

#[test]
fn what_is_named_wrongly_ends_with_2_and_nothing_is_started() {
    let scratch = place();
    for arguments in [
        "--frob",
        "config.yaml --set rnaks=3",
        "config.yaml --set dataset.path=nowhere.tsv",
        "pairs config.yaml items.tsv",
        "report config.yaml",
        "merge config.yaml",
        "check nowhere.yaml",
        "model verify nowhere",
        "data verify --data nowhere",
        "score cqa nowhere config.yaml",
    ] {
        scratch.ends(2, arguments);
    }
    for (file, matrix) in [("nan.npy", Array2::from_elem((4, 4), f64::NAN)), ("rect.npy", Array2::zeros((4, 3)))] {
        scratch.write_matrix(file, &matrix);
        scratch.ends(2, &["init", file]);
    }
    for (file, bytes) in [("latin.tsv", &b"text\ncaf\xe9\n"[..]), ("g.parquet", b"no Parquet")] {
        std::fs::write(scratch.path(file), bytes).unwrap();
        scratch.ends(2, &["init", file, "--score", "wmd"]);
    }
    assert!(asked(&scratch).is_empty());
    scratch.run_well("--quiet");
    let before = asked(&scratch).len();
    scratch.ends(2, "pairs config.yaml nowhere.tsv");
    scratch.ends(2, "cluster config.yaml --clusters 61");
    assert_eq!(asked(&scratch).len(), before);
}

#[test]
fn a_score_that_fails_and_a_check_that_does_not_hold_end_with_1() {
    let scratch = place();
    scratch.run_well("--quiet");
    scratch.write("scorer.sh", &PROGRAM.replace("[${scores#,}]", "[]"));
    scratch.ends(1, "config.yaml --set ranks=20");
    // and where it fails the checks that come first: it was asked
    scratch.ends(1, "config.yaml --set ranks=20 --set oracle.checks=16");
    scratch.ends(1, "topk config.yaml --rerank 20");
    scratch.ends(0, "store verify");
    for tile in scratch.tiles("store") {
        std::fs::write(tile, "torn").unwrap();
    }
    scratch.ends(1, "store verify");
}

#[test]
fn a_budget_that_cuts_an_answer_short_ends_with_3_and_reports_it() {
    for arguments in [
        "topk config.yaml -k 3 --rerank 20",
        "mine config.yaml --rerank 20",
        "mine config.yaml --groups --at-least 0.9 --rerank 20",
        "cluster config.yaml --pivots --at-least 0.9",
    ] {
        let scratch = place();
        scratch.run_well("--quiet");
        let before = asked(&scratch).len();
        scratch.ends(3, &format!("{arguments} --budget 1")).prints(&["the budget ended before"]);
        assert!(asked(&scratch).len() <= before + 1, "{arguments}");
        scratch.well(arguments);
    }
}

#[test]
fn a_reader_that_has_gone_away_stops_no_run() {
    let scratch = place();
    for arguments in ["config.yaml -v", "report config.yaml", "check config.yaml", "--help"] {
        let mut child = scratch.command(arguments).spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
    assert!(scratch.path("runs/mine/report.html").exists());
}
