//! Distances that are not solved, because a bound proves their similarity negligible.

use crate::scratch::{SAMPLE, Scratch, number_before};

#[test]
fn what_is_not_solved_is_counted_kept_apart_and_told_with_its_bound() {
    let scratch = Scratch::with(SAMPLE);
    let exact = scratch.run_well(&[]);
    assert!(!exact.err.contains("were not solved"));
    assert!(scratch.json("results/sample/run.json")["calls"]["skipped"].is_null());
    let bought = number_before(&exact.err, " entries bought, ");

    // exp(−0.5 d) < 0.9 from d = 0.21 on: so near are few documents of the sample
    let cut = ["--set", "oracle.negligible=0.9", "--set", "name=cut"];
    let planned = scratch.run_well(&[&cut[..], &["--dry-run"]].concat());
    assert!(planned.err.contains("note: distances that WCD or RWMD prove to be 0.2107 or more are not solved"));
    let said = scratch.run_well(&cut);
    // the exact distances of the same store serve no oracle that may answer with a bound; the dry run has timed some
    let calls = scratch.calls("results/cut");
    assert!(calls[1] > 0 && calls[1] <= bought && calls[0] == bought, "{calls:?}");
    let skipped = &scratch.json("results/cut/run.json")["calls"]["skipped"];
    let solves = skipped["solves"].as_u64().unwrap();
    assert!(solves > 0 && solves <= calls[1]);
    assert_eq!(skipped["entry_bound"], 0.9);
    let bound = skipped["frobenius_bound"].as_f64().unwrap();
    // one rounding of a root and a product
    assert!((bound - 0.9 * (2.0 * solves as f64).sqrt()).abs() < 1e-12 * bound);
    assert_eq!(number_before(&said.err, &format!(" of {} bought distances were not solved", calls[1])), solves);

    // a run that finds all done tells the same
    let before = scratch.files("results");
    scratch.run_well(&cut);
    assert_eq!(scratch.files("results"), before);
    let summary = std::fs::read_to_string(scratch.path("results/cut/summary.md")).unwrap();
    assert!(summary.contains("bought distances were not solved"), "{summary}");
}

#[test]
fn a_share_that_is_none_is_refused() {
    let scratch = Scratch::with(SAMPLE);
    for epsilon in ["0", "1", "-0.5"] {
        let assignment = format!("oracle.negligible={epsilon}");
        scratch.complains(&["--set", &assignment], &["`oracle.negligible` is", "must be above 0 and below 1"]);
    }
}
