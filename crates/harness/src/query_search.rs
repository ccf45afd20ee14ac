//! Searching the index of `experiment: search` for new queries: `landmark search`.
//!
//! Every query keeps its scores in the store under an identity of its own, made of the index's score and the query's text, so that a list of queries may grow, shrink
//! or change its order and no score is asked for twice. Queries are searched at the same time; what one asks for depends on no other. Those of one identity
//! are searched once, with the embedding of the first of them where the proxy reads one.
//!
//! Cost: b calls a distinct query; the time of [`Index::query`] in addition to them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::{Budget, Identity, Metered, Oracle, OracleError, OracleShape, Pair, block_of};
use landmark_data::matrices;
use landmark_neighbors::search::{Answer, Index, SearchError};
use landmark_oracles::subprocess::{PairForm, ScoredItems, SubprocessError};
use landmark_store::{OracleLabel, StoreError, TileStore};
use ndarray::{Array2, Axis, concatenate};
use rayon::prelude::*;

use crate::config::{Config, ConfigPath, MatrixSubject, ProxyKind, QueriesConfig};
use crate::index_files::{self, INDEX, IndexError, IndexInfo};
use crate::items::{ItemsError, OwnItems};
use crate::loaded::LoadError;
use crate::metered_store::MeteredStore;
use crate::oracles::scorer::Scorer;
use crate::problem::Problem;
use crate::run::{RunOptions, results_folder, store_address};

/// Why queries could not be searched for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The score, or numbers that do not fit.
    #[error("the query `{id}` could not be searched for")]
    Search {
        id: String,
        #[source]
        source: SearchError,
    },
    /// Something has changed since the index was made.
    #[error("the index was made {of}: run the configuration again, or take back the change")]
    Changed {
        /// Facts of the index it was made from.
        of: String,
    },
    /// A program that knows items by their numbers.
    #[error(
        "the program compares items by their numbers, and a new query has none; let it greet with `\"pairs\": \"text\"` or `\"id\"`"
    )]
    Numbers,
}

impl From<ItemsError> for QueryError {
    fn from(error: ItemsError) -> Self {
        Self::Load(error.into())
    }
}

impl From<SubprocessError> for QueryError {
    fn from(error: SubprocessError) -> Self {
        Self::Load(error.into())
    }
}

/// Digest of the ids and texts of some items.
pub fn digest(items: &ScoredItems, places: &[usize]) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    Ok(selected(items, places)?.identity().to_hex())
}

fn selected(items: &ScoredItems, places: &[usize]) -> Result<ScoredItems, SubprocessError> {
    let of = |texts: &[String]| places.iter().map(|&place| texts[place].clone()).collect();
    ScoredItems::new(of(items.ids()), of(items.texts()))
}

/// An index with the score and the proxy that it was made with, over new queries.
pub struct QuerySearch {
    index: Index,
    info: IndexInfo,
    problem: Problem,
    proxy: Option<Arc<dyn Oracle>>,
    meter: Arc<Metered<Arc<dyn Oracle>>>,
    store: Option<TileStore>,
    ids: Vec<String>,
    queries: ScoredItems,
}

impl QuerySearch {
    /// Opens the index of a configuration that was run, and its score over items, anchors and new queries. No call.
    pub fn open(
        config: &Config,
        (matrix, queries): (&MatrixSubject, &QueriesConfig),
        options: &RunOptions,
        new: &OwnItems,
        embeddings: Option<&Path>,
    ) -> Result<Self, QueryError> {
        let (info, index) = index_files::read(&results_folder(config, options).join(INDEX))?;
        let hash = config.config_hash().map_err(|error| QueryError::Changed { of: error.to_string() })?.to_hex();
        if hash != info.config {
            let (then, now) = (&info.config[..12.min(info.config.len())], &hash[..12]);
            return Err(QueryError::Changed { of: format!("with other settings (hash {then}, now {now})") });
        }
        let data = options.data.as_deref();
        let scored = |items: OwnItems| ScoredItems::new(items.ids, items.texts);
        let Some(texts) = matrix.dataset.texts() else {
            return Err(LoadError::pair(matrix.dataset.name.to_owned(), matrix.oracle.kind()).into());
        };
        let (items, past) = (scored(OwnItems::of(texts, data)?)?, scored(OwnItems::of(&queries.texts, data)?)?);
        let is_there = info.anchors.iter().all(|&anchor| anchor < past.len());
        let anchors =
            if is_there { selected(&past, &info.anchors)? } else { ScoredItems::new(Vec::new(), Vec::new())? };
        if items.identity().to_hex() != info.texts || anchors.identity().to_hex() != info.anchor_texts {
            return Err(QueryError::Changed { of: "from other items or past queries".to_owned() });
        }
        let queries_of = scored(new.clone())?;
        let joined = |one: &[String], other: &[String]| one.iter().chain(other).cloned().collect::<Vec<_>>();
        let behind =
            ScoredItems::new(joined(anchors.ids(), queries_of.ids()), joined(anchors.texts(), queries_of.texts()))?;
        let embeddings = embeddings_behind(queries, &info, embeddings)?;
        let problem =
            Problem::of_queries(&config.run, matrix, options.data.as_deref(), &items, &behind, embeddings.as_ref())?;
        check_scorer(&problem, &info)?;
        let proxy = match &queries.proxy {
            Some(kind) => problem.proxy(kind, info.gamma).map_err(LoadError::from)?,
            None => None,
        };
        let budget = Budget { entries: matrix.budget.limit(), seconds: matrix.budget.seconds };
        let meter = Arc::new(Metered::with_budget(Arc::clone(&problem.raw), budget));
        let open = || TileStore::open(&store_address(config, options)).map(|store| store.with_sync(matrix.sync));
        let store = if problem.is_priced { Some(open()?) } else { None };
        Ok(Self { index, info, problem, proxy, meter, store, ids: items.ids().to_vec(), queries: queries_of })
    }

    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Calls that all queries take on an empty store, exactly.
    pub fn plan(&self, calls: usize) -> u64 {
        let each = self.index.plan(calls) as u64 * OracleShape::of(&self.problem.raw).evaluations_per_pair;
        each * self.distinct().first.len() as u64
    }

    /// Scores of these queries that the store holds.
    pub fn stored(&self) -> Result<u64, StoreError> {
        let entries = |query| Ok(self.metered(query)?.stored().map_or(0, |stored| stored.entries()));
        self.distinct().first.into_iter().map(entries).sum()
    }

    pub fn called(&self) -> u64 {
        self.meter.spent().evaluations
    }

    /// Answers every query, each distinct one from `calls` calls; `done` is called when one is answered.
    pub fn answer(&self, calls: usize, done: impl Fn() + Sync) -> Result<Vec<Answer>, QueryError> {
        let answer = |&query: &usize| {
            let answer = self.answer_one(query, calls);
            done();
            answer
        };
        let Distinct { first, place } = self.distinct();
        let answers: Vec<Answer> = first.par_iter().map(answer).collect::<Result<_, _>>()?;
        (first.len()..place.len()).for_each(|_| done());
        Ok(place.into_iter().map(|place| answers[place].clone()).collect())
    }

    fn distinct(&self) -> Distinct {
        let (mut first, mut seen) = (Vec::new(), HashMap::new());
        let place = |query: usize| {
            *seen.entry(self.identity(query)).or_insert_with(|| {
                first.push(query);
                first.len() - 1
            })
        };
        let place = (0..self.queries.len()).map(place).collect();
        Distinct { first, place }
    }

    fn answer_one(&self, query: usize, calls: usize) -> Result<Answer, QueryError> {
        let n = self.index.len();
        let failed = |source| QueryError::Search { id: self.queries.ids()[query].clone(), source };
        let oracle_failed = |error: OracleError| failed(error.into());
        let metered = self.metered(query)?;
        let scores = metered.similarities(self.info.gamma).map_err(oracle_failed)?;
        let place = n + self.index.anchors() + query;
        let proxy = |proxy: &Arc<dyn Oracle>| -> Result<(Vec<f64>, Vec<f64>), OracleError> {
            let (items, anchors): (Vec<usize>, Vec<usize>) =
                ((0..n).collect(), (n..n + self.index.anchors()).collect());
            let to = |others: &[usize]| -> Result<Vec<f64>, OracleError> {
                Ok(block_of(proxy.as_ref(), &[place], others)?.into_iter().collect())
            };
            Ok((to(&items)?, to(&anchors)?))
        };
        let proxy = self.proxy.as_ref().map(proxy).transpose().map_err(oracle_failed)?;
        let score = |items: &[usize]| {
            let pairs: Vec<Pair> = items.iter().map(|&item| (item, n)).collect();
            let mut values = vec![0.0; pairs.len()];
            scores.evaluate(&pairs, &mut values)?;
            Ok(values)
        };
        let proxy = proxy.as_ref().map(|(to_items, to_anchors)| (to_items.as_slice(), to_anchors.as_slice()));
        let known = self.known(&metered, scores.as_ref()).map_err(oracle_failed)?;
        let answer = self.index.query_knowing(proxy, &known, score, calls);
        metered.flush()?;
        answer.map_err(failed)
    }

    /// What the store holds of one query.
    fn known(&self, metered: &MeteredStore, scores: &dyn Oracle) -> Result<Vec<(usize, f64)>, OracleError> {
        let n = self.index.len();
        let (all, mut stored) = ((0..n).collect::<Vec<usize>>(), vec![f64::NAN; n]);
        if !metered.stored_column(&all, n, &mut stored) {
            return Ok(Vec::new());
        }
        let pairs: Vec<Pair> = all.into_iter().filter(|&item| stored[item].is_finite()).map(|item| (item, n)).collect();
        let mut values = vec![0.0; pairs.len()];
        // of the store, without a call
        scores.evaluate(&pairs, &mut values)?;
        Ok(pairs.into_iter().map(|(item, _)| item).zip(values).collect())
    }

    /// Identity of the scores of one query with the items.
    fn identity(&self, query: usize) -> Identity {
        let id = match self.problem.scorer() {
            Some(Scorer::Program(program)) if program.greeting().pairs == PairForm::Id => {
                self.queries.ids()[query].as_str()
            }
            _ => "",
        };
        let parts: [(&str, &[u8]); 4] = [
            ("kind", b"one query, version 1"),
            ("index", self.info.oracle.as_bytes()),
            ("id", id.as_bytes()),
            ("text", self.queries.texts()[query].as_bytes()),
        ];
        Identity::of(&parts)
    }

    /// The scores of one query with the items, which it keeps in a store of its own.
    fn metered(&self, query: usize) -> Result<MeteredStore, StoreError> {
        let oracle = OneQuery {
            inner: Arc::clone(&self.meter),
            items: self.index.len(),
            place: self.index.len() + self.index.anchors() + query,
            identity: self.identity(query),
        };
        let label = OracleLabel::new("query", format!("`{}`", self.queries.ids()[query]));
        MeteredStore::of(Arc::new(oracle), label, self.store.clone(), Budget::default())
    }
}

struct Distinct {
    /// The first query of each.
    first: Vec<usize>,
    /// For every query the place of its identity among them.
    place: Vec<usize>,
}

/// Embeddings of the anchors and of the new queries, where the proxy reads them from files.
fn embeddings_behind(
    queries: &QueriesConfig,
    info: &IndexInfo,
    new: Option<&Path>,
) -> Result<Option<Array2<f64>>, QueryError> {
    let Some(ProxyKind::EmbeddingCosine { .. }) = &queries.proxy else { return Ok(None) };
    let (Some(ConfigPath { resolved, .. }), Some(new)) = (&queries.embeddings, new) else {
        return Err(LoadError::NoNewEmbeddings.into());
    };
    let read = |path: &Path| matrices::read_rows(path).map_err(LoadError::from);
    let (past, new) = (read(resolved)?, read(new)?);
    let is_there = info.anchors.iter().all(|&anchor| anchor < past.nrows());
    if !is_there || past.ncols() != new.ncols() {
        return Err(LoadError::NewEmbeddings { seen: new.dim(), wanted: (new.nrows(), past.ncols()) }.into());
    }
    // both have rows of the same length
    Ok(Some(concatenate![Axis(0), past.select(Axis(0), &info.anchors), new]))
}

fn check_scorer(problem: &Problem, info: &IndexInfo) -> Result<(), QueryError> {
    let Some(scorer) = problem.scorer() else { return Ok(()) };
    if !scorer.takes_new_items() {
        return Err(QueryError::Numbers);
    }
    match &info.scorer {
        Some(then) if then != scorer.name() => Err(QueryError::Changed {
            of: format!("from scores of `{then}`, and those of now are by `{}`", scorer.name()),
        }),
        _ => Ok(()),
    }
}

/// The items and one query behind them, of a score over more.
struct OneQuery {
    inner: Arc<Metered<Arc<dyn Oracle>>>,
    items: usize,
    /// The query in the score below.
    place: usize,
    identity: Identity,
}

impl Oracle for OneQuery {
    fn shape(&self) -> OracleShape {
        OracleShape { len: self.items + 1, ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let below = |item: usize| if item == self.items { self.place } else { item };
        let pairs: Vec<Pair> = pairs.iter().map(|&(i, j)| (below(i), below(j))).collect();
        self.inner.evaluate(&pairs, out)
    }
}
