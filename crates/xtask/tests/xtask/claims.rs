//! The claims of the papers on the committed results: verdicts are recomputed, and the READMEs hold what comes out.

use std::path::Path;

use assert_cmd::Command;

fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn claims(arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("xtask"));
    command.current_dir(project()).arg("claims").args(arguments);
    command
}

#[test]
fn the_verdicts_in_the_readmes_are_those_of_the_published_rows() {
    claims(&["--check"]).assert().success().stdout("the verdicts are up to date\n");
}

#[test]
fn every_paper_has_ten_claims_and_none_is_untested_without_a_reason() {
    let mut all = 0;
    for paper in ["intent-sketch", "sms-nystrom", "structured-embeddings", "tree-kernels"] {
        let readme = std::fs::read_to_string(project().join("experiments").join(paper).join("README.md")).unwrap();
        let (_, rest) = readme.split_once("<!-- claims:begin -->").unwrap();
        let lines: Vec<Vec<&str>> = rest
            .split_once("<!-- claims:end -->")
            .unwrap()
            .0
            .lines()
            .filter(|line| line.starts_with("| "))
            .skip(1)
            .map(|line| line.split(" | ").collect())
            .collect();
        assert!(lines.len() >= 10, "{} claims: {paper}", lines.len());
        for line in &lines {
            assert!(["**holds**", "**does not hold**", "untested"].contains(&line[2]), "{line:?}");
            assert!(line[3].len() > 3, "without numbers or a reason: {line:?}");
        }
        all += lines.len();
    }
    assert!(all >= 50, "{all} claims");
}

#[test]
fn a_verdict_follows_the_rows() {
    // without a single published run every test is untested, and the READMEs are out of date
    let empty = tempfile::tempdir().unwrap();
    let printed = claims(&["--results", empty.path().to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(text.contains("| untested | no published run of `psd` |") && !text.contains("holds**"), "{text}");
}
