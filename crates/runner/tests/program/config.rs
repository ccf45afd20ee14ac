//! Messages of the program about configurations, good and bad: the real binary in a scratch folder.

use std::path::Path;

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

fn runner(folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("landmark"));
    command.current_dir(folder).env_remove("LANDMARK_DATA").env_remove("RUST_LOG").env("NO_COLOR", "1");
    command
}

/// Exit code and everything printed, when `text` stands in `words.yaml`.
fn with_file(text: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("words.yaml"), text).expect("a file in it");
    seen(runner(folder.path()).args(arguments))
}

fn seen(command: &mut Command) -> String {
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
fn a_fault_is_underlined_in_its_place_with_the_name_that_was_meant() {
    let all_at_once = "name: words\nexperiment: error_curv\ndataset: { name: twiter, vectors: self300 }\n\
                       oracle: { kind: wmd, gamma: -1 }\nmethods: [nystrom, nystrom]\nranks: []\nsede: 7\n";
    let elsewhere = GOOD
        .replace("experiment: error_curve", "experiment: error_curve\ntarget_error: 7")
        .replace("smoke: { ranks: [3] }", "smoke: {}")
        + "gama: 2\n";
    let print = |set: &str| with_file(GOOD, &["check", "--print", "words.yaml", "--set", set]);
    let resolved = ["check", "--print", "words.yaml", "--profile", "smoke", "--set", "methods[sicur].ratio=3"];
    let messages = [
        ("a good file", with_file(GOOD, &["check", "words.yaml"])),
        ("defaults, profile and assignments", with_file(GOOD, &resolved)),
        ("a mistyped key", after("ranks: [5", "rnaks: [5")),
        ("a key of another section", with_file(&elsewhere, &["check", "words.yaml"])),
        ("a mistyped method", after("- sms_nystrom", "- sms-nystorm")),
        ("a mistyped parameter", after("ratio: 2", "raito: 2")),
        ("a method that is none", after("- sms_nystrom", "- kernel_pca")),
        ("a value of the wrong type", after("ratio: 2", "ratio: twice")),
        ("rank zero", after("[5, 0.25]", "[0, 0.25]")),
        ("a key twice", after("oracle: precomputed\n", "oracle: precomputed\nname: again\n")),
        ("no YAML", after("[5, 0.25]", "[5, 0.25")),
        ("all faults of a file", with_file(all_at_once, &["check", "words.yaml"])),
        ("a fault of one profile", after("replicates: 2", "replicates: 0")),
        ("a profile that the file lacks", with_file(GOOD, &["words.yaml", "--profile", "min"])),
        ("a file that is not there", with_file(GOOD, &["wrods.yaml"])),
        ("an assignment without a value", print("ranks")),
        ("an assignment to nowhere", print("methods[sicurr].ratio=3")),
        ("an assignment of a wrong value", print("methods[1].ratio=0.5")),
    ];
    insta::assert_snapshot!(messages.map(|(what, message)| format!("# {what}: {message}")).join("\n"));
}

#[test]
fn a_mistyped_key_that_must_be_there_is_not_missing_as_well() {
    for (from, to) in [
        ("ranks:", "rnaks:"),
        ("experiment:", "experimnt:"),
        ("dataset: { name", "dataset: { nmae"),
        ("oracle: precomputed", "oracle: { knid: precomputed }"),
    ] {
        let seen =
            with_file(&GOOD.replacen(from, to, 1).replace("smoke: { ranks: [3] }", "smoke: {}"), &["words.yaml"]);
        assert_eq!((seen.matches("unknown key").count(), seen.matches("is missing").count()), (1, 0), "{to}: {seen}");
        assert!(seen.contains("did you mean"), "{seen}");
    }
}
