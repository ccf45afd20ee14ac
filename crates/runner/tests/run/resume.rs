//! Running again, running on, and running elsewhere: no call is made twice and no figure moves.

use crate::scratch::{Printed, SAMPLE, Scratch, number_before, shipped};

#[test]
fn quickstart_run_again_makes_no_call_and_changes_no_byte() {
    let scratch = Scratch::with("");
    let quickstart = shipped("quickstart/errors.yaml");
    let arguments = [quickstart.as_str(), "--profile", "smoke", "--set", "dataset.limit=80"];
    let first = scratch.well(&arguments);
    assert!(number_before(&first.err, " new calls") > 0, "{}", first.err);
    let (before, figures) = (scratch.files("runs"), scratch.figures("runs/smoke/quickstart.errors"));

    let again = scratch.say(&arguments);
    assert_eq!((again.code, number_before(&again.err, " new calls")), (Some(0), 0), "{}", again.err);
    assert_eq!(again.out, first.out);
    let after = scratch.files("runs");
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    let changed: Vec<_> = before.iter().filter(|(path, bytes)| after[*path] != **bytes).map(|(path, _)| path).collect();
    assert!(changed.is_empty(), "{changed:?}");

    let forced = scratch.say(&[&arguments[..], &["--force"]].concat());
    assert_eq!((forced.code, number_before(&forced.err, " new calls")), (Some(0), 0), "{}", forced.err);
    assert_eq!(scratch.figures("runs/smoke/quickstart.errors"), figures);
}

#[test]
fn a_dry_run_predicts_the_calls_exactly() {
    let everything = SAMPLE.replace(
        "methods: [nystrom,",
        "methods: [nystrom, sms_nystrom, { id: stacur, name: same, same: true }, stacur, { id: shift_ridge, name: rest, proxy: rwmd },",
    );
    let classification = SAMPLE
        .replace("error_curve", "classification")
        .replace("ranks: [8]", "ranks: [6, 8]\nreplicates: 2\nsearch: { folds: 2, c: [1, 10] }");
    let whole = SAMPLE.replace("error_curve", "spectrum").replace("limit: 60", "limit: 30");
    for config in [SAMPLE, &everything, &classification, &whole] {
        let scratch = Scratch::with(config);
        let unasked = scratch.run_well("--dry-run");
        assert_eq!(number_before(&unasked.out, " are stored"), 0, "not one call: {}", unasked.out);
        unasked.prints(&["add `--sample 50` to time 50 calls"]);
        let dry = scratch.run_well("--dry-run --sample 30");
        let planned = number_before(&dry.out, " calls: ");
        dry.prints(&["planned exactly"]);
        let (kept, new_calls) = (number_before(&dry.out, " are stored"), number_before(&dry.out, " new calls ("));
        // the timed sample is part of the plan and stays in the store
        assert_eq!((kept, number_before(&dry.out, " calls of this plan")), (30, 30), "{}", dry.out);
        assert_eq!(kept + new_calls, planned, "{}", dry.out);
        assert!(new_calls > 0 && !scratch.path("runs").exists(), "{}", dry.out);

        scratch.run_well("");
        assert_eq!(scratch.calls("runs/sample"), [planned, new_calls, kept], "{config}");
        assert_eq!(scratch.entries_kept("store"), planned, "{config}");
        scratch.run_well("--dry-run").prints(&["planned exactly 0 calls"]);
    }
}

#[test]
fn a_report_shows_the_rows_of_the_run_and_warns_if_the_configuration_has_changed_since() {
    let scratch = Scratch::with(SAMPLE);
    scratch.run_well("--quiet");
    let before = scratch.files("runs");
    let same = scratch.well("report config.yaml");
    assert!(!same.err.contains("has changed"), "{}", same.err);
    assert!(scratch.files("runs") == before, "a report of the same rows is the same");
    scratch.write("config.yaml", &SAMPLE.replace("limit: 60", "limit: 50"));
    scratch.well("report config.yaml").reports(&["`config.yaml` has changed since the run"]);
    assert!(scratch.files("runs") == before, "rows and facts are of the 60 items of the run");
}

#[test]
fn the_call_estimate_comes_in_numbers_for_programs() {
    let scratch = Scratch::with(SAMPLE);
    let estimate: serde_json::Value = serde_json::from_str(&scratch.run_well("--dry-run --json").out).unwrap();
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or_else(|| panic!("{value} in {estimate}"));
    assert_eq!(number(&estimate["planned"]), number(&estimate["new_calls"]), "an empty store");
    assert_eq!((number(&estimate["all"]), number(&estimate["outside"])), (60 * 59 / 2, 0), "all pairs of 60 texts");
    let groups = estimate["groups"].as_array().unwrap();
    let added: u64 = groups.iter().map(|group| number(&group["calls_added"])).sum();
    assert_eq!(added, number(&estimate["planned"]), "{estimate}");
    for group in groups {
        assert!(number(&group["calls_each"]) <= number(&group["entries_each"]), "K is symmetric: {group}");
        assert!(group["name"].is_string() && number(&group["jobs"]) == 1, "{group}");
    }
    scratch.run_well("--quiet");
    let estimate: serde_json::Value = serde_json::from_str(&scratch.run_well("--dry-run --json").out).unwrap();
    assert_eq!(estimate["new_calls"], 0, "all of it is in the store: {estimate}");
}

#[test]
fn run_json_sums_over_the_cells_whichever_run_computed_them() {
    let scratch = Scratch::with(SAMPLE);
    scratch.run_well("--quiet");
    let first = scratch.calls("runs/sample");
    assert!(first[1] > 0 && first[1] == first[0], "{first:?}");
    // computed again, every entry comes from the store; what it took stays known. The command may be named
    scratch.well("run config.yaml --quiet --force");
    assert_eq!(scratch.calls("runs/sample"), first);
    assert_eq!(scratch.json("runs/sample/run.json")["command"], "landmark config.yaml");
    let cells = scratch.json("runs/sample/run.json")["cells"].clone();
    assert!(cells["cells"].as_u64().unwrap() > 1 && cells["cells_without_cost"].is_null(), "{cells}");
    assert_eq!(cells["machines"].as_array().unwrap().len(), 1);
    // and whichever writes it again
    std::fs::remove_file(scratch.path("runs/sample/run.json")).unwrap();
    scratch.run_well("--quiet");
    assert_eq!(scratch.calls("runs/sample"), first);
}

#[test]
fn a_spent_budget_leaves_the_best_so_far_and_a_higher_one_goes_on() {
    let scratch = Scratch::with(SAMPLE);
    let planned = number_before(&scratch.run_well("--dry-run --store other").out, " calls: ");
    let budget = (planned - 40).to_string();
    let short = scratch.run(&["--set", &format!("budget.calls={budget}")]);
    assert_eq!(short.code, Some(3), "{}", short.err);
    short.must_complain(&format!("the budget of {budget} evaluations is exhausted"));
    short.must_complain("raise `budget` and run again to continue");
    short.reports(&["the budget was exhausted: some jobs are missing"]);
    assert_eq!(scratch.entries_kept("store"), planned - 40);
    let so_far = scratch.figures("runs/sample");
    assert!(!so_far.is_empty() && scratch.path("runs/sample/report.html").exists());

    let rest = scratch.run_well(&["--set", &format!("budget.calls={planned}")]);
    assert_eq!(number_before(&rest.err, " new calls"), 40);
    assert!(!rest.err.contains("the budget was exhausted"), "{}", rest.err);
    let all = scratch.figures("runs/sample");
    assert!(all.len() > so_far.len() && so_far.iter().all(|row| all.contains(row)));
    let at_one_go = Scratch::with(SAMPLE);
    at_one_go.run_well("");
    assert_eq!(all, at_one_go.figures("runs/sample"));
}

#[test]
fn a_budget_that_ends_before_the_first_job_is_still_reported() {
    let scratch = Scratch::with(SAMPLE);
    let short = scratch.run("--set budget.calls=50");
    assert_eq!(short.code, Some(3), "{}", short.err);
    assert_eq!((scratch.figures("runs/sample").len(), scratch.entries_kept("store")), (0, 50));
}

#[test]
fn another_method_moves_no_figure_of_the_others() {
    let (few, many) =
        (Scratch::with(SAMPLE), Scratch::with(&SAMPLE.replace("[nystrom,", "[sms_nystrom, stacur, nystrom,")));
    few.run_well("--quiet");
    many.run_well("--quiet");
    let all = many.figures("runs/sample");
    for row in few.figures("runs/sample") {
        assert!(all.contains(&row), "{row} is gone");
    }
}

#[test]
fn the_number_of_threads_moves_no_figure() {
    let config = SAMPLE.replace("experiment: error_curve", "experiment: classification\nsearch: { folds: 2, c: [1] }");
    let scratch = Scratch::with(&config);
    let figures = ["1", "2", "5"].map(|threads| {
        let places = ["config.yaml", "--quiet", "--store", &format!("s{threads}"), "--results", &format!("r{threads}")];
        let seen = Printed::of(scratch.command(&places).env("RAYON_NUM_THREADS", threads));
        assert_eq!(seen.code, Some(0), "{}", seen.err);
        scratch.figures(&format!("r{threads}/sample"))
    });
    assert_eq!(figures[0], figures[1]);
    assert_eq!(figures[0], figures[2]);
}

#[test]
fn two_runs_at_once_share_a_store() {
    let scratch = Scratch::with(SAMPLE);
    let runs = ["one", "two"].map(|results| scratch.command(&["config.yaml", "--results", results]).spawn().unwrap());
    for run in runs {
        let output = run.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(scratch.figures("one/sample"), scratch.figures("two/sample"));
    assert_eq!(number_before(&scratch.run_well("--results three").err, " new calls"), 0);
}

#[test]
fn a_second_run_into_the_same_results_is_refused() {
    let scratch = Scratch::with(SAMPLE);
    scratch.run_well("--quiet");
    let held = std::fs::File::open(scratch.path("runs/sample/cells.jsonl")).unwrap();
    held.lock().unwrap();
    scratch.complains("", &["another run is writing to `runs/sample`; wait for it to end"]);
    scratch.complains("--force", &["another run is writing to `runs/sample`"]);
    // looking is allowed
    scratch.run_well("--dry-run");
    held.unlock().unwrap();
    scratch.run_well("--quiet");
}
