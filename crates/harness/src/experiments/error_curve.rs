//! `experiment: error_curve` — relative error against the size of the landmark set: figure 3 of the SMS-Nyström paper.

use landmark_core::approximation::Approximation;
use landmark_report::{
    CellKey, FigureKind, FigureSpec, Metric, ResultRow, ResultStore, Selection, Subject, TableKind, TableSpec,
};
use landmark_yaml::{Entry, Keys};
use serde_json::json;

use super::errors::{self, Errors, READING};
use crate::config::matrix::{ExperimentEntry, Purpose};
use crate::experiment::{Experiment, FinishedRun};
use crate::job::{ExtraCalls, Job, JobError};
use crate::layout::Layout;
use crate::sweep::context::{SweepContext, group, rows_of_duplicate, whole};
use crate::sweep::{Cell, Comparison, Setting};

static ENTRY: ExperimentEntry = ExperimentEntry::new(
    Entry {
        id: "error_curve",
        summary: "relative error ‖K − K̃‖/‖K‖ against rank, at equal rank and at equal entries",
        keys: Keys::NONE,
        source: "SMS-Nyström paper, figure 3",
    },
    Purpose::Errors,
);

/// Relative error against the size of the landmark set.
pub struct ErrorCurve;

impl Experiment for ErrorCurve {
    fn entry(&self) -> &'static ExperimentEntry {
        &ENTRY
    }

    fn jobs<'a>(&self, context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
        let errors = Errors::of(context);
        let mut jobs = Vec::new();
        if errors == Errors::Exact && context.problem.is_priced {
            jobs.push(reference(context)?);
        }
        jobs.extend(cell_jobs(context, errors, key, measure)?);
        Ok(jobs)
    }

    fn layout(&self, run: &FinishedRun<'_>) -> Layout {
        error_layout(run)
    }
}

/// The measurement of a cell, from the results before it.
pub type Measure = fn(&SweepContext<'_>, &Cell, &ResultStore) -> Result<Vec<ResultRow>, JobError>;

/// A job for each cell of the sweep: its fit, and the entries that its error is known from.
pub fn cell_jobs<'a>(
    context: &'a SweepContext<'_>,
    errors: Errors,
    key: fn(&SweepContext<'_>, &Cell) -> Result<CellKey, JobError>,
    measure: Measure,
) -> Result<Vec<Job<'a>>, JobError> {
    let job = |cell: Cell| {
        let fit = context.plan(&cell)?;
        Ok(Job {
            key: key(context, &cell)?,
            title: context.sweep.title(&cell),
            group: group(context.sweep, "", &cell),
            requests: errors::requests(context, errors, &cell, &fit)?,
            extra: ExtraCalls::NONE,
            work: Box::new(move |results, _| measure(context, &cell, results)),
        })
    };
    context.sweep.cells().into_iter().map(job).collect()
}

fn key(context: &SweepContext<'_>, cell: &Cell) -> Result<CellKey, JobError> {
    Ok(context.key("error", Some(cell), &json!({ "errors": Errors::of(context) }))?)
}

pub fn reference<'a>(context: &'a SweepContext<'_>) -> Result<Job<'a>, JobError> {
    let name = "all of K, the reference".to_owned();
    Ok(Job {
        key: context.key("reference", None, &json!(null))?,
        title: name.clone(),
        group: name,
        requests: context.requests(whole(context.problem.items())),
        extra: ExtraCalls::NONE,
        work: Box::new(|_, _| errors::evaluate_all(context).map(|()| Vec::new())),
    })
}

fn measure(context: &SweepContext<'_>, cell: &Cell, results: &ResultStore) -> Result<Vec<ResultRow>, JobError> {
    if let Some(original) = context.sweep.duplicate_of(cell)
        && let Some(rows) = results.get(&key(context, &original)?)
    {
        return Ok(rows_of_duplicate(rows, cell));
    }
    let gamma = context.fixed_gamma();
    let (approximation, spent) = context.fit(cell, Setting::at(gamma))?;
    // a growing rank ends where it ends
    let cell = &Cell { rank: approximation.report().rank.clamp(1, cell.rank), ..cell.clone() };
    let blank = |metric, value| context.row(cell, &spent, metric, value);
    let mut rows = report_rows(&approximation, &blank);
    let errors =
        |approximation: &Approximation| errors::rows(context, Errors::of(context), cell, gamma, approximation, &blank);
    rows.extend(with_seconds(errors(&approximation)?, &approximation));
    for (what, read) in errors::readings(&approximation)? {
        rows.extend(errors(&read)?.into_iter().map(|row| errors::reading(row, what)));
    }
    Ok(rows)
}

/// Rows of errors, the one over all entries with the seconds of the fit.
pub fn with_seconds(rows: Vec<ResultRow>, approximation: &Approximation) -> impl Iterator<Item = ResultRow> {
    let seconds = approximation.report().seconds;
    rows.into_iter().map(move |row| match row.metric {
        Metric::RelativeError | Metric::EstimatedError => row.seconds(seconds),
        _ => row,
    })
}

pub fn report_rows(approximation: &Approximation, blank: &dyn Fn(Metric, f64) -> ResultRow) -> Vec<ResultRow> {
    let report = approximation.report();
    let mut rows = vec![blank(Metric::Shift, report.shift)];
    rows.extend(report.lambda_min.map(|value| blank(Metric::LambdaMin, value)));
    rows.extend(report.negative_eigenvalues.map(|count| blank(Metric::NegativeEigenvalues, count as f64)));
    rows.extend(report.proxy_error.map(|value| blank(Metric::ProxyError, value)));
    rows
}

/// Tables and figures of relative errors, for every comparison that was run: as the paper has them, or, where there is none, at equal entries first, since calls are what costs.
pub fn error_layout(run: &FinishedRun<'_>) -> Layout {
    let rows = run.rows;
    let metric = match rows.iter().find(|row| matches!(row.metric, Metric::RelativeError | Metric::EstimatedError)) {
        Some(row) => row.metric,
        None => return Layout::default(),
    };
    let restated: Vec<ResultRow> =
        shown(metric).iter().flat_map(|shown| optimum_at_equal_entries(rows, shown.metric)).collect();
    let all: Vec<&ResultRow> = rows.iter().chain(&restated).collect();
    let (mut tables, mut figures) = (Vec::new(), Vec::new());
    let comparisons = [(Comparison::Rank, "equal rank"), (Comparison::Entries, "equal entries")];
    let mut parts: Vec<_> = shown(metric).into_iter().flat_map(|shown| comparisons.map(|at| (shown, at))).collect();
    if run.settings.paper.is_none() {
        parts.sort_by_key(|(_, (comparison, _))| *comparison != Comparison::Entries);
    }
    for (Shown { metric, id, title, what, is_drawn }, (comparison, words)) in parts {
        let select = Selection::compared_at(metric, comparison.id());
        if !all.iter().any(|row| select.matches(row)) {
            continue;
        }
        tables.push(TableSpec {
            id: format!("table-{id}-{}", comparison.id()),
            title: format!("{title} at {words}"),
            caption: format!(
                "{what} over replicates, mean ± half the 95 % interval. Methods are given {words}; s is the column."
            ),
            kind: TableKind::Grid { select: select.clone(), across: "columns" },
        });
        if id == "error" {
            tables.extend(paired(rows, &select, comparison, words));
        }
        if is_drawn {
            figures.push(FigureSpec {
                id: format!("figure-{id}-{}", comparison.id()),
                title: format!("{title} against the share of landmarks, {words}"),
                caption: format!(
                    "{what} against the share s/n of landmarks; the shaded band is a 95 % interval.{}",
                    why_below_the_optimum(rows)
                ),
                select,
                kind: FigureKind::Curve { across: "fraction", log_y: true, y_limits: None },
            });
        }
    }
    tables.push(TableSpec {
        id: "table-entries".to_owned(),
        title: "Calls of each method".to_owned(),
        caption: "Entries of the matrix that a method reads, as the papers count them, and calls of the score if the method runs alone."
            .to_owned(),
        kind: TableKind::Entries { select: Selection::of(metric) },
    });
    Layout { restated, tables, figures, ..Layout::default() }
}

/// How a method can lie below the optimum, where one might.
fn why_below_the_optimum(rows: &[ResultRow]) -> &'static str {
    let adds =
        |row: &ResultRow| ["known", "proxy", "entries"].iter().any(|extra| row.subject.variant.get(extra).is_some());
    let has_optimum = rows.iter().any(|row| row.subject.id == "optimal");
    match has_optimum && rows.iter().any(adds) {
        true => {
            " The optimum is the best matrix of rank s. Evaluated entries and a proxy raise the rank of a method, so it may lie below the optimum."
        }
        false => "",
    }
}

/// A metric of the report of errors.
#[derive(Clone, Copy)]
struct Shown {
    metric: Metric,
    id: &'static str,
    title: &'static str,
    what: &'static str,
    is_drawn: bool,
}

/// Off the diagonal first: it is what most uses of a matrix read.
fn shown(all_entries: Metric) -> [Shown; 5] {
    let shown = |metric, id, title, what, is_drawn| Shown { metric, id, title, what, is_drawn };
    [
        shown(
            Metric::OffDiagonalError,
            "off-diagonal",
            "Relative error off the diagonal",
            "‖K − K̃‖_F / ‖K‖_F off the diagonal",
            true,
        ),
        shown(all_entries, "error", "Relative error", "‖K − K̃‖_F / ‖K‖_F", true),
        shown(
            Metric::UnevaluatedError,
            "unevaluated",
            "Relative error of unevaluated entries",
            "‖K − K̃‖_F / ‖K‖_F over the pairs that the method did not evaluate",
            false,
        ),
        shown(
            Metric::LargeScoreError,
            "large-scores",
            "Relative error of large scores",
            "‖K − K̃‖_F / ‖K‖_F over the hundredth of sampled unevaluated pairs whose scores are largest",
            false,
        ),
        shown(
            Metric::ScoreCorrelation,
            "correlation",
            "Correlation of K̃ with K",
            "Pearson correlation at sampled unevaluated pairs",
            false,
        ),
    ]
}

/// The optimum of rank s has no twin at equal entries, for it needs all of K; it stands there as the line that s full columns could reach.
fn optimum_at_equal_entries(rows: &[ResultRow], metric: Metric) -> Vec<ResultRow> {
    let entries = Comparison::Entries.id();
    if !rows.iter().any(|row| row.comparison == entries) {
        return Vec::new();
    }
    let is_optimum = |row: &&ResultRow| {
        row.metric == metric && row.subject.id == "optimal" && row.comparison == Comparison::Rank.id()
    };
    rows.iter().filter(is_optimum).map(|row| ResultRow { comparison: entries.to_owned(), ..row.clone() }).collect()
}

/// Our methods against the best of the published ones, replicate by replicate.
fn paired(rows: &[ResultRow], select: &Selection, comparison: Comparison, words: &str) -> Option<TableSpec> {
    let (mut ours, mut baselines) = (Vec::new(), Vec::new());
    for row in rows.iter().filter(|row| select.matches(row)) {
        let Subject { id, method, variant, is_cap, .. } = &row.subject;
        let adds_ours = ["known", "proxy", "order"].iter().any(|extra| variant.get(extra).is_some());
        let list = match (PUBLISHED.contains(&id.as_str()), adds_ours) {
            _ if variant.get(READING).is_some() => continue,
            (true, false) => &mut baselines,
            _ if *is_cap => continue,
            _ => &mut ours,
        };
        if !list.contains(method) {
            list.push(method.clone());
        }
    }
    let replicates = rows.iter().map(|row| row.replicate).max().unwrap_or(0);
    (replicates > 0 && !ours.is_empty() && !baselines.is_empty()).then(|| TableSpec {
        id: format!("table-paired-{}", comparison.id()),
        title: format!("Ours against the best published method at {words}"),
        caption: "Difference of the relative errors on the same landmarks, mean over replicates with its 95 % bootstrap interval; below \
                  zero ours is better."
            .to_owned(),
        kind: TableKind::Paired { select: select.clone(), across: "columns", ours, baselines },
    })
}

/// Methods of the papers.
const PUBLISHED: [&str; 6] = ["nystrom", "sms_nystrom", "skeleton", "sicur", "stacur", "wme"];
