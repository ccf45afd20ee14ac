//! Published runs are reported in a clone that has no corpora, no store, no model and no libtorch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use landmark_harness::config::Config;
use landmark_harness::facts::Facts;
use landmark_harness::provenance;
use landmark_report::rows_from_parquet;
use runner::registry;
use serde_json::Value as Json;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Folders of all published runs with their `run.json`.
fn published() -> Vec<(PathBuf, Json)> {
    let mut folders = vec![project().join("results")];
    let mut runs = Vec::new();
    while let Some(folder) = folders.pop() {
        let below = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        folders.extend(below.filter(|path| path.is_dir()));
        if let Ok(text) = std::fs::read(folder.join("run.json")) {
            runs.push((folder, serde_json::from_slice(&text).unwrap()));
        }
    }
    runs.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(runs.len() > 50, "{}", runs.len());
    runs
}

fn configuration(run: &Json) -> Config {
    let file = project().join(run["config"]["file"].as_str().unwrap());
    Config::load(&file, &provenance::overlays(run), registry::registry()).unwrap()
}

#[test]
fn every_published_run_has_a_layout_from_its_configuration_rows_and_facts() {
    for (folder, run) in published() {
        let rows = rows_from_parquet(&folder.join("results.parquet")).unwrap();
        assert_eq!(run["rows"]["count"].as_u64(), Some(rows.len() as u64), "{}", folder.display());
        assert!(run["facts"].is_object(), "{}", folder.display());
        let facts = Facts::of(&run, &rows, &folder);
        let layout = configuration(&run).layout(&facts, &rows);
        assert!(!layout.tables.is_empty(), "{}", folder.display());
    }
}

#[test]
fn a_run_of_each_experiment_is_reported_in_a_clone_without_data_and_the_published_folder_stays_as_it_is() {
    let clone = tempfile::tempdir().unwrap();
    let mut of_experiment: BTreeMap<&str, (u64, PathBuf, Json)> = BTreeMap::new();
    for (folder, run) in published() {
        let size = std::fs::metadata(folder.join("results.parquet")).unwrap().len();
        let id = configuration(&run).subject.id();
        if of_experiment.get(id).is_none_or(|(least, ..)| size < *least) {
            of_experiment.insert(id, (size, folder, run));
        }
    }
    assert!(of_experiment.len() >= 10, "{:?}", of_experiment.keys());
    let mut copy = Command::new("cp");
    copy.arg("-r").args(["configs", "experiments"]).arg(clone.path()).current_dir(project());
    assert!(copy.status().unwrap().success());
    for (_, folder, run) in of_experiment.values() {
        let place = clone.path().join(folder.strip_prefix(project()).unwrap());
        std::fs::create_dir_all(&place).unwrap();
        for file in ["run.json", "results.parquet"] {
            std::fs::copy(folder.join(file), place.join(file)).unwrap();
        }
        let overlays = provenance::overlays(run);
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("landmark"));
        command.current_dir(clone.path()).args(["report", run["config"]["file"].as_str().unwrap()]);
        command.args(overlays.words());
        for name in ["LANDMARK_DATA", "LANDMARK_MODELS", "LANDMARK_FETCH", "LD_LIBRARY_PATH"] {
            command.env_remove(name);
        }
        command.env("XDG_CACHE_HOME", clone.path().join("cache")).env("LANDMARK_NEURAL", "/nowhere");
        let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
        let heard = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {heard}", folder.display());
        // the path of the page is what it prints
        let page = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert!(page.starts_with("runs/") && clone.path().join(&page).is_file(), "{page}: {heard}");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 2, "{}", place.display());
    }
    assert!(!clone.path().join("store").exists() && !clone.path().join("cache").exists());
}
