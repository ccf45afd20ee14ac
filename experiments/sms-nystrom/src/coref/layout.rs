//! Figures 4 and 6 of the paper, its numbers next to ours, and the other figures of the scorer.

use landmark_harness::layout::Layout;
use landmark_neighbors_experiment::retrieval::{self, METRICS};
use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, Subject, TableKind, TableSpec, distinct};

/// Figures of the scorer besides the CoNLL F1.
const OTHERS: [Metric; 5] =
    [Metric::ConllF1Singletons, Metric::MucF1, Metric::BCubedF1, Metric::CeafEF1, Metric::LeaF1];

/// The methods of figure 6.
const FIGURE_6: [&str; 2] = ["sms_nystrom", "sms_nystrom_rescaled"];

/// Layout of a run with methods, and of what was found of neighbors.
pub(super) fn layout(dataset: &str, fractions: &[f64], rows: &[ResultRow]) -> Layout {
    let Layout { tables, figures, notes, .. } = neighbors(rows);
    let clustering = clustering(dataset, fractions, rows);
    Layout {
        tables: clustering.tables.into_iter().chain(tables).collect(),
        figures: clustering.figures.into_iter().chain(figures).collect(),
        notes,
        ..clustering
    }
}

/// Layout of a run that only looks for neighbors.
pub(super) fn without_methods(rows: &[ResultRow]) -> Layout {
    let mut layout = neighbors(rows);
    layout.tables.push(exact(rows));
    layout
}

fn clustering(dataset: &str, fractions: &[f64], rows: &[ResultRow]) -> Layout {
    let restated = under_paper_headings(dataset, fractions, rows);
    let sources = names(rows, |row| &row.subject.dataset);
    let select = |metric| Selection { datasets: sources.clone(), ..Selection::of(metric) };
    let mut tables = Vec::new();
    if !restated.is_empty() {
        for (metric, reference, words) in
            [(Metric::ConllF1, "figure4_f1", "CoNLL F1"), (Metric::RelativeError, "figure4_error", "relative error")]
        {
            tables.push(TableSpec::new(
                format!("table-figure4-{}", metric.id()),
                format!("Figures 4 and 6 of the paper: {words}, predicted mentions"),
                "By fraction of landmark mentions; the paper's values are those of its plotting program.",
                TableKind::Comparison {
                    select: Selection { datasets: vec![dataset.to_owned()], ..Selection::of(metric) },
                    reference: Some(reference.to_owned()),
                },
            ));
        }
    }
    for (metric, words) in [
        (Metric::ConllF1, "CoNLL F1"),
        (Metric::OwnThresholdConllF1, "CoNLL F1, threshold of its own"),
        (Metric::RelativeError, "relative error"),
    ] {
        tables.push(TableSpec::new(
            format!("table-{}", metric.id()),
            format!("By share of landmark mentions: {words}"),
            "Mean over replicates ± half the 95 % interval.",
            TableKind::Grid { select: select(metric), across: "fraction" },
        ));
    }
    tables.extend([exact(rows), others(rows)]);
    let mut figures = Vec::new();
    for (number, methods, title) in [
        (4, Vec::new(), "Clustering on approximated scores"),
        (6, with_level(rows, &FIGURE_6), "SMS-Nyström, rescaled and not"),
    ] {
        if number == 6 && methods.len() < 2 {
            continue;
        }
        for (metric, log_y) in [(Metric::ConllF1, false), (Metric::RelativeError, true)] {
            figures.push(FigureSpec::new(
                format!("figure{number}-{}", metric.id()),
                format!("{title}: {}", metric.spec().label),
                format!("Figure {number} of the paper. A line a method; what needs every score is level."),
                Selection { methods: methods.clone(), ..select(metric) },
                FigureKind::Curve { across: "fraction", log_y, y_limits: None },
            ));
        }
    }
    figures.push(FigureSpec::new(
        "figure-own-threshold",
        "Clustering on approximated scores: a threshold of its own for every method",
        "Not in the paper: figure 4 with the threshold that is best for the method's own approximation of the development topics.",
        select(Metric::OwnThresholdConllF1),
        FigureKind::curve("fraction"),
    ));
    Layout { restated, tables, figures, ..Layout::default() }
}

/// Recall against calls, where it was measured.
fn neighbors(rows: &[ResultRow]) -> Layout {
    let found = |row: &&ResultRow| METRICS.iter().any(|(metric, _)| *metric == row.metric);
    let rows: Vec<ResultRow> = rows.iter().filter(found).cloned().collect();
    if rows.is_empty() {
        return Layout::default();
    }
    let mut layout = retrieval::layout(2, &rows);
    layout.notes.push(
        "neighbors are looked for within a topic; a number of calls counts in the topics where it is below half of all pairs"
            .to_owned(),
    );
    layout
}

/// Rows on predicted mentions under the names that `reference.yaml` has: dataset, and the fraction as a comparison.
fn under_paper_headings(dataset: &str, fractions: &[f64], rows: &[ResultRow]) -> Vec<ResultRow> {
    let shown = |row: &&ResultRow| {
        matches!(row.metric, Metric::ConllF1 | Metric::RelativeError)
            && row.subject.dataset.ends_with("predicted mentions")
            && row.subject.id != "proxy"
    };
    let restate = |row: &ResultRow| {
        let share = row.along("fraction");
        let level = row.subject.id.starts_with("exact");
        let nearest = fractions.iter().copied().min_by(|a, b| (a - share).abs().total_cmp(&(b - share).abs()));
        let comparison = match nearest {
            Some(fraction) if !level => format!("fraction_{fraction}"),
            _ => String::new(),
        };
        let subject = Subject { dataset: dataset.to_owned(), ..row.subject.clone() };
        ResultRow { subject, comparison, ..row.clone() }
    };
    rows.iter().filter(shown).map(restate).collect()
}

/// The methods of these ids, and the exact ones as a level; by their names.
fn with_level(rows: &[ResultRow], ids: &[&str]) -> Vec<String> {
    let of: Vec<ResultRow> = rows
        .iter()
        .filter(|row| ids.contains(&row.subject.id.as_str()) && row.subject.variant.is_empty())
        .cloned()
        .collect();
    let mut methods = names(&of, |row| &row.subject.method);
    if methods.len() > 1 {
        let exact: Vec<ResultRow> = rows.iter().filter(|row| row.subject.id == "exact").cloned().collect();
        methods.extend(names(&exact, |row| &row.subject.method));
    }
    methods
}

fn names(rows: &[ResultRow], of: impl Fn(&ResultRow) -> &String) -> Vec<String> {
    distinct(rows.iter().map(|row| of(row).clone()))
}

/// The mean of a metric over the rows of a cell.
fn mean(rows: &[ResultRow], of: &ResultRow, metric: Metric) -> Option<f64> {
    let here = |row: &&ResultRow| {
        row.metric == metric && row.subject == of.subject && row.count("columns") == of.count("columns")
    };
    let values: Vec<f64> = rows.iter().filter(here).map(|row| row.value).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Table of the trained scorers: threshold, and CoNLL F1 of development and test topics with every score.
fn exact(rows: &[ResultRow]) -> TableSpec {
    let head = ["mentions", "number", "threshold", "CoNLL F1, dev (%)", "CoNLL F1, test (%)", "with singletons (%)"];
    let line = |row: &ResultRow| {
        let show = |metric: Metric| mean(rows, row, metric).map_or("–".to_owned(), |value| metric.show(value));
        vec![
            row.subject.dataset.clone(),
            Metric::Count.show(row.subject.items as f64),
            show(Metric::Threshold),
            show(Metric::DevConllF1),
            show(Metric::ConllF1),
            show(Metric::ConllF1Singletons),
        ]
    };
    let is_exact = |row: &&ResultRow| row.metric == Metric::Threshold && row.subject.id == "exact";
    let lines = rows.iter().filter(is_exact).map(line).collect();
    TableSpec::new(
        "table-exact",
        "The scorer with every score",
        "Both orders of a pair, averaged.",
        TableKind::plain(&head, 1..6, lines),
    )
}

/// The figures that make up the CoNLL F1, and those that keep singletons.
fn others(rows: &[ResultRow]) -> TableSpec {
    let mut head = vec!["mentions".to_owned(), "method".to_owned(), "share".to_owned()];
    head.extend(OTHERS.iter().map(|metric| metric.head()));
    head.push("pairs scored".to_owned());
    let line = |row: &ResultRow| {
        let show = |metric: Metric| mean(rows, row, metric).map_or("–".to_owned(), |value| metric.show(value));
        let share = format!("{:.1}", row.along("fraction"));
        let mut line = vec![row.subject.dataset.clone(), row.subject.method.clone(), share];
        line.extend(OTHERS.iter().map(|&metric| show(metric)));
        line.push(Metric::Evaluations.show(row.cost.evaluations as f64));
        line
    };
    let lines: Vec<Vec<String>> =
        rows.iter().filter(|row| row.metric == Metric::ConllF1 && row.replicate == 0).map(line).collect();
    TableSpec::new(
        "table-others",
        "The other figures of the scorer",
        "F1, means over replicates; a pair is scored in both orders.",
        TableKind::plain(&head, 2.., lines),
    )
}
