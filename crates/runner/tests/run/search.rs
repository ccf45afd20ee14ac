//! Searching for ranks, and random documents in addition to the matrix.

use landmark_tasks::cross_validation::is_tied;

use serde_json::json;

use crate::scratch::{Scratch, number_before};

/// Ranks, γ and C of three methods searched for on 60 documents of the sample.
const SEARCHED: &str = "\
name: searched
experiment: classification
dataset: { name: embedded, limit: 60, vectors: { kind: ppmi_svd, dimension: 20 }, split: { train: 0.7 } }
oracle: { kind: wmd, gamma: search, empty_documents: drop }
methods: [wme, sms_nystrom, exact]
replicates: 2
tuning:
  { strategy: tpe, trials: 4, folds: 3, rank: { small: [4, 9], large: [10, 16] }, gamma: [0.3, 1], c: [1, 10], s2: [1.5, 2],
    max_words: [3, 6] }
";

fn searched() -> Scratch {
    Scratch::with(SEARCHED)
}

#[test]
fn a_search_keeps_to_its_ranks_and_its_calls_and_is_not_repeated() {
    let scratch = searched();
    let forecast = scratch.run_well("--dry-run");
    let seen = scratch.run_well("");
    // the exact kernel needs all of K, so the estimate is exact
    assert_eq!(number_before(&seen.err, " new calls, "), number_before(&forecast.out, " new calls ("));
    let outside = number_before(&seen.err, " new calls outside the matrix");
    assert!(outside > 0 && outside <= number_before(&forecast.out, " calls outside the matrix"), "{outside}");
    let rows = scratch.figures("runs/searched");
    for (comparison, range) in [("small_rank", 4..=9), ("large_rank", 10..=16)] {
        for method in ["wme", "sms_nystrom"] {
            let is_it = |metric: &str, row: &&serde_json::Value| {
                row["metric"] == metric && row["comparison"] == comparison && row["method"] == method
            };
            let trials: Vec<_> = rows.iter().filter(|row| is_it("validation_accuracy", row)).collect();
            assert_eq!(trials.len(), 4, "{method} {comparison}");
            assert!(trials.iter().all(|row| range.contains(&row["rank"].as_u64().unwrap())));
            // the best trial is tested: of equally good ones that of the smallest C, then of the smallest rank
            let cost = |trial: &serde_json::Value| {
                let is_its = |row: &&serde_json::Value| is_it("cost", row) && row["position"] == trial["position"];
                rows.iter().find(is_its).unwrap()["value"].as_f64().unwrap()
            };
            let accuracy = |trial: &serde_json::Value| trial["value"].as_f64().unwrap();
            let most = trials.iter().copied().map(accuracy).fold(0.0, f64::max);
            let best = trials.iter().filter(|trial| is_tied(accuracy(trial), most));
            let key = |trial: &serde_json::Value| (cost(trial), trial["rank"].as_u64().unwrap());
            let best = best.min_by(|a, b| key(a).partial_cmp(&key(b)).unwrap()).unwrap();
            let tested: Vec<_> = rows.iter().filter(|row| is_it("accuracy", row)).collect();
            assert_eq!(tested.len(), 2, "{method} {comparison}");
            assert!(tested.iter().all(|row| row["rank"] == best["rank"]), "{method} {comparison}");
        }
    }
    let before = scratch.files("runs");
    let again = scratch.run_well("");
    assert_eq!(number_before(&again.err, " new calls, "), 0);
    assert_eq!(scratch.files("runs"), before);
}

#[test]
fn a_longer_search_begins_with_the_trials_of_the_shorter_one() {
    let scratch = searched();
    let trials = |scratch: &Scratch| -> Vec<(u64, f64)> {
        let is_trial =
            |row: &&serde_json::Value| row["metric"] == "validation_accuracy" && row["method"] == "sms_nystrom";
        let rows = scratch.figures("runs/searched");
        let rows = rows.iter().filter(is_trial).filter(|row| row["comparison"] == "small_rank");
        rows.map(|row| (row["rank"].as_u64().unwrap(), row["value"].as_f64().unwrap())).collect()
    };
    scratch.run_well("--quiet --set tuning.trials=2");
    let short = trials(&scratch);
    scratch.run_well("--quiet");
    assert_eq!(trials(&scratch)[..2], short[..]);
}

#[test]
fn wme_is_searched_for_on_its_own_grids() {
    let scratch = searched();
    scratch.run_well(&["--quiet", "--set", "tuning.wme={ c: [1000, 10000], gamma: [2, 4] }"]);
    let tried =
        |method: &str, metric: &str| scratch.values("runs/searched", &json!({ "method": method, "metric": metric }));
    for (metric, own, others) in [("cost", [1e3, 1e4], [1.0, 10.0]), ("gamma", [2.0, 4.0], [0.3, 1.0])] {
        assert!(!tried("wme", metric).is_empty() && tried("wme", metric).iter().all(|value| own.contains(value)));
        assert!(tried("sms_nystrom", metric).iter().all(|value| others.contains(value)));
    }
    scratch.complains("--set tuning.wme.rank=[1]", &["unknown key `rank` in `tuning.wme`"]);
}

#[test]
fn a_dry_run_of_a_search_times_what_it_is_certain_of_and_the_search_asks_for_it() {
    let scratch = searched();
    let alone = "--set methods=[sms_nystrom]";
    let dry = scratch.run_well(&format!("{alone} --dry-run --sample 20"));
    assert_eq!(number_before(&dry.out, " calls of this plan"), 20, "{}", dry.out);
    dry.prints(&["planned at most"]);
    let seen = scratch.run_well(alone);
    assert_eq!(number_before(&seen.err, " reused"), 20, "{}", seen.err);
}

#[test]
fn a_range_of_one_rank_is_given_and_has_no_page_of_a_search() {
    let scratch = searched();
    scratch.run_well(&["--quiet", "--set", "tuning.rank={ small: [7, 7], large: [10, 16] }"]);
    let summary = scratch.read("runs/searched/summary.md");
    for (heading, is_there) in [("small ranks", false), ("large ranks", true)] {
        assert_eq!(summary.contains(&format!("Validation accuracy for {heading}")), is_there, "{summary}");
        assert_eq!(summary.contains(&format!("Best of the {heading}")), is_there, "{summary}");
    }
    assert!(summary.contains("Small rank: at most 550"), "{summary}");
    assert!(summary.contains("rank, γ, C and s2 are searched for"), "{summary}");
    scratch.run_well(&["--quiet", "--set", "tuning.rank={ small: [7, 7] }", "--set", "tuning.trials=1"]);
    let summary = scratch.read("runs/searched/summary.md");
    assert!(summary.contains("rank, γ, C and s2 are those of one trial"), "{summary}");
    assert!(!summary.contains("chose by cross-validation"), "{summary}");
}

#[test]
fn ranks_are_given_or_searched_for() {
    let scratch = searched();
    scratch.complains("--set ranks=[5]", &["`ranks` and `tuning.rank` exclude each other"]);
    scratch.complains(&["--set", "tuning.rank.small=[9, 4]"], &["goes from 9 to 4"]);
    scratch.complains(&["--set", "tuning.max_words=[3, 4.5]"], &["`tuning.max_words` has 4.5", "from 1 to 500"]);
    scratch.complains("--set tuning.strategy=grid", &["`tuning.rank` needs `strategy: random` or `tpe`"]);
    scratch.complains(
        &["--set", "methods=[{ id: wme, known: [landmarks] }]"],
        &["`wme` evaluates no entry of the matrix"],
    );
}
