//! Published runs: what is checked of one, and by how much two differ.

use std::path::{Path, PathBuf};

use landmark_harness::config::{Config, Overlays};
use landmark_harness::run::{self, RunOptions};
use runner::registry::registry;

const SAMPLE: &str = "\
name: sample
experiment: error_curve
dataset: { name: embedded, limit: 40, vectors: { kind: ppmi_svd, dimension: 10 } }
oracle: { kind: wmd, gamma: 0.5, empty_documents: drop }
methods: [nystrom]
ranks: [6]
error_estimate: 100
";

/// A run of the sample; the folder of its results.
fn run(folder: &Path, name: &str, seed: u64) -> PathBuf {
    let file = folder.join(format!("{name}.yaml"));
    std::fs::write(&file, SAMPLE.replace("name: sample", &format!("name: {name}\nseed: {seed}"))).unwrap();
    let config = Config::load(&file, &Overlays::default(), registry()).unwrap();
    let options = RunOptions {
        results: Some(folder.join("results")),
        store: Some(folder.join("store").display().to_string()),
        quiet: true,
        ..RunOptions::default()
    };
    run::run(&config, &options).unwrap();
    run::results_folder(&config, &options)
}

fn xtask(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("xtask"));
    command.args(words).current_dir(folder).env_remove("LANDMARK_DATA").env("XDG_CACHE_HOME", folder);
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_run_is_verified_from_its_rows_and_compared_with_another_as_data() {
    let scratch = tempfile::tempdir().unwrap();
    let one = run(scratch.path(), "sample", 0);
    let other = run(scratch.path(), "other", 7);
    let [one_name, other_name] = [&one, &other].map(|folder| folder.to_str().unwrap());

    let (code, printed) = xtask(scratch.path(), &["verify", one_name]);
    for words in ["tables and figures drawn from the rows", "ok: smoke profile, digest ", "rows, digest "] {
        assert!(printed.contains(words), "{printed}");
    }
    // the sources that the test was built from may have been changed; nothing else may fail
    let changed = printed.matches("FAILED: made from a changed tree").count();
    assert!(printed.matches("FAILED").count() == changed, "{printed}");
    assert!(code == Some(i32::from(changed > 0)), "{printed}");

    let (code, printed) = xtask(scratch.path(), &["compare", one_name, one_name]);
    assert!(code == Some(0) && printed.ends_with("the same in every figure\n"), "{printed}");
    let (code, printed) = xtask(scratch.path(), &["compare", one_name, other_name]);
    assert!(code == Some(1) && printed.ends_with("they differ\n"), "{printed}");

    // rows of another run are not those that this one recorded
    std::fs::copy(other.join("results.parquet"), one.join("results.parquet")).unwrap();
    let (_, printed) = xtask(scratch.path(), &["verify", one_name, "--skip-smoke"]);
    assert!(printed.contains("they were changed since"), "{printed}");
}
