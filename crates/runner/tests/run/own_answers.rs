//! What the factors of a user's own items are good for: neighbors, pairs, clusters, labels, new items, proxies.
#![cfg(unix)]

use std::collections::HashMap;

use ndarray::Array2;
use ndarray_npy::read_npy;

use crate::own_data::{CONFIG, PROGRAM, asked, place, table};
use crate::scratch::{Scratch, number_before};

#[test]
fn neighbors_pairs_clusters_and_labels_follow_the_score() {
    let scratch = place();
    scratch.run_well("--quiet --set ranks=30");
    let evaluated = asked(&scratch).len();
    let well = |arguments: &str| scratch.well(&format!("{arguments} --set ranks=30"));
    well("topk config.yaml -k 2");
    let near = table(&scratch, "runs/mine/neighbors.tsv");
    assert_eq!(near.len(), 120);
    let number = |row: &HashMap<String, String>, key: &str| row[key][1..].parse::<f64>().unwrap();
    let gaps = near.iter().map(|row| (number(row, "id") - number(row, "neighbor")).abs());
    let mean_gap = gaps.sum::<f64>() / 120.0;
    // the two nearest of a number are 1 away, at the ends 2
    assert!(mean_gap < 2.0, "{mean_gap}");
    well("mine config.yaml --pairs 5 --out pairs.csv").prints(&["the 5 most similar pairs: `pairs.csv`"]);
    assert_eq!(scratch.read("pairs.csv").lines().count(), 6);
    well("cluster config.yaml --clusters 3").prints(&["60 items in 3 clusters"]);
    let clusters = table(&scratch, "runs/mine/clusters.tsv");
    assert_eq!((clusters.len(), &clusters[0]["cluster"]), (60, &clusters[1]["cluster"]), "0 and 1 lie together");
    let labels: String =
        (0..60).step_by(3).map(|i| format!("n{i}\t{}\n", if i < 30 { "low" } else { "high" })).collect();
    scratch.write("labels.tsv", &format!("id\tlabel\n{labels}"));
    let ran = well("classify config.yaml --labels labels.tsv");
    ran.prints(&["20 labeled items in 2 classes, 40 labeled now"]);
    let labeled = table(&scratch, "runs/mine/labels.tsv");
    let right = labeled.iter().enumerate().filter(|(i, row)| (row["label"] == "low") == (*i < 30)).count();
    assert!(right >= 57, "{right} of 60");
    assert_eq!(asked(&scratch).len(), evaluated, "factors cost nothing");
}

#[test]
fn of_equal_texts_the_exact_score_is_listed_where_the_score_function_states_it() {
    let config = "\
name: mine
experiment: own_data
dataset: { name: texts, path: items.tsv, id: key }
oracle: { kind: string, measure: token_sort }
methods: [shift_ridge]
ranks: 6
";
    let scratch = Scratch::with(config);
    // 40 names, of which 37 and 38 are 3, and 39 is 8
    let name = |i: usize| format!("{} {}", ["anna", "bertha", "carl", "dora", "emil"][i % 5], i * i * 7919 % 10_007);
    let rows: String = (0..40_usize)
        .map(|i| format!("n{i}\t{}\n", name([3, 3, 8].get(i.wrapping_sub(37)).copied().unwrap_or(i))))
        .collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    scratch.run_well(&["--quiet"]);
    // the page counts the calls that were made: equal texts are scored once
    let run = scratch.json("runs/mine/run.json");
    let stated = |key: &str| run["facts"]["calls"][key].as_u64().unwrap();
    assert_eq!(Some(stated("fit") + stated("estimate")), run["calls"]["evaluated"].as_u64(), "{}", run["facts"]);
    scratch.well(&["mine", "config.yaml", "--pairs", "10"]);
    let pairs = table(&scratch, "runs/mine/pairs.tsv");
    let equal: Vec<_> = pairs.iter().filter(|row| row["first_text"] == row["second_text"]).collect();
    assert_eq!(equal.len(), 4, "{pairs:?}");
    let known = |row: &HashMap<String, String>| row["score"].parse() == Ok(1.0) && row["exact"] == "true";
    assert!(equal.iter().all(|row| known(row)), "{equal:?}");
    for mode in [&[][..], &["--mode", "index"]] {
        scratch.well(&[&["topk", "config.yaml", "-k", "2"], mode].concat());
        let near = table(&scratch, "runs/mine/neighbors.tsv");
        let groups = [&["n3", "n37", "n38"][..], &["n8", "n39"]];
        let is_equal = |row: &&HashMap<String, String>| {
            groups.iter().any(|group| ["id", "neighbor"].iter().all(|key| group.contains(&row[*key].as_str())))
        };
        let (equal, others): (Vec<_>, Vec<_>) = near.iter().partition(is_equal);
        assert!(equal.len() >= 8 && equal.iter().all(|row| known(row)), "{mode:?}: {equal:?}");
        assert!(others.iter().all(|row| row["exact"] == "false"), "{mode:?}");
    }
}

#[test]
fn approximate_neighbors_come_with_the_recall_that_was_measured() {
    let scratch = place();
    scratch.run_well("--quiet --set ranks=30");
    let topk = "topk config.yaml -k 2 --set ranks=30";
    // the last digits of a score, which decide between two that are as far away, depend on the order of its products
    let lists = || {
        let rows = table(&scratch, "runs/mine/neighbors.tsv");
        let score = |row: &HashMap<String, String>| format!("{:.9}", row["score"].parse::<f64>().unwrap());
        rows.iter().map(|row| (row["id"].clone(), score(row))).collect::<Vec<_>>()
    };
    scratch.well(topk);
    let exact = lists();
    let measured = ["recall 1.0000 of the 2 nearest by the factors", "measured at all of them"];
    scratch.well(&format!("{topk} --mode index")).prints(&measured);
    assert_eq!(lists(), exact);
}

#[test]
fn rescoring_ranks_by_the_program_itself() {
    let scratch = place();
    scratch.run_well("--quiet");
    let before = asked(&scratch).len();
    scratch.well("topk config.yaml -k 3 --rerank 20");
    let near = table(&scratch, "runs/mine/neighbors.tsv");
    for row in near.iter().filter(|row| row["rank"] == "1") {
        let number = |key: &str| row[key][1..].parse::<i64>().unwrap();
        assert_eq!((number("id") - number("neighbor")).abs(), 1, "{row:?}");
        assert_eq!(row["exact"], "true");
    }
    assert!(asked(&scratch).len() > before);
}

#[test]
fn new_items_are_embedded_from_their_scores_with_the_landmarks_alone() {
    let scratch = place();
    scratch.run_well("--quiet --set ranks=30");
    let before = asked(&scratch).len();
    scratch.write("new.tsv", "key\ttext\nfirst\t7\nsecond\t41\nthird\t100\n");
    // texts that are here already are not scored again, and a text equals itself
    let new = 30;
    for evaluated in [new, 0] {
        let already = asked(&scratch).len();
        let printed = scratch.well("project config.yaml new.tsv -k 1 --set ranks=30");
        assert_eq!(asked(&scratch).len() - already, evaluated, "a new text and 30 landmarks, once: {}", printed.out);
    }
    assert_eq!(asked(&scratch).len(), before + new);
    let near = table(&scratch, "runs/mine/projected/new/neighbors.tsv");
    for (row, wanted) in near.iter().zip([7.0, 41.0]) {
        let number = row["neighbor"][1..].parse::<f64>().unwrap();
        assert!((number - wanted).abs() <= 2.0, "{row:?}");
    }
    let vectors: Array2<f64> = read_npy(scratch.path("runs/mine/projected/new/vectors.npy")).unwrap();
    let z: Array2<f64> = read_npy(scratch.path("runs/mine/factors/vectors.npy")).unwrap();
    // an item of the matrix, handed in again as new, gets the row that it has
    for k in 0..z.ncols() {
        assert!((vectors[[0, k]] - z[[7, k]]).abs() < 1e-9, "column {k}");
    }
}

#[test]
fn factors_that_embed_no_new_items_are_refused_before_a_call() {
    let scratch = place();
    scratch.write("new.tsv", "key\ttext\nfirst\t7\n");
    let refused = |arguments: &str, words: &[&str]| {
        let before = asked(&scratch).len();
        scratch.refuses(&format!("project config.yaml new.tsv {arguments}"), words);
        assert_eq!(asked(&scratch).len(), before, "not one call");
    };
    let stack = "--set methods=[stack]";
    scratch.run_well(&format!("--quiet {stack}"));
    refused(stack, &["cannot embed new items with factors of the method `stack`", "`methods: [shift_ridge]`"]);
    // factors of an earlier version, which name no configuration
    scratch.run_well("--quiet");
    let mut info = scratch.json("runs/mine/factors/factors.json");
    info["proxy"] = true.into();
    info["config"] = serde_json::Value::Null;
    scratch.write("runs/mine/factors/factors.json", &info.to_string());
    refused("", &["the factors were built with a proxy, but the configuration has none"]);
}

#[test]
fn an_answer_is_moved_over_the_one_before_when_it_is_whole() {
    let scratch = place();
    scratch.run_well("--quiet");
    for (name, border) in [("few.tsv", 10), ("many.tsv", 40)] {
        let rows: String = (0..60).step_by(3).map(|i| format!("n{i}\t{}\n", i < border)).collect();
        scratch.write(name, &format!("id\tlabel\n{rows}"));
    }
    scratch.write("new.tsv", "key\ttext\nfirst\t7\n");
    scratch.write("new.csv", "key,text\nfirst,41\n");
    let mine = "mine config.yaml --at-least 0.86 --target-recall 0.8 --delta 0.2";
    let projected =
        ["vectors.npy", "vectors.parquet", "neighbors.tsv"].map(|name| format!("runs/mine/projected/new/{name}"));
    let answers: [(&[&str], [&str; 2]); 5] = [
        (&["runs/mine/neighbors.tsv"], ["topk config.yaml -k 2", "topk config.yaml -k 3"]),
        (&["list.parquet"], ["topk config.yaml -k 2 --out list.parquet", "topk config.yaml -k 3 --out list.parquet"]),
        // the second time there is nothing to evaluate, which the statement shows
        (&["runs/mine/pairs.json"], [mine, mine]),
        (
            &["runs/mine/labels.tsv", "runs/mine/labels.json"],
            ["classify config.yaml --labels few.tsv", "classify config.yaml --labels many.tsv"],
        ),
        (&projected.each_ref().map(String::as_str), ["project config.yaml new.tsv", "project config.yaml new.csv"]),
    ];
    let read = |file: &str| std::fs::read(scratch.path(file)).unwrap();
    for (files, [first, second]) in answers {
        scratch.well(first);
        let before: Vec<Vec<u8>> = files.iter().map(|file| read(file)).collect();
        // a second name keeps what is written over in place
        let link =
            |file: &str| std::fs::hard_link(scratch.path(file), scratch.path(&format!("{file}.before"))).unwrap();
        files.iter().for_each(|file| link(file));
        scratch.well(second);
        for (file, before) in files.iter().zip(before) {
            assert!(read(file) != before, "`{file}` is another answer now");
            assert!(read(&format!("{file}.before")) == before, "`{file}` was written in place");
        }
    }
    let left = scratch.files("runs").into_keys().find(|path| path.extension().is_some_and(|name| name == "part"));
    assert_eq!(left, None);
}

/// Scores by the oracles of the workspace, seen through cheap relatives of theirs: a section `oracle`, a dataset, a proxy.
const HOUSE: [(&str, &str, &str); 3] = [
    (
        "{ kind: wmd, gamma: 1.0 }",
        "{ name: texts, path: items.txt, vectors: { kind: ppmi_svd, dimension: 6, min_count: 1 } }",
        "{ kind: rwmd }",
    ),
    (
        "{ kind: wmd, gamma: 2.0 }",
        "{ name: texts, path: items.txt, vectors: { kind: ppmi_svd, dimension: 6, min_count: 1 } }",
        "bag_of_words",
    ),
    #[cfg(feature = "torch")]
    (
        "{ kind: cross_encoder, model: tiny }",
        "{ name: texts, path: items.txt }",
        "{ kind: embedding_cosine, model: tiny }",
    ),
    #[cfg(not(feature = "torch"))]
    ("{ kind: wmd, gamma: 2.0 }", "{ name: texts, path: items.txt, vectors: { kind: ppmi_svd } }", "{ kind: wcd }"),
];

#[test]
fn texts_under_an_oracle_of_the_house_are_factored_and_projected_with_its_proxy() {
    let texts: Vec<String> = (0..24)
        .map(|i| {
            let word = |k: usize| ["harbour", "lantern", "violin", "orchard", "ferry", "saffron", "quarry"][k % 7];
            format!("the {} and the {} by the {} {}", word(i), word(i / 3 + 2), word(i * 5 + 1), word(i * i))
        })
        .collect();
    for (oracle, dataset, proxy) in HOUSE {
        let method = format!("{{ id: shift_ridge, proxy: {proxy} }}");
        let scratch = Scratch::with(&format!(
            "name: mine\nexperiment: own_data\ndataset: {dataset}\noracle: {oracle}\nmethods: [{method}]\nranks: 8\n"
        ));
        scratch.write("items.txt", &texts.join("\n"));
        scratch.run_well("--quiet");
        // two of the old ones, handed in again as new, get the rows that they have
        scratch.write("new.txt", &format!("{}\n{}\nthe violin and the harbour\n", texts[5], texts[17]));
        // a model is asked in both orders, and what it has scored serves another list of texts; what costs little is computed again. In a store
        // that knows nothing the columns of the factors are evaluated again: eight with sixteen others, with each other and each with itself
        let columns = 8 * 16 + 8 * 7 / 2;
        // three texts equal others, and a model is asked for equal ones once
        let distinct = columns - 8 * 3;
        let rounds = match oracle.contains("cross_encoder") {
            true => [("store", 2 * 8), ("store", 0), ("another", 2 * distinct + 8 + 2 * 8), ("another", 0)],
            false => [("store", 3 * 8), ("store", 0), ("another", columns + 3 * 8), ("another", 0)],
        };
        for (store, evaluated) in rounds {
            let printed = scratch.well(&["project", "config.yaml", "new.txt", "--store", store]);
            assert_eq!(number_before(&printed.out, " new calls"), evaluated, "{oracle}: {}", printed.out);
        }
        let vectors: Array2<f64> = read_npy(scratch.path("runs/mine/projected/new/vectors.npy")).unwrap();
        let z: Array2<f64> = read_npy(scratch.path("runs/mine/factors/vectors.npy")).unwrap();
        for (new, old) in [(0, 5), (1, 17)] {
            let apart = (&vectors.row(new) - &z.row(old)).mapv(f64::abs).fold(0.0, |a: f64, &b| a.max(b));
            // a model in single precision scores a pair in another batch a little differently
            assert!(apart < 1e-3, "{oracle}: rows differ by {apart}");
        }
    }
}

#[test]
fn words_are_a_proxy_of_a_program_too() {
    let scratch = place();
    let words = ["harbour", "lantern", "violin", "orchard", "ferry"];
    let rows: String =
        (0..60).map(|i| format!("n{i}\t{i} {} {} {}\n", words[i % 5], words[i / 12], words[i / 3 % 5])).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
    let vectors = "dataset.vectors={ kind: ppmi_svd, dimension: 3, min_count: 1 }";
    scratch.run_well(&["--quiet", "--set", vectors, "--set", "methods=[{ id: shift_ridge, proxy: rwmd }]"]);
}

#[test]
fn commands_that_evaluate_check_the_program_first() {
    let checked = || {
        let scratch = place();
        scratch.write("config.yaml", &CONFIG.replace(", checks: 0", ""));
        scratch
    };
    let commands = [
        "topk config.yaml --calls-per-item 12 -k 2",
        "topk config.yaml --rerank 20 -k 2",
        "mine config.yaml --pairs 5 --rerank 60",
        "cluster config.yaml --pivots --at-least 0.9",
        "project config.yaml new.tsv",
    ];
    let changed = PROGRAM.replace("d=$(($1 - $2))", "d=$((2 * ($1 - $2)))");
    for command in commands {
        let scratch = checked();
        scratch.write("new.tsv", "key\ttext\na\t70\nb\t90\n");
        scratch.run_well("--quiet");
        scratch.write("scorer.sh", &changed);
        let before = asked(&scratch).len();
        let printed = scratch.say(command);
        assert!(printed.code != Some(0), "{command:?}: {}", printed.out);
        printed.must_complain("the program calls itself `difference`, as it did when its scores were stored");
        assert!(asked(&scratch).len() <= before + 16, "{command:?}");
        // the scores of the other program were not kept
        scratch.write("scorer.sh", PROGRAM);
        scratch.well(command);
        let again = asked(&scratch).len();
        scratch.well(command);
        assert!(again > before, "{command:?}");
        assert_eq!(asked(&scratch).len(), again, "{command:?}: what makes no call checks nothing");
    }
    // an order that matters, found before the first list
    let scratch = checked();
    scratch.write("scorer.sh", &PROGRAM.replace("${d#-}", "$((d > 0 ? d : 0))"));
    scratch.say("topk config.yaml --calls-per-item 12 -k 2 --dry-run").prints(&["and at most 32 to check the scorer"]);
    let printed = scratch.say("topk config.yaml --calls-per-item 12 -k 2");
    assert!(printed.code != Some(0), "{}", printed.out);
    printed.must_complain("the program states that its score is symmetric");
    assert!(asked(&scratch).len() <= 32, "{}", asked(&scratch).len());
}

#[test]
fn a_table_that_cannot_be_written_is_refused_before_anything_is_evaluated() {
    let scratch = place();
    scratch.run_well("--quiet");
    let evaluated = asked(&scratch).len();
    for command in [
        "topk config.yaml --calls-per-item 30",
        "topk config.yaml --rerank 40",
        "mine config.yaml --pairs 5 --rerank 60",
        "cluster config.yaml --pivots --at-least 0.5",
    ] {
        for (out, words) in [("list.txt", ".tsv, .csv or .parquet"), ("config.yaml/list.tsv", "could not create")] {
            scratch.refuses(&format!("{command} --out {out}"), &[words]);
        }
    }
    assert_eq!(asked(&scratch).len(), evaluated);
}

#[test]
fn a_program_given_ids_or_numbers_scores_another_list_by_them() {
    let changed = |pairs: &str, rows: &dyn Fn(usize) -> String, count: usize| {
        let scratch = place();
        scratch.write(
            "scorer.sh",
            &PROGRAM.replace("\"symmetric\":true", &format!("\"symmetric\":true,\"pairs\":{pairs:?}")),
        );
        let list = |rows: String| scratch.write("items.tsv", &format!("key\ttext\n{rows}"));
        list((0..30).map(|i| format!("n{i}\t{i}\n")).collect());
        scratch.run_well("--quiet");
        list((0..count).map(rows).collect());
        (asked(&scratch).len(), scratch.run_well("--dry-run"))
    };
    let same = |i| format!("n{i}\t{i}\n");
    let (kept, grown) = changed("id", &same, 31);
    grown.reports(&[&format!("{kept} scores of the same scorer")]);
    // an item with another text is another one, and its number does not identify it in another list
    for (pairs, rows) in [("id", &(|i| format!("n{i}\tanother {i}\n")) as &dyn Fn(usize) -> String), ("index", &same)] {
        assert_eq!(number_before(&changed(pairs, rows, 60).1.out, " are stored"), 0, "{pairs}");
    }
}
