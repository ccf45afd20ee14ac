//! Tree kernels, question classification and answer ranking on the command line: the real binary in a scratch folder.

#![allow(clippy::unwrap_used)] // a test file

use std::path::{Path, PathBuf};
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

fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("LANDMARK_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: `LANDMARK_DATA` is not set");
    }
    folder
}

const CQA: &str = "\
name: threads
experiment: cqa
cqa: { dataset: embedded_threads, landmarks: [10, 500], methods: [nystrom, stratified, ensemble, sms_nystrom, sicur, shift_ridge] }
";

#[test]
fn the_embedded_threads_are_ranked_and_a_second_run_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("threads.yaml"), CQA).unwrap();
    let first = runner(folder.path(), &["threads.yaml", "--quiet"]);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let results = folder.path().join("results/threads");
    let summary = std::fs::read_to_string(results.join("summary.md")).unwrap();
    for wanted in
        ["Nyström, ensemble of 4", "kernel SVM", "MRR (%)", "500 landmarks are more than the 69 training comments"]
    {
        assert!(summary.contains(wanted), "{wanted}: {summary}");
    }
    let before = std::fs::read(results.join("results.parquet")).unwrap();
    assert!(runner(folder.path(), &["threads.yaml", "--quiet"]).status.success());
    assert_eq!(before, std::fs::read(results.join("results.parquet")).unwrap());
}

#[test]
fn what_is_wrong_with_a_ranking_or_a_tree_kernel_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = "name: m\nexperiment: error_curve\nranks: [5]\n";
    let cases = [
        (CQA.replace("embedded_threads", "embedded_thread"), "did you mean `embedded_threads`?"),
        (CQA.replace("[10, 500]", "[0]"), "`cqa.landmarks` is [0], but must be a list of at least one number above 0"),
        (CQA.replace("[10, 500]", "[5], folds: 1"), "`cqa.folds` is 1, but must be at least 2"),
        (CQA.replace("[10, 500]", "[5], kernel: { lambda: 0 }"), "`cqa.kernel.lambda` is 0"),
        (CQA.replace("nystrom, stratified", "nistrom"), "nistrom"),
        (
            format!("{matrix}dataset: {{ name: trec }}\noracle: {{ kind: wmd, gamma: 1 }}\nmethods: [nystrom]\n"),
            "use `tree_kernel`",
        ),
        (
            format!("{matrix}dataset: random_psd\noracle: tree_kernel\nmethods: [nystrom]\n"),
            "`tree_kernel` compares trees, but the dataset `random_psd` has none",
        ),
        (
            format!("{matrix}dataset: trec\noracle: {{ kind: tree_kernel, kernel: ptkk }}\nmethods: [nystrom]\n"),
            "did you mean `ptk`?",
        ),
        (
            format!("{matrix}dataset: trec\noracle: {{ kind: tree_kernel, lambda: -1 }}\nmethods: [nystrom]\n"),
            "`oracle.lambda` is -1, but must be a number above 0",
        ),
        (
            format!("{matrix}dataset: trec\noracle: tree_kernel\nmethods: [{{ id: nystrom, proxy: rwmd }}]\n"),
            "the proxy `rwmd` compares documents",
        ),
        (
            format!(
                "{matrix}dataset: random_psd\noracle: precomputed\nmethods: [{{ id: nystrom, proxy: bag_of_words }}]\n"
            ),
            "the proxy `bag_of_words` compares questions, but the dataset is a matrix",
        ),
    ];
    for (text, wanted) in cases {
        std::fs::write(folder.path().join("bad.yaml"), &text).unwrap();
        let (code, said) = complaint(folder.path(), &["validate", "bad.yaml"]);
        assert_eq!(code, Some(2), "{text}: {said}");
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}

#[test]
fn a_set_of_threads_that_is_not_there_ends_the_run_with_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("threads.yaml"), CQA.replace("landmarks", "test: dev, landmarks")).unwrap();
    let (code, said) = complaint(folder.path(), &["threads.yaml", "--quiet"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`cqa.test` names `dev`, but `embedded_threads` has the sets `train`, `test`"), "{said}");
}

#[test]
fn predictions_are_scored_and_what_does_not_fit_the_gold_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("gold", "q1\ta\t1\t1\ttrue\nq1\tb\t2\t0.5\tfalse\nq2\tc\t1\t1\tfalse\n");
    write("good", "q1\ta\t0\t0.1\ttrue\nq1\tb\t0\t0.9\ttrue\nq2\tc\t0\t1\tfalse\n");
    let output = runner(folder.path(), &["score", "cqa", "gold", "good"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // the one good comment stands second; the question without any counts 0
    assert!(output.status.success() && said.contains("MAP     0.2500") && said.contains("MRR     25.0000"), "{said}");
    assert!(
        said.contains("P       0.5000") && said.contains("R       1.0000") && said.contains("2 questions, 3 comments"),
        "{said}"
    );
    for (text, wanted) in [
        ("q1\ta\t0\t0.1\ttrue\nq1\tx\t0\t0.9\ttrue\n", "bad:2: the unknown comment `x` of question `q1`"),
        ("q1\ta\t0\t0.1\ttrue\n", "gold:2: the comment `b` of question `q1` has no prediction, one of 2 without"),
        ("q1\ta\t0\tmuch\ttrue\n", "bad:1: the score `much`"),
    ] {
        write("bad", text);
        let (code, said) = complaint(folder.path(), &["score", "cqa", "gold", "bad"]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn the_official_rows_of_two_submissions_are_reproduced() {
    let Some(data) = data_folder() else { return };
    let folder = data.join("cqa_semeval2016");
    let official = std::fs::read_to_string(folder.join("official_results_subtask_A.tsv")).unwrap();
    for (run, file) in [
        ("Kelp-primary", "submission_Kelp_subtask_A_primary.tsv.gz"),
        ("ConvKN-primary", "submission_ConvKN_subtask_A_primary.tsv.gz"),
    ] {
        let gold = folder.join("test_gold.relevancy");
        let predictions = folder.join(file);
        let output = runner(&folder, &["score", "cqa", gold.to_str().unwrap(), predictions.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let seen: Vec<&str> = said.lines().take(7).filter_map(|line| line.split_whitespace().last()).collect();
        let wanted = official.lines().find(|line| line.starts_with(&format!("{run}\t"))).unwrap();
        assert_eq!(seen, wanted.split('\t').skip(1).collect::<Vec<_>>(), "{run}");
    }
}
