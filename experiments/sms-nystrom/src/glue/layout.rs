//! Tables and figures of a run of `experiment: glue`.

use landmark_harness::experiment::FinishedRun;
use landmark_harness::experiments::error_curve::error_layout;
use landmark_harness::experiments::errors::READING;
use landmark_harness::facts::Facts;
use landmark_harness::layout::Layout;
use landmark_harness::sweep::Comparison;
use landmark_oracles::neural::Epoch;
use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, TableKind, TableSpec};

use super::{AGAINST, HALF};

/// Relative errors again, under the headings of table 5.
fn restated(rows: &[ResultRow]) -> Vec<ResultRow> {
    let at_rank = |row: &&ResultRow| row.comparison == Comparison::Rank.id();
    let under = |(metric, heading, _): (Metric, &'static str, &str)| {
        rows.iter().filter(at_rank).filter(move |row| row.metric == metric).map(move |row| ResultRow {
            metric: Metric::RelativeError,
            comparison: heading.to_owned(),
            ..row.clone()
        })
    };
    AGAINST.into_iter().flat_map(under).collect()
}

pub(super) fn layout(run: &FinishedRun<'_>) -> Layout {
    let rows = run.rows;
    let errors = error_layout(run);
    let has_paper = run.settings.paper.is_some();
    let of_paper =
        |place: &str, words: String| if has_paper { format!("{place} of the paper. {words}") } else { words };
    let (mut tables, mut figures) = (Vec::new(), Vec::new());
    for metric in [Metric::Pearson, Metric::Spearman, Metric::F1, Metric::Accuracy] {
        let spec = metric.spec();
        let paper = Selection::compared_at(metric, Comparison::Rank.id());
        if !rows.iter().any(|row| paper.matches(row)) {
            continue;
        }
        tables.push(TableSpec::new(
            format!("table3-{}", spec.id),
            of_paper("Table 3", format!("{} at the labeled pairs", spec.label)),
            "Approximated scores read at the labeled pairs, next to the model's own and their symmetrization.",
            TableKind::Comparison { select: paper, reference: Some("table3".to_owned()) },
        ));
        for (comparison, words) in [(Comparison::Rank, "equal rank"), (Comparison::Entries, "equal entries")] {
            let select = Selection::compared_at(metric, comparison.id());
            if !rows.iter().any(|row| select.matches(row)) {
                continue;
            }
            figures.push(FigureSpec::new(
                format!("figure-{}-{}", spec.id, comparison.id()),
                format!("{} against the share of landmarks, {words}", spec.label),
                "Mean over replicates at the labeled pairs; the band is the 95 % interval.",
                select,
                FigureKind::curve("fraction"),
            ));
        }
    }
    tables.extend(description(run.facts, has_paper));
    let restated = restated(rows);
    for (_, heading, words) in AGAINST {
        let select = Selection::compared_at(Metric::RelativeError, heading);
        if restated.iter().any(|row| select.matches(row)) {
            tables.push(TableSpec::new(
                format!("table5-{heading}").replace('_', "-"),
                of_paper("Table 5", format!("Relative error against {words}")),
                match has_paper {
                    true => "‖K − K̃‖_F / ‖K‖_F. The paper's table mixes both references.".to_owned(),
                    false => "‖K − K̃‖_F / ‖K‖_F.".to_owned(),
                },
                TableKind::Comparison { select, reference: Some("table5".to_owned()) },
            ));
        }
    }
    tables.extend(proxy_study(rows));
    tables.extend(errors.tables);
    figures.extend(errors.figures);
    let mut all_restated = errors.restated;
    all_restated.extend(restated);
    Layout { restated: all_restated, tables, figures, notes: notes(run), ..Layout::default() }
}

/// Table 4 and the curve of the training.
fn description(facts: &Facts, has_paper: bool) -> Vec<TableSpec> {
    let Some(pairs) = facts.pairs else { return Vec::new() };
    let mut tables = vec![TableSpec::new(
        "table4",
        if has_paper { "Table 4 of the paper. The pairs" } else { "The pairs" },
        match has_paper {
            true => {
                "Items are the distinct sentences of the pairs to judge by; the paper counts both sentences of every pair (STS-B 3,000, MRPC 816, RTE 554)."
            }
            false => "Items are the distinct sentences of the pairs to judge by.",
        },
        TableKind::plain(
            &["dataset", "pairs to learn from", "pairs to judge by", "items"],
            1..,
            vec![vec![
                facts.dataset.clone(),
                pairs.train.to_string(),
                pairs.judged.to_string(),
                facts.items.to_string(),
            ]],
        ),
    )];
    if !facts.fine_tuned.is_empty() {
        let score = if pairs.are_graded { "Pearson" } else { "accuracy" };
        let line = |epoch: &Epoch| {
            vec![
                epoch.number.to_string(),
                format!("{:.4}", epoch.loss),
                format!("{:.4}", epoch.score),
                epoch.both_orders.map_or_else(|| "–".to_owned(), |score| format!("{score:.4}")),
                format!("{:.0}", epoch.seconds),
            ]
        };
        tables.push(TableSpec::new(
            "table-fine-tuning",
            "How the model was fine-tuned",
            "Mean loss on the pairs to learn from; on all pairs to judge by, the score of the pairs as given, by which the best epoch is chosen, and of the mean of both orders; wall seconds.",
            TableKind::plain(
                &["epoch", "loss", score, "both orders", "seconds"],
                0..,
                facts.fine_tuned.iter().map(line).collect(),
            ),
        ));
    }
    tables
}

/// Table of a proxy's error alone, of the columns' alone, and of both: what the evaluated columns add to the proxy.
fn proxy_study<'a>(rows: &'a [ResultRow]) -> Option<TableSpec> {
    let is_proxied = |row: &&ResultRow| {
        let variant = &row.subject.variant;
        let is_whole = variant.get("proxy").is_some() && variant.get(READING).is_none();
        is_whole && row.comparison == Comparison::Rank.id()
    };
    let cell = |row: &'a ResultRow| (row.subject.method.as_str(), row.count("columns"));
    let mut cells: Vec<(&str, u64)> = rows.iter().filter(is_proxied).map(cell).collect();
    cells.dedup();
    cells.sort_by_key(|&(_, columns)| columns);
    cells.dedup();
    if cells.is_empty() {
        return None;
    }
    let ranks: Vec<&ResultRow> = rows.iter().filter(|row| row.comparison == Comparison::Rank.id()).collect();
    let mean = |method: &str, columns: u64, metric: Metric| {
        let of_cell = ranks.iter().filter(|row| row.metric == metric && row.subject.method == method);
        let values: Vec<f64> = of_cell.filter(|row| row.count("columns") == columns).map(|row| row.value).collect();
        if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
    };
    let show = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let bare = |method: &str| method.rsplit_once(" + ").map_or(method, |(bare, _)| bare).to_owned();
    let line = |&(method, columns): &(&str, u64)| {
        vec![
            method.to_owned(),
            columns.to_string(),
            show(mean(method, columns, Metric::ProxyError)),
            show(mean(&bare(method), columns, Metric::RelativeError)),
            show(mean(method, columns, Metric::RelativeError)),
        ]
    };
    Some(TableSpec::new(
        "table-proxy",
        "What the proxy adds",
        "Relative error of q(P) alone, of the same method without the proxy (where it is in the sweep), and of both: q(P) plus the approximated residual. Mean over replicates.",
        TableKind::plain(
            &["method", "s", "proxy alone", "columns alone", "both"],
            [1, 2, 3, 4],
            cells.iter().map(line).collect(),
        ),
    ))
}

fn notes(run: &FinishedRun<'_>) -> Vec<String> {
    let Some(pairs) = run.facts.pairs else { return Vec::new() };
    let mut notes = Vec::new();
    if pairs.are_graded {
        notes.push("scores that are all the same are given a correlation of 0".to_owned());
    } else {
        let chosen = run.rows.iter().find(|row| row.metric == Metric::Threshold);
        let value = chosen.map_or(HALF, |row| row.value);
        let why = chosen.and_then(|row| row.note.as_deref()).unwrap_or("nothing was calibrated");
        notes.push(format!(
            "a pair is called positive above {value:.3}, the same for the model's own scores and every K̃: {why}"
        ));
    }
    if run.settings.paper.is_some() && !pairs.are_graded && !pairs.are_labels {
        notes.push("scores are probabilities; the paper's matrices hold labels (`oracle.score: label`)".to_owned());
    }
    notes
}
