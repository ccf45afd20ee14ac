//! Pairs of sentences under a cross-encoder: fine-tuned once, evaluated once, reported in full. On the model and the sample inside.

#![cfg(feature = "torch")]

use serde_json::json;

use crate::scratch::{Scratch, data_folder, number_before};

/// 24 pairs of the sample, the tiny model fine-tuned for two epochs.
const GLUE: &str = "\
name: pairs
experiment: glue
dataset: { name: embedded_pairs, limit: 12 }
oracle:
  kind: cross_encoder
  model: tiny
  device: cpu
  fine_tune: { epochs: 2, learning_rate: 0.003, precision: f32 }
methods:
  - sms_nystrom
  - { id: shift_ridge, known: [landmarks] }
  - id: shift_ridge
    name: both
    known: [landmarks]
    proxy: { kind: embedding_cosine, model: tiny }
ranks: [4, 8]
compare: rank
replicates: 2
threads: 1
";

#[test]
fn a_cross_encoder_is_fine_tuned_once_and_no_pair_is_evaluated_twice_whichever_order_counts() {
    let scratch = Scratch::with(GLUE);
    let dry = scratch.run_well("--dry-run");
    dry.prints(&["add `--sample 50` to time training steps"]);
    let planned = number_before(&dry.out, " calls: ");
    let timed = scratch.run_well("--dry-run --sample 50");
    let plan = "the run first trains 2 epochs of 3 steps each (96 pairs, 32 per step)";
    assert!(dry.err.contains(plan) && !dry.err.contains("per epoch"), "{}", dry.err);
    timed.reports(&[plan, " per epoch (measured on 3 steps;"]);
    assert!(!scratch.path("models/fine-tuned").exists(), "a dry run trained: {}", timed.out);

    scratch.run_well("").reports(&["epoch 2: loss"]);
    let [_, evaluated, _] = scratch.calls("runs/pairs");
    // both orders of each of n(n − 1)/2 pairs, and n pairs of a sentence with itself
    assert_eq!(evaluated, planned);

    let again = scratch.run_well("");
    assert_eq!(number_before(&again.err, " new calls"), 0, "{}", again.err);
    assert!(!again.err.contains("fine-tuning"), "{}", again.err);
    assert_eq!(number_before(&scratch.run_well("--force").err, " new calls"), 0);

    let summary = scratch.read("runs/pairs/summary.md");
    for words in [
        "## Pearson at the labeled pairs",
        "## The pairs",
        "## Relative error against the scores as the model gives them",
        "How the model was fine-tuned",
        "What the proxy adds",
        "symmetrised scores",
        "it knows no language",
    ] {
        assert!(summary.contains(words), "`{words}` is not in:\n{summary}");
    }
    assert!(!summary.contains("of the paper"), "this configuration names no paper:\n{summary}");

    // the larger of both orders shares the calls of their mean: they are found below, and no budget is charged with them
    let before = scratch.tiles("store").len();
    let dry = scratch.run_well("--set oracle.order=max --dry-run");
    assert_eq!(number_before(&dry.out, " new calls ("), 0, "{}", dry.out);
    let larger = scratch.run_well("--set oracle.order=max --set budget.calls=1");
    assert!(!larger.err.contains("fine-tuning"), "{}", larger.err);
    assert!(scratch.tiles("store").len() > before);
    let [planned, evaluated, reused] = scratch.calls("runs/pairs");
    assert_eq!((evaluated, reused), (0, planned));
}

#[test]
fn a_report_trains_nothing_and_shows_the_curve_and_the_command_of_its_run() {
    let scratch = Scratch::with(GLUE);
    scratch.run_well("--quiet");
    // as a clone has it: no cells, no model
    std::fs::remove_file(scratch.path("runs/pairs/cells.jsonl")).unwrap();
    std::fs::remove_dir_all(scratch.path("models/fine-tuned")).unwrap();
    // and as an older version wrote it, of a model that was trained otherwise
    let mut facts = scratch.json("runs/pairs/run.json");
    facts["data"]["more"]["fine_tuned"][0]["loss"] = 0.4321.into();
    let facts = facts.as_object_mut().unwrap();
    facts.remove("command").unwrap();
    let rows = facts.remove("rows").unwrap();
    std::fs::write(scratch.path("runs/pairs/run.json"), serde_json::to_vec(facts).unwrap()).unwrap();

    let seen = scratch.well("report config.yaml");
    assert!(!scratch.path("models/fine-tuned").exists(), "a drawing trained: {}", seen.err);
    let summary = scratch.read("runs/pairs/summary.md");
    assert!(summary.contains("0.4321") && summary.contains("\nlandmark config.yaml\n"), "{summary}");
    assert!(!summary.contains("not fine-tuned yet"), "{summary}");
    assert_eq!(scratch.json("runs/pairs/run.json")["rows"], rows);

    // rows can be drawn as those of their own settings alone
    let mut facts = scratch.json("runs/pairs/run.json");
    // as a version wrote them that kept the command alone
    facts["config"].as_object_mut().unwrap().remove("set");
    facts["command"] = "landmark config.yaml --set replicates=2".into();
    std::fs::write(scratch.path("runs/pairs/run.json"), facts.to_string()).unwrap();
    scratch.ends(2, "report config.yaml").reports(&["`landmark report config.yaml --set replicates=2`"]);
}

#[test]
fn one_order_a_pair_is_shown_with_the_mean_of_both() {
    let one = "ranks:";
    let rows = "  - { id: shift_ridge, name: one order, known: [landmarks], order: random }\nranks:";
    let scratch = Scratch::with(&GLUE.replace(one, rows));
    let planned = number_before(&scratch.run_well("--dry-run").out, " calls: ");
    scratch.run_well("");
    let [_, evaluated, _] = scratch.calls("runs/pairs");
    assert_eq!(evaluated, planned);
    let rows = scratch.figures("runs/pairs");
    let has = |method: &str, metric: &str| rows.iter().any(|row| row["method"] == method && row["metric"] == metric);
    for method in ["one order", "both", "both, its embedding"] {
        for metric in ["pearson", "off_diagonal_error", "relative_error", "unevaluated_error"] {
            assert!(has(method, metric), "no {metric} of {method}");
        }
    }
    assert!(has("one order a pair", "pearson") && has("one order a pair", "relative_error"));
    let summary = scratch.read("runs/pairs/summary.md");
    let place = |words: &str| summary.find(words).unwrap_or_else(|| panic!("`{words}` is not in:\n{summary}"));
    assert!(place("their symmetrization, off the diagonal") < place("against the scores as the model gives them"));

    // every method on one order: nothing is asked of the model that is there already
    let all = scratch.run_well("--set oracle.order=random");
    assert!(!all.err.contains("fine-tuning"), "{}", all.err);
    let [planned, evaluated, reused] = scratch.calls("runs/pairs");
    assert_eq!((evaluated, reused), (0, planned));

    // nor by methods that all read the mean of both, whose scores are kept under another name
    let mean = Scratch::with(GLUE);
    let shared = scratch.path("store").display().to_string();
    let models = scratch.path("models/fine-tuned");
    std::fs::create_dir_all(mean.path("models")).unwrap();
    std::fs::rename(models, mean.path("models/fine-tuned")).unwrap();
    mean.run_well(&["--store", &shared]);
    let [planned, evaluated, reused] = mean.calls("runs/pairs");
    assert_eq!((evaluated, reused), (0, planned));
}

#[test]
fn a_budget_is_spent_on_calls_of_either_order_and_none_is_made_again() {
    let one = "  - { id: shift_ridge, name: one order, known: [landmarks], order: random }\nranks:";
    for text in [GLUE.to_owned(), GLUE.replace("ranks:", one)] {
        let scratch = Scratch::with(&text);
        let planned = number_before(&scratch.run_well("--dry-run").out, " calls: ");
        let cut = scratch.run("--set budget.calls=101 --quiet");
        assert_eq!(cut.code, Some(3), "{}", cut.err);
        let spent: u64 = costs(&scratch).iter().sum();
        assert!((100..=101).contains(&spent), "{spent}");
        scratch.run_well("--quiet");
        assert_eq!(costs(&scratch).iter().sum::<u64>(), planned);
    }
}

fn costs(scratch: &Scratch) -> Vec<u64> {
    let text = scratch.read("runs/pairs/job_costs.jsonl");
    let calls = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["calls"].as_u64().unwrap();
    text.lines().map(calls).collect()
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn the_threshold_of_a_yes_is_chosen_on_pairs_that_were_learned_from() {
    let corpora = data_folder();
    let corpora = corpora.to_str().unwrap();
    let text = GLUE
        .replace("{ name: embedded_pairs, limit: 12 }", "{ name: rte, limit: 12, threshold_pairs: 30 }")
        .replace("epochs: 2", "epochs: 1");
    let scratch = Scratch::with(&text);
    let dry = scratch.run_well(&["--data", corpora, "--dry-run"]);
    // both orders of each of 30 pairs
    dry.prints(&["plus at most 60 calls outside the matrix"]);

    let seen = scratch.run_well(&["--data", corpora]);
    assert_eq!(number_before(&seen.err, " new calls outside the matrix"), 60, "{}", seen.err);
    let threshold = |scratch: &Scratch| scratch.values("runs/pairs", &json!({ "metric": "threshold" }));
    let chosen = threshold(&scratch);
    assert!(chosen.len() == 1 && chosen[0] > 0.0 && chosen[0] < 1.0, "{chosen:?}");
    let summary = scratch.read("runs/pairs/summary.md");
    let words = format!("a pair is called positive above {:.3}", chosen[0]);
    assert!(summary.contains(&words) && summary.contains("of 30 pairs that were learned from"), "{summary}");

    // its scores are kept
    let again = scratch.run(&["--data", corpora, "--force"]);
    assert!(!again.err.contains("new calls outside the matrix"), "{}", again.err);
    assert_eq!(threshold(&scratch), chosen);

    scratch.run_well(&["--data", corpora, "--set", "dataset.threshold_pairs=0"]);
    scratch.has(
        "runs/pairs/summary.md",
        &["above 0.500, the same for the model's own scores and every K̃: nothing was calibrated"],
    );
}

#[test]
fn a_model_that_is_not_there_names_the_command_that_fetches_it() {
    let scratch = Scratch::with(&GLUE.replace("  model: tiny", "  model: all-MiniLM-L6-v2"));
    let seen = scratch.run("");
    assert_eq!(seen.code, Some(2), "{}", seen.err);
    seen.must_complain("landmark model fetch all-MiniLM-L6-v2");
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    for (from, to, words) in [
        (
            "kind: cross_encoder",
            "kind: wmd",
            "`wmd` reads documents with word vectors, but the dataset `embedded_pairs` has sentences of labeled pairs",
        ),
        ("  device: cpu", "  device: cpu\n  gamma: 2", "unknown key `gamma`"),
        ("epochs: 2", "epochs: 0", "`oracle.fine_tune.epochs` is 0, but must be at least 1"),
        ("epochs: 2", "epochz: 2", "epochz"),
        ("device: cpu", "device: gpu", "`gpu` is not a device"),
        ("experiment: glue", "experiment: classification", "`classification` needs labels"),
    ] {
        let scratch = Scratch::with(&GLUE.replace(from, to));
        let seen = scratch.run("");
        assert_eq!(seen.code, Some(2), "{to}: {}", seen.err);
        seen.must_complain(words);
    }
}

#[test]
fn a_model_is_checked_by_its_digests() {
    let scratch = Scratch::with("");
    let seen = scratch.say("model verify tiny");
    assert_eq!((seen.code, seen.out.trim()), (Some(0), "`tiny` is built in; it needs no file"));
    std::fs::create_dir_all(scratch.path("models/all-MiniLM-L6-v2")).unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        scratch.write(&format!("models/all-MiniLM-L6-v2/{name}"), "{}");
    }
    scratch.ends(1, "model verify").must_complain("is not the configuration of an encoder");
    scratch.refuses("model fetch all-MiniLM-L6", &["did you mean `all-MiniLM-L6-v2`?"]);
}
