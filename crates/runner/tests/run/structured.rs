//! The study `structured`: what it measures in a whole run, and what it reports when its section is wrong.

use serde_json::json;

use crate::scratch::Scratch;

/// Errors of two families and two kernels, a second or less.
const ERROR: &str = "\
name: features
experiment: structured
structured:
  measure: error
  kernels: [step, { id: gaussian, sigma: 1.0 }]
  families: [dense, circulant, { id: low_displacement, rank: 2, nonzeros: 1 }]
  features: [16, 64]
  dimension: 24
  pairs: 10
replicates: 4
";

const P_MODEL: &str = "\
name: models
experiment: structured
structured:
  measure: p_model
  families: [dense, circulant, toeplitz, fastfood]
  dimensions: [5, 8]
  graphs: [{ family: circulant, dimension: 5, rows: [0, 1] }]
";

const CLASSIFICATION: &str = "\
name: classes
experiment: structured
structured:
  measure: classification
  dataset: { name: embedded, limit: 80, vectors: { kind: ppmi_svd, dimension: 20 }, split: { train: 0.7 } }
  families: [circulant]
  features: [32]
  costs: [10]
  folds: 2
";

#[test]
fn errors_fall_with_the_features_and_do_not_depend_on_threads() {
    let scratch = Scratch::with(ERROR);
    scratch.run_well("--results one --set threads=1");
    scratch.run_well("--results two --set threads=2");
    let rows = scratch.figures("one/features");
    assert_eq!(rows, scratch.figures("two/features"));
    assert_eq!(rows.len(), 2 * 3 * 2 * 4, "kernels, families, features, replicates");
    let mean = |kernel: &str, method: &str, m: u64| {
        let of =
            |row: &&serde_json::Value| row["dataset"] == kernel && row["method_id"] == method && row["columns"] == m;
        rows.iter().filter(of).map(|row| row["value"].as_f64().unwrap()).sum::<f64>() / 4.0
    };
    for kernel in ["step", "Gaussian, σ = 1"] {
        for method in ["dense", "circulant", "low_displacement"] {
            // four times the features halve the error; four draws leave it uncertain by a quarter
            assert!(mean(kernel, method, 64) < 0.8 * mean(kernel, method, 16), "{kernel} {method}");
        }
    }
    scratch.has("one/features/figure-error.svg", &["projections m", "circulant"]);
}

#[test]
fn a_table_and_a_figure_show_the_chromatic_numbers_of_the_paper() {
    let scratch = Scratch::with(P_MODEL);
    scratch.run_well("");
    let summary = scratch.read("runs/models/summary.md");
    let line = |start: &[&str]| {
        let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let lines = summary.lines().map(cells);
        lines.into_iter().find(|cells| cells.len() > 6 && cells[1..3] == *start).unwrap()[3..7].to_vec()
    };
    assert_eq!(line(&["5", "circulant"]), ["5", "3", "1.000", "0.000"]);
    assert_eq!(line(&["8", "circulant"]), ["8", "2", "1.000", "0.000"]);
    assert_eq!(line(&["8", "Toeplitz"]), ["15", "2", "0.935", "0.000"]);
    assert_eq!(line(&["5", "dense (unstructured)"]), ["25", "0", "0.000", "0.000"]);
    scratch.has("runs/models/figure-graphs.svg", &["circulant, n = 5, rows 1, 2: χ = 3", "{1, 2}"]);
}

#[test]
fn documents_are_classified_on_features_and_on_the_exact_kernel() {
    let scratch = Scratch::with(CLASSIFICATION);
    scratch.run_well("");
    let rows = scratch.figures("runs/classes");
    let methods: Vec<_> = rows.iter().map(|row| row["method_id"].as_str().unwrap()).collect();
    assert_eq!(methods, ["exact", "linear", "circulant"]);
    // five classes of 80 documents: guessing gives a fifth
    assert!(rows.iter().all(|row| row["value"].as_f64().unwrap() > 0.3), "{rows:?}");
}

#[test]
fn time_and_memory_are_measured_and_the_dense_matrix_stops_in_time() {
    let scratch = Scratch::with(
        "name: speed\nexperiment: structured\nstructured: { measure: speed, families: [dense, circulant], dimensions: [16, 64], \
         largest_dense: 16, runs: 1 }\n",
    );
    scratch.run_well("");
    let megabytes = |method: &str, n: u64| {
        scratch
            .values("runs/speed", &json!({ "method_id": method, "items": n, "metric": "megabytes" }))
            .first()
            .copied()
    };
    assert_eq!(megabytes("dense", 64), None);
    // 16 × 16 entries of 8 bytes, and 16 signs twice in as many
    assert_eq!(megabytes("dense", 16), Some(8e-6 * (256.0 + 2.0)));
    assert!(megabytes("circulant", 64).unwrap() < 8e-6 * 6.0 * 64.0);
}

#[test]
fn a_wrong_section_is_named_key_by_key() {
    let scratch = Scratch::with(ERROR);
    let complains = |set: &str, words: &[&str]| scratch.complains(&["--set", set], words);
    complains("structured.measure=errors", &["`structured.measure`", "`error`"]);
    complains("structured.dimension=1", &["`structured.dimension` has 1, but must be at least 2"]);
    complains("structured.features=[]", &["`structured.features` is an empty list"]);
    complains("structured.features=[0]", &["`structured.features` has 0, but must be at least 1"]);
    complains("structured.pairs=0", &["`structured.pairs` has 0"]);
    complains("structured.families=[]", &["`structured.families` is an empty list"]);
    complains("structured.families=[circulent]", &["circulent", "circulant"]);
    complains("structured.kernels=[{ id: gaussian, sigma: 0 }]", &["`gaussian`: `sigma` is 0", "positive and finite"]);
    complains("structured.kernels=[{ id: arc_cosine, order: 3 }]", &["`arc_cosine`: `order` is 3", "0, 1 or 2"]);
    let rank = |rank: u32, nonzeros: u32| {
        format!("structured.families=[{{ id: low_displacement, rank: {rank}, nonzeros: {nonzeros} }}]")
    };
    complains(&rank(0, 1), &["`low_displacement`: `rank` is 0, but must be at least 1"]);
    complains(&rank(1, 25), &["`nonzeros` is 25, but must be at most the smallest dimension, 24"]);
    complains("structured.pars=3", &["pars", "pairs"]);
    let missing = Scratch::with("name: none\nexperiment: structured\nstructured: { families: [dense] }\n");
    missing.complains("", &["`structured.measure` is missing"]);
}

#[test]
fn p_models_and_datasets_that_are_none_are_refused() {
    let scratch = Scratch::with(P_MODEL);
    scratch.complains("--set structured.families=[hd3]", &["`hd3` is no P-model", "leave it out"]);
    let graph = |text: &str| format!("structured.graphs=[{{ family: circulant, {text} }}]");
    scratch.complains(&["--set", &graph("dimension: 5, rows: [1, 1]")], &["[1, 1]", "i < j < `dimension` = 5"]);
    scratch.complains(&["--set", &graph("dimension: 90, rows: [0, 1]")], &["90", "between 2 and 24"]);
    let documents = Scratch::with(CLASSIFICATION);
    documents.complains(
        &["--set", "structured.dataset={ name: random_psd, n: 40 }"],
        &["`structured.dataset` is `random_psd`, which has no documents"],
    );
    documents.complains("--set structured.costs=[-1]", &["costs", "-1"]);
    documents.complains("--set structured.width=0", &["`structured.width` is 0", "positive and finite"]);
}
