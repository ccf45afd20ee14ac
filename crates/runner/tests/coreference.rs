//! Coreference on the command line: the real binary in a scratch folder.

#![allow(clippy::unwrap_used)] // a test file

use std::path::Path;
use std::process::{Command, Output};

fn runner(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("runner"));
    command.args(arguments).current_dir(folder).env_remove("LANDMARK_DATA").env_remove("RUST_LOG");
    command.env("NO_COLOR", "1").output().unwrap()
}

/// Exit code and what was printed as an error, on one line.
fn complaint(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = runner(folder, arguments);
    let words: Vec<String> =
        String::from_utf8_lossy(&output.stderr).split_whitespace().map(|word| word.replace('│', "")).collect();
    (output.status.code(), words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}

/// A document of six words, each with its mark.
fn document(marks: [&str; 6]) -> String {
    let rows: String = marks.iter().enumerate().map(|(k, mark)| format!("a\t0\t{k}\tw{k}\t{mark}\n")).collect();
    format!("#begin document (a); part 000\n{rows}#end document\n")
}

#[test]
fn a_response_is_scored_with_and_without_singletons() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, marks| std::fs::write(folder.path().join(name), document(marks)).unwrap();
    // key {a} {bc} {def}, response {a} {bc} {def} with e and f apart
    write("key", ["(1)", "(2)", "(2)", "(3)", "(3)", "(3)"]);
    write("response", ["(9)", "(2)", "(2)", "(3)", "(4)", "(5)"]);
    let kept = runner(folder.path(), &["score", "coref", "key", "response", "--keep-singletons"]);
    insta::assert_snapshot!("score_coref_keep_singletons", String::from_utf8_lossy(&kept.stdout));
    let dropped = runner(folder.path(), &["score", "coref", "key", "response"]);
    insta::assert_snapshot!("score_coref", String::from_utf8_lossy(&dropped.stdout));
    let same = runner(folder.path(), &["score", "coref", "key", "key"]);
    assert!(String::from_utf8_lossy(&same.stdout).contains("CoNLL score: 100.00"));
}

#[test]
fn a_mention_twice_and_files_of_other_documents_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("key", &document(["(1)", "-", "(1)", "-", "-", "-"]));
    for (text, wanted) in [
        (document(["(1)|(2)", "-", "-", "-", "-", "-"]), "bad:2: a second mention of word 0 in `a; part 000`"),
        (document(["(1", "-", "-", "-", "-", "-"]), "bad:2: a mention of cluster 1 opens and does not close"),
        (document(["(x)", "-", "-", "-", "-", "-"]), "bad:2: `(x)` in the last column"),
        (document(["-"; 6]).replace("(a)", "(b)"), "the response has no document `a; part 000`"),
        ("nothing\n".to_owned(), "bad:1: `nothing` outside of a document"),
    ] {
        write("bad", &text);
        let (code, said) = complaint(folder.path(), &["score", "coref", "key", "bad"]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}
