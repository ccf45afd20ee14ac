//! Tables and figures of classification: table 2, table 7, figures 7 and 8 of the SMS-Nyström paper, and the same at every size.

use std::collections::HashSet;

use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, TableKind, TableSpec, distinct};

use landmark_harness::config::{SplitConfig, TrainedOn, Tuned};
use landmark_harness::experiment::FinishedRun;
use landmark_harness::experiments::error_curve::error_layout;
use landmark_harness::facts::LabelCount;
use landmark_harness::layout::Layout;
use landmark_harness::oracles::tree_kernel::TreeKernelConfig;
use landmark_harness::sweep::Comparison;

/// The largest rank that the paper calls small.
const SMALL_RANK: u64 = 550;
/// Headings of the paper's two ranges of rank: the id of each, and its title.
const HEADINGS: [(&str, &str); 2] =
    [("small_rank", "Small rank: at most 550"), ("large_rank", "Large rank: above 550")];

/// Accuracies at equal rank under the headings of table 2. `exact` has no rank and stands under both.
fn under_paper_headings(run: &FinishedRun<'_>) -> Vec<ResultRow> {
    let rows = run.rows;
    if !run.matrix.search.rank.is_empty() {
        return exact_in_both_regimes(rows);
    }
    if run.settings.paper.is_none() || run.matrix.dataset.documents().is_none() {
        return Vec::new();
    }
    let sizes = run.matrix.sizes(run.facts.items);
    let largest = |is_small: bool| sizes.iter().map(|&s| s as u64).filter(|&s| (s <= SMALL_RANK) == is_small).max();
    let mut restated = Vec::new();
    for ((heading, _), size) in HEADINGS.iter().zip([largest(true), largest(false)]) {
        let Some(size) = size else { continue };
        let is_here = |row: &&ResultRow| {
            row.metric == Metric::Accuracy
                && row.comparison == Comparison::Rank.id()
                && (row.count("columns") == size || row.subject.id == "exact")
        };
        restated.extend(
            rows.iter().filter(is_here).map(|row| ResultRow { comparison: (*heading).to_owned(), ..row.clone() }),
        );
    }
    restated
}

/// The exact kernel has no rank: it was measured once, and stands under both headings.
fn exact_in_both_regimes(rows: &[ResultRow]) -> Vec<ResultRow> {
    let is_exact = |row: &&ResultRow| row.subject.id == "exact" && row.metric == Metric::Accuracy;
    let Some(here) = rows.iter().find(is_exact).map(|row| &row.comparison) else { return Vec::new() };
    let Some(other) = rows.iter().map(|row| &row.comparison).find(|comparison| *comparison != here) else {
        return Vec::new();
    };
    rows.iter().filter(is_exact).map(|row| ResultRow { comparison: other.clone(), ..row.clone() }).collect()
}

/// Tables 2 and 7 and figures 7 and 8, where ranks were searched for.
fn searched_layout(rows: &[ResultRow]) -> Layout {
    let mut layout = Layout::default();
    for (number, (heading, words)) in (7..).zip([("small_rank", "small"), ("large_rank", "large")]) {
        let mut trials = Selection::compared_at(Metric::ValidationAccuracy, heading);
        // the exact kernel has no rank to search, and the optimum is no method
        let is_method = |row: &&ResultRow| trials.matches(row) && !row.subject.is_cap;
        let tried: HashSet<u64> = rows.iter().filter(is_method).map(|row| row.count("rank")).collect();
        if tried.len() < 2 {
            continue; // the rank was given
        }
        trials.methods = distinct(rows.iter().filter(is_method).map(|row| row.subject.method.clone()));
        layout.figures.push(FigureSpec::new(
            format!("figure{number}"),
            format!("Figure {number} of the paper. Validation accuracy for {words} ranks"),
            "A point for each trial of the search: mean accuracy over the folds against the rank it tried.",
            trials,
            FigureKind::Points { across: "rank" },
        ));
        let ranks = Selection::compared_at(Metric::Rank, heading);
        if rows.iter().any(|row| ranks.matches(row)) {
            layout.tables.push(TableSpec::new(
                format!("table7-{}", number - 6),
                format!("Table 7 of the paper. Best of the {words} ranks"),
                "The rank of the trial with the highest validation accuracy.",
                TableKind::Comparison { select: ranks, reference: Some("table7".to_owned()) },
            ));
        }
    }
    layout
}

/// Classifier that a method is judged by.
fn machine(run: &FinishedRun<'_>) -> &'static str {
    match run.matrix.svm.on {
        TrainedOn::Embedding => "a linear SVM on the factors of K̃",
        TrainedOn::Matrix => "a kernel SVM on all of K̃",
    }
}

fn paper_tables(run: &FinishedRun<'_>, rows: &[ResultRow]) -> Vec<TableSpec> {
    let mut tables = Vec::new();
    for (number, (heading, words)) in HEADINGS.iter().enumerate() {
        let select = Selection::compared_at(Metric::Accuracy, heading);
        if rows.iter().any(|row| select.matches(row)) {
            tables.push(TableSpec::new(
                format!("table2-{}", number + 1),
                format!("Table 2 of the paper. {words}"),
                format!("Share of test documents classified rightly by {}, and by a kernel SVM on K.", machine(run)),
                TableKind::Comparison { select, reference: Some("table2".to_owned()) },
            ));
        }
    }
    tables
}

/// Accuracies of a tree kernel next to the one that KeLP states for it.
fn tree_kernel_tables(run: &FinishedRun<'_>) -> Vec<TableSpec> {
    let Some(kernel) = run.matrix.oracle.settings_of::<TreeKernelConfig>() else { return Vec::new() };
    if run.settings.paper.is_none() {
        return Vec::new();
    }
    let select = Selection::compared_at(Metric::Accuracy, Comparison::Rank.id());
    vec![TableSpec::new(
        "table-kelp",
        format!("Question classification with `{}` and KeLP", kernel.id()),
        "Share of test questions classified rightly. KeLP states one accuracy a kernel, of an exact kernel SVM with C = 3.",
        TableKind::Comparison { select, reference: Some(format!("trec_{}", kernel.id())) },
    )]
}

/// What no similarity is needed for.
fn most_frequent(LabelCount { label, count, of }: &LabelCount) -> String {
    let share = 100.0 * *count as f64 / (*of).max(1) as f64;
    format!("{share:.1} % is what answering `{label}` every time would reach, the most frequent label")
}

pub(super) fn layout(run: &FinishedRun<'_>) -> Layout {
    let rows = run.rows;
    let mut restated = under_paper_headings(run);
    let shown: Vec<ResultRow> = rows.iter().chain(&restated).cloned().collect();
    let mut tables = paper_tables(run, &shown);
    tables.extend(tree_kernel_tables(run));
    let searched = searched_layout(rows);
    let mut figures = searched.figures;
    tables.extend(searched.tables);
    for (comparison, words) in [(Comparison::Rank, "equal rank"), (Comparison::Entries, "equal entries")] {
        let select = Selection::compared_at(Metric::Accuracy, comparison.id());
        if !rows.iter().any(|row| select.matches(row)) {
            continue;
        }
        tables.push(TableSpec::new(
            format!("table-accuracy-{}", comparison.id()),
            format!("Accuracy at {words}"),
            format!("Share of test documents classified rightly by {}.", machine(run)),
            TableKind::Grid { select: select.clone(), across: "columns" },
        ));
        figures.push(FigureSpec::new(
            format!("figure-accuracy-{}", comparison.id()),
            format!("Accuracy against the number of landmarks, {words}"),
            "Mean test accuracy against the number of landmarks; the band is the 95 % interval.",
            select,
            FigureKind::curve("columns"),
        ));
    }
    let errors = error_layout(run);
    tables.extend(errors.tables);
    figures.extend(errors.figures);
    restated.extend(errors.restated);
    // a single trial searches for nothing
    let is_one_trial = run.matrix.search.trials == 1;
    let mut notes = vec![
        "K̃ covers all documents, test documents included (transductive, as in the paper); no test label is used"
            .to_owned(),
        match run.matrix.dataset.split() {
            Some(SplitConfig::Given) | None => "one fixed split; replicates differ in their landmarks".to_owned(),
            Some(SplitConfig::Train(share)) if !run.matrix.search.rank.is_empty() => {
                let found = match is_one_trial {
                    true => "are those of one trial: nothing was searched for",
                    false => "are searched for on the training part of the first one",
                };
                format!(
                    "each replicate draws its own split, {:.0} % to train on; rank, γ, C and s2 {found}",
                    100.0 * share
                )
            }
            Some(SplitConfig::Train(share)) => {
                format!(
                    "each replicate draws its own split, {:.0} % to train on, and is tuned on its own training part",
                    100.0 * share
                )
            }
        },
    ];
    notes.extend(run.facts.most_frequent.as_ref().map(most_frequent));
    if run.matrix.oracle.gamma() == Some(Tuned::Search)
        && !is_one_trial
        && let Some(gamma) = run.matrix.common_gamma()
    {
        notes.push(format!(
            "each method is classified with the γ it chose by cross-validation; relative errors are all at γ = {gamma:.4}, the middle of the candidates"
        ));
    }
    Layout { restated, tables, figures, notes, ..Layout::default() }
}
