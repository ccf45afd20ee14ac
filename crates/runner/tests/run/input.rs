//! Bad input: each error names the thing and the next step, and no call is made for it.

use ndarray::{Array2, s};

use crate::scratch::{MATRIX, SAMPLE, Scratch, smooth_matrix};

/// A scratch folder with [`MATRIX`] over this matrix.
fn mine(matrix: &Array2<f64>) -> Scratch {
    let scratch = Scratch::with(MATRIX);
    scratch.write_matrix("matrix.npy", matrix);
    scratch
}

#[test]
fn a_missing_dataset_is_named_with_file_variable_and_source() {
    let scratch = Scratch::with(&SAMPLE.replace("name: embedded", "name: twitter"));
    let source = "https://github.com/mkusner/wmd";
    scratch.complains("", &["`twitter`", "wmd/twitter.tsv.gz", "LANDMARK_DATA", "--data DIR", source]);
    scratch.complains("--data .", &["`./wmd/twitter.tsv.gz`, which does not exist", "LANDMARK_DATA", source]);
    assert!(!scratch.path("store").exists() && !scratch.path("runs").exists());
}

#[test]
fn a_rank_that_the_sample_is_too_small_for_is_reported_as_a_missing_corpus() {
    let scratch = Scratch::with(&SAMPLE.replace("name: embedded", "name: twitter, fallback: embedded"));
    scratch.complains("--set ranks=[550]", &["the corpus `twitter` is missing", "rank 550 is impossible", "--fetch"]);
}

#[test]
fn a_run_called_like_a_profile_is_refused() {
    for name in ["medium", "paper", "smoke", "laptop", "night"] {
        let scratch = Scratch::with(
            &(SAMPLE.replace("name: sample", &format!("name: {name}")) + "\nprofiles: { night: { replicates: 1 } }\n"),
        );
        scratch.complains("", &["`name`", "the name of a profile"]);
    }
}

#[test]
fn settings_are_read_back_from_run_json_however_they_were_given() {
    let scratch = Scratch::with(SAMPLE);
    scratch.run_well("--set=replicates=2 -sranks=[2]");
    let facts = scratch.json("runs/sample/run.json");
    assert_eq!(facts["config"]["set"], serde_json::json!(["replicates=2", "ranks=[2]"]));
    std::fs::remove_file(scratch.path("runs/sample/cells.jsonl")).unwrap();
    scratch.ends(2, "report config.yaml");
    scratch.well("report config.yaml -s replicates=2 -s ranks=[2]");
}

#[test]
fn a_secret_of_a_configuration_is_neither_printed_nor_kept() {
    let scratch = Scratch::with(SAMPLE);
    let secret = "topsecret1";
    let url = format!("title=see https://a.example/?key={secret} and Authorization= {secret}");
    scratch.run_well(&["--set", &url]);
    for file in ["run.json", "report.html", "summary.md"] {
        let text = scratch.read(&format!("runs/sample/{file}"));
        assert!(!text.contains(secret), "{file}");
    }
    let refused =
        scratch.say(&["config.yaml", "--set", &format!("oracle={{ kind: http, url: 'http://a:{secret}@b/' }}")]);
    assert_eq!(refused.code, Some(2));
    assert!(!refused.err.contains(secret), "{}", refused.err);
}

#[test]
fn a_file_that_is_no_configuration_is_not_printed_whole() {
    let scratch = Scratch::with(SAMPLE);
    let rows: String = (0..3000).map(|i| format!("{i},some text\n")).collect();
    scratch.write("items.dat", &format!("id,text\n{rows}"));
    let seen = scratch.ends(2, "items.dat");
    assert!(seen.err.contains("is the text `id,text 0,some text") && seen.err.lines().count() < 40, "{}", seen.err);
}

#[test]
fn missing_vectors_are_named() {
    let scratch = Scratch::with(SAMPLE);
    let vectors = |path: &str| format!("dataset.vectors={{ path: {path}, format: glove_text }}");
    scratch.complains(&["--set", &vectors("words.txt")], &["cannot read `words.txt`", "check the path"]);
    let named = "dataset.vectors=self300";
    scratch.complains(&["--set", named], &["`self300`", "LANDMARK_DATA", "--data DIR", "Public source"]);
}

#[test]
fn documents_without_a_known_word_are_named_or_dropped() {
    let scratch = Scratch::with(SAMPLE);
    scratch.write("words.txt", "river 1 0\nwater 0 1\nbread 1 1\n");
    let vectors = ["--set", "dataset.vectors={ path: words.txt, format: glove_text }", "--set"];
    let refused = [&vectors[..], &["oracle.empty_documents=error"]].concat();
    let next_step = "`oracle.empty_documents: drop`";
    scratch.complains(&refused, &["documents have no word with a vector", "`cooking-01`", next_step]);
    // what the error proposes is what the configuration takes
    let few = ["--set", "ranks=[2]", "--set", "methods=[nystrom]"];
    let filled = [&vectors[..], &["oracle.empty_documents={ distance: 1.0 }"], &few].concat();
    scratch.run_well(&filled);
    scratch
        .run_well(&[&vectors[..], &["oracle.empty_documents=drop"], &few].concat())
        .must_complain("documents have no known word and were left out");
}

#[test]
fn impossible_ranks_are_refused_with_the_possible_ones() {
    let scratch = mine(&smooth_matrix());
    scratch.complains("--set ranks=[0]", &["a rank must be at least 1", "ranks=[0]"]);
    scratch.complains("--set ranks=[31]", &["rank 31 is impossible for 30 items", "between 1 and 30"]);
    scratch.run_well("--set ranks=[30]");
}

#[test]
fn entries_that_are_not_finite_are_named_by_row_and_column() {
    for (value, shown) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let mut matrix = smooth_matrix();
        matrix[[3, 17]] = value;
        mine(&matrix).complains("", &["`matrix.npy`", "(i = 3, j = 17)", shown, "must be finite"]);
    }
    // distances below 0 overflow in exp(−γd)
    let mut matrix = Array2::<f64>::ones((30, 30));
    (matrix[[3, 17]], matrix[[17, 3]]) = (-1e6, -1e6);
    mine(&matrix).complains(
        &["--set", "oracle={ kind: precomputed, gamma: 1.0 }"],
        &["`gamma` is 1", "is finite for the most negative score"],
    );
}

#[test]
fn an_asymmetric_matrix_is_refused_until_it_is_symmetrized() {
    let mut matrix = smooth_matrix();
    matrix[[4, 2]] += 0.25;
    let scratch = mine(&matrix);
    scratch.complains("", &["not symmetric", "(i = 2, j = 4)", "`oracle.symmetrize: mean`"]);
    scratch.run_well(&["--set", "oracle={ kind: precomputed, symmetrize: mean }"]);
}

#[test]
fn matrices_that_are_none_are_refused_by_name() {
    let matrix = smooth_matrix();
    mine(&matrix.slice(s![.., ..20]).to_owned()).complains("", &["`matrix.npy`", "30 × 20", "must be square"]);
    let scratch = Scratch::with(MATRIX);
    scratch.complains("", &["cannot read `matrix.npy`", "check the path"]);
    scratch.write("matrix.npy", "1 0\n0 1\n");
    scratch.complains("", &["`matrix.npy`", "NumPy"]);
}

#[test]
fn landmarks_out_of_range_repeated_too_few_or_unreadable_are_refused() {
    let scratch = mine(&smooth_matrix());
    let given = |indices: &str| format!("landmarks={{ policy: given, indices: [{indices}] }}");
    scratch.complains(&["--set", &given("1, 30, 2, 3, 4")], &["item 30", "30 items, numbered from 0"]);
    scratch.complains(&["--set", &given("1, 5, 2, 5, 4")], &["has item 5 twice"]);
    scratch.complains(&["--set", &given("1, 5, 2")], &["at rank 5 needs 5 landmarks, but only 3 are given"]);
    let listed = "landmarks={ policy: given, path: list.txt }";
    scratch.complains(&["--set", listed], &["landmarks `list.txt` can't be read"]);
    scratch.write("list.txt", "1\n5\n2\n5\n4\n");
    scratch.complains(&["--set", listed], &["item 5 is landmark 1 and again landmark 3", "remove one"]);
    scratch.write("list.txt", "1\nfive\n");
    scratch.complains(&["--set", listed], &["`list.txt` line 2", "`five` is no item number"]);
}

#[test]
fn a_file_of_labels_must_have_one_for_every_item() {
    let scratch = mine(&smooth_matrix());
    scratch.write("labels.txt", "a\nb\n");
    let classified = "--set experiment=classification --set dataset.labels=labels.txt";
    scratch.complains(classified, &["`labels.txt` has 2 lines, but the dataset has 30 items"]);
    scratch.complains("--set dataset.labels=none.txt", &["cannot read `none.txt`", "check the path"]);
}
