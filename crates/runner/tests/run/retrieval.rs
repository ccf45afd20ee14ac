//! Neighbors at a number of calls, and items searched for new queries.
#![cfg(unix)]

use serde_json::json;

use crate::own_data::{PROGRAM, asked};
use crate::scratch::{MATRIX, Scratch, number_before, smooth_matrix};

const NEIGHBORS: &str = "\
name: near
experiment: retrieval
dataset: { name: embedded, limit: 60, vectors: { kind: ppmi_svd, dimension: 20 } }
oracle: { kind: wmd, gamma: 0.5, empty_documents: drop }
retrieval: { proxies: [wcd, rwmd], calls: [5, 10, 60] }
replicates: 2
";

#[test]
fn every_rival_keeps_to_its_calls_and_the_truth_is_evaluated_once() {
    let scratch = Scratch::with(NEIGHBORS);
    let planned = number_before(&scratch.run_well("--dry-run").out, " new calls (");
    let seen = scratch.run_well("");
    assert_eq!(number_before(&seen.err, " new calls, "), planned);
    let rows = scratch.figures("runs/near");
    let n = rows[0]["items"].as_u64().unwrap();
    assert_eq!(planned, n * (n - 1) / 2);
    let value = |metric: &str, method: &str, proxy: &str, calls: u64| -> f64 {
        let of = json!({ "metric": metric, "method_id": method, "comparison": proxy, "columns": calls });
        let found = scratch.values("runs/near", &of);
        assert_eq!(found.len(), 2, "{metric} {method} {proxy} {calls}");
        found.iter().sum::<f64>() / 2.0
    };
    for row in &rows {
        let (calls, spent) = (row["columns"].as_u64().unwrap(), row["evaluations"].as_u64().unwrap());
        assert!(spent <= calls * n, "{row}");
        assert!(calls < 60, "60 calls an item are all pairs: {row}");
    }
    for proxy in ["wcd", "rwmd"] {
        for calls in [5, 10] {
            let best = value("recall_at_10", "perfect", proxy, calls);
            for method in ["proxy", "rerank", "gar", "anncur_rescored", "axn", "sum_rescored"] {
                let found = value("recall_at_10", method, proxy, calls);
                assert!((0.0..=best + 1e-12).contains(&found), "{method}: {found} above {best}");
            }
            // the proxy's nearest is always scored
            let [alone, rescored] = ["proxy", "rerank"].map(|method| value("recall_at_1", method, proxy, calls));
            assert!(rescored >= alone, "{proxy} {calls}: {rescored} below {alone}");
        }
    }
    let before = scratch.files("runs");
    let again = scratch.run_well("");
    assert_eq!(number_before(&again.err, " new calls, "), 0);
    assert_eq!(scratch.files("runs"), before);
}

#[test]
fn the_search_goes_without_the_parts_that_are_asked_for() {
    let scratch = Scratch::with(&NEIGHBORS.replace("calls: [5, 10, 60]", "calls: [1, 5], ablations: [process]"));
    scratch.run_well("");
    let rows = scratch.figures("runs/near");
    let has = |id: &str| rows.iter().any(|row| row["method_id"] == id);
    assert!(has("rounds") && has("rounds_without_process") && has("axn"));
    assert!(!has("rounds_without_kriging") && !has("one_round"));
    // half of one call an item is no column, with which two baselines begin
    let at_one: Vec<&str> =
        rows.iter().filter(|row| row["columns"] == 1).filter_map(|row| row["method_id"].as_str()).collect();
    assert!(at_one.contains(&"rounds") && at_one.contains(&"anncur"), "{at_one:?}");
    assert!(!at_one.contains(&"axn") && !at_one.contains(&"anncur_rescored"), "{at_one:?}");
    let wrong = NEIGHBORS.replace("calls: [5, 10, 60]", "ablations: [proces]");
    Scratch::with(&wrong).complains("", &["`proces`", "did you mean `process`?"]);
}

#[test]
fn neighbors_that_cannot_be_compared_are_refused_by_name() {
    let complains = |text: &str, words: &[&str]| Scratch::with(text).complains("", words);
    complains(&NEIGHBORS.replace("[wcd, rwmd]", "[wdc]"), &["unknown proxy `wdc`", "did you mean `wcd`?"]);
    complains(&NEIGHBORS.replace("[wcd, rwmd]", "fragments"), &["the proxy `fragments` reads questions with trees"]);
    complains(&NEIGHBORS.replace("[5, 10, 60]", "[0]"), &["`retrieval.calls[0]` is 0, but must be at least 1"]);
    complains(&NEIGHBORS.replace("[5, 10, 60]", "[60]"), &["no number of `retrieval.calls` is below half of"]);
    complains(
        &NEIGHBORS.replace("retrieval: {", "retrival: {"),
        &["unknown key `retrival`", "did you mean `retrieval`?"],
    );
    let scratch = Scratch::with(
        &MATRIX.replace("error_curve", "retrieval").replace("methods", "retrieval: { proxies: wcd }\nmethods"),
    );
    scratch.write_matrix("matrix.npy", &smooth_matrix());
    scratch.complains("", &["the proxy `wcd` reads documents with word vectors"]);
}

#[test]
fn stated_recalls_are_held_against_true_ones_draw_by_draw() {
    let statements = NEIGHBORS.replace("experiment: retrieval", "experiment: coverage").replace(
        "retrieval: { proxies: [wcd, rwmd], calls: [5, 10, 60] }",
        "coverage: { proxy: wcd, k: 5, targets: [[0.7, 0.3]] }",
    );
    let scratch = Scratch::with(&statements);
    scratch.run_well("");
    let values =
        |metric: &str, method: &str| scratch.values("runs/near", &json!({ "metric": metric, "method_id": method }));
    for method in ["default", "strict", "plug_in", "truth"] {
        assert_eq!(values("refused", method).len(), 2, "{method}: one a draw");
        for (holds, recall) in values("coverage", method).iter().zip(values("true_recall", method)) {
            assert_eq!(*holds, f64::from(u8::from(recall >= 0.7 - 1e-9)), "{method}: {recall}");
        }
    }
    assert!(values("true_recall", "truth").iter().all(|&recall| recall >= 0.7));
    assert_eq!(values("price", "truth"), [0.0, 0.0]);
    // audited rows are calls, too
    assert!(values("price", "default").iter().all(|&price| price > 0.0), "{:?}", values("price", "default"));
    let refuse =
        |with: &str, words: &[&str]| Scratch::with(&statements.replace("[[0.7, 0.3]]", with)).complains("", words);
    refuse("[[1.0, 0.1]]", &["`recall` is 1, but must be above 0 and below 1"]);
    refuse("[[0.9, 0.0]]", &["`delta` is 0, but must be above 0 and below 1"]);
}

#[test]
fn stated_recalls_of_pairs_are_held_against_true_ones_and_budgets_of_labels() {
    let statements = NEIGHBORS.replace("experiment: retrieval", "experiment: coverage").replace(
        "retrieval: { proxies: [wcd, rwmd], calls: [5, 10, 60] }",
        "coverage: { proxy: wcd, at_least: 0.5, columns: 30, labels: [4, 12], targets: [[0.7, 0.3]] }",
    );
    let scratch = Scratch::with(&statements);
    scratch.run_well("");
    let n = scratch.figures("runs/near")[0]["items"].as_f64().unwrap();
    let values =
        |metric: &str, method: &str| scratch.values("runs/near", &json!({ "metric": metric, "method": method }));
    let all = (n - 1.0) / 2.0;
    // pairs of 30 columns, for an item
    let columns = 30.0 * (n - 1.0) / n - 30.0 * 29.0 / 2.0 / n;
    for method in [
        "held-out columns",
        "columns believed",
        "4 labels an item (SUPG)",
        "12 labels an item (SUPG)",
        "told the truth",
    ] {
        assert_eq!(values("refused", method).len(), 2, "{method}: one a draw");
        for (holds, recall) in values("coverage", method).iter().zip(values("true_recall", method)) {
            assert_eq!(*holds, f64::from(u8::from(recall >= 0.7 - 1e-9)), "{method}: {recall}");
        }
        let least = if method.contains("labels") { 0.0 } else { columns - 1e-9 };
        let calls = values("calls_per_item", method);
        assert!(calls.iter().all(|&calls| calls >= least && calls <= all), "{method}: {calls:?} of {least} to {all}");
    }
    assert_eq!(values("refused", "told the truth"), [0.0, 0.0]);
    assert!(values("true_recall", "told the truth").iter().all(|&recall| recall >= 0.7));
    assert_eq!(values("price", "told the truth"), [0.0, 0.0]);
    let refuse =
        |with: &str, words: &[&str]| Scratch::with(&statements.replace("at_least: 0.5", with)).complains("", words);
    refuse("k: 5", &["`coverage.columns` is for pairs: give `at_least`, too"]);
    refuse("at_least: 0.5, k: 5", &["`coverage.k` is for neighbors", "leave one of them out"]);
    refuse("at_least: .inf", &["a finite number"]);
    Scratch::with(&statements.replace("[4, 12]", "[0]"))
        .complains("", &["`coverage.labels[0]` is 0, but must be at least 1"]);
}

const SEARCH: &str = "\
name: found
experiment: search
dataset: { name: texts, path: items.tsv, id: key }
oracle: { kind: subprocess, command: [/bin/sh, scorer.sh], gamma: 0.05, checks: 0 }
queries: { path: past.tsv, id: key, anchors: 8, calls: [5, 10] }
";

/// 60 items, the even numbers below 120, and 12 past queries among them.
fn place() -> Scratch {
    let scratch = Scratch::with(SEARCH);
    let table = |rows: &mut dyn Iterator<Item = (String, usize)>| -> String {
        std::iter::once("key\ttext\n".to_owned()).chain(rows.map(|(id, number)| format!("{id}\t{number}\n"))).collect()
    };
    scratch.write("items.tsv", &table(&mut (0..60).map(|i| (format!("n{i}"), 2 * i))));
    scratch.write("past.tsv", &table(&mut (0..12).map(|i| (format!("p{i}"), 10 * i + 3))));
    scratch.write("new.tsv", &table(&mut [35, 71, 108].iter().map(|&i| (format!("q{i}"), i))));
    // one of them twice
    scratch.write("more.tsv", &table(&mut [108, 5, 35, 5].iter().enumerate().map(|(row, &i)| (format!("m{row}"), i))));
    scratch.write("scorer.sh", PROGRAM);
    scratch
}

fn best(scratch: &Scratch, file: &str) -> Vec<(String, String, String)> {
    // named by stem and place: `new-3f2a9c10.tsv` of `new.tsv`
    let stem = format!("{}-", file.trim_end_matches(".tsv"));
    let files = std::fs::read_dir(scratch.path("runs/found/searched")).unwrap();
    let mut names = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
    let name = names.find(|name| name.starts_with(&stem)).unwrap();
    let text = scratch.read(&format!("runs/found/searched/{name}"));
    let cells = text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    cells.filter(|cells| cells[1] == "1").map(|cells| (cells[0].clone(), cells[2].clone(), cells[4].clone())).collect()
}

#[test]
fn an_index_takes_its_rectangle_and_a_query_its_calls_and_nothing_is_asked_twice() {
    let scratch = place();
    let search_by = |queries: &str, calls: u64, more: &str| {
        scratch.well(&format!("search config.yaml --queries {queries} --calls-per-query {calls} {more}")).out
    };
    let search = |queries: &str, more: &str| search_by(queries, 8, more);
    scratch.say("search config.yaml --queries new.tsv").must_complain("there is no index in");
    let dry = scratch.run_well("--dry-run");
    assert_eq!(number_before(&dry.out, " new calls ("), 480);
    assert!(!dry.out.contains(" %)"), "nobody would score queries with each other: {}", dry.out);
    dry.must_complain("60 texts of `items.tsv` and 12 others");
    assert!(asked(&scratch).is_empty());
    scratch.run_well("").must_complain("at 10 calls per query");
    assert_eq!(asked(&scratch).len(), 480);

    assert!(search("new.tsv", "--dry-run").contains("3 queries take 24 calls if nothing is stored; 0 scores"));
    assert_eq!(asked(&scratch).len(), 480);
    assert!(search("new.tsv", "").contains("3 queries answered from 24 scores, 24 new calls"));
    assert_eq!(asked(&scratch).len(), 504);
    let found = best(&scratch, "new.tsv");
    // the even numbers are the items
    for ((id, item, exact), query) in found.iter().zip([35, 71, 108]) {
        let near: i64 = 2 * item[1..].parse::<i64>().unwrap();
        assert!((near - query).abs() <= 6 && exact == "true", "{id}: {item}");
    }
    // two of these were asked before, whatever their ids and order
    assert!(search("more.tsv", "--dry-run").contains("16 scores of these queries are stored"));
    // the one that comes twice is answered twice and evaluated once
    assert!(search("more.tsv", "").contains("32 scores, 8 new calls"));
    assert!(search("new.tsv", "").contains("24 scores, 0 new calls"));
    // fewer calls forget nothing
    assert!(search_by("new.tsv", 4, "").contains(" 0 new calls"));
    let answers = best(&scratch, "new.tsv");
    assert!(answers.iter().zip(&found).all(|(now, then)| now.1 == then.1), "{answers:?} {found:?}");
    assert!(search_by("more.tsv", 8, "--dry-run").contains("24 scores of these queries are stored"));
    let mut pairs = asked(&scratch);
    assert_eq!(pairs.len(), 512);
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), 512);

    let again = scratch.run_well("");
    assert_eq!(number_before(&again.err, " new calls, "), 0);
}

#[test]
fn how_well_an_index_does_is_seen_on_its_anchors() {
    let scratch = place();
    scratch.run_well("");
    let rows = scratch.figures("runs/found");
    let recall = |calls: u64| {
        scratch.values("runs/found", &json!({ "metric": "recall_at_1", "method_id": "index", "columns": calls }))[0]
    };
    // of 60 items on a line, without a proxy; ten at random would find a sixth
    assert!(recall(10) >= recall(5) && recall(10) > 0.25, "{} {}", recall(5), recall(10));
    assert!(rows.iter().all(|row| row["method_id"] != "rerank"), "there is no proxy to rerank");
    assert_eq!(asked(&scratch).len(), 480, "trying costs no call");
}

#[test]
fn an_index_of_something_else_is_refused() {
    let scratch = place();
    scratch.run_well("");
    let complains = |more: &str, words: &str| {
        scratch.fails(&format!("search config.yaml --queries new.tsv {more}"), &[words]);
    };
    complains("--set queries.anchors=4", "the index was made with other settings");
    let past = scratch.read("past.tsv");
    scratch.write("past.tsv", &past.replace("3\n", "4\n"));
    complains("", "from other items or past queries");
    scratch.write("past.tsv", &past);
    let program = PROGRAM.replace("\"difference\"", "\"another\"");
    scratch.write("scorer.sh", &program);
    complains("", "from scores of `difference`, and those of now are by `another`");
    scratch.write("scorer.sh", PROGRAM);
    let index = scratch.path("runs/found/index/index.safetensors");
    let bytes = std::fs::read(&index).unwrap();
    std::fs::write(&index, &bytes[..bytes.len() / 2]).unwrap();
    complains("", "is damaged");
    std::fs::write(&index, bytes).unwrap();
    let own = Scratch::with(&NEIGHBORS.replace("near", "other"));
    own.write("new.tsv", "key\ttext\na\t1\n");
    own.refuses("search config.yaml --queries new.tsv", &["builds no index"]);
}
