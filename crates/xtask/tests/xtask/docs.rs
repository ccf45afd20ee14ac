//! The generated parts of the documentation, against the program.

use std::path::{Path, PathBuf};

use assert_cmd::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn docs(root: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("xtask"));
    command.args(["docs", "--root"]).arg(root).args(more);
    command
}

#[test]
fn the_generated_documents_are_those_of_the_program() {
    docs(&repository(), &[]).assert().success();
}

#[test]
fn a_stale_document_is_refused_and_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("docs/reference")).unwrap();
    for name in ["methods.md", "command-line.md", "datasets.md", "configuration.md", "landmark.schema.json"] {
        let file = format!("docs/reference/{name}");
        std::fs::copy(repository().join(&file), folder.path().join(&file)).unwrap();
    }
    let page = folder.path().join("docs/reference/command-line.md");
    let written = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, written.replace("--calls-per-item", "--calls")).unwrap();
    let refused = docs(folder.path(), &[]).assert().code(1);
    let printed = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(printed.contains("out of date") && printed.contains("cargo xtask docs --write"), "{printed}");
    docs(folder.path(), &["--write"]).assert().success();
    assert_eq!(std::fs::read_to_string(&page).unwrap(), written);
    std::fs::write(folder.path().join("docs/reference/datasets.md"), "# Mine\n").unwrap();
    let refused = docs(folder.path(), &[]).assert().code(2);
    assert!(String::from_utf8_lossy(&refused.get_output().stderr).contains("no place for its table"));
}
