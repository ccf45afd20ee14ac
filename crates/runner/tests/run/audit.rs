//! `landmark audit`: the recall of candidates that something else made, against brute force.
#![cfg(unix)]

use serde_json::Value as Json;

use crate::own_data::{asked, place};
use crate::scratch::Scratch;

fn audit(scratch: &Scratch, words: &str) -> Json {
    let seen = scratch.well(&format!("audit config.yaml {words} --json --quiet"));
    serde_json::from_str::<Json>(&seen.out).unwrap()["result"].clone()
}

fn near(value: &Json, wanted: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - wanted).abs() < 1e-12, "{value} is not {wanted}");
}

/// Pairs of numbers at most 5 apart, and 40 that are far apart: of the 392 that are at most 7 apart, 285.
fn blocking(separator: &str) -> String {
    let close = (0..60).flat_map(|i| (1..=5).map(move |d| (i + d, i))).filter(|(i, _)| *i < 60);
    let rows: Vec<String> =
        close.chain((0..40).map(|i| (i, i + 20))).map(|(i, j)| format!("n{i}{separator}{j}")).collect();
    rows.join("\n") + "\n"
}

#[test]
fn an_audit_of_all_pairs_is_the_share_that_brute_force_finds_and_needs_no_run() {
    let scratch = place();
    scratch.write("blocking.csv", &format!("first,second\n{}n4,4\nn1,n0\n", blocking(",")));
    // exp(−0.05·7) is at least 0.7, and exp(−0.05·8) is not
    let words = "blocking.csv --at-least 0.7 --calls 1770";
    let dry = audit(&scratch, &format!("{words} --dry-run"));
    assert_eq!(dry["calls"], 1770);
    assert!(asked(&scratch).is_empty(), "a dry run makes no call");
    let found = audit(&scratch, words);
    assert_eq!((asked(&scratch).len(), &found["scored"]), (1770, &Json::from(1770)));
    near(&found["recall"], 285.0 / 392.0);
    near(&found["lower"], 285.0 / 392.0);
    // stored scores take no call
    assert_eq!(audit(&scratch, &format!("{words} --dry-run"))["calls"], 0);
    let seen = scratch.say("audit config.yaml blocking.csv --at-least 0.7");
    seen.reports(&["325 of 325 candidates and 1,445 of 1,445 other pairs are scored: exactly 0 calls"]);
    seen.prints(&[
        "2 rows are ignored: they repeat a pair",
        "recall of the candidates: about 0.727; at least 0.727 with probability 0.9",
    ]);
}

#[test]
fn a_sampled_audit_makes_the_calls_that_it_announced_and_its_bound_is_below_the_recall() {
    let scratch = place();
    let rows: String = blocking(" ")
        .lines()
        .map(|row| {
            let (i, j) = row.split_once(' ').unwrap();
            format!("{{\"a\": \"{i}\", \"b\": \"{j}\", \"score\": \"high\"}}\n")
        })
        .collect();
    scratch.write("blocking.jsonl", &rows);
    let words = "blocking.jsonl --first a --second b --at-least 0.7 --calls 900";
    let found = audit(&scratch, words);
    assert_eq!((asked(&scratch).len(), &found["calls"]), (900, &Json::from(900)));
    let truth = 285.0 / 392.0;
    let of = |found: &Json, name: &str| found[name].as_f64().unwrap();
    assert!(of(&found, "lower") > 0.6 && (of(&found, "recall") - truth).abs() < 0.1, "{found}");
    let surer = audit(&scratch, &format!("{words} --delta 0.001"));
    assert!(of(&surer, "lower") < of(&found, "lower") && surer["calls"] == 0, "{surer}");
    let is_wrong = |seed: &u32| of(&audit(&scratch, &format!("{words} --set seed={seed}")), "lower") > truth;
    // 2 of 20 are allowed on average; three standard deviations more would show a bound that is none
    assert!((1..=20).filter(is_wrong).count() <= 6);
}

#[test]
fn an_audit_of_lists_is_the_mean_share_of_the_true_neighbors_that_they_hold() {
    let scratch = place();
    // every third item lists its two nearest, the others list one of them
    let next = |i: i32| if i < 59 { i + 1 } else { 58 };
    let last = |i: i32| {
        if i == 0 {
            2
        } else if i == 59 {
            57
        } else {
            i - 1
        }
    };
    let rows: String = (0..60)
        .flat_map(|i| [(i, next(i)), (i, if i % 3 == 0 { last(i) } else { (i + 30) % 60 })])
        .map(|(i, j)| format!("n{i}\t1\tn{j}\n"))
        .collect();
    scratch.write("index.tsv", &format!("id\trank\tneighbor\n{rows}"));
    let found = audit(&scratch, "index.tsv -k 2");
    assert_eq!((asked(&scratch).len(), &found["calls"]), (1770, &Json::from(1770)));
    near(&found["recall"], (20.0 + 40.0 * 0.5) / 60.0);
    near(&found["lower"], (20.0 + 40.0 * 0.5) / 60.0);
    // 20 audited items
    let found = audit(&scratch, "index.tsv -k 2 --calls 1199");
    assert_eq!(found["scored"], 20 * 59 - 190);
    assert!(found["lower"].as_f64().unwrap() < 0.667 && found["recall"].as_f64().unwrap() > 0.5, "{found}");
}

#[test]
fn candidates_that_cannot_be_audited_end_with_2_before_the_first_call() {
    let scratch = place();
    scratch.write("blocking.csv", &format!("first,second\n{}", blocking(",")));
    scratch.write("wrong.csv", "first,second\nn1,n99\n");
    for (words, message) in [
        ("blocking.csv", "--at-least <SCORE>|--k <ITEMS>"),
        ("blocking.csv --at-least 0.7 -k 2", "cannot be used with"),
        ("blocking.csv --at-least 0.7 --delta 1", "`delta` is 1"),
        ("blocking.csv -k 2 --calls 58", "use at least `--calls 59`"),
        ("blocking.csv --at-least 0.7 --calls 1", "use at least `--calls 2`"),
        ("blocking.csv --at-least 0.7 --first a", "use `--first COLUMN`"),
        ("wrong.csv --at-least 0.7", "row 1: `n99` is no item of `mine`"),
    ] {
        let seen = scratch.ends(2, &format!("audit config.yaml {words}"));
        assert!(seen.err.contains(message), "{words:?}: {:?} {}", seen.code, seen.err);
    }
    assert!(asked(&scratch).is_empty());
}
