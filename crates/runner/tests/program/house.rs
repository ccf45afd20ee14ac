//! The invariants of ARCHITECTURE.md that manifests and sources can show.

mod circles;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

const FLOORS: &[(&str, usize)] = &[
    ("crates/core", 0),
    ("crates/test-server", 0),
    ("crates/yaml", 0),
    ("crates/data", 1),
    ("crates/features", 1),
    ("crates/neighbors", 1),
    ("crates/store", 1),
    ("crates/oracles", 2),
    ("crates/tasks", 2),
    ("crates/fetch", 3),
    ("crates/http", 3),
    ("crates/neural", 3),
    ("crates/python", 3),
    ("crates/report", 3),
    ("crates/harness", 4),
    ("crates/own", 5),
    ("experiments/intent-sketch", 5),
    ("experiments/neighbors", 6),
    ("experiments/sms-nystrom", 7),
    ("experiments/structured-embeddings", 5),
    ("experiments/tree-kernels", 5),
    ("crates/runner", 8),
    ("crates/xtask", 9),
];

const APART: [&str; 4] = ["crates/neural", "crates/python", "crates/test-server", "crates/xtask"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

fn manifest(folder: &str) -> Json {
    let text = fs::read_to_string(repository().join(folder).join("Cargo.toml")).unwrap();
    basic_toml::from_str(&text).unwrap_or_else(|error| panic!("`{folder}/Cargo.toml`: {error}"))
}

/// Names under `dependencies` of a crate.
fn dependencies(folder: &str) -> Vec<String> {
    manifest(folder)["dependencies"].as_object().unwrap().keys().cloned().collect()
}

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source");
            found.push((path, text));
        }
    }
    found
}

#[test]
fn arrows_only_go_down_and_the_papers_stand_alone() {
    let floor_of = |name: &Json| {
        let folder = FLOORS.iter().find(|(folder, _)| manifest(folder)["package"]["name"] == *name);
        folder.unwrap_or_else(|| panic!("{name} stands on no floor: add it to `FLOORS`")).1
    };
    for (folder, floor) in FLOORS {
        for used in dependencies(folder).iter().filter(|used| used.starts_with("landmark-")) {
            let below = floor_of(&Json::from(used.as_str()));
            assert!(below < *floor, "`{folder}` (floor {floor}) uses `{used}` (floor {below})");
        }
    }
    // every member has a level in `FLOORS`
    for parent in ["crates", "experiments"] {
        for entry in fs::read_dir(repository().join(parent)).unwrap() {
            let folder = format!("{parent}/{}", entry.unwrap().file_name().into_string().unwrap());
            let is_crate = repository().join(&folder).join("Cargo.toml").exists();
            assert!(!is_crate || FLOORS.iter().any(|(known, _)| *known == folder), "`{folder}` stands on no floor");
        }
    }
}

#[test]
fn a_plain_build_takes_every_crate_but_those_for_libtorch_python_and_developers() {
    let workspace = &manifest("")["workspace"];
    let mut listed: Vec<&str> =
        workspace["default-members"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    let mut all: Vec<&str> = FLOORS.iter().map(|(folder, _)| *folder).filter(|it| !APART.contains(it)).collect();
    listed.sort_unstable();
    all.sort_unstable();
    assert_eq!(listed, all);
}

#[test]
fn core_knows_no_text_file_yaml_or_torch() {
    let foreign =
        ["landmark-yaml", "parquet", "tch", "torch-sys", "tokio", "object_store", "ndarray-npy", "clap", "tokenizers"];
    let used = dependencies("crates/core");
    assert!(used.iter().any(|name| name == "faer"), "the manifest was not read: {used:?}");
    assert!(used.iter().all(|name| !foreign.contains(&name.as_str())), "{used:?}");
}

#[test]
fn only_neural_knows_libtorch_and_the_program_links_nothing_of_it() {
    for (name, _) in FLOORS.iter().filter(|(name, _)| *name != "crates/neural") {
        let used = dependencies(name);
        let found = used.iter().find(|used| ["tch", "torch-sys", "tokenizers", "safetensors"].contains(&used.as_str()));
        assert_eq!(found, None, "`{name}` uses it");
    }
    for (path, text) in sources(&repository().join("crates/runner/src")) {
        assert!(!text.contains("landmark_neural::"), "{} would link libtorch", path.display());
    }
}

#[test]
fn tasks_never_see_an_oracle() {
    let sources = sources(&repository().join("crates/tasks/src"));
    assert!(sources.len() > 10);
    for (path, text) in sources {
        assert!(!text.contains("landmark_core::oracle"), "{} imports an oracle", path.display());
    }
}

/// Python cannot be handed the catalog, which stands above it: what it lists is compared here instead.
#[test]
fn python_knows_every_method_and_landmark_policy() {
    let text = fs::read_to_string(repository().join("crates/python/src/methods.rs")).expect("the source");
    // documents alone have it: a map of its own
    let methods = runner::registry::METHODS.iter().map(|method| method.id).filter(|id| *id != "wme");
    // in Python the landmarks of a fit are handed over as `component_indices_`
    let policies = runner::registry::LANDMARK_POLICIES.iter().map(|policy| policy.id).filter(|id| *id != "kept");
    for id in methods.chain(policies) {
        assert!(text.contains(&format!("\"{id}\"")), "`{id}` is not in `crates/python/src/methods.rs`");
    }
}

/// Bytes that a committed file may have: results are small tables and figures, and corpora, models and packages belong elsewhere.
const LARGEST: u64 = 1 << 20;

#[test]
fn nothing_large_is_committed() {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(repository()).output();
    let Some(listed) = listed.ok().filter(|listed| listed.status.success()) else {
        eprintln!("skipped: not a working copy of git");
        return;
    };
    let names = String::from_utf8(listed.stdout).unwrap();
    let size = |name: &str| fs::metadata(repository().join(name)).map_or(0, |file| file.len());
    let large: Vec<&str> = names.split_terminator('\0').filter(|name| size(name) > LARGEST).collect();
    assert!(large.is_empty(), "over {LARGEST} bytes: {large:?}");
}
