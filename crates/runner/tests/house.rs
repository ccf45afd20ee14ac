//! The invariants of ARCHITECTURE.md that manifests and sources can show.

use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").to_owned()
}

/// Names under `[dependencies]` of a crate.
fn dependencies(name: &str) -> Vec<String> {
    let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).expect("a manifest");
    let section = manifest.split("[dependencies]\n").nth(1).expect("dependencies");
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| line.split(['.', ' ', '=']).next()).filter(|n| !n.is_empty()).map(str::to_owned).collect()
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
fn arrows_only_go_down() {
    let floors = [("core", 0), ("yaml", 0), ("data", 1), ("oracles", 2), ("tasks", 2), ("report", 3), ("runner", 4)];
    let floor_of = |name: &str| floors.iter().find(|(other, _)| format!("landmark-{other}") == name).map(|(_, f)| *f);
    for (name, floor) in floors {
        for used in dependencies(name) {
            if let Some(below) = floor_of(&used) {
                assert!(below < floor, "`{name}` (floor {floor}) uses `{used}` (floor {below})");
            }
        }
    }
}

#[test]
fn core_knows_no_text_file_yaml_or_torch() {
    let foreign =
        ["landmark-yaml", "polars", "tch", "torch-sys", "tokio", "object_store", "ndarray-npy", "clap", "tokenizers"];
    let used = dependencies("core");
    assert!(used.iter().any(|name| name == "faer"), "the manifest was not read: {used:?}");
    assert!(used.iter().all(|name| !foreign.contains(&name.as_str())), "{used:?}");
}

#[test]
fn tasks_never_see_an_oracle() {
    let sources = sources(&crates().join("tasks/src"));
    assert!(sources.len() > 10);
    for (path, text) in sources {
        assert!(!text.contains("landmark_core::oracle"), "{} imports an oracle", path.display());
    }
}
