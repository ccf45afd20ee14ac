//! Messages of the program about configurations, good and bad: the real binary in a scratch folder.

use std::path::{Path, PathBuf};

use assert_cmd::Command;

const GOOD: &str = "\
name: words
experiment: error_curve
dataset: { name: random_psd, n: 40 }
oracle: precomputed
methods:
  - sms_nystrom
  - { id: sicur, ratio: 2 }
ranks: [5, 0.25]
profiles:
  smoke: { ranks: [3] }
  mine: { replicates: 2 }
";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn runner(folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("landmark"));
    command.current_dir(folder).env_remove("LANDMARK_DATA").env_remove("RUST_LOG").env("NO_COLOR", "1");
    command
}

/// Exit code and everything printed, when `text` stands in `words.yaml`.
fn with_file(text: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("words.yaml"), text).expect("a file in it");
    said(runner(folder.path()).args(arguments))
}

fn said(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let code = output.status.code().map_or("none".to_owned(), |code| code.to_string());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("exit code {code}\n--- standard output\n{out}--- standard error\n{err}")
}

/// Exit code and everything printed, for the good file with one thing replaced.
fn after(from: &str, to: &str) -> String {
    let text = GOOD.replacen(from, to, 1);
    assert_ne!(text, GOOD, "`{from}` is not in the file");
    with_file(&text, &["check", "words.yaml"])
}

#[test]
fn a_mistyped_key_is_underlined_and_guessed() {
    insta::assert_snapshot!(after("ranks: [5", "rnaks: [5"));
}

#[test]
fn a_mistyped_key_comes_first_and_is_looked_for_in_other_sections() {
    let text = GOOD
        .replace("experiment: error_curve", "experiment: error_curve\ntarget_error: 7")
        .replace("smoke: { ranks: [3] }", "smoke: {}");
    insta::assert_snapshot!(with_file(&(text.clone() + "gama: 2\n"), &["check", "words.yaml"]));
    // one that must be there is not missing as well
    for (from, to) in [
        ("ranks:", "rnaks:"),
        ("experiment:", "experimnt:"),
        ("dataset: { name", "dataset: { nmae"),
        ("oracle: precomputed", "oracle: { knid: precomputed }"),
    ] {
        let said =
            with_file(&GOOD.replacen(from, to, 1).replace("smoke: { ranks: [3] }", "smoke: {}"), &["words.yaml"]);
        assert_eq!((said.matches("unknown key").count(), said.matches("is missing").count()), (1, 0), "{to}: {said}");
        assert!(said.contains("did you mean"), "{said}");
    }
}

#[test]
fn a_mistyped_method_is_underlined_and_guessed() {
    insta::assert_snapshot!(after("- sms_nystrom", "- sms-nystorm"));
}

#[test]
fn a_mistyped_parameter_is_underlined_and_guessed() {
    insta::assert_snapshot!(after("ratio: 2", "raito: 2"));
}

#[test]
fn a_foreign_method_gets_the_list() {
    insta::assert_snapshot!(after("- sms_nystrom", "- kernel_pca"));
}

#[test]
fn a_value_of_the_wrong_type_is_named_with_the_one_wanted() {
    insta::assert_snapshot!(after("ratio: 2", "ratio: twice"));
}

#[test]
fn rank_zero_is_refused() {
    insta::assert_snapshot!(after("[5, 0.25]", "[0, 0.25]"));
}

#[test]
fn a_duplicate_key_is_refused_with_both_places() {
    insta::assert_snapshot!(after("oracle: precomputed\n", "oracle: precomputed\nname: again\n"));
}

#[test]
fn broken_yaml_names_the_line() {
    insta::assert_snapshot!(after("[5, 0.25]", "[5, 0.25"));
}

#[test]
fn all_problems_of_a_file_are_said_at_once() {
    let text = "name: words\nexperiment: error_curv\ndataset: { name: twiter, vectors: self300 }\noracle: { kind: wmd, gamma: -1 }\n\
                methods: [nystrom, nystrom]\nranks: []\nsede: 7\n";
    insta::assert_snapshot!(with_file(text, &["check", "words.yaml"]));
}

#[test]
fn a_problem_of_one_profile_names_the_profile() {
    insta::assert_snapshot!(after("replicates: 2", "replicates: 0"));
}

#[test]
fn a_profile_the_file_lacks_is_guessed() {
    insta::assert_snapshot!(with_file(GOOD, &["words.yaml", "--profile", "min"]));
}

#[test]
fn a_missing_file_is_guessed() {
    insta::assert_snapshot!(with_file(GOOD, &["wrods.yaml"]));
}

#[test]
fn an_assignment_without_value_is_refused() {
    insta::assert_snapshot!(with_file(GOOD, &["check", "--print", "words.yaml", "--set", "ranks"]));
}

#[test]
fn an_assignment_to_nowhere_is_underlined() {
    insta::assert_snapshot!(with_file(GOOD, &["check", "--print", "words.yaml", "--set", "methods[sicurr].ratio=3"]));
}

#[test]
fn a_wrong_value_in_an_assignment_is_underlined_there() {
    insta::assert_snapshot!(with_file(GOOD, &["check", "--print", "words.yaml", "--set", "methods[1].ratio=0.5"]));
}

#[test]
fn good_files_are_good_in_every_profile() {
    insta::assert_snapshot!(with_file(GOOD, &["check", "words.yaml"]));
}

#[test]
fn a_resolved_configuration_shows_defaults_profile_and_assignments() {
    let arguments = ["check", "--print", "words.yaml", "--profile", "smoke", "--set", "methods[sicur].ratio=3"];
    insta::assert_snapshot!(with_file(GOOD, &arguments));
}

#[test]
fn every_configuration_of_the_project_is_good() {
    let mut files = Vec::new();
    let mut folders = vec![repository().join("configs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                files.push(path);
            }
        }
    }
    assert!(files.len() >= 4, "{files:?}");
    runner(&repository()).arg("check").args(&files).assert().success();
}

#[test]
fn every_configuration_of_the_project_writes_its_three_profiles_down() {
    for entry in std::fs::read_dir(repository().join("configs")).unwrap() {
        let path = entry.unwrap().path();
        let text = if path.is_file() { std::fs::read_to_string(&path).unwrap() } else { String::new() };
        // a collection has the profiles of its members
        if path.extension().is_some_and(|ending| ending == "yaml") && !text.contains("experiment: collection") {
            for profile in ["smoke", "laptop", "paper"] {
                assert!(
                    text.contains(&format!("\n  {profile}: ")) || text.contains(&format!("\n  {profile}:\n")),
                    "{path:?}: {profile}"
                );
            }
        }
    }
}
