//! A whole configuration, and what is reported about a broken one.

use std::path::Path;

use landmark_harness::config::{Config, MatrixSubject, Overlays};
use landmark_store::SyncPolicy;
use landmark_yaml::ConfigError;
use runner::registry::registry;

const GOOD: &str = "
name: tweets
experiment: classification
dataset: { name: twitter, vectors: self300, fallback: embedded }
oracle: { kind: wmd, gamma: search }
methods:
  - sms_nystrom
  - { id: shift_ridge, known: [landmarks, diagonal], proxy: { kind: rwmd, degree: 2 } }
ranks: [50, 0.1]
budget: { calls: 10_000_000 }
svm: { loss: hinge, tolerance: { violation: 0.1 } }
profiles:
  smoke: { dataset: { limit: 100 }, ranks: [10], replicates: 2 }
  tiny: { ranks: [5] }
";

fn load(text: &str, profile: &str, set: &[&str]) -> Result<Config, ConfigError> {
    let set = set.iter().map(|&assignment| assignment.to_owned()).collect();
    Config::parse(
        Path::new("configs/tweets.yaml"),
        text,
        &Overlays { profile: Some(profile.to_owned()), set },
        registry(),
    )
}

fn matrix(config: &Config) -> &MatrixSubject {
    config.subject.matrix().unwrap()
}

fn complaints(text: &str) -> Vec<String> {
    let error = load(text, "paper", &[]).err().unwrap();
    error.each().map(ToString::to_string).collect()
}

#[test]
fn what_is_set_by_hand_is_stated_with_the_results_of_a_paper() {
    let set = ["ranks=[7]", "methods[1].known=[landmarks]", "threads=1", "oracle.gamma=search"];
    let reduction = |text: &str, set: &[&str]| load(text, "paper", set).unwrap().reduction();
    let paper = format!("paper: sms-nystrom\n{GOOD}");
    assert_eq!(reduction(&paper, &set).as_deref(), Some("set by hand: other methods, ranks 7 instead of 50, 0.1"));
    assert_eq!(reduction(&paper, &[]), None);
    // a user's own data have no settings to depart from
    assert_eq!(reduction(GOOD, &set), None);
}

#[test]
fn a_store_waits_for_the_disk_with_each_batch_where_it_is_asked_to_or_calls_cost_money() {
    let sync = |set: &[&str]| matrix(&load(GOOD, "laptop", set).unwrap()).sync;
    assert_eq!((sync(&[]), sync(&["store=there"])), (SyncPolicy::Second, SyncPolicy::Second));
    assert_eq!(sync(&["budget.cost_per_entry=0.01"]), SyncPolicy::Batch);
    assert_eq!(sync(&["budget.cost_per_entry=0.01", "store={ at: there, sync: second }"]), SyncPolicy::Second);
    let config = load(GOOD, "laptop", &["store={ at: there, sync: batch }"]).unwrap();
    assert_eq!((config.store.as_deref(), matrix(&config).sync), (Some("there"), SyncPolicy::Batch));
    let complaints = complaints(&format!("{GOOD}store: {{ at: there, sink: batch }}\n"));
    assert!(complaints.len() == 1 && complaints[0].contains("`sink`"), "{complaints:?}");
}

#[test]
fn the_hash_sees_what_moves_a_result_and_nothing_else() {
    let hash = |set: &[&str]| load(GOOD, "laptop", set).unwrap().config_hash().unwrap();
    assert_eq!(hash(&[]), hash(&["results=elsewhere", "store=elsewhere", "threads=1"]));
    assert_eq!(hash(&[]), hash(&["store={ at: elsewhere, sync: batch }"]));
    assert_eq!(hash(&[]), hash(&["methods[0]={ id: sms_nystrom, alpha: 1.5 }"]));
    for moved in ["seed=1", "ranks=[1]", "methods[0]={ id: sms_nystrom, alpha: 1.6 }", "svm.c=2", "dataset.split=given"]
    {
        assert_ne!(hash(&[]), hash(&[moved]), "{moved}");
    }
}

#[test]
fn values_out_of_range_are_refused() {
    for (from, to, message) in [
        ("tweets\n", "../tweets\n", "it names a folder"),
        ("classification", "glue", "`glue` needs labeled pairs of sentences"),
        ("twitter", "twiter", "unknown dataset `twiter`"),
        ("self300", "self_300", "unknown word vectors `self_300`"),
        ("degree: 2", "degree: 7", "`methods[1].proxy.degree` is 7, but must be between 1 and 3"),
        ("[landmarks, diagonal]", "[landmark]", "`methods[1].known[0]` is `landmark`, but must be"),
        ("- sms_nystrom", "- { id: sms_nystrom, alpha: -1 }", "`alpha` is -1"),
        ("- sms_nystrom", "- { id: sms_nystrom, aplha: 1 }", "unknown key `aplha` in `methods[0]`"),
        ("- sms_nystrom", "- sms_nystrom\n  - sms_nystrom", "two methods are called `sms_nystrom`"),
        ("violation: 0.1", "violation: high", "`svm.tolerance.violation` is the text `high`, but must be a number"),
        ("fallback: embedded", "headers: keep", "takes no `headers`, though `20news` does"),
        ("kind: wmd, gamma: search", "kind: precomputed", "has documents with word vectors: use `wmd`"),
        ("10_000_000", "many", "`budget.calls` is the text `many`"),
        ("vectors: self300, ", "", "`dataset.vectors` is missing"),
        ("name: tweets", "", "`name` is missing"),
        ("experiment: classification", "experiment: spectrum", "needs a number"),
    ] {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        let seen = complaints(&text).join("\n");
        assert!(seen.contains(message), "wanted: {message}\nseen: {seen}");
    }
}

#[test]
fn a_score_by_the_word_that_init_has_for_it_is_guessed() {
    for (word, id) in [("program", "subprocess"), ("chat", "http"), ("matrix", "precomputed"), ("wdm", "wmd")] {
        let error = load(GOOD, "paper", &[&format!("oracle={word}")]).err().unwrap();
        let first = error.each().next().unwrap();
        assert_eq!(first.to_string(), format!("unknown oracle `{word}`"));
        let help = miette::Diagnostic::help(first).unwrap().to_string();
        assert_eq!(help, format!("did you mean `{id}`?"));
    }
}

#[test]
fn a_proxy_of_embeddings_names_a_file_or_a_model() {
    let error = load(GOOD, "paper", &["methods=[{ id: shift_ridge, proxy: embedding_cosine }]"]).err().unwrap();
    let first = error.each().next().unwrap();
    assert_eq!(first.to_string(), "`methods[0].proxy.path` is missing");
    let help = miette::Diagnostic::help(first).unwrap().to_string();
    assert!(help.contains("a bi-encoder that makes them by `model`"), "{help}");
}

#[test]
fn keys_and_profiles_of_before_are_read_by_their_names_of_today() {
    let text = GOOD
        .replace("budget: { calls: 10_000_000 }", "budget: { entries: 10_000_000 }\nsearch: { folds: 4 }")
        .replace("  tiny:", "  desk: { budget: { entries: 7 }, search: { trials: 9 } }\n  tiny:");
    for profile in ["desk", "medium"] {
        let config = load(&text, profile, &["search.folds=5"]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(config.run.profile.name, "medium");
        assert_eq!((matrix(&config).budget.calls, matrix(&config).search.trials), (Some(7), 9));
        assert_eq!(matrix(&config).search.folds, 5);
        let written = config.to_yaml().unwrap();
        assert!(
            written.contains("tuning:") && !written.contains("search:") && !written.contains("entries: 7"),
            "{written}"
        );
    }
}
