//! Identities of all built-in oracles. A store is read by them: if one moves, every entry that was evaluated before is evaluated again.
//!
//! The list was written by the program before its crates were taken apart, and is not to be changed with the code: a new
//! oracle adds a line, a score that changes on purpose is named in CHANGELOG.md.

use ndarray::Array2;
use serde_json::Value as Json;

use crate::scratch::{Printed, Scratch, data_folder};

type Case = (&'static str, &'static str, &'static str);

const DOCUMENTS: &str = "dataset: { name: embedded, limit: 12, vectors: { kind: ppmi_svd, dimension: 4 } }";
const TEXTS: &str = "error_estimate: 10\ndataset: { name: texts, path: items.tsv, id: key }";
const SENTENCES: &str = "error_estimate: 10\ndataset: { name: texts, path: sentences.tsv, id: key, vectors: { kind: ppmi_svd, dimension: 4, min_count: 1 } }";
const MATRIX: &str = "dataset: { name: precomputed, path: matrix.npy }";
const TREES: &str = "dataset: { name: trec, limit: 6 }";
const PAIRS: &str = "dataset: { name: embedded_pairs, limit: 4 }";

const INSIDE: &[Case] = &[
    (
        DOCUMENTS,
        "{ kind: wmd, gamma: 0.5, empty_documents: drop }",
        "0e3743bf9ccee9a46f1efdbf26f8ba6164495c31c7e7bc73815283a03846afa9",
    ),
    (
        DOCUMENTS,
        "{ kind: wmd, gamma: 0.5, empty_documents: { distance: 2 }, negligible: 1e-6 }",
        // moved once, with its scores: documents without a word were at 0 from each other
        "1270fd4d4bd72100e219dd7ead62297ee46251436626c257400be4248d726b35",
    ),
    (
        SENTENCES,
        "{ kind: wmd, gamma: 0.5, empty_documents: drop }",
        "a160364870199d0a3fc54a21bc24c57162d560ea846073b74f3bf5f4f1f8a79e",
    ),
    (MATRIX, "precomputed", "91069654b6214599b6ab4e97c9eecec44753f64c7634ce0389a5bb91d00559d7"),
    (
        MATRIX,
        "{ kind: precomputed, gamma: 0.5, symmetrize: mean }",
        "91069654b6214599b6ab4e97c9eecec44753f64c7634ce0389a5bb91d00559d7",
    ),
    (
        TEXTS,
        "{ kind: subprocess, command: [/bin/sh, scorer.sh], gamma: 0.05, checks: 0 }",
        "0945be67352a71d65b01a39b4fefbb1b30f68d1cfc96e1514337290f0f4faab7",
    ),
];

const TREE_KERNELS: &[Case] = &[
    (TREES, "{ kind: tree_kernel, kernel: bow }", "f26fc3f9e44736216fd22ff53b2e94f2de96973d268c296349e4a8b86e29524c"),
    (TREES, "{ kind: tree_kernel, kernel: st }", "20c8a965c10060fb6d3d2ff2f4296f401420cc82f854ca0f1135d4b25fab34d1"),
    (TREES, "{ kind: tree_kernel, kernel: sst }", "524c965dbb1860241a0625223163cbfa5baa72a47795a82cef414ed2c66ebb36"),
    (TREES, "{ kind: tree_kernel, kernel: ptk }", "94a49270e89459a275ae2281bca9f3ae250070ce5e2d9197b94238a403ad9616"),
    (TREES, "{ kind: tree_kernel, kernel: sptk }", "4d03f48e17527bf733f2bac8158e34498d936835a52733da9fb4c6d4a953f871"),
];

#[cfg(feature = "torch")]
const CROSS_ENCODERS: &[Case] = &[
    (
        PAIRS,
        "{ kind: cross_encoder, model: tiny, device: cpu, order: mean }",
        "126a44f686e48205478050b2c2572c198fa20fa44a446b384eaaf5bf110d6b76",
    ),
    (
        PAIRS,
        "{ kind: cross_encoder, model: tiny, device: cpu, order: max }",
        "e6dbfa0cef5193e4268d4e50644b7a76150ffbefd13ed215d9c35ef51671f9e7",
    ),
    (
        PAIRS,
        "{ kind: cross_encoder, model: tiny, device: cpu, order: random }",
        "9791fe2e7b915917d2d51b3134ca883c6f268498ab4587755f7dbed858835cf4",
    ),
    (
        TEXTS,
        "{ kind: cross_encoder, model: tiny, device: cpu }",
        "d99eec620b8dea117e6b44c8e3d6da9d1249737d8e8e7057daa1e794b6144fbe",
    ),
];

fn place(dataset: &str, rest: &str) -> Scratch {
    let experiment = if dataset == PAIRS { "glue" } else { "error_curve" };
    let scratch = Scratch::with(&format!("name: m\nexperiment: {experiment}\nranks: [2]\n{dataset}\n{rest}"));
    let items: String = (0..60).map(|i| format!("n{i}\t{i}\n")).collect();
    scratch.write("items.tsv", &format!("key\ttext\n{items}"));
    let texts: String = (0..12).map(|i| format!("n{i}\tthe cat number {} sat on mat {}\n", i % 3, i % 4)).collect();
    scratch.write("sentences.tsv", &format!("key\ttext\n{texts}"));
    #[cfg(unix)]
    scratch.write("scorer.sh", crate::own_data::PROGRAM);
    scratch.write_matrix("matrix.npy", &Array2::from_shape_fn((12, 12), |(i, j)| 1.0 / (1.0 + i.abs_diff(j) as f64)));
    scratch.write_matrix("vectors.npy", &Array2::from_shape_fn((12, 2), |(i, j)| ((i * (j + 1)) % 5) as f64));
    scratch
}

fn must_be(cases: &[Case], arguments: &[&str]) {
    for &(dataset, oracle, wanted) in cases {
        let scratch = place(dataset, &format!("methods: [nystrom]\noracle: {oracle}\n"));
        let seen = Printed::of(scratch.command("config.yaml --quiet").args(arguments));
        assert_eq!(seen.code, Some(0), "{oracle}: {}", seen.err);
        assert_eq!(scratch.json("runs/m/run.json")["data"]["oracle"], wanted, "{oracle}");
        if dataset != MATRIX {
            assert!(scratch.path("store").join(wanted).is_dir(), "{oracle} is kept elsewhere");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_store_filled_before_is_read_documents_texts_matrices_and_programs() {
    must_be(INSIDE, &[]);
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn a_store_filled_before_is_read_tree_kernels() {
    let folder = data_folder();
    must_be(TREE_KERNELS, &["--data", folder.to_str().expect("a name in UTF-8")]);
}

#[cfg(feature = "torch")]
#[test]
fn a_store_filled_before_is_read_cross_encoders() {
    let scratch = place(PAIRS, "methods: [nystrom]\noracle: { kind: cross_encoder, model: tiny, device: cpu }\n");
    let seen = scratch.run("--quiet");
    if seen.code != Some(0) && seen.err.contains("LANDMARK_NEURAL") {
        eprintln!("skipped: the library that runs models was not found");
        return;
    }
    must_be(CROSS_ENCODERS, &[]);
}

/// The key of a finished cell holds the identity of its proxy, which no store does.
#[test]
fn results_finished_before_are_read_with_a_proxy() {
    let methods = "methods: [{ id: shift_ridge, proxy: { kind: embedding_cosine, path: vectors.npy } }]";
    let scratch = place(MATRIX, &format!("{methods}\noracle: precomputed\n"));
    scratch.run_well("--quiet");
    let cells = scratch.read("runs/m/cells.jsonl");
    let last: Json = serde_json::from_str(cells.lines().last().unwrap()).unwrap();
    assert_eq!(last["key"], "fc28194c2220e0c4f8aa19e213021a42");
}
