//! One order a pair of an asymmetric score: half the calls, errors held against the mean of both orders.
#![cfg(unix)]

use std::collections::HashSet;

use ndarray::{Array1, Array2};
use ndarray_npy::read_npy;

use serde_json::json;

use crate::own_data::{self, PROGRAM, asked};
use crate::scratch::{Scratch, number_before};

const OWN: &str = "\
name: mine
experiment: own_data
dataset: { name: texts, path: items.tsv, id: key }
oracle: { kind: subprocess, command: [/bin/sh, scorer.sh], symmetrize: random, checks: 0 }
methods: [{ id: shift_ridge, known: [landmarks] }]
ranks: 12
error_estimate: 100
";

/// The items of `own_data`; the program answers 100 less their distance, and more where the first is high in its own way.
fn place(config: &str) -> Scratch {
    let scratch = own_data::place();
    scratch.write("config.yaml", config);
    let skewed = PROGRAM
        .replace("\"difference\",\"symmetric\":true,\"diagonal\":0", "\"skewed\",\"symmetric\":false")
        .replace("${d#-}", "$((100 - ${d#-} + 2 * ($1 * $1 % 11) - 2 * ($2 * $2 % 11)))");
    assert!(skewed.contains("skewed") && skewed.contains("% 11"));
    scratch.write("scorer.sh", &skewed);
    scratch
}

fn value(scratch: &Scratch, results: &str, method: &str, metric: &str, comparison: &str) -> f64 {
    scratch.values(results, &json!({ "method": method, "metric": metric, "comparison": comparison }))[0]
}

#[test]
fn a_pair_of_the_fit_takes_one_call_and_the_error_is_that_of_the_mean() {
    let scratch = place(OWN);
    let planned = number_before(&scratch.run_well("--dry-run").out, " calls: ");
    // 12 columns: 12·60 − 66 entries of one order; 95 pairs outside in both, 5 self-similarities, and the other order of 25 pairs inside
    assert_eq!(planned, (12 * 60 - 66) + 2 * 95 + 5 + 25);
    scratch.run_well("");
    let pairs = asked(&scratch);
    assert_eq!(pairs.len() as u64, planned);
    assert_eq!(pairs.iter().collect::<HashSet<_>>().len(), pairs.len(), "an order was asked for twice");

    scratch.has(
        "runs/mine/summary.md",
        &["relative error off the diagonal", "not evaluated", "large scores", "correlation with the score"],
    );

    scratch.run_well("--quiet --force");
    assert_eq!(asked(&scratch).len() as u64, planned, "all of it is in the store");
    // the mean of both orders takes twice the calls of the fit, and none of them is this run's
    let mean = scratch.run_well("--dry-run --set oracle.symmetrize=mean").out;
    assert_eq!(number_before(&mean, " calls: "), 2 * (12 * 60 - 78) + 12 + 2 * 95 + 5);
}

#[test]
fn a_census_finds_the_error_against_the_mean_of_both_orders() {
    let scratch = place(&OWN.replace("error_estimate: 100", "error_estimate: 100_000"));
    scratch.run_well("--quiet");
    // every order of every pair, and every item with itself
    assert_eq!(asked(&scratch).len(), 60 * 60);
    let z: Array2<f64> = read_npy(scratch.path("runs/mine/factors/vectors.npy")).unwrap();
    let signs: Array1<f64> = read_npy(scratch.path("runs/mine/factors/signature.npy")).unwrap();
    let ours = (&z * &signs).dot(&z.t());
    let wanted = Array2::from_shape_fn((60, 60), |(i, j)| 100.0 - (i as f64 - j as f64).abs());
    let error = (&ours - &wanted).mapv(|x| x * x).sum().sqrt() / wanted.mapv(|x| x * x).sum().sqrt();
    let stated = scratch.json("runs/mine/factors/factors.json")["error"]["relative"].as_f64().unwrap();
    // the same sums in another order
    assert!((stated - error).abs() < 1e-9, "{stated} and {error}");
}

#[test]
fn a_budget_pays_for_both_orders_together() {
    let scratch = place(OWN);
    let seen = scratch.run("--set budget.calls=600");
    assert_eq!(seen.code, Some(3), "{}", seen.err);
    let evaluated = asked(&scratch).len();
    assert!(evaluated <= 600 && evaluated > 500, "{evaluated}");
}

#[test]
fn one_order_is_shown_with_both_at_equal_calls() {
    let scratch = Scratch::with(
        "name: m\nexperiment: error_curve\ndataset: { name: precomputed, path: matrix.npy }\n\
         oracle: { kind: precomputed, symmetrize: mean }\nranks: [8]\ncompare: both\nreplicates: 3\n\
         methods: [{ id: shift_ridge, known: [landmarks] }, { id: shift_ridge, known: [landmarks], order: random }, optimal]\n",
    );
    let skewed = |(i, j): (usize, usize)| {
        let effect = |i: usize| 0.1 * ((i * i % 11) as f64 - 4.0);
        (-((i as f64 - j as f64) / 20.0).powi(2)).exp() + effect(i) - effect(j)
    };
    scratch.write_matrix("matrix.npy", &Array2::from_shape_fn((80, 80), skewed));
    scratch.run_well("--quiet");
    let of = |method: &str, comparison: &str| value(&scratch, "runs/m", method, "off_diagonal_error", comparison);
    assert!(of("shift_ridge + known, one order", "entries") < 0.5, "the effects of the items were not removed");
    let rows = scratch.figures("runs/m");
    let row = |method: &str, comparison: &str| {
        rows.iter().find(|row| row["method"] == method && row["comparison"] == comparison).unwrap().clone()
    };
    let (one, both) = (row("shift_ridge + known, one order", "entries"), row("shift_ridge + known", "entries"));
    assert_eq!((one["rank"].as_u64(), both["rank"].as_u64()), (Some(16), Some(8)), "twice the columns");
    let calls = |row: &serde_json::Value| row["evaluations"].as_u64().unwrap();
    assert!(calls(&one) <= calls(&both) + 80, "{one} {both}");

    // what reads both orders has the rows that it had without a neighbor
    let alone = Scratch::with(
        &std::fs::read_to_string(scratch.path("config.yaml"))
            .unwrap()
            .replace("{ id: shift_ridge, known: [landmarks], order: random }, ", ""),
    );
    alone.write_matrix("matrix.npy", &Array2::from_shape_fn((80, 80), skewed));
    alone.run_well("--quiet");
    let error = |scratch: &Scratch, method: &str| value(scratch, "runs/m", method, "relative_error", "rank");
    for method in ["shift_ridge + known", "optimal"] {
        assert_eq!(error(&scratch, method), error(&alone, method));
    }
    let keys = |scratch: &Scratch| -> HashSet<String> {
        let text = scratch.read("runs/m/cells.jsonl");
        text.lines().map(|line| line.split('"').nth(3).unwrap().to_owned()).collect()
    };
    assert!(keys(&alone).is_subset(&keys(&scratch)), "the keys of the others moved");
}

#[test]
fn one_order_of_what_has_none_or_is_judged_by_itself_is_refused() {
    for (from, to, words) in [
        ("ranks: 12", "ranks: [4, 12]\ntarget_error: 0.2", "one order a pair is not what is wanted"),
        ("ranks: 12", "ranks: 12\nbudget: { seconds: 9 }", "one order a pair is not what is wanted"),
        ("known: [landmarks]", "known: [landmarks], order: randm", "randm"),
    ] {
        place(&OWN.replace(from, to)).complains("", &[words]);
    }
    let largest = OWN.replace("symmetrize: random", "symmetrize: max").replace("id: shift", "order: random, id: shift");
    place(&largest).complains("", &["the score is not the mean of both", "symmetrize: mean"]);
}

#[test]
fn a_search_by_the_mean_calls_one_order_of_each_pair_and_the_other_of_the_best_within_its_plan_and_budget() {
    let config = OWN.replace("symmetrize: random", "symmetrize: mean");
    let topk = "topk config.yaml -k 3 --calls-per-item 8";
    let limited = |scratch: &Scratch, budget: &str| scratch.say(&format!("{topk} --budget {budget}"));
    let orders = |lines: &[String]| {
        let pair = |line: &String| line.split_once(' ').map(|(i, j)| (i.parse().unwrap(), j.parse().unwrap())).unwrap();
        let pairs: Vec<(usize, usize)> = lines.iter().map(pair).collect();
        let distinct: HashSet<(usize, usize)> = pairs.iter().copied().collect();
        assert_eq!(distinct.len(), pairs.len(), "an order was asked for twice");
        pairs.iter().filter(|&&(i, j)| i < j && distinct.contains(&(j, i))).count()
    };
    let scratch = place(&config);
    let dry = scratch.say(&format!("{topk} --dry-run"));
    assert_eq!(number_before(&dry.out, " calls;"), 480, "{}{}", dry.out, dry.err);
    dry.prints(&["the other order of the best 120 at the end"]);
    scratch.say(topk).prints(&["480 calls, 480 of them new"]);
    assert_eq!((asked(&scratch).len(), orders(&asked(&scratch))), (480, 120));
    let table = scratch.read("runs/mine/neighbors.tsv");
    let mut exact = 0;
    for row in table.lines().skip(1).map(|row| row.split('\t').collect::<Vec<_>>()).filter(|row| row[4] == "true") {
        let [one, other] = [row[0], row[2]].map(|id| id[1..].parse::<f64>().unwrap());
        assert!((row[3].parse::<f64>().unwrap() - (100.0 - (one - other).abs())).abs() < 1e-9, "{row:?}");
        exact += 1;
    }
    assert!(exact > 0, "{table}");
    scratch.say(topk).prints(&["480 calls, 0 of them new"]);
    assert_eq!(scratch.read("runs/mine/neighbors.tsv"), table);

    let cut = place(&config);
    for (budget, calls, code) in [("200", 200, 3), ("200", 400, 3), ("200", 480, 0)] {
        let seen = limited(&cut, budget);
        assert_eq!((seen.code, asked(&cut).len()), (Some(code), calls), "{}{}", seen.out, seen.err);
    }
    assert_eq!(orders(&asked(&cut)), 120);
    assert_eq!(cut.read("runs/mine/neighbors.tsv"), table);
}
