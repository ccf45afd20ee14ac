//! `experiment: glue` — what approximated scores are worth at labeled pairs of sentences: tables 3, 4 and 5 of the
//! SMS-Nyström paper.
//!
//! All distinct sentences of the pairs are the items. The model's own scores, their symmetrization and every K̃ are read at
//! the labeled pairs: Pearson and Spearman against grades, F1 and accuracy against labels. A pair is called positive above one
//! threshold, the same for all, that is best for the model's own scores of a sample of the pairs it learned from; no label of a
//! pair that is judged is seen by any method.

use std::sync::Arc;

use landmark_core::approximation::Approximation;
use landmark_core::entries::{EntryBlock, EntryPlan, Rows};
use landmark_core::error_estimate;
use landmark_core::oracle::{Oracle, OracleError, OracleShape, Spent};
use landmark_report::{CellKey, Metric, ResultRow, ResultStore, Subject};
use landmark_store::OracleLabel;
use landmark_tasks::metrics::{MetricError, accuracy, best_threshold, f1_binary, pearson, spearman};
use landmark_yaml::{Entry, Keys, Problem, Section};
use ndarray::Array2;
use serde_json::json;

use landmark_harness::config::ProxyConfig;
use landmark_harness::config::matrix::{ExperimentEntry, MatrixSubject, Purpose};
use landmark_harness::experiment::{Experiment, FinishedRun};
use landmark_harness::experiments::error_curve::{cell_jobs, reference, report_rows, with_seconds};
use landmark_harness::experiments::errors::{self, Errors};
use landmark_harness::facts::{Facts, LabeledPairs};
use landmark_harness::job::{ExtraCalls, Job, JobError};
use landmark_harness::layout::Layout;
use landmark_harness::oracles::cross_encoder::{Calibration, Sentences};
use landmark_harness::sweep::context::{SweepContext, rows_of_duplicate, whole};
use landmark_harness::sweep::{Cell, Comparison, Setting};

mod layout;

/// Above this a label is positive; a score too, where no threshold was chosen for it.
const HALF: f64 = 0.5;
/// Id and name of the row of the threshold.
const THRESHOLD: (&str, &str) = ("threshold", "threshold of a yes");
/// Title of the job that measures the scores themselves.
const UNAPPROXIMATED: &str = "scores at the labeled pairs";
/// Id and name of the rows of the model's own scores.
const RAW: (&str, &str) = ("exact_asymmetric", "scores as given");
/// Id and name of the rows of their symmetrization.
const SYMMETRIZED: (&str, &str) = ("exact", "symmetrised scores");
/// Id and name of the rows of one order a pair.
const ONE_ORDER: (&str, &str) = ("one_order", "one order a pair");
/// Headings of table 5 under which relative errors are restated.
const AGAINST: [(Metric, &str, &str); 3] = [
    (Metric::OffDiagonalError, "off_diagonal", "their symmetrization, off the diagonal"),
    (Metric::RawError, "against_raw", "the scores as the model gives them"),
    (Metric::RelativeError, "against_symmetrised", "their symmetrization"),
];

fn sentences<'a>(context: &'a SweepContext<'_>) -> Result<&'a Sentences, JobError> {
    let missing = || JobError::from("`glue` needs labeled pairs of sentences");
    context.problem.sentences().ok_or_else(missing)
}

static ENTRY: ExperimentEntry = ExperimentEntry {
    check,
    ..ExperimentEntry::new(
        Entry {
            id: "glue",
            summary: "correlation, F1 or accuracy of approximated scores at labeled pairs of sentences, and relative errors",
            keys: Keys::NONE,
            source: "SMS-Nyström paper, tables 3 to 5",
        },
        Purpose::Errors,
    )
};

fn check(matrix: &MatrixSubject, section: &Section<'_>) {
    let dataset = &matrix.dataset;
    if !dataset.has_pairs() {
        let message = format!("`glue` needs labeled pairs of sentences, but the dataset `{}` has none", dataset.name);
        let problem = Problem::new(message).at(dataset.place);
        section.problems().add(problem.help("use `stsb`, `mrpc`, `rte` or `embedded_pairs`, or pairs of yours: `{ name: pairs, path: pairs.tsv, first: …, second: …, score: … }`"));
    }
}

/// Approximated scores at labeled pairs.
pub struct Glue;

impl Experiment for Glue {
    fn entry(&self) -> &'static ExperimentEntry {
        &ENTRY
    }

    fn jobs<'a>(&self, context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
        jobs(context)
    }

    fn note_facts(&self, context: &SweepContext<'_>, _: &[ResultRow], facts: &mut Facts) -> Result<(), JobError> {
        facts.pairs = context.problem.sentences().map(|sentences| LabeledPairs {
            train: sentences.train,
            judged: sentences.pairs.len(),
            are_graded: sentences.are_graded,
            are_labels: sentences.are_labels,
        });
        Ok(())
    }

    fn layout(&self, run: &FinishedRun<'_>) -> Layout {
        layout::layout(run)
    }
}

fn jobs<'a>(context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
    let errors = Errors::of(context);
    let n = context.problem.items();
    let mut jobs = Vec::new();
    let labeled = match errors {
        Errors::Exact => {
            jobs.push(reference(context)?);
            whole(n)
        }
        Errors::Estimated(_) | Errors::Unknown => labeled_plan(&sentences(context)?.pairs),
    };
    if let Some(calibration) = &sentences(context)?.calibration {
        let title = THRESHOLD.1.to_owned();
        let (requests, extra) = match &calibration.oracle {
            None => (context.requests(labeled_plan(&calibration.pairs)), ExtraCalls::NONE),
            Some(oracle) => {
                let price = OracleShape::of(oracle.as_ref()).evaluations_per_pair;
                let pairs = "training pairs, from which the threshold is chosen";
                (Vec::new(), ExtraCalls { calls: calibration.pairs.len() as u64 * price, pairs })
            }
        };
        jobs.push(Job {
            key: threshold_key(context)?,
            title: title.clone(),
            group: title,
            requests,
            extra,
            work: Box::new(|_, _| threshold(context)),
        });
    }
    let title = UNAPPROXIMATED.to_owned();
    jobs.push(Job {
        key: context.key("unapproximated", None, &more(context)?)?,
        title: title.clone(),
        group: title,
        requests: context.requests(labeled),
        extra: ExtraCalls::NONE,
        work: Box::new(|results, _| unapproximated(context, results)),
    });
    jobs.extend(cell_jobs(context, errors, key, measure)?);
    Ok(jobs)
}

/// The entries at the labeled pairs.
fn labeled_plan(pairs: &[(usize, usize)]) -> EntryPlan {
    let block = |&(i, j): &(usize, usize)| EntryBlock { rows: Rows::These(vec![i]), cols: vec![j] };
    EntryPlan::exact(pairs.iter().map(block).collect())
}

/// Inputs besides the scores that move the rows.
fn more(context: &SweepContext<'_>) -> Result<serde_json::Value, JobError> {
    let sentences = sentences(context)?;
    let errors = Errors::of(context);
    let more = json!([errors, sentences.pairs, sentences.targets, sentences.order]);
    Ok(match &sentences.calibration {
        Some(_) => json!([more, threshold_key(context)?.to_string()]),
        None => more,
    })
}

fn key(context: &SweepContext<'_>, cell: &Cell) -> Result<CellKey, JobError> {
    Ok(context.key("glue", Some(cell), &more(context)?)?)
}

fn threshold_key(context: &SweepContext<'_>) -> Result<CellKey, JobError> {
    let calibration = sentences(context)?.calibration.as_ref();
    let of = |calibration: &Calibration| {
        let identity = calibration.oracle.as_ref().map_or(context.problem.raw.identity(), Oracle::identity);
        json!([identity.to_hex(), calibration.pairs, calibration.labels])
    };
    Ok(context.key("threshold", None, &json!(calibration.map(of)))?)
}

/// The threshold that gets most of the calibration's pairs right.
fn threshold(context: &SweepContext<'_>) -> Result<Vec<ResultRow>, JobError> {
    let Some(calibration) = &sentences(context)?.calibration else { return Ok(Vec::new()) };
    let Calibration { oracle, description, pairs, labels } = calibration;
    let mut scores = vec![0.0; pairs.len()];
    match oracle {
        None => context.metered.wanted().evaluate(pairs, &mut scores)?,
        Some(oracle) => {
            let label = OracleLabel::new(context.matrix.oracle.kind(), description.clone());
            let metered = context.metered.another(Arc::clone(oracle), label).map_err(|error| OracleError::Failed {
                what: "the store of the scores of a threshold".to_owned(),
                source: error.into(),
            })?;
            metered.scores().evaluate(pairs, &mut scores)?;
        }
    }
    let row = |value, note: String| blank(context, THRESHOLD.0, THRESHOLD.1, Metric::Threshold, value).note(note);
    Ok(vec![match best_threshold(&scores, labels)? {
        Some(best) => {
            let right = 100.0 * best.accuracy;
            row(best.value, format!("right for {right:.1} % of {} pairs that were learned from", labels.len()))
        }
        None => row(HALF, format!("all {} scores to choose it on are the same", labels.len())),
    }])
}

/// The threshold that a job of this title calls pairs positive by: the one that was chosen, or ½.
fn chosen_threshold(context: &SweepContext<'_>, results: &ResultStore, title: &str) -> Result<f64, JobError> {
    if sentences(context)?.calibration.is_none() {
        return Ok(HALF);
    }
    let rows = results.get(&threshold_key(context)?).unwrap_or_default();
    let row = rows.iter().find(|row| row.metric == Metric::Threshold);
    let missing = || JobError::Needs { title: title.to_owned(), needs: THRESHOLD.1 };
    row.map(|row| row.value).ok_or_else(missing)
}

/// The model's own scores and their symmetrization, at the labeled pairs and, where all of K is there, in whole.
fn unapproximated(context: &SweepContext<'_>, results: &ResultStore) -> Result<Vec<ResultRow>, JobError> {
    let (sentences, threshold) = (sentences(context)?, chosen_threshold(context, results, UNAPPROXIMATED)?);
    let (raw, symmetrized) = (context.metered.as_given(), context.metered.wanted());
    let mut rows = Vec::new();
    let one_order = context.metered.other_order().map(|_| context.metered.scores());
    let all = [(RAW, Some(&raw)), (SYMMETRIZED, Some(&symmetrized)), (ONE_ORDER, one_order.as_ref())];
    for ((id, name), oracle) in all.into_iter().filter_map(|(row, oracle)| Some((row, oracle?))) {
        let mut scores = vec![0.0; sentences.pairs.len()];
        oracle.evaluate(&sentences.pairs, &mut scores)?;
        for (metric, value) in measures(sentences, &scores, threshold)? {
            rows.push(blank(context, id, name, metric, value));
        }
    }
    if Errors::of(context) == Errors::Exact {
        rows.push(blank(context, RAW.0, RAW.1, Metric::RawError, 0.0));
        let error = difference(raw.as_ref(), symmetrized.as_ref())?;
        rows.push(blank(context, SYMMETRIZED.0, SYMMETRIZED.1, Metric::RawError, error));
        if let Some(one_order) = one_order {
            let error = difference(symmetrized.as_ref(), one_order.as_ref())?;
            rows.push(blank(context, ONE_ORDER.0, ONE_ORDER.1, Metric::RelativeError, error));
        }
    }
    for kind in context.matrix.methods.iter().filter_map(|method| method.proxy.as_ref()).flat_map(ProxyConfig::kinds) {
        let name = format!("{} alone", kind.id());
        let Some(oracle) =
            context.problem.proxy(kind, None)?.filter(|_| rows.iter().all(|row| row.subject.method != name))
        else {
            continue;
        };
        let mut scores = vec![0.0; sentences.pairs.len()];
        oracle.evaluate(&sentences.pairs, &mut scores)?;
        // a cosine has no threshold of its own
        let measured = measures(sentences, &scores, threshold)?.into_iter();
        rows.extend(
            measured
                .filter(|(metric, _)| matches!(metric, Metric::Pearson | Metric::Spearman))
                .map(|(metric, value)| blank(context, "proxy", &name, metric, value)),
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

/// The metrics of scores at the labeled pairs.
fn measures(sentences: &Sentences, scores: &[f64], threshold: f64) -> Result<Vec<(Metric, f64)>, JobError> {
    let targets = &sentences.targets;
    if sentences.are_graded {
        // scores that are all the same carry no information about any pair: they are worth what no correlation is
        let or_none = |correlation| match correlation {
            Err(MetricError::Constant { list: "x", .. }) => Ok(0.0),
            other => other,
        };
        let correlations = [(Metric::Pearson, pearson(scores, targets)), (Metric::Spearman, spearman(scores, targets))];
        return correlations.into_iter().map(|(metric, value)| Ok((metric, or_none(value)?))).collect();
    }
    let is_yes =
        |scores: &[f64], above: f64| scores.iter().map(|&score| usize::from(score > above)).collect::<Vec<_>>();
    let (gold, ours) = (is_yes(targets, HALF), is_yes(scores, threshold));
    Ok(vec![(Metric::F1, f1_binary(&gold, &ours, 1)?), (Metric::Accuracy, accuracy(&gold, &ours)?)])
}

fn blank(context: &SweepContext<'_>, id: &str, name: &str, metric: Metric, value: f64) -> ResultRow {
    let n = context.problem.items();
    let subject = Subject { is_cap: id == SYMMETRIZED.0, ..context.subject(id).called(name) };
    let row = context.row_of(subject, metric, value).compared_at(Comparison::Rank.id());
    row.at("columns", n).at("rank", n).cost((n * n) as u64, Spent::default().evaluations)
}

fn measure(context: &SweepContext<'_>, cell: &Cell, results: &ResultStore) -> Result<Vec<ResultRow>, JobError> {
    if let Some(original) = context.sweep.duplicate_of(cell)
        && let Some(rows) = results.get(&key(context, &original)?)
    {
        return Ok(rows_of_duplicate(rows, cell));
    }
    let sentences = sentences(context)?;
    let (approximation, spent) = context.fit(cell, Setting::default())?;
    let cell = &Cell { rank: approximation.report().rank.clamp(1, cell.rank), ..cell.clone() };
    let blank = |metric, value| context.row(cell, &spent, metric, value);
    let mut rows = report_rows(&approximation, &blank);
    let mut scores = vec![0.0; sentences.pairs.len()];
    approximation.pairs(&sentences.pairs, &mut scores)?;
    let threshold = chosen_threshold(context, results, &context.sweep.title(cell))?;
    rows.extend(measures(sentences, &scores, threshold)?.into_iter().map(|(metric, value)| blank(metric, value)));
    rows.extend(error_rows(context, cell, &approximation, &blank)?);
    for (what, read) in errors::readings(&approximation)? {
        read.pairs(&sentences.pairs, &mut scores)?;
        let measured = measures(sentences, &scores, threshold)?.into_iter().map(|(metric, value)| blank(metric, value));
        let errors = errors::rows(context, Errors::of(context), cell, None, &read, &blank)?;
        rows.extend(measured.chain(errors).map(|row| errors::reading(row, what)));
    }
    Ok(rows)
}

fn error_rows(
    context: &SweepContext<'_>,
    cell: &Cell,
    approximation: &Approximation,
    blank: &dyn Fn(Metric, f64) -> ResultRow,
) -> Result<Vec<ResultRow>, JobError> {
    let errors = Errors::of(context);
    let symmetrized = errors::rows(context, errors, cell, None, approximation, blank)?;
    let mut rows: Vec<ResultRow> = with_seconds(symmetrized, approximation).collect();
    if errors == Errors::Exact {
        let raw = context.metered.as_given();
        rows.push(blank(Metric::RawError, error_estimate::relative_errors(raw.as_ref(), approximation)?.raw));
    }
    Ok(rows)
}
