//! Coreference: a response scored, the stories inside clustered, and what is wrong named.

use crate::scratch::Scratch;
#[cfg(feature = "torch")]
use crate::scratch::number_before;

fn document(marks: [&str; 6]) -> String {
    let rows: String = marks.iter().enumerate().map(|(k, mark)| format!("a\t0\t{k}\tw{k}\t{mark}\n")).collect();
    format!("#begin document (a); part 000\n{rows}#end document\n")
}

#[test]
fn a_response_is_scored_with_and_without_singletons() {
    let scratch = Scratch::with("");
    let write = |name: &str, marks| scratch.write(name, &document(marks));
    // key {a} {bc} {def}, response {a} {bc} {def} with e and f apart
    write("key", ["(1)", "(2)", "(2)", "(3)", "(3)", "(3)"]);
    write("response", ["(9)", "(2)", "(2)", "(3)", "(4)", "(5)"]);
    let figures = |more: &str, lines: &[&str]| {
        scratch.say(&format!("score coref key response {more}")).prints(lines);
    };
    let kept = ["lea            50.00      50.00     50.00", "CoNLL score: 64.17", "response: 6 in 5, singletons kept"];
    figures("--keep-singletons", &kept);
    let dropped =
        ["mentions       40.00     100.00     57.14", "CoNLL score: 57.94", "response: 2 in 1, singletons dropped"];
    figures("", &dropped);
    scratch.say("score coref key key").prints(&["CoNLL score: 100.00"]);
}

#[test]
fn a_repeated_mention_is_dropped_with_a_warning_and_scored_as_by_the_reference_scorer() {
    let scratch = Scratch::with("");
    // key {a g} {c-e i}; the response has a and i a second time, in a cluster that appears before that of i
    let key = document(["(1)", "(2", "2)", "(1)", "(2)", "-"]);
    let response = document(["(1)|(3)", "(2", "2)", "(1)", "(2)|(3)", "-"]);
    scratch.write("key", &key);
    scratch.write("response", &response);
    let seen = scratch.well("score coref key response --keep-singletons");
    // of the reference scorer 8.01 (50 100 66.66, 75 100 85.71, 75 75 75, 83.33 55.55 66.66, 75 90 77.77), rounded and not cut
    for line in [
        "muc            50.00     100.00     66.67",
        "bcub           75.00     100.00     85.71",
        "ceafm          75.00      75.00     75.00",
        "ceafe          83.33      55.56     66.67",
        "blanc          75.00      90.00     77.78",
    ] {
        assert!(seen.out.contains(line), "{line} is not in\n{}", seen.out);
    }
    seen.must_complain(
        "warning: response, line 2: cluster 3 repeats the mention of word 0 of cluster 1 in `a; part 000`",
    );
    // a key is read in the same way
    scratch
        .say("score coref response key")
        .must_complain("warning: key, line 6: cluster 2 repeats the mention of word 4 of cluster 3");
}

#[test]
fn an_open_mention_and_files_of_other_documents_are_refused_by_name() {
    let scratch = Scratch::with("");
    scratch.write("key", &document(["(1)", "-", "(1)", "-", "-", "-"]));
    for (text, wanted) in [
        (document(["(1", "-", "-", "-", "-", "-"]), "bad:2: a mention of cluster 1 opens and does not close"),
        (document(["(x)", "-", "-", "-", "-", "-"]), "bad:2: `(x)` in the last column"),
        (document(["-"; 6]).replace("(a)", "(b)"), "the response has no document `a; part 000`"),
        ("nothing\n".to_owned(), "bad:1: `nothing` outside of a document"),
    ] {
        scratch.write("bad", &text);
        scratch.refuses("score coref key bad", &[wanted]);
    }
}

/// Seconds on two cores: the stories inside, and an encoder that knows nothing.
const NEWS: &str = "\
name: news
experiment: coref
replicates: 2
coref:
  dataset: news
  encoder: tiny
  mentions: [gold, predicted]
  pairs: { hidden: 8, width: 3, epochs: 2, batch: 64, learning_rate: 1e-2, negatives: 2 }
  spans: { hidden: 8, width: 3, epochs: 1, batch: 256, learning_rate: 1e-2 }
  longest: 3
  top: 1.0
  fractions: [0.3, 1.0]
  methods:
    - nystrom
    - sicur
    - { id: sms_nystrom, name: rescaled, outer_shift: false, rescale: frobenius }
    - { id: shift_ridge, known: [landmarks], proxy: mention_cosine }
    - optimal
";

#[cfg(feature = "torch")]
#[test]
fn neighbors_of_mentions_are_looked_for_without_a_method() {
    let scratch = Scratch::with("");
    let (before, _) = NEWS.split_once("  fractions").unwrap();
    let one = before.replace("[gold, predicted]", "[gold]").replace("replicates: 2", "replicates: 1");
    scratch.write("near.yaml", &format!("{one}  calls: [2, 3, 500]\n  ablations: [process]\n"));
    scratch.well("near.yaml --quiet");
    let summary = scratch.read("runs/news/summary.md");
    for wanted in
        ["Recall@10 against calls per item", "| rounds ", "| GAR ", "perfect candidates", "looked for within a topic"]
    {
        assert!(summary.contains(wanted), "{wanted} is missing:\n{summary}");
    }
    // of the parts of the search, it also runs without those that are named
    assert!(summary.contains("rounds without the process"), "{summary}");
    assert!(!summary.contains("rounds without kriging"), "{summary}");
    // where all pairs are scored there is nothing to find
    assert!(!summary.contains(" 500 |"), "{summary}");
    scratch.write("neither.yaml", one.as_str());
    scratch.refuses("neither.yaml --quiet", &["`coref.methods` is missing"]);
    scratch.write("zero.yaml", &format!("{one}  calls: [0]\n"));
    scratch.say("zero.yaml --quiet").must_complain("`coref.calls` is [0], but must be a list of numbers above 0");
}

#[cfg(feature = "torch")]
#[test]
fn the_news_are_clustered_their_scores_evaluated_once_and_a_second_run_changes_nothing() {
    let scratch = Scratch::with(NEWS);
    // the number of predicted mentions is known before any is predicted; what the store holds of them is not
    let dry = scratch.run_well("--dry-run");
    dry.prints(&["planned exactly", "fewer if some scores are stored"]);
    let planned = number_before(&dry.out, " calls: ");
    assert!(planned > 0 && !scratch.path("models").exists());
    scratch.run_well("--quiet");
    assert_eq!(scratch.calls("runs/news"), [planned, planned, 0]);
    assert_eq!(scratch.entries_kept("store"), planned);
    let shown = [
        "news, gold mentions",
        "news, predicted mentions",
        "exact, both orders",
        "proxy alone, its best threshold",
        "shift_ridge + known + mention_cosine",
        "with singletons",
        "not the paper's corpus",
    ];
    scratch.has("runs/news/summary.md", &shown);
    scratch.run_well("--quiet --results again");
    assert_eq!(scratch.calls("again/news"), [planned, 0, planned]);
    assert_eq!(scratch.figures("runs/news"), scratch.figures("again/news"));
    // nothing is trained again: the models are gone and are not missed
    let rows = || std::fs::read(scratch.path("runs/news/results.parquet")).unwrap();
    let before = rows();
    std::fs::remove_dir_all(scratch.path("models")).unwrap();
    scratch.run_well("--quiet");
    assert!(!scratch.path("models").exists() && rows() == before);
}

#[cfg(feature = "torch")]
#[test]
fn an_approximation_from_all_mentions_clusters_as_the_exact_scores_do() {
    let scratch = Scratch::with("");
    let text = NEWS.replace("[gold, predicted]", "[gold]").replace("replicates: 2", "replicates: 1");
    scratch.write("news.yaml", &text);
    scratch.well("news.yaml --quiet");
    let rows = scratch.read("runs/news/cells.jsonl");
    let mut f1 = std::collections::BTreeMap::new();
    for line in rows.lines() {
        let cell: serde_json::Value = serde_json::from_str(line).unwrap();
        for row in cell["rows"].as_array().unwrap() {
            if row["metric"] == "conll_f1" && row["columns"] == row["items"] {
                f1.insert(row["method"].as_str().unwrap().to_owned(), row["value"].as_f64().unwrap());
            }
        }
    }
    // at s = n Nyström and the optimum reproduce K, and known columns are K
    for method in ["nystrom", "optimal", "shift_ridge + known + mention_cosine"] {
        assert_eq!(f1[method], f1["exact, both orders"], "{method}: {f1:?}");
    }
}

#[test]
fn what_is_wrong_with_a_clustering_is_named() {
    let scratch = Scratch::with("");
    for (text, wanted) in [
        (NEWS.replace("dataset: news", "dataset: ecbpluss"), "did you mean `ecbplus`?"),
        (NEWS.replace("[0.3, 1.0]", "[0.3, 1.5]"), "`coref.fractions` is [0.3, 1.5], but must be a list of shares"),
        (NEWS.replace("longest: 3", "longest: 0"), "`coref.longest` is 0, but must be at least 1"),
        (NEWS.replace("top: 1.0", "top: 0"), "`coref.top` is 0, but must be a share above 0 and at most 1"),
        (NEWS.replace("epochs: 2", "epochs: 0"), "`coref.pairs.epochs` is 0, but must be at least 1"),
        (NEWS.replace("[gold, predicted]", "[silver]"), "silver"),
        (
            NEWS.replace("top: 1.0", "top: 1.0\n  ablations: [process]"),
            "`coref.ablations` is for a search for neighbors, which needs `coref.calls`",
        ),
        (NEWS.replace("mention_cosine", "rwmd"), "the proxy `rwmd` does not compare mentions: use `mention_cosine`"),
        (NEWS.replace("- optimal", "- exact"), "the exact scores are always among the rows"),
        (NEWS.replace("- optimal", "- optimum"), "did you mean `optimal`?"),
        (
            "name: m\nexperiment: error_curve\nranks: [5]\ndataset: random_psd\noracle: precomputed\nmethods: [{ id: nystrom, proxy: mention_cosine }]\n".to_owned(),
            "the proxy `mention_cosine` reads mentions, but the dataset `random_psd` has a matrix",
        ),
    ] {
        scratch.write("bad.yaml", &text);
        scratch.refuses("check bad.yaml", &[wanted]);
    }
}

#[cfg(feature = "torch")]
#[test]
fn a_model_that_is_not_there_and_a_corpus_that_is_not_there_are_named() {
    let scratch = Scratch::with("");
    for (text, wanted) in [
        (NEWS.replace("encoder: tiny", "encoder: no-such-model"), "no-such-model"),
        (NEWS.replace("dataset: news", "dataset: ecbplus"), "ecbplus/docs.jsonl.gz"),
    ] {
        scratch.write("news.yaml", &text);
        let seen = scratch.say("news.yaml --quiet");
        assert_ne!(seen.code, Some(0));
        seen.must_complain(wanted);
    }
}
