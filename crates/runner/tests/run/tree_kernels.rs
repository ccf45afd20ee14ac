//! Tree kernels, question classification and answer ranking.

#[cfg(feature = "tagger")]
use crate::scratch::number_before;
use crate::scratch::{Scratch, data_folder};

const CQA: &str = "\
name: threads
experiment: cqa
cqa: { dataset: embedded_threads, landmarks: [10, 500], methods: [nystrom, stratified, ensemble, sms_nystrom, sicur, shift_ridge] }
";

#[cfg(feature = "tagger")]
#[test]
fn threads_are_ranked_their_entries_planned_kept_and_evaluated_once_and_a_second_run_changes_nothing() {
    let scratch = Scratch::with(&CQA.replace("landmarks: [10, 500]", "exact: false, landmarks: [10, 20]"));
    let dry = scratch.run_well("--dry-run");
    let planned = number_before(&dry.out, " calls: ");
    assert!(planned > 0 && dry.out.contains("planned exactly"), "{}", dry.out);
    scratch.run_well("--quiet");
    assert_eq!(scratch.calls("runs/threads"), [planned, planned, 0]);
    assert_eq!(scratch.entries_kept("store"), planned);
    scratch.run_well("--quiet --results again");
    assert_eq!(scratch.calls("again/threads"), [planned, 0, planned]);
    assert_eq!(scratch.figures("runs/threads"), scratch.figures("again/threads"));

    // which test comments meet which support shows only when the exact machine is trained
    let scratch = Scratch::with(CQA);
    let most = number_before(&scratch.run_well("--dry-run").out, " calls: ");
    scratch.run_well("--quiet");
    let evaluated = scratch.calls("runs/threads")[1];
    assert!(evaluated > planned && evaluated <= most, "{planned} < {evaluated} <= {most}");
    assert_eq!(scratch.entries_kept("store"), evaluated);
    assert_eq!(scratch.calls("runs/threads"), [most, evaluated, 0]);
    // what lay in the store is reported of a plan that is a bound, too
    scratch.run_well("--quiet --results again");
    assert_eq!(scratch.calls("again/threads"), [most, 0, evaluated]);
    assert_eq!(scratch.json("again/threads/run.json")["calls"]["at_most"], true);
    let shown =
        ["Nyström, ensemble of 4", "kernel SVM", "MRR (%)", "500 landmarks are more than the 69 training comments"];
    scratch.has("runs/threads/summary.md", &shown);
    let rows = || std::fs::read(scratch.path("runs/threads/results.parquet")).unwrap();
    let before = rows();
    scratch.run_well("--quiet");
    assert_eq!(before, rows());
}

#[test]
fn what_is_wrong_with_a_ranking_or_a_tree_kernel_is_named() {
    let scratch = Scratch::with("");
    let matrix = "name: m\nexperiment: error_curve\nranks: [5]\n";
    let cases = [
        (CQA.replace("embedded_threads", "embedded_thread"), "did you mean `embedded_threads`?"),
        (CQA.replace("[10, 500]", "[0]"), "`cqa.landmarks` is [0], but must be a list of at least one number above 0"),
        (CQA.replace("[10, 500]", "[5], folds: 1"), "`cqa.folds` is 1, but must be at least 2"),
        (CQA.replace("[10, 500]", "[5], kernel: { lambda: 0 }"), "`cqa.kernel.lambda` is 0"),
        (CQA.replace("nystrom, stratified", "nistrom"), "nistrom"),
        (
            CQA.replace("[10, 500]", "[5], files: [a/train.jsonl, b/train.jsonl, test.jsonl]"),
            "`cqa.files` names `a/train.jsonl` and `b/train.jsonl`, both of the set `train`: rename one of them",
        ),
        (
            format!("{matrix}dataset: {{ name: trec }}\noracle: {{ kind: wmd, gamma: 1 }}\nmethods: [nystrom]\n"),
            "use `tree_kernel`",
        ),
        (
            format!("{matrix}dataset: random_psd\noracle: tree_kernel\nmethods: [nystrom]\n"),
            "`tree_kernel` reads questions with trees, but the dataset `random_psd` has a matrix: use `precomputed`",
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
            "the proxy `rwmd` reads documents",
        ),
        (
            format!(
                "{matrix}dataset: trec\noracle: tree_kernel\nmethods: [{{ id: nystrom, proxy: {{ kind: fragments, size: 9 }} }}]\n"
            ),
            "is 9, but must be between 1 and 4",
        ),
        (
            format!(
                "{matrix}dataset: random_psd\noracle: precomputed\nmethods: [{{ id: nystrom, proxy: bag_of_words }}]\n"
            ),
            "the proxy `bag_of_words` reads questions with trees or documents with word vectors or sentences of labeled pairs or texts, but the dataset `random_psd` has a matrix",
        ),
    ];
    for (text, wanted) in cases {
        scratch.write("bad.yaml", &text);
        scratch.refuses("check bad.yaml", &[wanted]);
    }
}

#[test]
fn a_set_of_threads_that_is_not_there_ends_the_run_with_those_there_are() {
    let scratch = Scratch::with("");
    scratch.write("threads.yaml", &CQA.replace("landmarks", "test: dev, landmarks"));
    scratch.refuses(
        "threads.yaml --quiet",
        &["`cqa.test` names `dev`, but `embedded_threads` has the sets `train`, `test`"],
    );
}

#[test]
fn predictions_are_scored_and_what_does_not_fit_the_gold_is_named() {
    let scratch = Scratch::with("");
    scratch.write("gold", "q1\ta\t1\t1\ttrue\nq1\tb\t2\t0.5\tfalse\nq2\tc\t1\t1\tfalse\n");
    scratch.write("good", "q1\ta\t0\t0.1\ttrue\nq1\tb\t0\t0.9\ttrue\nq2\tc\t0\t1\tfalse\n");
    let printed = scratch.well("score cqa gold good");
    // the one good comment stands second; the question without any counts 0
    for line in ["MAP     0.2500", "MRR     25.0000", "P       0.5000", "R       1.0000", "2 questions, 3 comments"] {
        assert!(printed.out.contains(line), "`{line}` is not in:\n{}", printed.out);
    }
    for (text, wanted) in [
        ("q1\ta\t0\t0.1\ttrue\nq1\tx\t0\t0.9\ttrue\n", "bad:2: the unknown comment `x` of question `q1`"),
        ("q1\ta\t0\t0.1\ttrue\n", "gold:2: the comment `b` of question `q1` has no prediction, one of 2 without"),
        ("q1\ta\t0\tmuch\ttrue\n", "bad:1: the score `much`"),
    ] {
        scratch.write("bad", text);
        scratch.refuses("score cqa gold bad", &[wanted]);
    }
}

#[test]
#[ignore = "needs LANDMARK_DATA"]
fn the_official_rows_of_two_submissions_are_reproduced() {
    let data = data_folder();
    let (scratch, folder) = (Scratch::with(""), data.join("cqa_semeval2016"));
    let official = std::fs::read_to_string(folder.join("official_results_subtask_A.tsv")).unwrap();
    for (run, file) in [
        ("Kelp-primary", "submission_Kelp_subtask_A_primary.tsv.gz"),
        ("ConvKN-primary", "submission_ConvKN_subtask_A_primary.tsv.gz"),
    ] {
        let gold = folder.join("test_gold.relevancy");
        let predictions = folder.join(file);
        let printed = scratch.say(&["score", "cqa", gold.to_str().unwrap(), predictions.to_str().unwrap()]);
        let seen: Vec<&str> = printed.out.lines().take(7).filter_map(|line| line.split_whitespace().last()).collect();
        let wanted = official.lines().find(|line| line.starts_with(&format!("{run}\t"))).unwrap();
        assert_eq!(seen, wanted.split('\t').skip(1).collect::<Vec<_>>(), "{run}");
    }
}
