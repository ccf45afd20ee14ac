//! `experiment: retrieval` — how many of the true nearest a number of calls an item finds: recall@k and nDCG of every way we know to spend them.
//!
//! All of K is evaluated once, so that the truth is known; every method then pays for its pairs from a budget of b·n calls over the matrix that is
//! there (`call_budget`), a call being one unordered pair, which serves both of its items. Columns cost what the plan of a sweep states. Methods
//! are in `methods`.
//!
//! Cost: n² entries once; 8n² bytes a method, and for each budget a few n² log n comparisons.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, Symmetry, block_of};
use landmark_core::stream::stream;
use landmark_report::amounts::counted;
use landmark_report::{CellKey, Metric, ResultRow};
use landmark_tasks::retrieval::{Depth, MeanWithInterval, Truth};
use landmark_yaml::Entry;
use ndarray::Array2;
use serde_json::json;

use landmark_harness::config::matrix::{ExperimentEntry, Purpose};
use landmark_harness::config::{ProxyKind, RetrievalConfig, SearchPart};
use landmark_harness::experiment::{Experiment, FinishedRun};
use landmark_harness::experiments::error_curve::reference;
use landmark_harness::job::{ExtraCalls, Job, JobError, Request};
use landmark_harness::layout::Layout;
use landmark_harness::problem::kept;
use landmark_harness::sweep::context::{SweepContext, whole};

mod call_budget;
mod layout;
mod methods;
mod places;

pub use layout::layout;
use methods::Lists;
pub use methods::{SearchMethod, Setup};

/// Metrics of a list, and the depth that each looks at.
pub const METRICS: [(Metric, Depth); 5] = [
    (Metric::RecallAt1, Depth::Recall(1)),
    (Metric::RecallAt10, Depth::Recall(10)),
    (Metric::RecallAt50, Depth::Recall(50)),
    (Metric::RecallAt100, Depth::Recall(100)),
    (Metric::NdcgAt10, Depth::Ndcg(10)),
];

/// The longest list that is looked at.
const LONGEST: usize = 100;

static ENTRY: ExperimentEntry = ExperimentEntry {
    own: Some(|section| Some(std::sync::Arc::new(RetrievalConfig::read(section)?))),
    ..ExperimentEntry::new(
        Entry {
            id: "retrieval",
            summary: "recall of the true nearest neighbors against calls per item: reranking, GAR, ANNCUR, AXN-like, sums and rounds",
            keys: RetrievalConfig::KEYS,
            source: "this project",
        },
        Purpose::Matrix,
    )
};

/// Recall of the true nearest neighbors at a number of calls an item.
pub struct Retrieval;

impl Experiment for Retrieval {
    fn entry(&self) -> &'static ExperimentEntry {
        &ENTRY
    }

    fn jobs<'a>(&self, context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
        jobs(context)
    }

    fn layout(&self, run: &FinishedRun<'_>) -> Layout {
        layout(run.facts.calls_per_pair, run.rows)
    }
}

/// What the jobs of a run share.
#[derive(Default)]
struct Shared {
    /// All of K, and each row's true order, read when the first job needs it.
    truth: OnceCell<(Array2<f64>, Truth)>,
    without_proxy: WithoutProxy,
}

/// Findings of the methods that read no proxy, by replicate and number of calls: the same with every proxy.
type WithoutProxy = RefCell<HashMap<(u64, usize, SearchMethod), Vec<Finding>>>;

fn jobs<'a>(context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
    let Some(settings) = context.matrix.own_section::<RetrievalConfig>() else {
        return Err("the section `retrieval` is missing".into());
    };
    let shape = context.metered.shape();
    if shape.symmetry == Symmetry::Asymmetric {
        return Err("`retrieval` needs a symmetric score: let the oracle take the mean of both orders".into());
    }
    if budgets(&settings.calls, shape.len).is_empty() {
        let message = format!(
            "no number of `retrieval.calls` is below half of {}, where all pairs are evaluated",
            counted(shape.len as u64, "item")
        );
        return Err(message.as_str().into());
    }
    let mut jobs = Vec::new();
    if context.problem.is_priced {
        jobs.push(reference(context)?);
    }
    let shared = Rc::new(Shared::default());
    for proxy in &settings.proxies {
        for replicate in 0..context.run.replicates as u64 {
            let (shared, key) = (Rc::clone(&shared), key(context, settings, proxy, replicate)?);
            jobs.push(Job {
                key,
                title: format!("neighbors with the proxy {}, replicate {}", proxy.id(), replicate + 1),
                group: format!("neighbors with the proxy {}", proxy.id()),
                requests: Request::of_sweep(whole(shape.len)),
                extra: ExtraCalls::NONE,
                work: Box::new(move |_, _| measure(context, settings, proxy, replicate, &shared)),
            });
        }
    }
    Ok(jobs)
}

fn key(
    context: &SweepContext<'_>,
    settings: &RetrievalConfig,
    proxy: &ProxyKind,
    replicate: u64,
) -> Result<CellKey, JobError> {
    let identity = context.problem.proxies.get(proxy).map(|oracle| oracle.identity().to_hex());
    let more =
        json!([replicate, proxy, identity, settings.calls, settings.rounds, SearchPart::in_order(&settings.ablations)]);
    Ok(context.key("retrieval", None, &more)?)
}

/// Calls an item that leave something to be found: below half of n, where all pairs are evaluated.
fn budgets(calls: &[usize], n: usize) -> Vec<usize> {
    calls.iter().copied().filter(|calls| 2 * calls < n.saturating_sub(1)).collect()
}

/// Worth of a method's lists at some calls an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    pub method: SearchMethod,
    pub calls: usize,
    pub metric: Metric,
    /// Its mean over the items.
    pub judged: MeanWithInterval,
    pub spent: u64,
}

/// Findings of all methods, and of rounds without each of some parts, at each number of `calls` an item that leaves something to be found.
pub fn findings(setup: Setup<'_>, calls: &[usize], ablations: &[SearchPart]) -> Result<Vec<Finding>, JobError> {
    let truth = Truth::of(setup.matrix.view(), LONGEST);
    judged(setup, &truth, calls, ablations, &WithoutProxy::default())
}

fn judged(
    setup: Setup<'_>,
    truth: &Truth,
    calls: &[usize],
    ablations: &[SearchPart],
    without_proxy: &WithoutProxy,
) -> Result<Vec<Finding>, JobError> {
    let (n, (_, replicate)) = (setup.matrix.nrows(), setup.seed);
    let ready = setup.ready()?;
    let mut findings = Vec::new();
    for calls in budgets(calls, n) {
        for &(method, ..) in SearchMethod::ALL.iter().filter(|row| row.0.is_among(ablations)) {
            let key = (replicate, calls, method);
            if let Some(found) = without_proxy.borrow().get(&key) {
                findings.extend_from_slice(found);
                continue;
            }
            let Some(Lists { lists, spent }) = method.lists(&ready, calls, LONGEST)? else { continue };
            let metrics = METRICS.iter().filter(|(_, depth)| depth.items() < n);
            let finding =
                |&(metric, depth)| Finding { method, calls, metric, judged: truth.judge(depth, &lists), spent };
            let found: Vec<Finding> = metrics.map(finding).collect();
            findings.extend_from_slice(&found);
            if !method.reads_proxy() {
                without_proxy.borrow_mut().insert(key, found);
            }
        }
    }
    Ok(findings)
}

fn measure(
    context: &SweepContext<'_>,
    settings: &RetrievalConfig,
    proxy: &ProxyKind,
    replicate: u64,
    shared: &Shared,
) -> Result<Vec<ResultRow>, JobError> {
    let gamma = context.fixed_gamma();
    let (matrix, truth) = match shared.truth.get() {
        Some(known) => known,
        None => {
            let reference = context.metered.similarities(gamma)?;
            let all: Vec<usize> = (0..reference.len()).collect();
            let matrix = block_of(&reference, &all, &all)?;
            let truth = Truth::of(matrix.view(), LONGEST);
            shared.truth.get_or_init(|| (matrix, truth))
        }
    };
    let Some(oracle) = context.problem.proxy(proxy, gamma)? else {
        return Err(format!("the proxy `{}` was not built", proxy.id()).as_str().into());
    };
    let landmarks = Landmarks::uniform(
        matrix.nrows(),
        &mut stream(context.run.seed, &context.problem.dataset, "landmarks", replicate),
    );
    let setup = Setup {
        matrix,
        shape: context.metered.shape(),
        // a search reads an entry many times: the exponential of a distance is taken once
        proxy: if proxy.is_distance() { kept(oracle) } else { oracle },
        landmarks: &landmarks,
        rounds: settings.rounds,
        seed: (context.run.seed, replicate),
    };
    let evaluations = |pairs: u64| pairs * context.metered.shape().evaluations_per_pair;
    let findings = judged(setup, truth, &settings.calls, &settings.ablations, &shared.without_proxy)?;
    let row = |Finding { method, calls, metric, judged, spent }: Finding| {
        let row = context.row_of(method.subject(context, proxy), metric, judged.mean).at("calls", calls);
        let row = row.compared_at(proxy.id()).replicate(replicate).cost(spent, evaluations(spent));
        row.within(judged.lower, judged.upper)
    };
    Ok(findings.into_iter().map(row).collect())
}
