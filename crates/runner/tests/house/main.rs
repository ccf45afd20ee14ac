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
    let floors = [
        ("core", 0),
        ("yaml", 0),
        ("data", 1),
        ("features", 1),
        ("store", 1),
        ("oracles", 2),
        ("tasks", 2),
        ("neural", 3),
        ("report", 3),
        ("runner", 4),
    ];
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
fn only_neural_knows_libtorch_and_the_program_links_nothing_of_it() {
    for name in ["core", "data", "oracles", "tasks", "yaml", "report", "runner"] {
        let used = dependencies(name);
        let found = used.iter().find(|used| ["tch", "torch-sys", "tokenizers", "safetensors"].contains(&used.as_str()));
        assert_eq!(found, None, "`{name}` uses it");
    }
    for (path, text) in sources(&crates().join("runner/src")) {
        assert!(!text.contains("landmark_neural::"), "{} would link libtorch", path.display());
    }
}

#[test]
fn tasks_never_see_an_oracle() {
    let sources = sources(&crates().join("tasks/src"));
    assert!(sources.len() > 10);
    for (path, text) in sources {
        assert!(!text.contains("landmark_core::oracle"), "{} imports an oracle", path.display());
    }
}

/// `scripts/bench-peers` with stand-ins for cargo and for the peers: a missed aim ends neither the others nor the table.
#[cfg(unix)]
#[test]
fn bench_peers_runs_all_and_ends_with_the_ratios() {
    use std::os::unix::fs::PermissionsExt;
    let root = crates().parent().expect("the repository").to_owned();
    let script = fs::read_to_string(root.join("scripts/bench-peers")).expect("the script");
    let pins = script.split("pins='").nth(1).and_then(|rest| rest.split('\'').next()).expect("pins");
    let scratch = tempfile::tempdir().expect("a folder");
    let program = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    };
    let target = scratch.path().join("target");
    program(
        "bin/cargo",
        &format!("[ \"$1\" != metadata ] || echo '{{\"target_directory\": \"{}\"}}'", target.display()),
    );
    let row = "printf 'factor\\tnystrom over NumPy\\t2.000\\tat most 1\\tMISSED\\n' >> \"$PEERS_TABLE\"";
    program("target/peers/bin/python", &format!("echo \"ran $1\"\ncase $1 in *factor.py) {row}; exit 1 ;; esac"));
    fs::write(target.join("peers/pins"), pins).expect("pins");
    let path = format!("{}:{}", scratch.path().join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = std::process::Command::new("bash");
    let output = command.arg(root.join("scripts/bench-peers")).args(["factor", "sketch"]).env("PATH", path).output();
    let output = output.expect("bash");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let (runs, table) = said.split_once("== ratios beside their aims").expect("a table");
    assert!(runs.contains("ran scripts/peers/factor.py") && runs.contains("ran scripts/peers/sketch.py"), "{said}");
    assert!(table.contains("nystrom over NumPy") && table.contains("MISSED"), "{said}");
}
