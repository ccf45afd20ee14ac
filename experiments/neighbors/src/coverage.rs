//! `experiment: coverage` — stated recalls against true ones: how often a statement holds, and what it costs above knowing the truth.
//!
//! ```text
//! coverage: { k }           lists of neighbors, by a search in rounds that audited rows stop (`nearest.rs`)
//! coverage: { at_least }    all pairs from a similarity on, by estimates and an audit of the others (`pairs.rs`)
//! ```
//! All of K is evaluated once. In each replicate all that is random is drawn again, and each way states a recall of ρ with probability 1 − δ. Among
//! the ways are one that believes its plain estimate, and one that is given the truth: what it costs is the least that any bound on the same
//! estimate could.
//!
//! Cost: n² entries once; a search a draw, a target and a bound, or six fits a draw.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{AsymmetryPolicy, Oracle, Precomputed, Symmetry, block_of};
use landmark_core::stream::stream;
use landmark_neighbors::recall::Target;
use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, Subject, TableKind, TableSpec};
use landmark_yaml::Entry;
use serde_json::json;

use landmark_harness::config::CoverageConfig;
use landmark_harness::config::coverage::Found;
use landmark_harness::config::matrix::{ExperimentEntry, Purpose};
use landmark_harness::experiment::{Experiment, FinishedRun};
use landmark_harness::experiments::error_curve::reference;
use landmark_harness::job::{ExtraCalls, Job, JobError, Request};
use landmark_harness::layout::Layout;
use landmark_harness::sweep::context::{SweepContext, whole};

mod held_out_columns;
mod labels;
mod nearest;
mod pairs;

static ENTRY: ExperimentEntry = ExperimentEntry {
    own: Some(|section| Some(Arc::new(CoverageConfig::read(section)?))),
    ..ExperimentEntry::new(
        Entry {
            id: "coverage",
            summary: "stated recalls of neighbors, or of pairs, against true ones, over many draws, and their calls",
            keys: CoverageConfig::KEYS,
            source: "this project",
        },
        Purpose::Matrix,
    )
};

/// Stated recalls against true ones.
pub struct Coverage;

impl Experiment for Coverage {
    fn entry(&self) -> &'static ExperimentEntry {
        &ENTRY
    }

    fn jobs<'a>(&self, context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
        let Some(settings) = context.matrix.own_section::<CoverageConfig>() else {
            return Err("the section `coverage` is missing".into());
        };
        let shape = context.metered.shape();
        if shape.symmetry == Symmetry::Asymmetric {
            return Err("`coverage` needs a symmetric score: let the oracle take the mean of both orders".into());
        }
        let mut jobs = Vec::new();
        if context.problem.is_priced {
            jobs.push(reference(context)?);
        }
        let identity = context.problem.proxies.get(&settings.proxy).map(|oracle| oracle.identity().to_hex());
        let known = Rc::new(OnceCell::new());
        for replicate in 0..context.run.replicates as u64 {
            let known = Rc::clone(&known);
            jobs.push(Job {
                key: context.key("coverage", None, &json!([replicate, settings, identity]))?,
                title: format!("stated recalls, draw {}", replicate + 1),
                group: "stated recalls".to_owned(),
                requests: Request::of_sweep(whole(shape.len)),
                extra: ExtraCalls::NONE,
                work: Box::new(move |_, _| measure(context, settings, replicate, &known)),
            });
        }
        Ok(jobs)
    }

    fn layout(&self, run: &FinishedRun<'_>) -> Layout {
        let settings = run.matrix.own_section::<CoverageConfig>();
        settings.map_or_else(Layout::default, |settings| layout(settings, run.rows))
    }
}

/// What a draw is made of: the truth, the proxy, and the names of its random streams.
struct Draw<'a> {
    oracle: &'a Precomputed,
    proxy: Arc<dyn Oracle>,
    landmarks: Landmarks,
    names: (u64, &'a str, u64),
}

impl Draw<'_> {
    fn stream(&self, purpose: &str) -> landmark_core::stream::Rng {
        stream(self.names.0, self.names.1, purpose, self.names.2)
    }
}

struct Way {
    id: &'static str,
    name: String,
}

impl Way {
    fn new(id: &'static str, name: impl Into<String>) -> Self {
        Self { id, name: name.into() }
    }
}

/// A statement: the recall that is true, and the calls it took.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stated {
    recall: f64,
    calls: u64,
}

/// Statements of a draw at one target.
struct Statements {
    by_truth: Stated,
    /// By each way; `None` where it refuses.
    by: Vec<(Way, Option<Stated>)>,
}

fn measure(
    context: &SweepContext<'_>,
    settings: &CoverageConfig,
    replicate: u64,
    known: &OnceCell<Precomputed>,
) -> Result<Vec<ResultRow>, JobError> {
    let gamma = context.fixed_gamma();
    let oracle = match known.get() {
        Some(oracle) => oracle,
        None => {
            let similarities = context.metered.similarities(gamma)?;
            let all: Vec<usize> = (0..similarities.len()).collect();
            let matrix = block_of(similarities.as_ref(), &all, &all)?;
            let oracle = Precomputed::new(matrix, AsymmetryPolicy::Mean)?;
            known.get_or_init(|| oracle)
        }
    };
    let Some(proxy) = context.problem.proxy(&settings.proxy, gamma)? else {
        return Err(format!("the proxy `{}` was not built", settings.proxy.id()).as_str().into());
    };
    let names = (context.run.seed, context.problem.dataset.as_str(), replicate);
    let landmarks = Landmarks::uniform(oracle.len(), &mut stream(names.0, names.1, "landmarks", names.2));
    let draw = Draw { oracle, proxy, landmarks, names };
    let targets = settings.targets.iter().map(|&(recall, delta)| Target::new(recall, delta));
    let targets: Vec<Target> = targets.collect::<Result<_, _>>().map_err(|error| JobError::Failed(error.into()))?;
    let statements = match settings.found() {
        Found::Nearest { k } => nearest::statements(&draw, k, &targets)?,
        Found::Pairs { at_least, columns, labels } => pairs::Pairs::of(&draw, at_least, columns, labels)?
            .map_or_else(Vec::new, |pairs| pairs.statements(&draw, &targets)),
    };
    let mut rows = Vec::new();
    for (target, statements) in targets.into_iter().zip(statements) {
        let Some(Statements { by_truth, by }) = statements else { continue };
        let truth = by_truth.calls as f64 / oracle.len() as f64;
        for (Way { id, name }, stated) in by.into_iter().chain([(Way::new("truth", "told the truth"), Some(by_truth))])
        {
            let row = |metric, value: f64| {
                let subject = context.subject(id).called(&name);
                context.row_of(subject, metric, value).at("recall", target.recall()).replicate(replicate)
            };
            rows.push(row(Metric::Refused, f64::from(u8::from(stated.is_none()))));
            let Some(Stated { recall, calls }) = stated else { continue };
            let each = calls as f64 / oracle.len() as f64;
            // rounding of a mean of shares
            let holds = recall >= target.recall() - 1e-9;
            rows.push(row(Metric::Coverage, f64::from(u8::from(holds))));
            rows.push(row(Metric::TrueRecall, recall));
            rows.push(row(Metric::CallsPerItem, each));
            rows.push(row(Metric::Price, each - truth));
        }
    }
    Ok(rows)
}

/// Methods whose statements fail in more than δ of the draws, or make none, and those without a guarantee: what they take is no better.
fn without_guarantee(targets: &[(f64, f64)], rows: &[ResultRow]) -> Vec<String> {
    let names: BTreeSet<&String> = rows.iter().map(|row| &row.subject.method).collect();
    let holds = |name: &&String, &(recall, delta): &(f64, f64)| {
        let is_it = |row: &&ResultRow| {
            let Subject { method, id, .. } = &row.subject;
            let is_guaranteed = !["plug_in", "truth"].contains(&id.as_str());
            method == *name && is_guaranteed && row.metric == Metric::Coverage && row.along("recall") == recall
        };
        let held: Vec<f64> = rows.iter().filter(is_it).map(|row| row.value).collect();
        // rounding of 1 − δ
        !held.is_empty() && held.iter().sum::<f64>() >= (1.0 - delta - 1e-9) * held.len() as f64
    };
    names.into_iter().filter(|name| !targets.iter().all(|target| holds(name, target))).cloned().collect()
}

fn layout(settings: &CoverageConfig, rows: &[ResultRow]) -> Layout {
    let found = settings.found();
    let drawn = match found {
        Found::Nearest { .. } => nearest::DRAWN,
        Found::Pairs { .. } => pairs::DRAWN,
    };
    let caption = format!(
        "{drawn} A guaranteed recall ρ at confidence 1 − δ must hold in at least 1 − δ of the draws. Calls and price are per item; the price is the calls \
         beyond those of a search that knows the truth. Bold marks the best of the ways whose guarantee holds at every target."
    );
    let unmarked = without_guarantee(&settings.targets, rows);
    let table = |metric: Metric| {
        TableSpec::new(
            format!("table-{}", metric.id().replace('_', "-")),
            metric.spec().label,
            &caption,
            TableKind::Grid {
                select: Selection { unmarked: unmarked.clone(), ..Selection::of(metric) },
                across: "recall",
            },
        )
    };
    let shown = [Metric::Coverage, Metric::TrueRecall, Metric::CallsPerItem, Metric::Price, Metric::Refused];
    let is_there = |metric: &Metric| rows.iter().any(|row| row.metric == *metric);
    let figure = FigureSpec::new(
        "figure-coverage",
        "share of statements that hold",
        caption.clone(),
        Selection::of(Metric::Coverage),
        FigureKind::Curve { across: "recall", log_y: false, y_limits: Some((0.0, 1.0)) },
    );
    let tables = shown.into_iter().filter(is_there).map(table).collect();
    Layout { tables, figures: vec![figure], ..Layout::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ways_whose_guarantee_holds_can_be_marked_as_the_best() {
        let of = |id: &str, name: &str, held: &[f64]| -> Vec<ResultRow> {
            let row = |&held: &f64| {
                ResultRow::new(Subject::new("records", id).called(name), Metric::Coverage, held).at("recall", 0.9)
            };
            held.iter().map(row).collect()
        };
        let rows = [
            of("default", "audited pairs", &[1.0, 1.0, 1.0, 1.0, 1.0]),
            of("labels", "8 labels an item (SUPG)", &[1.0, 0.0, 1.0, 1.0, 0.0]),
            of("plug_in", "columns believed", &[1.0, 1.0, 1.0, 1.0, 1.0]),
            vec![ResultRow::new(Subject::new("records", "held_out"), Metric::Refused, 1.0).at("recall", 0.9)],
        ]
        .concat();
        assert_eq!(
            without_guarantee(&[(0.9, 0.2)], &rows),
            ["8 labels an item (SUPG)", "columns believed", "held_out"]
        );
    }
}
