//! Two lists under a program that writes down each pair it is asked for: `topk`, `mine` and `audit` ask for pairs across alone, and nothing else runs.
#![cfg(unix)]

use std::collections::HashSet;

use serde_json::Value as Json;

use crate::own_data::{PROGRAM, asked, table};
use crate::scratch::{Scratch, number_before};

const CONFIG: &str = "\
name: across
experiment: own_data
dataset: { name: two_lists, left: a.csv, right: b.csv, id: key }
oracle: { kind: subprocess, command: [/bin/sh, scorer.sh], gamma: 0.05, checks: 0 }
";

/// 20 numbers below 200 on the left, 30 from 200 on to the right; ids of both files are the same words. 200 counts as 0.
fn place() -> Scratch {
    let scratch = Scratch::with(CONFIG);
    let rows = |from: usize, count: usize| (0..count).map(|i| format!("k{i},{}\n", from + 5 * i)).collect::<String>();
    scratch.write("a.csv", &format!("key,text\n{}", rows(1, 20)));
    scratch.write("b.csv", &format!("key,text\n{}", rows(200, 30)));
    scratch.write("scorer.sh", &PROGRAM.replace("$1 - $2", "$1 % 200 - $2 % 200"));
    scratch
}

/// As the program scores.
fn distance(i: i64, j: i64) -> i64 {
    (1 + 5 * (i - j)).abs()
}

fn number(id: &str) -> i64 {
    id.strip_prefix('k').unwrap().parse().unwrap()
}

/// Pairs that the program was asked for: each once, and none of two items of one list.
fn check_asked(scratch: &Scratch) -> usize {
    let pairs = asked(scratch);
    let mut seen = HashSet::new();
    for pair in &pairs {
        let (one, other) = pair.split_once(' ').unwrap();
        let is_left = |text: &str| text.parse::<u64>().unwrap() < 200;
        assert!(is_left(one) != is_left(other), "`{pair}` is a pair within a list");
        assert!(seen.insert((one.min(other).to_owned(), one.max(other).to_owned())), "`{pair}` twice");
    }
    pairs.len()
}

fn result(scratch: &Scratch, words: &str) -> Json {
    let printed = scratch.well(&format!("{words} --json --quiet"));
    serde_json::from_str::<Json>(&printed.out).unwrap()["result"].clone()
}

/// The right items of each left item by distance, the nearest first.
fn nearest(i: i64) -> Vec<i64> {
    let mut all: Vec<i64> = (0..30).collect();
    all.sort_by_key(|&j| distance(i, j));
    all
}

#[test]
fn the_nearest_across_cost_what_the_dry_run_estimates_and_are_those_of_brute_force_where_the_calls_reach_all_pairs() {
    for (more, proxy) in [("", false), ("methods: [{ id: shift_ridge, proxy: character_ngrams }]\n", true)] {
        let scratch = place();
        scratch.write("config.yaml", &format!("{CONFIG}{more}"));
        let few = "topk config.yaml -k 2 --calls-per-item 12";
        let dry = scratch.say(&format!("{few} --dry-run"));
        dry.prints(&["20 × 30 items", "exactly 240 calls"]);
        assert!(asked(&scratch).is_empty(), "a dry run makes no call");
        let printed = scratch.well(few);
        printed.prints(&["nearest items of the right list of each of 20 items of the left list"]);
        assert_eq!((check_asked(&scratch), number_before(&printed.out, " of them new")), (240, 240), "{proxy}");
        // again: everything is stored
        assert_eq!(number_before(&scratch.say(few).out, " of them new"), 0);

        let all = scratch.say("topk config.yaml -k 3 --calls-per-item 30");
        assert_eq!((all.code, check_asked(&scratch)), (Some(0), 600), "{}", all.err);
        let rows = table(&scratch, "runs/across/neighbors.tsv");
        assert_eq!(rows.len(), 60);
        for row in rows {
            let (i, j, rank) = (number(&row["left"]), number(&row["right"]), row["rank"].parse::<usize>().unwrap());
            assert_eq!(distance(i, j), distance(i, nearest(i)[rank - 1]), "{row:?}");
            let score: f64 = row["score"].parse().unwrap();
            assert!((score - (-0.05 * distance(i, j) as f64).exp()).abs() < 1e-9 && row["exact"] == "true", "{row:?}");
            assert_eq!((&row["left_text"], &row["right_text"]), (&(1 + 5 * i).to_string(), &(200 + 5 * j).to_string()));
        }
    }
}

#[test]
fn pairs_across_are_those_of_brute_force_where_the_budget_reaches_all_and_a_recall_is_guaranteed_below_it() {
    // exp(−0.05·12) is at least 0.54
    let wanted: HashSet<(i64, i64)> =
        (0..20).flat_map(|i| (0..30).map(move |j| (i, j))).filter(|&(i, j)| distance(i, j) <= 12).collect();
    let found = |scratch: &Scratch| -> HashSet<(i64, i64)> {
        let rows = table(scratch, "runs/across/pairs.tsv");
        rows.iter().map(|row| (number(&row["left"]), number(&row["right"]))).collect()
    };
    let scratch = place();
    let part = "mine config.yaml --at-least 0.54 --budget 251";
    let dry = scratch.say(&format!("{part} --dry-run"));
    assert!(dry.out.contains("exactly 251 calls") && asked(&scratch).is_empty(), "{}{}", dry.out, dry.err);
    let printed = scratch.say(part);
    assert_eq!((printed.code, check_asked(&scratch)), (Some(0), 251), "{}{}", printed.out, printed.err);
    assert!(found(&scratch).is_subset(&wanted) && !found(&scratch).is_empty());
    let printed = scratch.say("mine config.yaml --at-least 0.54 --budget 600");
    assert_eq!(
        (printed.code, check_asked(&scratch), found(&scratch)),
        (Some(0), 600, wanted.clone()),
        "{}",
        printed.err
    );

    let scratch = place();
    let target = "mine config.yaml --at-least 0.54 --target-recall 0.8 --delta 0.2";
    let printed = scratch.say(&format!("{target} --budget 600"));
    assert!(
        ["recall at least 0.8", "all pairs are known"].iter().any(|end| printed.out.contains(end)),
        "{}",
        printed.out
    );
    check_asked(&scratch);
    assert!(found(&scratch).len() * 10 >= wanted.len() * 8, "{} of {}", found(&scratch).len(), wanted.len());
    assert_eq!(scratch.json("runs/across/pairs.json")["reached"], true);
    let short = scratch.say(&format!("{target} --budget 40 --set seed=9"));
    assert!(short.code == Some(3) || short.out.contains("--budget"), "{:?} {}", short.code, short.out);
}

#[test]
fn an_audit_of_everything_across_is_the_share_that_brute_force_finds() {
    let scratch = place();
    // of each left item the right items of the same number and the next two
    let rows: String = (0..20).flat_map(|i| (0..3).map(move |d| format!("k{i},k{}\n", i + d))).collect();
    scratch.write("blocking.csv", &format!("left,right\n{rows}"));
    let pairs = "audit config.yaml blocking.csv --at-least 0.54 --calls 600";
    assert_eq!(result(&scratch, &format!("{pairs} --dry-run"))["calls"], 600);
    let of_pairs = result(&scratch, pairs);
    let all = || (0..20).flat_map(|i| (0..30).map(move |j| (i, j)));
    let is_listed = |&(i, j): &(i64, i64)| (0..3).contains(&(j - i));
    let near = || all().filter(|&(i, j)| distance(i, j) <= 12);
    let share = near().filter(is_listed).count() as f64 / near().count() as f64;
    assert!((of_pairs["recall"].as_f64().unwrap() - share).abs() < 1e-12, "{of_pairs} {share}");
    assert_eq!(of_pairs["recall"], of_pairs["lower"]);
    assert_eq!(check_asked(&scratch), 600);
    let of_lists = result(&scratch, "audit config.yaml blocking.csv -k 1 --calls 600");
    let hits = (0..20).filter(|&i| is_listed(&(i, nearest(i)[0]))).count();
    assert_eq!((of_lists["recall"].as_f64(), &of_lists["calls"]), (Some(hits as f64 / 20.0), &Json::from(0)));
    scratch.write("wrong.csv", "left,right\nk25,k1\n");
    scratch
        .say("audit config.yaml wrong.csv --at-least 0.5")
        .must_complain("`k25` is no item of the left list of `across`");
}

#[test]
fn a_search_that_was_killed_asks_for_the_rest_alone_and_lists_the_same() {
    let words = "topk config.yaml -k 3 --calls-per-item 15";
    let whole = place();
    whole.well(words);
    let scratch = place();
    scratch.write("scorer.sh", &whole.read("scorer.sh").replace("shift 2", "sleep 0.002; shift 2"));
    let mut run = scratch.command(words).spawn().unwrap();
    while asked(&scratch).len() < 60 && run.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    scratch.well(words);
    let list = |scratch: &Scratch| std::fs::read(scratch.path("runs/across/neighbors.tsv")).unwrap();
    assert_eq!(list(&scratch), list(&whole));
    let distinct = |scratch: &Scratch| asked(scratch).into_iter().collect::<HashSet<_>>();
    assert_eq!(distinct(&scratch), distinct(&whole));
    assert_eq!(check_asked(&whole), 300);
}

#[test]
fn scores_within_a_list_that_the_store_holds_stay_out_of_lists_across() {
    let scratch = place();
    scratch.write("b.csv", "key,text\nk0,3\nk1,7\nk2,200\n");
    let one = CONFIG
        .replace("two_lists, left: a.csv, right: b.csv", "texts, path: a.csv")
        .replace("name: across", "name: one");
    scratch.write("one.yaml", &format!("{one}methods: [shift_ridge]\nranks: 6\nerror_estimate: false\n"));
    scratch.well("topk one.yaml -k 2 --calls-per-item 19");
    scratch.well("topk config.yaml -k 2 --calls-per-item 2");
    let rows = table(&scratch, "runs/across/neighbors.tsv");
    let is_right = |text: &str| ["3", "7", "200"].contains(&text);
    assert!(rows.len() == 40 && rows.iter().all(|row| is_right(&row["right_text"])), "{rows:?}");
}

#[test]
fn what_two_lists_cannot_do_is_refused_in_one_sentence_with_what_works() {
    let scratch = place();
    let works = "landmark topk --calls-per-item";
    for words in [
        "config.yaml",
        "topk config.yaml",
        "topk config.yaml --rerank 5",
        "topk config.yaml --mode index",
        "topk config.yaml --mode exact",
        "topk config.yaml --target-recall 0.9",
        "mine config.yaml --groups --at-least 0.5",
        "cluster config.yaml --clusters 3",
        "project config.yaml a.csv",
        "export config.yaml --to npy",
    ] {
        scratch.fails(words, &["two lists", works]);
    }
    scratch.say("mine config.yaml --at-least 0.5").must_complain("add `--budget CALLS`");
    scratch.write("candidates.csv", "first,second\nk1,k2\n");
    scratch
        .say("topk config.yaml --calls-per-item 5 --candidates candidates.csv")
        .must_complain("`--candidates` are of one list");
    assert!(asked(&scratch).is_empty());
}

#[test]
fn files_that_are_missing_equal_or_empty_are_plain_errors() {
    let words = "topk config.yaml --calls-per-item 5";
    let scratch = place();
    std::fs::remove_file(scratch.path("b.csv")).unwrap();
    scratch.say(words).must_complain("`b.csv` can't be read");
    scratch.write("b.csv", "key,text\n");
    scratch.say(words).must_complain("has 0 items, but wanted are at least 1");
    scratch.write("config.yaml", &CONFIG.replace("right: b.csv", "right: ./a.csv"));
    scratch.say(words).must_complain("`left` and `right` are the same file");
    scratch.write("config.yaml", &CONFIG.replace(", right: b.csv", ""));
    scratch.say(words).must_complain("right");
    scratch.write("config.yaml", &CONFIG.replace("own_data", "error_curve"));
    scratch.say("config.yaml").must_complain("`two_lists` has two");
}
