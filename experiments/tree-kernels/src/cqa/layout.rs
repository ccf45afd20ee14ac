//! Table 1 of the paper, and the methods next to each other.

use landmark_harness::layout::Layout;
use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, TableKind, TableSpec};

/// The columns of table 1.
const TABLE_1: [(Metric, &str); 3] =
    [(Metric::MeanAveragePrecision, "MAP"), (Metric::F1, "F1 of good comments"), (Metric::Saving, "saving")];

/// The other figures of the official scorer.
const OTHERS: [Metric; 5] =
    [Metric::AverageRecall, Metric::ReciprocalRank, Metric::Precision, Metric::Recall, Metric::Accuracy];

pub(super) fn layout(rows: &[ResultRow]) -> Layout {
    let has = |metric: Metric| rows.iter().any(|row| row.metric == metric);
    let mut tables: Vec<TableSpec> = TABLE_1
        .iter()
        .filter(|(metric, _)| has(*metric))
        .map(|&(metric, words)| {
            TableSpec::new(
                format!("table1-{}", metric.id()),
                format!("Table 1 of the paper: {words}"),
                "By number of landmarks (the rank). The kernel SVM is the exact machine; published systems below.",
                TableKind::Comparison { select: Selection::of(metric), reference: Some("table1".to_owned()) },
            )
        })
        .collect();
    tables.push(official(rows));
    let figures = [(Metric::MeanAveragePrecision, "MAP"), (Metric::F1, "F1")]
        .into_iter()
        .filter(|(metric, _)| has(*metric))
        .map(|(metric, words)| {
            FigureSpec::new(
                format!("figure-{}", metric.id()),
                format!("{words} by number of landmarks"),
                "A line a method; the exact machine is level.",
                Selection::of(metric),
                FigureKind::curve("rank"),
            )
        })
        .collect();
    let notes = vec![
        "landmarks are training comments; a test comment is compared with them alone, and C is chosen on the training comments"
            .to_owned(),
        "saving = 1 − landmarks / support vectors of the kernel SVM of this run".to_owned(),
    ];
    Layout { tables, figures, notes, ..Layout::default() }
}

/// Method and number of landmarks.
fn cell(row: &ResultRow) -> (&str, u64) {
    (&row.subject.method, row.count("landmarks"))
}

/// The figures of the official scorer that table 1 leaves out: means over replicates.
fn official(rows: &[ResultRow]) -> TableSpec {
    let mut head = vec!["method".to_owned(), "landmarks".to_owned()];
    head.extend(OTHERS.iter().map(|metric| metric.head()));
    head.extend(["support vectors".to_owned(), "kernel operations".to_owned()]);
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut seen: Vec<(&str, u64)> = Vec::new();
    for row in rows {
        let (method, size) = cell(row);
        if seen.contains(&(method, size)) {
            continue;
        }
        seen.push((method, size));
        let mean = |metric: Metric| {
            let here = |other: &&ResultRow| other.metric == metric && cell(other) == (method, size);
            let values: Vec<f64> = rows.iter().filter(here).map(|row| row.value).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let show = |metric: Metric| mean(metric).map_or("–".to_owned(), |value| metric.show(value));
        let landmarks = if size == 0 { "–".to_owned() } else { Metric::Rank.show(size as f64) };
        let mut line = vec![method.to_owned(), landmarks];
        line.extend(OTHERS.iter().map(|&metric| show(metric)));
        line.extend([show(Metric::SupportVectors), Metric::Evaluations.show(row.cost.evaluations as f64)]);
        lines.push(line);
    }
    TableSpec::new(
        "table-official",
        "The other figures of the official scorer",
        "Means over replicates. Kernel operations of training and of ranking all test comments.",
        TableKind::plain(&head, 1.., lines),
    )
}
