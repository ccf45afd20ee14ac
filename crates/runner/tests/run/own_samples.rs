//! Less than the whole of a user's file: a limit, labels that some rows lack, and embeddings that have a row for every item of it.
#![cfg(unix)]

use ndarray::Array2;
use ndarray_npy::read_npy;

use crate::own_data::{CONFIG, PROGRAM, table};
use crate::scratch::{Scratch, Words};

/// The numbers from 0 to 59, every third of them without a label.
fn labeled() -> Scratch {
    let scratch = Scratch::with(&CONFIG.replace("id: key", "id: key, label: kind"));
    let rows: String = (0..60).map(|i| format!("n{i}\t{i}\t{}\n", ["", "even", "odd"][i % 3])).collect();
    scratch.write("items.tsv", &format!("key\ttext\tkind\n{rows}"));
    scratch.write("scorer.sh", PROGRAM);
    scratch
}

fn is_right(scratch: &Scratch, path: &str) {
    let rows = table(scratch, path);
    assert!(!rows.is_empty());
    let number = |name: &str| name.trim_start_matches('n').parse::<f64>().unwrap();
    for row in rows.iter().filter(|row| row["exact"] == "true") {
        let wanted = (-0.05 * (number(&row["id"]) - number(&row["neighbor"])).abs()).exp();
        assert!((row["score"].parse::<f64>().unwrap() - wanted).abs() < 1e-6, "{row:?}");
    }
}

#[test]
fn factors_are_of_items_without_a_label_as_well_and_commands_name_them_rightly() {
    let scratch = labeled();
    for limit in [None, Some("dataset.limit=30")] {
        let set = limit.map_or_else(String::new, |limit| format!("--set {limit}"));
        scratch.run_well(&format!("--quiet {set}"));
        let items = scratch.json("runs/mine/factors/factors.json")["items"].as_u64();
        assert_eq!(items, Some(if limit.is_some() { 30 } else { 60 }));
        scratch.well(&format!("topk config.yaml -k 2 --rerank 4 {set}"));
        is_right(&scratch, "runs/mine/neighbors.tsv");
        scratch.well(&format!("topk config.yaml -k 2 --calls-per-item 10 {set}"));
        is_right(&scratch, "runs/mine/neighbors.tsv");
    }
    // the others get a label
    scratch.run_well("--quiet");
    let ran = scratch.well("classify config.yaml --labels items.tsv --label kind");
    ran.prints(&["20 rows have no label", "40 labeled items in 2 classes, 20 labeled now"]);
}

#[test]
fn embeddings_of_the_whole_file_serve_a_part_of_it() {
    let scratch = labeled();
    let embedding = |i: f64| [(i / 60.0).cos(), (i / 60.0).sin()];
    let embeddings = |rows: usize| Array2::from_shape_fn((rows, 2), |(i, k)| embedding(i as f64)[k]);
    for (file, rows) in [("whole.npy", 60), ("part.npy", 30), ("other.npy", 50)] {
        scratch.write_matrix(file, &embeddings(rows));
    }
    let settings = |file: &str| {
        let method = format!("methods=[{{ id: shift_ridge, proxy: {{ kind: embedding_cosine, path: {file} }} }}]");
        ["--set", &method, "--set", "dataset.limit=30"].map(str::to_owned)
    };
    let vectors = |file: &str| {
        scratch.run_well(&[&["--quiet", "--force"].map(str::to_owned)[..], &settings(file)].concat());
        std::fs::read(scratch.path("runs/mine/factors/vectors.npy")).unwrap()
    };
    assert_eq!(vectors("part.npy"), vectors("whole.npy"));
    // which new items join
    scratch.write("new.tsv", "key\ttext\nm\t7\n");
    scratch.write_matrix("new.npy", &Array2::from_shape_fn((1, 2), |(_, k)| embedding(7.0)[k]));
    let project = |more: &str| [format!("project config.yaml new.tsv {more}").words(), settings("whole.npy").to_vec()];
    scratch.refuses(&project("").concat(), &["--embeddings new.npy"]);
    scratch.well(&project("--embeddings new.npy").concat());
    let read = |file: &str| read_npy::<_, Array2<f64>>(scratch.path(&format!("runs/mine/{file}/vectors.npy"))).unwrap();
    for (new, old) in read("projected/new").row(0).iter().zip(read("factors").row(7)) {
        assert!((new - old).abs() < 1e-8, "{new} and {old}");
    }
    let other = settings("other.npy");
    scratch.complains(&other, &["`other.npy` has 50 rows, but the dataset has 30 items"]);
    let mut holed = embeddings(60);
    holed[[3, 1]] = f64::NAN;
    scratch.write_matrix("other.npy", &holed);
    scratch.complains(&other, &["(i = 3, j = 1) is NaN; an embedding must be finite"]);
}
