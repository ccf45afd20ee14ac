//! `experiment: search` — an index of items for new queries: past queries are scored with every item once, and each query to come takes b calls.
//!
//! The matrix of the run is that of items and past queries; what is evaluated is the rectangle items × anchors, n·a calls, known before the first.
//! The index stands in files (`index_files`), and `landmark search` asks it. How well it does is seen without a further call: every anchor in turn is taken out
//! and searched for as if it were new, for its scores are known.

use landmark_core::entries::{EntryBlock, EntryPlan, Rows};
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, block_of};
use landmark_core::stream::stream;
use landmark_neighbors::search::baselines::{Anncur, Axn, rerank};
use landmark_neighbors::search::{Anchors, Answer, Index, ItemProxy, SearchError};
use landmark_report::{CellKey, Metric, ResultRow, Selection, TableKind, TableSpec};
use landmark_report::{FigureKind, FigureSpec};
use landmark_tasks::retrieval::{Depth, Truth};
use landmark_yaml::Entry;
use ndarray::{Array2, ArrayView2, Axis};
use rand::seq::index::sample;
use serde_json::json;

use crate::config::QueriesConfig;
use crate::config::matrix::{ExperimentEntry, Purpose};
use crate::experiment::{Experiment, FinishedRun};
use crate::index_files::{self, INDEX, IndexInfo};
use crate::job::{ExtraCalls, Job, JobError, Request};
use crate::layout::Layout;
use crate::sweep::context::SweepContext;

/// Items up to which a proxy that has no vectors is kept as a matrix: 288 MB.
const KEPT_UP_TO: usize = 6_000;

/// Anchors that are taken out and searched for, at most.
const TRIED: usize = 60;

const METRICS: [(Metric, Depth); 3] = [
    (Metric::RecallAt1, Depth::Recall(1)),
    (Metric::RecallAt10, Depth::Recall(10)),
    (Metric::NdcgAt10, Depth::Ndcg(10)),
];

static ENTRY: ExperimentEntry = ExperimentEntry {
    own: Some(|section| Some(std::sync::Arc::new(QueriesConfig::read(section)?))),
    ..ExperimentEntry::new(
        Entry {
            id: "search",
            summary: "an index of items for new queries, from the scores of some past ones; `landmark search` asks it at b calls a query",
            keys: QueriesConfig::KEYS,
            source: "this project",
        },
        Purpose::Matrix,
    )
};

pub struct QuerySearch;

impl Experiment for QuerySearch {
    fn entry(&self) -> &'static ExperimentEntry {
        &ENTRY
    }

    fn jobs<'a>(&self, context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError> {
        let Some(queries) = context.matrix.own_section::<QueriesConfig>() else {
            return Err("the section `queries` is missing".into());
        };
        let places = Places::of(context, queries);
        let identity = queries.proxy.as_ref().and_then(|kind| context.problem.proxies.get(kind));
        let identity = identity.map(|proxy| proxy.identity().to_hex());
        let key = context.key("search", None, &json!([queries, places.anchors, identity]))?;
        let title = format!("an index of {} items from {} anchors", places.items.len(), places.anchors.len());
        Ok(vec![Job {
            key: key.clone(),
            title: title.clone(),
            group: title,
            requests: Request::of_sweep(places.plan()),
            extra: ExtraCalls::NONE,
            work: Box::new(move |_, _| measure(context, queries, &key)),
        }])
    }

    fn is_kept(&self, context: &SweepContext<'_>, job: &Job<'_>) -> bool {
        let is_same = |info: IndexInfo| info.job == job.key.to_string() && info.config == context.config_hash;
        index_files::peek(&context.folder.join(INDEX)).is_some_and(is_same)
    }

    fn layout(&self, run: &FinishedRun<'_>) -> Layout {
        layout(run.rows)
    }
}

/// Places of items and anchors in the matrix: items first, then past queries.
struct Places {
    items: Vec<usize>,
    /// Rows of the file of past queries.
    anchors: Vec<usize>,
}

impl Places {
    fn of(context: &SweepContext<'_>, queries: &QueriesConfig) -> Self {
        let past = context.problem.queries;
        let mut rng = stream(context.run.seed, &context.problem.dataset, "anchors", 0);
        let order = if past == 0 { Vec::new() } else { Landmarks::uniform(past, &mut rng).order().to_vec() };
        let items = (0..context.problem.items() - past).collect();
        Self { items, anchors: order.into_iter().take(queries.anchors).collect() }
    }

    fn columns(&self) -> Vec<usize> {
        self.anchors.iter().map(|anchor| self.items.len() + anchor).collect()
    }

    fn plan(&self) -> EntryPlan {
        let rectangle = EntryBlock { rows: Rows::These(self.items.clone()), cols: self.columns() };
        EntryPlan::exact(vec![rectangle])
    }
}

/// The proxy over items and anchors, evaluated.
struct Proxies {
    to_items: Array2<f64>,
    among: Array2<f64>,
    items: ItemProxy,
}

impl Proxies {
    fn of(context: &SweepContext<'_>, queries: &QueriesConfig, places: &Places) -> Result<Option<Self>, JobError> {
        let Some(kind) = &queries.proxy else { return Ok(None) };
        let Some(proxy) = context.problem.proxy(kind, context.fixed_gamma())? else {
            return Err(format!("the proxy `{}` was not built", kind.id()).as_str().into());
        };
        let (items, columns) = (&places.items, places.columns());
        let among_items = match proxy.vectors() {
            Some(vectors) => ItemProxy::cosine(vectors.select(Axis(0), items)),
            None if items.len() <= KEPT_UP_TO => ItemProxy::matrix(block_of(proxy.as_ref(), items, items)?),
            None => {
                let message = format!(
                    "the proxy `{}` has no vectors, and its matrix among {} items is too large to keep; use `embedding_cosine`, or at most {KEPT_UP_TO} items",
                    kind.id(),
                    items.len()
                );
                return Err(message.as_str().into());
            }
        };
        Ok(Some(Self {
            to_items: block_of(proxy.as_ref(), items, &columns)?,
            among: block_of(proxy.as_ref(), &columns, &columns)?,
            items: among_items.map_err(failed)?,
        }))
    }
}

fn failed(error: SearchError) -> JobError {
    match error {
        SearchError::Oracle(error) => error.into(),
        other => JobError::Failed(other.into()),
    }
}

fn measure(context: &SweepContext<'_>, queries: &QueriesConfig, key: &CellKey) -> Result<Vec<ResultRow>, JobError> {
    let places = Places::of(context, queries);
    let oracle = context.metered.similarities(context.fixed_gamma())?;
    let scores = block_of(oracle.as_ref(), &places.items, &places.columns())?;
    let proxies = Proxies::of(context, queries, &places)?;
    let rows = try_anchors(context, queries, scores.view(), proxies.as_ref())?;

    let anchors = Anchors {
        scores: scores.view(),
        proxy: proxies.as_ref().map(|proxies| (proxies.to_items.view(), proxies.among.view())),
    };
    let items = proxies.as_ref().map(|proxies| proxies.items.clone());
    let index = Index::build(anchors, items, queries.params).map_err(failed)?;
    let Some(texts) = context.problem.texts() else { return Err("queries are searched among texts".into()) };
    let digest = |places: &[usize]| crate::query_search::digest(texts, places).map_err(JobError::Failed);
    let info = IndexInfo {
        version: 1,
        items: index.len(),
        anchors: places.anchors.clone(),
        oracle: context.problem.raw.identity().to_hex(),
        texts: digest(&places.items)?,
        anchor_texts: digest(&places.columns())?,
        gamma: context.fixed_gamma(),
        scorer: context.problem.scorer().map(|scorer| scorer.name().to_owned()),
        params: queries.params,
        link: index.parts().link.clone(),
        job: key.to_string(),
        config: context.config_hash.clone(),
    };
    index_files::write(&context.folder.join(INDEX), &info, index.parts())
        .map_err(|error| JobError::Failed(error.into()))?;
    Ok(rows)
}

/// Ways to search, in the order of the tables.
const WAYS: [(&str, &str); 4] =
    [("rerank", "proxy + rescore"), ("anncur", "ANNCUR + rescore"), ("axn", "AXN-like"), ("index", "index")];

/// Every anchor searched for with an index of the others, each way and at each number of calls. No call: all scores are there.
fn try_anchors(
    context: &SweepContext<'_>,
    queries: &QueriesConfig,
    scores: ArrayView2<'_, f64>,
    proxies: Option<&Proxies>,
) -> Result<Vec<ResultRow>, JobError> {
    let (n, a) = scores.dim();
    if a < 2 {
        return Ok(Vec::new());
    }
    let tried: Vec<usize> = (0..a.min(TRIED)).collect();
    let truths = Array2::from_shape_fn((tried.len(), n), |(t, item)| scores[[item, tried[t]]]);
    let truth = Truth::of_queries(truths.view(), 10);
    let budgets: Vec<usize> = queries.calls.iter().copied().filter(|&calls| calls < n).collect();
    let mut lists = vec![vec![Vec::new(); WAYS.len()]; budgets.len()];
    for &query in &tried {
        let others: Vec<usize> = (0..a).filter(|&anchor| anchor != query).collect();
        let past = scores.select(Axis(1), &others);
        let split = proxies.map(|proxies| {
            let among = proxies.among.select(Axis(0), &others);
            let to_anchors = proxies.among.row(query).select(Axis(0), &others).to_vec();
            let own = proxies.to_items.column(query).to_vec();
            (proxies.to_items.select(Axis(1), &others), among.select(Axis(1), &others), own, to_anchors)
        });
        let anchors = Anchors {
            scores: past.view(),
            proxy: split.as_ref().map(|(to_items, among, ..)| (to_items.view(), among.view())),
        };
        let index =
            Index::build(anchors, proxies.map(|proxies| proxies.items.clone()), queries.params).map_err(failed)?;
        let axn = Axn::new(past.view(), queries.params.rounds).map_err(failed)?;
        let score = |items: &[usize]| Ok(items.iter().map(|&item| scores[[item, query]]).collect::<Vec<_>>());
        for (&calls, lists) in budgets.iter().zip(&mut lists) {
            let mut rng = stream(context.run.seed, &context.problem.dataset, "anchor items", calls as u64);
            let fixed = sample(&mut rng, n, calls.div_ceil(2)).into_vec();
            let own = split.as_ref().map(|(.., own, to_anchors)| (own.as_slice(), to_anchors.as_slice()));
            let mut add = |way: usize, answer: Result<Answer, SearchError>| -> Result<(), JobError> {
                let answer = answer.map_err(failed)?;
                lists[way].push(answer.top(10).iter().map(|hit| hit.item).collect());
                Ok(())
            };
            if let Some((own, _)) = own {
                add(0, rerank(own, score, calls))?;
                add(2, axn.query(own, score, calls))?;
            }
            add(1, Anncur::build(past.view(), &fixed).and_then(|anncur| anncur.query(score, calls)))?;
            add(3, index.query(own, score, calls))?;
        }
    }
    let mut rows = Vec::new();
    for (&calls, lists) in budgets.iter().zip(&lists) {
        for ((id, name), lists) in WAYS.iter().zip(lists).filter(|(_, lists)| !lists.is_empty()) {
            for (metric, depth) in METRICS.iter().filter(|(_, depth)| depth.items() < n) {
                let judged = truth.judge(*depth, lists);
                let subject = context.subject(id).called(*name).items(n);
                let row = context.row_of(subject, *metric, judged.mean).at("query_calls", calls).at("anchors", a);
                let each = context.metered.shape().evaluations_per_pair;
                let row = row.cost(calls as u64, calls as u64 * each);
                rows.push(row.within(judged.lower, judged.upper));
            }
        }
    }
    Ok(rows)
}

fn layout(rows: &[ResultRow]) -> Layout {
    let Some(first) = rows.first() else {
        let notes = vec!["one anchor cannot show how well the index does; raise `queries.anchors`".to_owned()];
        return Layout { notes, ..Layout::default() };
    };
    let caption = format!(
        "Every anchor (of {}, {TRIED} at most) searched for among {} items as if it were new, with an index of the others: no call, for its scores are known.",
        first.count("anchors"),
        first.subject.items
    );
    let table = |(metric, _): &(Metric, Depth)| TableSpec {
        id: format!("table-{}", metric.id().replace('_', "-")),
        title: format!("{} against calls a query", metric.spec().label),
        caption: caption.clone(),
        kind: TableKind::Grid { select: Selection::of(*metric), across: "query_calls" },
    };
    let is_there = |(metric, _): &&(Metric, Depth)| rows.iter().any(|row| row.metric == *metric);
    let figure = FigureSpec {
        id: "figure-recall-at-10".to_owned(),
        title: "recall@10 against calls a query".to_owned(),
        caption: caption.clone(),
        select: Selection::of(Metric::RecallAt10),
        kind: FigureKind::Curve { across: "query_calls", log_y: false, y_limits: Some((0.0, 1.0)) },
    };
    let has_figure = rows.iter().any(|row| row.metric == Metric::RecallAt10);
    let tables = METRICS.iter().filter(is_there).map(table).collect();
    Layout { tables, figures: has_figure.then_some(figure).into_iter().collect(), ..Layout::default() }
}
