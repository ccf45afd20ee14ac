//! Measurements: error curves and spectra of a matrix, errors from a sample, distances that are not solved, and that results follow
//! their files.

use serde_json::json;

use crate::scratch::{MATRIX, SAMPLE, Scratch, number_before, smooth_matrix};

fn mine(config: &str) -> Scratch {
    let scratch = Scratch::with(config);
    scratch.write_matrix("matrix.npy", &smooth_matrix());
    scratch
}

fn values(scratch: &Scratch, folder: &str, metric: &str, method: &str) -> Vec<f64> {
    scratch.values(folder, &json!({ "metric": metric, "method": method }))
}

#[test]
fn an_error_curve_of_a_matrix_falls_along_given_landmarks() {
    let given = "landmarks: { policy: given, indices: [2, 14, 27, 8, 20, 5, 11, 23, 17, 0] }\n";
    let scratch = mine(&format!("{}compare: rank\n{given}", MATRIX.replace("ranks: [5]", "ranks: [2, 3, 5]")));
    scratch.run_well("").must_complain("the matrix is given, no call is needed");
    assert!(!scratch.path("store").exists());
    let errors = values(&scratch, "runs/mine", "relative_error", "nystrom");
    assert!(errors.len() == 3 && errors[0] > errors[1] && errors[1] > errors[2] && errors[2] < 0.05, "{errors:?}");
}

#[test]
fn landmarks_chosen_by_what_is_seen_are_enough_for_any_second_set_and_move_for_none() {
    let wide = "methods: [nystrom, { id: sms_nystrom, z: 3 }, { id: sicur, ratio: 3 }]";
    let config = MATRIX.replace("methods: [nystrom, sms_nystrom, { id: sicur, ratio: 2 }]", wide);
    assert!(config.contains(wide));
    for policy in ["leverage", "rpcholesky"] {
        let scratch = mine(&format!("{config}compare: rank\nlandmarks: {{ policy: {policy} }}\n"));
        scratch.run_well("--dry-run");
        scratch.run_well("--quiet");
        scratch.run_well("--quiet --results alone --set methods=[nystrom]");
        let errors = |folder| values(&scratch, folder, "relative_error", "nystrom");
        assert_eq!(errors("runs/mine"), errors("alone/mine"), "{policy}");
        assert_eq!(values(&scratch, "runs/mine", "relative_error", "sicur").len(), 1);
    }
}

#[test]
fn a_spectrum_of_a_matrix_sums_to_its_trace() {
    let scratch = mine(&MATRIX.replace("error_curve", "spectrum"));
    scratch.run_well(&["--set", "spectrum={ from: 1, to: 30, samples: 3, sample_size: 10 }"]);
    let eigenvalues = values(&scratch, "runs/mine", "eigenvalue", "K");
    assert_eq!(eigenvalues.len(), 30);
    assert!(eigenvalues.windows(2).all(|pair| pair[0].abs() >= pair[1].abs()));
    // the diagonal is 30 ones; an eigenvalue is exact to some 1e-14 of the largest
    assert!((eigenvalues.iter().sum::<f64>() - 30.0).abs() < 1e-11, "{eigenvalues:?}");
    assert_eq!(values(&scratch, "runs/mine", "eigenvalue", "sampled K[S, S]").len(), 30);
}

#[test]
fn figures_say_why_known_entries_may_bring_a_method_below_the_optimum() {
    let scratch = mine(MATRIX);
    for (methods, is_said) in
        [("[nystrom, optimal]", false), ("[{ id: shift_ridge, known: [landmarks] }, optimal]", true)]
    {
        scratch.run_well(&["--quiet", "--results", methods, "--set", &format!("methods={methods}")]);
        let page = std::fs::read_to_string(scratch.path(methods).join("mine/report.html")).unwrap();
        assert!(page.contains("the shaded band is a 95 % interval"), "{methods}");
        assert_eq!(page.contains("raise the rank"), is_said, "{methods}");
    }
}

#[test]
fn an_estimated_error_costs_less_than_the_matrix_and_covers_the_exact_one() {
    let scratch = Scratch::with(SAMPLE);
    scratch.run_well("--quiet");
    let [planned, ..] = scratch.calls("runs/sample");
    assert!(planned < 60 * 59 / 2, "{planned}");
    scratch.run_well("--quiet --results exact --set error_estimate=false");
    assert_eq!(scratch.calls("exact/sample")[0], 60 * 59 / 2);
    let exact = values(&scratch, "exact/sample", "relative_error", "nystrom")[0];
    let rows = scratch.figures("runs/sample");
    let row = rows.iter().find(|row| row["metric"] == "estimated_error" && row["method"] == "nystrom").unwrap();
    let [lower, upper] = ["lower", "upper"].map(|end| row[end].as_f64().unwrap());
    assert!(lower <= exact && exact <= upper, "{exact} is not in {lower} to {upper}");
}

#[test]
fn another_list_of_landmarks_under_the_same_name_is_computed_anew() {
    let scratch = mine(&format!("{MATRIX}landmarks: {{ policy: given, path: list.txt }}\n"));
    scratch.write("list.txt", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    scratch.run_well("--quiet");
    let crowded = values(&scratch, "runs/mine", "relative_error", "nystrom");
    scratch.write("list.txt", "2\n8\n14\n20\n26\n5\n11\n17\n23\n29\n");
    scratch.run_well("--quiet");
    let spread = values(&scratch, "runs/mine", "relative_error", "nystrom");
    assert!(spread[0] < crowded[0], "{spread:?} {crowded:?}");
}

#[test]
fn a_rank_grows_to_the_target_error_within_the_forecast() {
    let scratch =
        Scratch::with(&format!("{}target_error: 0.2\n", SAMPLE.replace("ranks: [8]", "ranks: [4, 8, 16, 32]")));
    let dry = scratch.run_well("--dry-run");
    dry.prints(&["planned at most"]);
    let most = number_before(&dry.out, " calls: ");
    scratch.run_well("--quiet");
    let [planned, evaluated, reused] = scratch.calls("runs/sample");
    assert!(planned == most && evaluated + reused <= most && evaluated > 0, "{planned} {evaluated} {reused} of {most}");
    let errors = values(&scratch, "runs/sample", "estimated_error", "sicur");
    assert!(!errors.is_empty() && errors.iter().all(|&error| error <= 0.2), "{errors:?}");
    assert_eq!(number_before(&scratch.run_well("--force").err, " new calls"), 0);
}

#[test]
fn what_is_not_solved_is_counted_kept_apart_and_shown_with_its_bound() {
    let scratch = Scratch::with(SAMPLE);
    let exact = scratch.run_well("");
    assert!(!exact.err.contains("were not solved"));
    assert!(scratch.json("runs/sample/run.json")["calls"]["skipped"].is_null());
    let evaluated = number_before(&exact.err, " new calls, ");

    // exp(−0.5 d) < 0.9 from d = 0.21 on: so near are few documents of the sample
    let cut = "--set oracle.negligible=0.9 --set name=cut";
    scratch
        .run_well(&format!("{cut} --dry-run"))
        .reports(&["note: distances that WCD or RWMD prove to be 0.2107 or more are not solved"]);
    let seen = scratch.run_well(cut);
    // the exact distances of the same store serve no oracle that may answer with a bound
    let calls = scratch.calls("runs/cut");
    assert!(calls[1] == evaluated && calls[0] == evaluated, "{calls:?}");
    let skipped = &scratch.json("runs/cut/run.json")["calls"]["skipped"];
    let solves = skipped["solves"].as_u64().unwrap();
    assert!(solves > 0 && solves <= calls[1]);
    assert_eq!(skipped["entry_bound"], 0.9);
    let bound = skipped["frobenius_bound"].as_f64().unwrap();
    // one rounding of a root and a product
    assert!((bound - 0.9 * (2.0 * solves as f64).sqrt()).abs() < 1e-12 * bound);
    assert_eq!(number_before(&seen.err, &format!(" of {} evaluated distances were not solved", calls[1])), solves);

    // a run that finds all done reports the same
    let before = scratch.files("runs");
    scratch.run_well(cut);
    assert_eq!(scratch.files("runs"), before);
    scratch.has("runs/cut/summary.md", &["evaluated distances were not solved"]);
}

#[test]
fn a_comparison_of_ones_own_begins_with_its_conclusion_and_with_equal_entries() {
    let scratch = mine(MATRIX);
    let seen = scratch.run_well("");
    let summary = scratch.read("runs/mine/summary.md");
    let conclusion = summary.lines().nth(2).unwrap();
    assert!(conclusion.starts_with("Error off the diagonal at equal entries: "), "{summary}");
    assert!(conclusion.ends_with("; exact, against all of K.") && seen.err.contains(conclusion), "{conclusion}");
    scratch.has("runs/mine/report.html", &[&format!("<p class=\"outcome\">{conclusion}</p>")]);
    // the best of the table that it describes
    let errors = scratch.values("runs/mine", &json!({ "metric": "off_diagonal_error", "comparison": "entries" }));
    let least = errors.into_iter().fold(f64::INFINITY, f64::min);
    assert!(conclusion.contains(&format!(": {least:.3} at best, by ")), "{least}: {conclusion}");
    let heads = summary.lines().filter(|line| line.starts_with("## Relative error"));
    let (figures, tables): (Vec<&str>, Vec<&str>) =
        heads.partition(|head| head.contains("against the share of landmarks"));
    for heads in [figures, tables] {
        let of_entries = heads.iter().take_while(|head| head.ends_with("equal entries")).count();
        assert!(of_entries > 0 && 2 * of_entries == heads.len(), "{heads:?}");
    }
}

#[test]
fn claims_count_what_was_measured_and_not_what_stands_under_the_headings_of_a_paper_once_more() {
    let classification = SAMPLE
        .replace("name: sample", "name: sample\npaper: mine")
        .replace("error_curve", "classification")
        .replace("ranks: [8]", "ranks: [6, 8]\ncompare: rank\nsearch: { folds: 2, c: [1, 10] }");
    let scratch = Scratch::with(&classification);
    std::fs::create_dir_all(scratch.path("experiments/mine")).unwrap();
    let claim = "{ id: some, place: here, says: some, runs: [sample], test: accuracy(method=nystrom) >= 0 }";
    scratch.write("experiments/mine/claims.yaml", &format!("title: Mine\nshows: []\nclaims: [{claim}]\n"));
    scratch.run_well("--quiet");
    let summary = scratch.read("runs/sample/summary.md");
    // ranks 6 and 8 were measured, and 8 stands in the paper's table of small ranks too
    assert!(summary.contains("**embedded, small rank**") && summary.contains("at 2 of 2 places"), "{summary}");
}

#[test]
fn times_are_drawn_again_alike_on_another_number_of_threads() {
    let scratch = Scratch::with(
        "\
name: times
experiment: feature_time
replicates: 1
feature_time:
  max_words: 4
  gamma: 0.1
  corpora:
    - dataset: { name: embedded, limit: 60, vectors: { kind: ppmi_svd, dimension: 20 } }
      small_rank: { wme: 8, sms_nystrom: 0.2 }
",
    );
    let on = |threads: &str, arguments: &[&str]| {
        let seen = scratch.command(arguments).env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert!(seen.status.success(), "{}", String::from_utf8_lossy(&seen.stderr));
        scratch.read("runs/times/summary.md")
    };
    let drawn = on("1", &["config.yaml", "--quiet"]);
    // as it is published: rows, without the cells
    std::fs::remove_file(scratch.path("runs/times/cells.jsonl")).unwrap();
    assert_eq!(on("2", &["report", "config.yaml"]), drawn);
}
