//! `experiment: glue` — what approximated scores are worth at labelled pairs of sentences: tables 3, 4 and 5 of the
//! SMS-Nyström paper.
//!
//! All distinct sentences of the pairs are the items. The model's own scores, their symmetrisation and every K̃ are read at
//! the labelled pairs: Pearson and Spearman against grades, F1 and accuracy against labels. A pair is called positive above ½,
//! which nothing was tuned for; no label of a pair that is judged is seen by any method.

use landmark_core::approximation::Approximation;
use landmark_core::entries::{Certainty, EntryBlock, Plan, Rows};
use landmark_core::error_estimate;
use landmark_core::oracle::{Oracle, Spent};
use landmark_tasks::metrics::{MetricError, accuracy, f1_binary, pearson, spearman};
use ndarray::Array2;
use serde_json::json;

use super::error_curve::{cell_jobs, error_layout, reference, report_rows};
use super::errors::{self, Errors};
use super::{Bench, Job, JobError, Layout, Task, rows_of_twin, whole};
use crate::report::{Across, FigureKind, FigureSpec, Selection, TableKind, TableSpec};
use crate::results::{CellKey, Metric, ResultRow, ResultStore};
use crate::stage::Sentences;
use crate::sweep::{Cell, Comparison, Setting};

/// Above this a score says yes.
const THRESHOLD: f64 = 0.5;
/// What the rows of the model's own scores are called.
const RAW: (&str, &str) = ("exact_asymmetric", "scores as given");
/// What the rows of their symmetrisation are called.
const SYMMETRISED: (&str, &str) = ("exact", "symmetrised scores");
/// Headings of table 5 under which relative errors are restated.
const AGAINST: [(&str, &str); 2] =
    [("against_raw", "the scores as the model gives them"), ("against_symmetrised", "their symmetrisation")];

fn sentences<'a>(bench: &'a Bench<'_>) -> Result<&'a Sentences, JobError> {
    let missing = || JobError::Study("`glue` needs labelled pairs of sentences".into());
    bench.stage.sentences.as_ref().ok_or_else(missing)
}

pub(super) fn jobs(bench: &Bench<'_>) -> Result<Vec<Job>, JobError> {
    let errors = Errors::of(bench);
    let n = bench.stage.items();
    let mut jobs = Vec::new();
    let labelled = match errors {
        Errors::Exact => {
            jobs.push(reference(bench)?);
            whole(n)
        }
        Errors::Estimated(_) | Errors::Unknown => labelled_plan(&sentences(bench)?.pairs),
    };
    let title = "scores at the labelled pairs".to_owned();
    jobs.push(Job {
        key: bench.key("unapproximated", None, &more(bench)?)?,
        title: title.clone(),
        group: title,
        plan: labelled,
        beside: 0,
        task: Task::Unapproximated,
    });
    jobs.extend(cell_jobs(bench, errors, key)?);
    Ok(jobs)
}

/// The entries at the labelled pairs.
fn labelled_plan(pairs: &[(usize, usize)]) -> Plan {
    let block = |&(i, j): &(usize, usize)| EntryBlock { rows: Rows::These(vec![i]), cols: vec![j] };
    Plan { blocks: pairs.iter().map(block).collect(), certainty: Certainty::Exact }
}

/// What moves the rows besides the scores.
fn more(bench: &Bench<'_>) -> Result<serde_json::Value, JobError> {
    let sentences = sentences(bench)?;
    let errors = format!("{:?}", Errors::of(bench));
    Ok(json!([errors, sentences.pairs, sentences.targets, sentences.order]))
}

fn key(bench: &Bench<'_>, cell: &Cell) -> Result<CellKey, JobError> {
    Ok(bench.key("glue", Some(cell), &more(bench)?)?)
}

/// The model's own scores and their symmetrisation, at the labelled pairs and, where all of K is there, in whole.
pub(super) fn unapproximated(bench: &Bench<'_>) -> Result<Vec<ResultRow>, JobError> {
    let sentences = sentences(bench)?;
    let (raw, symmetrised) = (bench.till.as_given(), bench.till.scores());
    let mut rows = Vec::new();
    for ((id, name), oracle) in [(RAW, &raw), (SYMMETRISED, &symmetrised)] {
        let mut scores = vec![0.0; sentences.pairs.len()];
        oracle.evaluate(&sentences.pairs, &mut scores)?;
        for (metric, value) in measures(sentences, &scores)? {
            rows.push(blank(bench, id, name, metric, value));
        }
    }
    if Errors::of(bench) == Errors::Exact {
        rows.push(blank(bench, RAW.0, RAW.1, Metric::RawError, 0.0));
        let error = difference(raw.as_ref(), symmetrised.as_ref())?;
        rows.push(blank(bench, SYMMETRISED.0, SYMMETRISED.1, Metric::RawError, error));
    }
    for proxy in bench.matrix.methods.iter().filter_map(|method| method.proxy.as_ref()) {
        let name = format!("{} alone", proxy.kind.id());
        let Some(oracle) = bench.stage.proxy(&proxy.kind, None)?.filter(|_| rows.iter().all(|row| row.method != name))
        else {
            continue;
        };
        let mut scores = vec![0.0; sentences.pairs.len()];
        oracle.evaluate(&sentences.pairs, &mut scores)?;
        // a cosine has no threshold of its own
        let measured = measures(sentences, &scores)?.into_iter();
        rows.extend(
            measured
                .filter(|(metric, _)| matches!(metric, Metric::Pearson | Metric::Spearman))
                .map(|(metric, value)| blank(bench, "proxy", &name, metric, value)),
        );
    }
    Ok(rows)
}

/// ‖A − B‖_F / ‖A‖_F, by blocks of rows.
fn difference(a: &dyn Oracle, b: &dyn Oracle) -> Result<f64, JobError> {
    let all: Vec<usize> = (0..a.len()).collect();
    let (mut above, mut below) = (0.0, 0.0);
    for rows in all.chunks(256) {
        let block = |oracle: &dyn Oracle| {
            let mut block = Array2::zeros((rows.len(), all.len()));
            oracle.block(rows, &all, block.view_mut()).map(|()| block)
        };
        let (a, b) = (block(a)?, block(b)?);
        above += a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        below += a.iter().map(|a| a * a).sum::<f64>();
    }
    Ok(if below > 0.0 { (above / below).sqrt() } else { 0.0 })
}

/// The metrics of scores at the labelled pairs.
fn measures(sentences: &Sentences, scores: &[f64]) -> Result<Vec<(Metric, f64)>, JobError> {
    let targets = &sentences.targets;
    if sentences.are_graded {
        // scores that are all the same say nothing of any pair: they are worth what no correlation is
        let or_none = |correlation| match correlation {
            Err(MetricError::Constant { list: "x", .. }) => Ok(0.0),
            other => other,
        };
        let correlations = [(Metric::Pearson, pearson(scores, targets)), (Metric::Spearman, spearman(scores, targets))];
        return correlations.into_iter().map(|(metric, value)| Ok((metric, or_none(value)?))).collect();
    }
    // the mean of two labels that differ is ½, which the paper's program rounds down: no
    let says_yes = |scores: &[f64]| scores.iter().map(|&score| usize::from(score > THRESHOLD)).collect::<Vec<_>>();
    let (gold, ours) = (says_yes(targets), says_yes(scores));
    Ok(vec![(Metric::F1, f1_binary(&gold, &ours, 1)?), (Metric::Accuracy, accuracy(&gold, &ours)?)])
}

fn blank(bench: &Bench<'_>, id: &str, name: &str, metric: Metric, value: f64) -> ResultRow {
    let n = bench.stage.items() as u64;
    ResultRow {
        dataset: bench.stage.dataset.clone(),
        method: name.to_owned(),
        method_id: id.to_owned(),
        variant: String::new(),
        comparison: Comparison::Rank.id().to_owned(),
        items: n,
        columns: n,
        rank: n,
        cells: n * n,
        evaluations: Spent::default().evaluations,
        replicate: 0,
        metric,
        position: None,
        value,
        lower: None,
        upper: None,
        seconds: None,
        note: None,
        profile: bench.config.profile.name.clone(),
    }
}

pub(super) fn measure(bench: &Bench<'_>, cell: &Cell, results: &ResultStore) -> Result<Vec<ResultRow>, JobError> {
    if let Some(twin) = bench.sweep.twin(cell)
        && let Some(rows) = results.get(&key(bench, &twin)?)
    {
        return Ok(rows_of_twin(rows, cell));
    }
    let sentences = sentences(bench)?;
    let (approximation, spent) = bench.fit(cell, Setting::default())?;
    let cell = &Cell { rank: approximation.report().rank.clamp(1, cell.rank), ..cell.clone() };
    let blank = |metric, value| bench.row(cell, &spent, metric, value);
    let mut rows = report_rows(&approximation, &blank);
    let mut scores = vec![0.0; sentences.pairs.len()];
    approximation.pairs(&sentences.pairs, &mut scores)?;
    rows.extend(measures(sentences, &scores)?.into_iter().map(|(metric, value)| blank(metric, value)));
    rows.extend(error_rows(bench, cell, &approximation, &blank)?);
    Ok(rows)
}

fn error_rows(
    bench: &Bench<'_>,
    cell: &Cell,
    approximation: &Approximation,
    blank: &dyn Fn(Metric, f64) -> ResultRow,
) -> Result<Vec<ResultRow>, JobError> {
    let seconds = Some(approximation.report().seconds);
    let errors = Errors::of(bench);
    let symmetrised = errors::row(bench, errors, cell, None, approximation, blank)?;
    let mut rows: Vec<ResultRow> = symmetrised.map(|row| ResultRow { seconds, ..row }).into_iter().collect();
    if errors == Errors::Exact {
        let raw = bench.till.as_given();
        rows.push(blank(Metric::RawError, error_estimate::relative_errors(raw.as_ref(), approximation)?.raw));
    }
    Ok(rows)
}

/// Relative errors again, under the two headings of table 5.
fn restated(rows: &[ResultRow]) -> Vec<ResultRow> {
    let at_rank = |row: &&ResultRow| row.comparison == Comparison::Rank.id();
    let under = |(metric, heading): (Metric, &'static str)| {
        rows.iter().filter(at_rank).filter(move |row| row.metric == metric).map(move |row| ResultRow {
            metric: Metric::RelativeError,
            comparison: heading.to_owned(),
            ..row.clone()
        })
    };
    [(Metric::RawError, AGAINST[0].0), (Metric::RelativeError, AGAINST[1].0)].into_iter().flat_map(under).collect()
}

pub(super) fn layout(bench: &Bench<'_>, rows: &[ResultRow]) -> Layout {
    let errors = error_layout(rows);
    let (mut tables, mut figures) = (Vec::new(), Vec::new());
    for metric in [Metric::Pearson, Metric::Spearman, Metric::F1, Metric::Accuracy] {
        let spec = metric.spec();
        let paper = Selection::compared_at(metric, Comparison::Rank.id());
        if !rows.iter().any(|row| paper.holds(row)) {
            continue;
        }
        tables.push(TableSpec {
            id: format!("table3-{}", spec.id),
            title: format!("Table 3 of the paper. {} at the labelled pairs", spec.label),
            caption: "Approximated scores read at the labelled pairs, beside the model's own and their symmetrisation."
                .to_owned(),
            kind: TableKind::Comparison { select: paper, reference: Some("table3".to_owned()) },
        });
        for (comparison, words) in [(Comparison::Rank, "equal rank"), (Comparison::Entries, "equal entries")] {
            let select = Selection::compared_at(metric, comparison.id());
            if !rows.iter().any(|row| select.holds(row)) {
                continue;
            }
            figures.push(FigureSpec {
                id: format!("figure-{}-{}", spec.id, comparison.id()),
                title: format!("{} against s/n, {words}", spec.label),
                caption: "Mean over replicates at the labelled pairs; the band is the 95 % interval.".to_owned(),
                select,
                kind: FigureKind::Curve { across: Across::Fraction, log_y: false, y_limits: None },
            });
        }
    }
    tables.extend(description(bench));
    let restated = restated(rows);
    for (heading, words) in AGAINST {
        let select = Selection::compared_at(Metric::RelativeError, heading);
        if restated.iter().any(|row| select.holds(row)) {
            tables.push(TableSpec {
                id: format!("table5-{heading}").replace('_', "-"),
                title: format!("Table 5 of the paper. Relative error against {words}"),
                caption: "‖K − K̃‖_F / ‖K‖_F. The paper's table mixes both references.".to_owned(),
                kind: TableKind::Comparison { select, reference: Some("table5".to_owned()) },
            });
        }
    }
    tables.extend(proxy_study(rows));
    tables.extend(errors.tables);
    figures.extend(errors.figures);
    let mut all_restated = errors.restated;
    all_restated.extend(restated);
    Layout { restated: all_restated, tables, figures, notes: notes(bench) }
}

/// Table 4 and the curve of the training.
fn description(bench: &Bench<'_>) -> Vec<TableSpec> {
    let Some(sentences) = &bench.stage.sentences else { return Vec::new() };
    let plain = |id: &str, title: &str, caption: &str, head: &[&str], lines: Vec<Vec<String>>, figures: Vec<usize>| {
        let head = head.iter().map(|text| (*text).to_owned()).collect();
        let (id, title, caption) = (id.to_owned(), title.to_owned(), caption.to_owned());
        TableSpec { id, title, caption, kind: TableKind::Plain { head, lines, figures } }
    };
    let mut tables = vec![plain(
        "table4",
        "Table 4 of the paper. The pairs",
        "Items are the distinct sentences of the pairs to judge by; the paper counts both sentences of every pair (STS-B 3,000, MRPC 816, RTE 554).",
        &["dataset", "pairs to learn from", "pairs to judge by", "items"],
        vec![vec![
            bench.stage.dataset.clone(),
            sentences.train.to_string(),
            sentences.pairs.len().to_string(),
            bench.stage.items().to_string(),
        ]],
        vec![1, 2, 3],
    )];
    if !sentences.curve.is_empty() {
        let score = if sentences.are_graded { "Pearson" } else { "accuracy" };
        let line = |epoch: &landmark_oracles::cross_encoder::Epoch| {
            vec![
                epoch.number.to_string(),
                format!("{:.4}", epoch.loss),
                format!("{:.4}", epoch.score),
                format!("{:.0}", epoch.seconds),
            ]
        };
        tables.push(plain(
            "table-fine-tuning",
            "How the model was fine-tuned",
            "Mean loss on the pairs to learn from, score of the pairs as given on all pairs to judge by, wall seconds.",
            &["epoch", "loss", score, "seconds"],
            sentences.curve.iter().map(line).collect(),
            vec![0, 1, 2, 3],
        ));
    }
    tables
}

/// What a proxy is worth alone, and what the bought columns add to it.
fn proxy_study(rows: &[ResultRow]) -> Option<TableSpec> {
    let proxied = rows.iter().filter(|row| row.variant.contains("proxy: ") && row.comparison == Comparison::Rank.id());
    let mut cells: Vec<(&str, u64)> = proxied.map(|row| (row.method.as_str(), row.columns)).collect();
    cells.dedup();
    cells.sort_by_key(|&(_, columns)| columns);
    cells.dedup();
    if cells.is_empty() {
        return None;
    }
    let mean = |method: &str, columns: u64, metric: Metric| {
        let values: Vec<f64> = rows
            .iter()
            .filter(|row| row.method == method && row.columns == columns && row.metric == metric)
            .filter(|row| row.comparison == Comparison::Rank.id())
            .map(|row| row.value)
            .collect();
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
    Some(TableSpec {
        id: "table-proxy".to_owned(),
        title: "What the proxy adds".to_owned(),
        caption: "Relative error of q(P) alone, of the same method without the proxy (where it is in the sweep), and of both: q(P) plus the approximated residual. Mean over replicates.".to_owned(),
        kind: TableKind::Plain {
            head: ["method", "s", "proxy alone", "columns alone", "both"].map(String::from).to_vec(),
            lines: cells.iter().map(line).collect(),
            figures: vec![1, 2, 3, 4],
        },
    })
}

fn notes(bench: &Bench<'_>) -> Vec<String> {
    let Some(sentences) = &bench.stage.sentences else { return Vec::new() };
    let mut notes = Vec::new();
    if sentences.are_graded {
        notes.push("scores that are all the same are given a correlation of 0".to_owned());
    } else {
        notes.push(format!(
            "a pair is called positive above {THRESHOLD}, the same for the model's own scores and every K̃; nothing was calibrated"
        ));
    }
    if !sentences.are_graded && !sentences.are_labels {
        notes.push("scores are probabilities; the paper's matrices hold labels (`oracle.score: label`)".to_owned());
    }
    notes
}
