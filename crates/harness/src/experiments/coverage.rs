//! `experiment: coverage` — stated recalls against true ones: how often a statement holds, and what it costs above knowing the truth.
//!
//! All of K is evaluated once. In each replicate columns and audited rows are drawn anew, and a search in rounds goes on until it states a recall of ρ
//! with probability 1 − δ (`recall::nearest_to`), by the default bound and by one that is a theorem. Beside them: the same search believing the plain estimate of 30 audited
//! rows, and one that is told the truth and stops at once.
//!
//! Cost: n² entries once; a search a draw, a target and a bound.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{
    AsymmetryPolicy, Metered, Oracle, OracleShape, Precomputed, Symmetry, ask_pairs, block_of,
};
use landmark_core::stream::stream;
use landmark_neighbours::nearest::{RoundsParams, Search, Step};
use landmark_neighbours::recall::{Audit, AuditError, Target, nearest_to, share_found};
use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, TableKind, TableSpec};
use landmark_yaml::{Entry, parameter, required};
use rand::seq::index::sample;
use serde_json::json;

use super::error_curve::reference;
use crate::config::CoverageConfig;
use crate::config::matrix::ExperimentEntry;
use crate::experiment::Experiment;
use crate::job::{ExtraCalls, Job, JobError, Request};
use crate::layout::Layout;
use crate::sweep::context::{SweepContext, whole};

/// Growth of the effort from step to step, and columns of a search whose effort is not known before: those of `nearest_to`.
const GROWTH: f64 = 0.2;
const COLUMNS: usize = 4;

/// Audited rows that are believed as they are.
const BELIEVED: usize = 30;

static ENTRY: ExperimentEntry = ExperimentEntry {
    unread: &["spectrum", "svm", "search", "output", "ranks", "compare"],
    methods_optional: true,
    reads_coverage: true,
    ..ExperimentEntry::new(Entry {
        id: "coverage",
        summary: "stated recalls of neighbours against true ones, over many draws, and their price above knowing the truth",
        parameters: &[
            required("coverage.proxy", "rwmd", "a cheap relative, as under `proxy`"),
            parameter("coverage.k", "10", "neighbours of each item"),
            parameter("coverage.targets", "[[0.8, 0.2], [0.9, 0.1], [0.95, 0.05]]", "ρ and δ of each statement"),
        ],
        source: "this project",
    })
};

/// Stated recalls against true ones.
pub struct Coverage;

impl Experiment for Coverage {
    fn entry(&self) -> &'static ExperimentEntry {
        &ENTRY
    }

    fn jobs<'a>(&self, context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
        let Some(settings) = &context.matrix.coverage else { return Err("the section `coverage` is missing".into()) };
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

    fn layout(&self, _: &SweepContext<'_>, rows: &[ResultRow]) -> Layout {
        layout(rows)
    }
}

/// One draw: the truth, the proxy and what is drawn.
struct Draw<'a> {
    oracle: &'a Precomputed,
    proxies: Vec<Arc<dyn Oracle>>,
    landmarks: Landmarks,
    k: usize,
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
    let (seed, dataset, n) = (context.run.seed, &context.problem.dataset, oracle.len());
    let landmarks = Landmarks::uniform(n, &mut stream(seed, dataset, "landmarks", replicate));
    let draw = Draw { oracle, proxies: vec![proxy], landmarks, k: settings.k.min(n.saturating_sub(1)) };
    let path = draw.path()?;
    let mut believed = sample(&mut stream(seed, dataset, "believed rows", replicate), n, BELIEVED.min(n)).into_vec();
    believed.sort_unstable();

    let mut rows = Vec::new();
    for &(recall, delta) in &settings.targets {
        let target = Target::new(recall, delta).map_err(|error| JobError::Failed(error.into()))?;
        let mut add = |id: &str, name: &str, seen: Option<Stated>, truth: f64| {
            let row = |metric, value: f64| {
                let subject = context.subject(id).called(name);
                context.row_of(subject, metric, value).at("recall", recall).replicate(replicate)
            };
            rows.push(row(Metric::Refused, f64::from(u8::from(seen.is_none()))));
            if let Some(Stated { recall: true_recall, calls }) = seen {
                let each = calls as f64 / n as f64;
                // rounding of a mean of shares
                let holds = true_recall >= recall - 1e-9;
                rows.push(row(Metric::Coverage, f64::from(u8::from(holds))));
                rows.push(row(Metric::TrueRecall, true_recall));
                rows.push(row(Metric::CallsPerItem, each));
                rows.push(row(Metric::Price, each - truth));
            }
        };
        let told = path.first(recall, |step| step.mean());
        let truth = told.as_ref().map_or(f64::NAN, |told| told.calls as f64 / n as f64);
        if !truth.is_finite() {
            continue;
        }
        for (id, name, is_strict) in [("default", "default bound", false), ("strict", "strict bound", true)] {
            add(id, name, draw.stated(target, is_strict, (seed, dataset, replicate))?, truth);
        }
        add("plug_in", "30 rows believed", path.first(recall, |step| step.mean_of(&believed)), truth);
        add("truth", "told the truth", told, truth);
    }
    Ok(rows)
}

/// A statement: the recall that is true, and the calls it took.
struct Stated {
    recall: f64,
    calls: u64,
}

/// Shares of every item's true neighbours that were asked for, step by step.
struct Path {
    steps: Vec<PathStep>,
}

struct PathStep {
    asked: u64,
    shares: Vec<f64>,
}

impl PathStep {
    fn mean(&self) -> f64 {
        self.shares.iter().sum::<f64>() / self.shares.len() as f64
    }

    fn mean_of(&self, items: &[usize]) -> f64 {
        items.iter().map(|&item| self.shares[item]).sum::<f64>() / items.len() as f64
    }
}

impl Path {
    /// The first step at which `seen` is at least ρ. Rows that `seen` looks at beyond those asked for are not charged: a plain estimate has them for
    /// nothing here, which flatters it.
    fn first(&self, recall: f64, seen: impl Fn(&PathStep) -> f64) -> Option<Stated> {
        let step = self.steps.iter().find(|step| seen(step) >= recall)?;
        Some(Stated { recall: step.mean(), calls: step.asked })
    }
}

impl Draw<'_> {
    fn params(&self) -> RoundsParams {
        let n = self.oracle.len();
        RoundsParams { k: self.k, calls_per_item: n, ..RoundsParams::default() }
    }

    /// The search without an audit, to its end.
    fn path(&self) -> Result<Path, JobError> {
        let failed = |error: landmark_neighbours::nearest::NeighbourError| JobError::Failed(error.into());
        let n = self.oracle.len();
        let params = RoundsParams { columns: Some(COLUMNS.min(n / 2)), growth: Some(GROWTH), ..self.params() };
        let rounds = params.check().map_err(|error| JobError::Failed(error.into()))?;
        let mut search =
            Search::new(rounds, OracleShape::of(self.oracle), self.proxies.clone(), &self.landmarks).map_err(failed)?;
        let mut asked: Vec<HashSet<usize>> = vec![HashSet::new(); n];
        let mut steps = Vec::new();
        while let Some(batch) = search.next_batch().map_err(failed)? {
            let mut scores = vec![0.0; batch.pairs.len()];
            ask_pairs(self.oracle, &batch.pairs, &mut scores)?;
            search.record(&batch.pairs, &scores).map_err(failed)?;
            for &(i, j) in &batch.pairs {
                asked[i].insert(j);
                asked[j].insert(i);
            }
            if matches!(batch.step, Step::Proxy(_)) {
                continue;
            }
            let row = |i: usize| self.oracle.matrix().row(i).to_vec();
            let share = |i: usize| share_found(&row(i), i, self.k, |j| asked[i].contains(&j));
            let shares: Vec<f64> = (0..n).map(share).collect();
            let is_over = shares.iter().all(|&share| share >= 1.0);
            steps.push(PathStep { asked: search.asked(), shares });
            if is_over {
                break;
            }
        }
        Ok(Path { steps })
    }

    /// The search that stops where its bound does; `None` where it refuses.
    fn stated(
        &self,
        target: Target,
        is_strict: bool,
        (seed, dataset, replicate): (u64, &str, u64),
    ) -> Result<Option<Stated>, JobError> {
        let metered = Metered::new(self.oracle);
        let mut rng = stream(seed, dataset, "audited rows", replicate);
        let audit = Audit { target, is_strict, rows: None };
        let found = nearest_to(&metered, &self.proxies, self.params(), &self.landmarks, audit, &mut rng);
        let found = match found {
            Ok(found) if found.refused.is_none() => found,
            Ok(_) | Err(AuditError::TooFew(_)) => return Ok(None),
            Err(error) => return Err(JobError::Failed(error.into())),
        };
        let shares = found.lists.iter().enumerate().map(|(item, list)| {
            let listed: HashSet<usize> = list.iter().map(|near| near.item).collect();
            share_found(&self.oracle.matrix().row(item).to_vec(), item, self.k, |j| listed.contains(&j))
        });
        let recall = shares.sum::<f64>() / self.oracle.len() as f64;
        Ok(Some(Stated { recall, calls: metered.spent().evaluations }))
    }
}

fn layout(rows: &[ResultRow]) -> Layout {
    let caption = "Over draws of columns and audited rows. A statement of recall ρ at confidence 1 − δ holds in at least 1 − δ of the draws where its \
                   bound is sound; calls and price are an item's, the price above a search that is told the truth. The 30 rows of the plain \
                   estimate are not charged.";
    let table = |metric: Metric| TableSpec {
        id: format!("table-{}", metric.id().replace('_', "-")),
        title: metric.spec().label.to_owned(),
        caption: caption.to_owned(),
        kind: TableKind::Grid { select: Selection::of(metric), across: "recall" },
    };
    let shown = [Metric::Coverage, Metric::TrueRecall, Metric::CallsPerItem, Metric::Price, Metric::Refused];
    let is_there = |metric: &Metric| rows.iter().any(|row| row.metric == *metric);
    let figure = FigureSpec {
        id: "figure-coverage".to_owned(),
        title: "share of statements that hold".to_owned(),
        caption: caption.to_owned(),
        select: Selection::of(Metric::Coverage),
        kind: FigureKind::Curve { across: "recall", log_y: false, y_limits: Some((0.0, 1.0)) },
    };
    let tables = shown.into_iter().filter(is_there).map(table).collect();
    Layout { tables, figures: vec![figure], ..Layout::default() }
}
