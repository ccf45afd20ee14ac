//! A user's own items under a program of theirs: factors, budgets, and what the factors are good for.
#![cfg(unix)]

use std::collections::HashMap;

use ndarray::{Array1, Array2};
use ndarray_npy::read_npy;

use crate::scratch::{Scratch, number_before};

/// Texts are whole numbers; the program answers how far apart two of them are, and writes a line for each pair.
pub(crate) const PROGRAM: &str = r#"#!/bin/sh
read -r hello
echo '{"landmark":1,"identity":"difference","symmetric":true,"diagonal":0}'
while read -r line; do
  number=${line#*:}; number=${number%%,*}; scores=
  set -- $(echo "${line#*pairs}" | tr -c '0-9' ' ')
  while [ $# -gt 0 ]; do
    d=$(($1 - $2)); scores="$scores,${d#-}"; echo "$1 $2" >> asked; shift 2
  done
  echo "{\"batch\":$number,\"scores\":[${scores#,}]}"
done
"#;

pub(crate) const CONFIG: &str = "\
name: mine
experiment: own_data
dataset: { name: texts, path: items.tsv, id: key }
oracle: { kind: subprocess, command: [/bin/sh, scorer.sh], gamma: 0.05, checks: 0 }
methods: [shift_ridge]
ranks: 12
error_estimate: 100
";

/// 60 items, the numbers from 0 to 59.
pub(crate) fn place() -> Scratch {
    let scratch = Scratch::with(CONFIG);
    let rows: String = (0..60).map(|i| format!("n{i}\t{i}\n")).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    scratch.write("scorer.sh", PROGRAM);
    scratch
}

pub(crate) fn asked(scratch: &Scratch) -> Vec<String> {
    let text = std::fs::read_to_string(scratch.path("asked")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// [`place`] with a program that takes two milliseconds a pair.
pub(crate) fn slow_place() -> Scratch {
    let scratch = place();
    scratch.write("scorer.sh", &PROGRAM.replace("shift 2", "sleep 0.002; shift 2"));
    scratch
}

/// Pairs that were asked for, the smaller item first, in order.
pub(crate) fn pairs_asked(scratch: &Scratch) -> Vec<(i64, i64)> {
    let pair = |line: &String| {
        let (one, other) = line.split_once(' ').unwrap();
        let (one, other) = (one.parse::<i64>().unwrap(), other.parse::<i64>().unwrap());
        (one.min(other), one.max(other))
    };
    let mut pairs: Vec<(i64, i64)> = asked(scratch).iter().map(pair).collect();
    pairs.sort_unstable();
    pairs
}

/// Calls for pairs that were asked for before, in either order.
pub(crate) fn twice(scratch: &Scratch) -> usize {
    let mut pairs = pairs_asked(scratch);
    let all = pairs.len();
    pairs.dedup();
    all - pairs.len()
}

pub(crate) fn table(scratch: &Scratch, path: &str) -> Vec<HashMap<String, String>> {
    let text = scratch.read(path);
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let row = |line: &str| head.iter().zip(line.split('\t')).map(|(k, v)| ((*k).to_owned(), v.to_owned())).collect();
    lines.map(row).collect()
}

#[test]
fn the_factors_reproduce_the_score_and_are_made_once() {
    let scratch = place();
    let planned = number_before(&scratch.run_well("--dry-run").out, " calls: ");
    assert!(asked(&scratch).is_empty(), "a dry run makes no call");
    scratch.run_well("--dry-run --sample 7");
    assert_eq!(asked(&scratch).len(), 7, "and as many as it is told");
    let seen = scratch.run_well("");
    let error = error_of_files(&scratch);
    assert!(error < 0.2, "12 of 60 columns of a smooth kernel: {error}");
    let info = scratch.json("runs/mine/factors/factors.json");
    let [lower, upper] = ["lower", "upper"].map(|end| info["error"][end].as_f64().unwrap());
    assert!(lower <= error && error <= upper, "{error} is not between {lower} and {upper}");
    for file in ["factors.safetensors", "factors.parquet", "projector.npy"] {
        assert!(scratch.path(&format!("runs/mine/factors/{file}")).exists(), "{file}");
    }
    // as many as were planned, each once
    let mut pairs = asked(&scratch);
    assert_eq!(pairs.len() as u64, planned, "{}", seen.err);
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len() as u64, planned);
    let folder = "runs/mine/factors";
    let summary = || scratch.read("runs/mine/summary.md");
    let (before, first) = (scratch.files(folder), summary());
    scratch.run_well("--quiet");
    assert!(scratch.files(folder) == before, "a finished run changes no byte");
    // whoever draws it again, the page names the run that made it
    scratch.well("report config.yaml");
    assert_eq!(summary(), first);
    assert_eq!(asked(&scratch).len() as u64, planned);
}

#[test]
fn factors_are_those_of_the_setting_whatever_ran_before() {
    let scratch = place();
    let rank = || scratch.json("runs/mine/factors/factors.json")["rank"].as_u64().unwrap();
    scratch.run_well("--quiet");
    let first = scratch.files("runs/mine/factors");
    scratch.run_well("--quiet --set ranks=6");
    assert_eq!(rank(), 6);
    let before = asked(&scratch).len();
    scratch.run_well("--quiet");
    assert_eq!(rank(), 12);
    assert!(scratch.files("runs/mine/factors") == first, "the same factors as at first");
    // gone or torn, they are made again without a call
    std::fs::remove_dir_all(scratch.path("runs/mine/factors")).unwrap();
    scratch.run_well("--quiet");
    scratch.write("runs/mine/factors/vectors.npy", "torn");
    scratch.run_well("--quiet");
    assert!(scratch.files("runs/mine/factors") == first);
    assert_eq!(asked(&scratch).len(), before);
}

#[test]
fn choosing_landmarks_by_what_is_seen_is_counted() {
    let columns = |count: u64| count * 60 - count * (count + 1) / 2;
    for policy in ["leverage", "rpcholesky", "kmeans++", "farthest"] {
        for method in ["shift_ridge", "sms_nystrom"] {
            let scratch = place();
            let landmarks = format!("landmarks={{ policy: {policy} }}");
            let methods = format!("methods=[{method}]");
            let settings = ["--set", &landmarks, "--set", &methods, "--set", "error_estimate=false"];
            let seen = scratch.run_well(&[&settings[..], &["--dry-run"]].concat());
            let most = number_before(&seen.out, " calls: ");
            scratch.run_well(&[&settings[..], &["--quiet"]].concat());
            let calls = asked(&scratch).len() as u64;
            assert_eq!(scratch.figures("runs/mine")[0]["evaluations"], calls, "{method} by {policy}");
            assert!(calls <= most && most < 2 * calls, "{method} by {policy}: {calls} of at most {most}");
            let wanted = match (method, policy) {
                ("shift_ridge", _) => columns(12),
                // a second set is read among itself, and by columns where it is chosen one by one
                (_, "leverage") => columns(12) + 12 * 11 / 2,
                _ => columns(23),
            };
            assert_eq!(calls, wanted, "{method} by {policy}");
        }
    }
    let grows = ["--set", "landmarks={ policy: farthest }", "--set", "target_error=0.1", "--set", "ranks=[6, 12]"];
    place().complains(&grows, &["`target_error` grows the rank", "`farthest`"]);
}

#[test]
fn factors_that_miss_most_of_the_matrix_and_a_score_that_is_the_same_for_all_pairs_are_reported() {
    let scratch = place();
    let (misses, same) = ("what is made from them is a list of candidates", "all sampled scores are the same");
    let ran = scratch.run_well("");
    ran.reports(&["by shift_ridge at 12 columns"]);
    assert!(!ran.err.contains(misses) && !ran.err.contains(same), "{}", ran.err);
    scratch.run_well("--set oracle.gamma=1").reports(&[misses]);
    scratch.write("scorer.sh", &PROGRAM.replace("d=$(($1 - $2))", "d=6"));
    scratch.run_well("--store constant --results constant").reports(&[same]);
}

/// ‖K − Z diag(signs) Zᵀ‖_F / ‖K‖_F of the files, K = exp(−γ|i − j|).
fn error_of_files(scratch: &Scratch) -> f64 {
    let z: Array2<f64> = read_npy(scratch.path("runs/mine/factors/vectors.npy")).unwrap();
    let signs: Array1<f64> = read_npy(scratch.path("runs/mine/factors/signature.npy")).unwrap();
    let wanted = Array2::from_shape_fn((60, 60), |(i, j)| (-0.05 * (i as f64 - j as f64).abs()).exp());
    let norm = |matrix: &Array2<f64>| matrix.mapv(|x| x * x).sum().sqrt();
    norm(&(&(&z * &signs).dot(&z.t()) - &wanted)) / norm(&wanted)
}

#[test]
fn the_error_that_is_reported_is_that_of_the_files() {
    // 60 · 59 / 2 pairs and more than there are on the diagonal: the estimate sees all of K, so it is exact
    let all = ["--quiet", "--set", "error_estimate=100000", "--set", "ranks=6"];
    let known = "methods=[{ id: shift_ridge, known: [landmarks, diagonal] }]";
    for (method, has_both) in [
        ("methods=[shift_ridge]", false),
        (known, true),
        // the matrix is positive semidefinite: there is no shift to correct
        ("methods=[{ id: sms_nystrom, correct_diagonal: true }]", false),
        ("methods=[sicur]", false),
    ] {
        for target in ["target_error=null", "target_error=0.0001"] {
            let scratch = place();
            scratch.run_well(&[&all[..], &["--set", method, "--set", target]].concat());
            let info = scratch.json("runs/mine/factors/factors.json");
            let reported = |key: &str| info[key]["relative"].as_f64();
            let measured = error_of_files(&scratch);
            // rounding of sums over 3,600 cells
            assert!((reported("error").unwrap() - measured).abs() < 1e-9, "{method}, {target}: {measured}, {info}");
            let summary = scratch.read("runs/mine/summary.md");
            assert!(summary.contains(&format!("{measured:.4}")), "{method}, {target}: {measured}, {summary}");
            // a growing rank is judged by what the files hold, without the known entries
            if has_both && !(method == known && target != "target_error=null") {
                let other = reported("error_with_known").unwrap();
                assert!((other - measured).abs() > 1e-6, "{method}, {target}: {other}, {measured}");
                assert!(summary.contains(&format!("{other:.4}")) && summary.contains("in no file"), "{summary}");
            }
        }
    }
}

#[test]
fn factors_and_tables_of_other_settings_are_not_used() {
    let scratch = place();
    scratch.run_well("--quiet");
    let made = ["made with other settings", "of rank 12", "`difference`", "[33]"];
    let again = "run it first: `landmark config.yaml --set ranks=33`";
    for command in ["topk", "mine", "cluster"] {
        scratch.refuses(&format!("{command} config.yaml --set ranks=33"), &[&made[..], &[again]].concat());
    }
    // another configuration of the same name, with a program of its own
    scratch.write("other.sh", &PROGRAM.replace("\"difference\"", "\"another\""));
    scratch.write("other.yaml", &CONFIG.replace("scorer.sh", "other.sh"));
    scratch.refuses("topk other.yaml", &["made with other settings", "`difference`"]);
    // tables go with the factors that they were made from, and stay as long as these do
    scratch.write("given.tsv", "id\tlabel\nn1\ta\nn2\ta\nn50\tb\nn51\tb\n");
    let tables = ["neighbors.tsv", "pairs.tsv", "clusters.tsv", "labels.tsv"];
    let there = || tables.map(|table| scratch.path(&format!("runs/mine/{table}")).exists());
    for command in ["topk config.yaml", "mine config.yaml", "cluster config.yaml"] {
        scratch.well(command);
    }
    scratch.well("classify config.yaml --labels given.tsv");
    scratch.run_well("--quiet");
    assert_eq!(there(), [true; 4]);
    // what is printed next finds the factors
    let seen = scratch.run_well("--set ranks=9 --store store --results runs");
    let next = "landmark topk config.yaml --set ranks=9 --store store --results runs";
    seen.reports(&[&format!("Next: `{next}`")]);
    assert_eq!(there(), [false; 4]);
    scratch.well(next.strip_prefix("landmark ").unwrap());
}

#[test]
fn labels_of_one_class_and_a_class_of_one_item_are_refused_by_the_name_of_the_label() {
    let scratch = place();
    scratch.run_well("--quiet");
    let refused = |first: &str, words: &[&str]| {
        let rows: String = (0..12).map(|i| format!("n{i}\t{}\n", if i == 0 { first } else { "yes" })).collect();
        scratch.write("labels.tsv", &format!("key\tlabel\n{rows}"));
        scratch.refuses("classify config.yaml --labels labels.tsv", words);
    };
    refused("yes", &["cannot classify: all 12 labeled items are `yes`", "label items of another class as well"]);
    refused("no", &["cannot cross-validate: `no` is the label of a single item", "label another item as `no`"]);
}

#[test]
fn classify_learns_from_one_part_and_is_tested_on_the_other() {
    let scratch = place();
    scratch.run_well("--quiet --set ranks=30");
    let rows: String = (0..60)
        .map(|i| {
            let label = if (i < 30) == (i != 7) { "low" } else { "high" };
            // items near the border are learned from
            let part = if i % 3 == 0 || (24..36).contains(&i) { "train" } else { "test" };
            format!("n{i}\t{label}\t{part}\n")
        })
        .collect();
    scratch.write("labels.tsv", &format!("id\tlabel\tpart\n{rows}"));
    let classify = "classify config.yaml --labels labels.tsv --set ranks=30 --split";
    // the label of 7 is wrong, and 7 is tested on
    let shown = ["28 labeled items in 2 classes, 32 labeled now", "; test accuracy 96.9% of 32"];
    scratch.well(&format!("{classify} part")).prints(&shown);
    assert_eq!(table(&scratch, "runs/mine/labels.tsv")[7]["label"], "low");
    scratch.refuses(&format!("{classify} label"), &["write `train` or `test`"]);
}

#[test]
fn factors_refuse_the_scores_of_another_program() {
    let scratch = place();
    scratch.run_well("--quiet");
    scratch.write("scorer.sh", &PROGRAM.replace("\"difference\"", "\"another\""));
    scratch.write("new.tsv", "key\ttext\nfirst\t7\n");
    let before = asked(&scratch).len();
    for arguments in ["project config.yaml new.tsv", "topk config.yaml --rerank 3"] {
        scratch.refuses(arguments, &["scorer `difference`, but the configuration now uses `another`"]);
    }
    assert_eq!(asked(&scratch).len(), before);
}

#[test]
fn an_interrupted_run_keeps_its_scores_and_reports_it() {
    let scratch = place();
    let rows: String = (0..200).map(|i| format!("n{i}\t{i}\n")).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    scratch.write("scorer.sh", &PROGRAM.replace("scores=\n", "scores=; sleep 0.05\n"));
    let run = scratch.command("config.yaml").stderr(std::process::Stdio::piped()).spawn().unwrap();
    while asked(&scratch).len() < 1500 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let sent = std::process::Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = run.wait_with_output().unwrap();
    let seen = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{seen}");
    assert!(seen.contains("interrupted; scores are kept"), "{seen}");
    let kept = scratch.entries_kept("store");
    assert!(kept >= 1000, "{kept} of {} scores", asked(&scratch).len());
    let again = scratch.run_well("");
    assert_eq!(number_before(&again.err, " reused"), kept, "{}", again.err);
}

#[test]
fn numbers_that_make_no_sense_are_refused_before_anything_runs() {
    let scratch = place();
    for (arguments, words) in [
        ("topk config.yaml -k 0", "at least 1"),
        ("mine config.yaml --at-least nan", "finite"),
        ("config.yaml --threads 9999", "1..=1024"),
        ("config.yaml --set threads=9999", "`threads` is 9999, but must be at most 1024"),
        ("config.yaml --data nowhere", "no such folder: `nowhere`"),
    ] {
        scratch.refuses(arguments, &[words]);
    }
}

#[test]
fn a_budget_of_entries_or_money_pays_for_the_largest_rank_that_it_can() {
    for budget in ["budget.calls=450", "budget={ money: 4.5, cost_per_entry: 0.01 }"] {
        let scratch = place();
        let dry = scratch.run_well(&["--set", budget, "--dry-run", "--store", "another"]);
        dry.prints(&["the budget allows 450 of them"]);
        assert_eq!(dry.out.contains("they cost "), budget.contains("money"), "{}", dry.out);
        let seen = scratch.run(&["--set", budget]);
        assert_eq!(seen.code, Some(3), "{}", seen.err);
        let info = scratch.json("runs/mine/factors/factors.json");
        // 60 r − r(r+1)/2 entries and 100 sampled ones, the diagonal known
        assert_eq!((info["rank"].as_u64(), info["cut_short"].as_bool()), (Some(6), Some(true)), "{}", seen.err);
        assert!(asked(&scratch).len() <= 450);
        // the same budget once more resumes from there, and is not done before all is
        let seen = scratch.run_well(&["--set", budget]);
        assert_eq!(scratch.json("runs/mine/factors/factors.json")["rank"].as_u64(), Some(12), "{}", seen.err);
        let seen = scratch.run_well("--set budget.calls=1000");
        let info = scratch.json("runs/mine/factors/factors.json");
        assert_eq!(info["rank"].as_u64(), Some(12), "{}", seen.err);
    }
    let scratch = place();
    let seen = scratch.run("--set budget.calls=5");
    assert_eq!(seen.code, Some(3), "{}", seen.err);
    assert!(!scratch.path("runs/mine/factors").exists() && asked(&scratch).is_empty(), "not even rank 1");
}

/// A program that states that it is symmetric, and is not, is found out whatever limits the run.
#[test]
fn a_program_is_checked_within_a_budget_too() {
    let limits = [&["budget.calls=450"][..], &["budget.seconds=100"], &["target_error=0.3", "ranks=[4, 40]"]];
    for limits in limits {
        let scratch = place();
        scratch.write("config.yaml", &CONFIG.replace("checks: 0", "checks: 16"));
        scratch.write("scorer.sh", &PROGRAM.replace("d=$(($1 - $2));", "d=$(($1 * 2 - $2));"));
        let flags: Vec<&str> = limits.iter().flat_map(|&limit| ["--set", limit]).collect();
        let seen = scratch.run(&flags);
        assert_eq!(seen.code, Some(1), "{limits:?}: {}", seen.err);
        assert!(seen.err.contains("the program states that its score is symmetric"), "{limits:?}: {}", seen.err);
    }
    // a budget of the fit and its estimate alone makes both, and the run reports what it left out
    let scratch = place();
    scratch.write("config.yaml", &CONFIG.replace("checks: 0", "checks: 16"));
    scratch.run_well("--set budget.calls=742").reports(&["leaves nothing for the checks of the scorer"]);
    assert!(asked(&scratch).len() <= 742);
}

#[test]
fn a_budget_of_seconds_keeps_the_best_so_far() {
    let scratch = place();
    // 0.2 s a batch of 16: rank 1 takes a second, its estimate one and a half, rank 12 another seven
    scratch.write("scorer.sh", &PROGRAM.replace("scores=\n", "scores=; sleep 0.2\n"));
    let seen = scratch.run("--set oracle.batch=16 --set budget.seconds=4");
    assert_eq!(seen.code, Some(3), "{}", seen.err);
    let rank = scratch.json("runs/mine/factors/factors.json")["rank"].as_u64().unwrap();
    assert!((1..12).contains(&rank), "{rank}");
}

#[test]
fn a_target_error_is_met_with_no_more_landmarks_than_it_takes() {
    let scratch = place();
    let seen =
        scratch.run_well(&["--set", "target_error=0.3", "--set", "ranks=[4, 40]", "--set", "error_estimate=400"]);
    let info = scratch.json("runs/mine/factors/factors.json");
    assert!(info["error"]["upper"].as_f64().unwrap() <= 0.3, "{info}");
    let rank = info["rank"].as_u64().unwrap();
    assert!(rank < 40, "{info}");
    seen.reports(&[&format!("at {rank} columns")]);
    // what took them is counted once
    let kept = scratch.entries_kept("store");
    let read = |file: &str| scratch.read(&format!("runs/mine/{file}"));
    let line =
        read("summary.md").lines().find(|line| line.contains("with those of the error estimate")).map(str::to_owned);
    assert!(line.as_ref().is_some_and(|line| line.contains(&format!(" {kept} |"))), "{kept}: {line:?}");
    let page = read("report.html").replace(',', "");
    assert!(page.contains(&format!("landmarks took {kept} calls")), "{kept}");
    // a single rank is the largest
    let single = place();
    single.run_well("--set target_error=0.3 --set ranks=40 --set error_estimate=400");
    assert!(single.json("runs/mine/factors/factors.json")["rank"].as_u64().unwrap() < 40);
    // one that is not met is reported
    scratch
        .run_well(&["--set", "target_error=0.0001", "--set", "ranks=[4, 10]"])
        .reports(&["and not the 0.0001 that `target_error` asks for"]);
}

#[test]
fn a_model_over_texts_learns_from_no_pairs() {
    let scratch = Scratch::with(
        "name: mine\nexperiment: own_data\ndataset: { name: texts, path: items.txt }\n\
         oracle: { kind: cross_encoder, model: tiny, fine_tune: { epochs: 1 } }\nmethods: [shift_ridge]\nranks: 2\n",
    );
    scratch.write("items.txt", "one\ntwo\nthree\n");
    scratch.complains("", &["`fine_tune` learns from labeled pairs", "name the folder"]);
}

#[test]
fn wrong_items_and_programs_are_named_with_the_next_step() {
    let scratch = place();
    scratch.complains("--set dataset.text=body", &["no column `body`", "`key`"]);
    scratch.complains("--set oracle.command=[./nowhere]", &["`./nowhere` cannot be started"]);
    scratch.complains(&["--set", "oracle.command=[/bin/sh, -c, 'echo hi']"], &["greeted with `hi`", "\"landmark\": 1"]);
    scratch.complains(&["--set", "methods=[nystrom, sicur]"], &["one method"]);
    scratch.complains("--set methods=[optimal]", &["`optimal` has no factors"]);
    scratch.complains("--set oracle.processes=0", &["`processes` is 0"]);
    scratch.complains("--set budget.money=3", &["cost_per_entry"]);
    scratch.complains("--set output.formats=[parquet]", &["lacks `npy`"]);
    scratch.write("items.tsv", "key\ttext\na\t1\na\t2\n");
    scratch.complains("", &["the id `a` in row 1 and again in row 2"]);
}

#[test]
fn the_score_of_failed_pairs_is_set_changed_and_unset_without_a_call() {
    let scratch = place();
    let refusing = PROGRAM.replace(
        "d=$(($1 - $2));",
        "if [ $1 = 33 ] && [ ! -e mended ]; then echo \"$1 $2\" >> asked; scores=\"$scores,{\\\"error\\\":\\\"no 33\\\"}\"; shift 2; continue; fi; d=$(($1 - $2));",
    );
    scratch.write("scorer.sh", &refusing);
    let failed = "oracle.failed_pairs={ score: 60 }";
    let seen = scratch.run_well(&["--set", failed]);
    seen.reports(&["could not be scored"]);
    let (calls, failures) = (asked(&scratch), asked(&scratch).iter().filter(|pair| pair.starts_with("33 ")).count());
    assert!(failures > 5 && number_before(&seen.err, " pairs could not be scored") == failures as u64, "{}", seen.err);
    let changed = scratch.run_well(&["--set", "oracle.failed_pairs={ score: 0 }"]);
    assert_eq!(asked(&scratch), calls, "{}", changed.err);
    scratch.complains("", &["no 33", "gc --failures"]);
    assert_eq!(asked(&scratch), calls);
    let listed = scratch.say("store ls --failures");
    assert_eq!(listed.out.matches("no 33").count(), failures, "{}", listed.out);
    scratch.write("mended", "");
    assert_eq!(number_before(&scratch.say("store gc --failures").out, " failures forgotten"), failures as u64);
    scratch.run_well("");
    assert_eq!(asked(&scratch).len(), calls.len() + failures);
    assert!(scratch.say("store ls --failures").out.contains("has no failed pairs"));
}

#[test]
fn factors_of_items_that_have_changed_are_refused_with_the_next_step() {
    let scratch = place();
    scratch.refuses("topk config.yaml", &["run the configuration first"]);
    scratch.run_well("--quiet");
    let rows: String = (0..60).map(|i| format!("n{i}\t{}\n", i + 1)).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    scratch.refuses(
        "topk config.yaml",
        &[
            "cannot use the factors: the items have changed since they were made",
            "run the configuration again; stored scores of unchanged items are reused",
        ],
    );
    scratch.ends(2, "topk ../nowhere.yaml");
}
