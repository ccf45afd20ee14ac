//! Scores over items, as Python makes them: a function of its own, a matrix, vectors, a program, word mover's distance, tree kernels.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use landmark_core::oracle::{
    AsymmetryPolicy, EmbeddingProxy, Identity, Itemless, Oracle as CoreOracle, Pair, Precomputed, Symmetrization,
    Symmetrized, Symmetry, VectorFunction, VectorKernel, ask_pairs, block_of,
};
use landmark_data::tokens::{stop_words, words};
use landmark_data::{BagsOfWords, Tree};
use landmark_oracles::combined::Normalized;
use landmark_oracles::subprocess::{ScoredItems, Subprocess, SubprocessParams};
use landmark_oracles::tree_kernel::{Forest, TreeKernel, TreeKernelParams};
use landmark_oracles::wmd::{EmptyDocuments, Rwmd, Wcd, Wmd, WordClouds};
use landmark_store::ItemList;
use ndarray::ArrayView2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::called::{BlockSize, Called, Form};
use crate::errors::{of_oracle, value};
use crate::one_order::GivenScore;
use crate::reading::{items, pairs, settings};
use crate::session::{Interruptible, ScoreQueue, detached, interruptible, run};

/// Bytes that stand for an item of Python's.
pub(crate) const DIGEST: usize = 16;

/// A similarity over n items, known by asking. Frozen: it may be asked from any thread.
#[pyclass(frozen, module = "landmark._native")]
pub(crate) struct Oracle {
    pub(crate) inner: Arc<dyn CoreOracle>,
    pub(crate) queue: Arc<ScoreQueue>,
    /// Form in which scores are cheapest; `None` where it makes no difference.
    pub(crate) form: Option<Form>,
    /// The score apart from its items, and these, where a list of them shares what is kept with others.
    pub(crate) item_list: Option<ItemList>,
    /// The score of one order, if this is the mean of both.
    pub(crate) given: Option<GivenScore>,
}

impl Oracle {
    fn of(inner: impl CoreOracle + 'static) -> Self {
        Self { inner: Arc::new(inner), queue: ScoreQueue::new(None), form: None, item_list: None, given: None }
    }
}

#[pymethods]
impl Oracle {
    /// A function of two arrays of item numbers that answers an array of scores: one a pair or, with `blocks`, one for each row with each
    /// column, row by row. `identity` names everything that moves a score, and not its form. `apart`: the same without the items, and 16 bytes
    /// for each of them, where other lists of them are to share what a store keeps.
    #[staticmethod]
    #[pyo3(signature = (function, items, identity, symmetric=true, diagonal=None, at_once=1, blocks=false, apart=None))]
    fn function(
        function: Py<PyAny>,
        items: usize,
        identity: &str,
        symmetric: bool,
        diagonal: Option<f64>,
        at_once: usize,
        blocks: bool,
        apart: Option<(String, PyBackedBytes)>,
    ) -> Self {
        let Itemless { identity, symmetry } = scorer(identity, symmetric, diagonal);
        let item_list = apart
            .map(|(name, digests)| ItemList::new(scorer(&name, symmetric, diagonal), digests.as_chunks::<DIGEST>().0));
        let queue = ScoreQueue::new(Some(function));
        let form = if blocks { Form::Blocks } else { Form::Pairs };
        let (its_queue, size, room) = (Arc::clone(&queue), BlockSize::default(), Mutex::default());
        let called = Called { queue: its_queue, len: items, symmetry, diagonal, identity, at_once, form, size, room };
        Self { inner: Arc::new(called), queue, form: Some(form), item_list, given: None }
    }

    /// An n × n matrix. `asymmetry`: `reject`, `mean`, `max`, `min` or `keep`.
    #[staticmethod]
    #[pyo3(signature = (matrix, asymmetry="reject"))]
    fn precomputed(py: Python<'_>, matrix: PyReadonlyArray2<'_, f64>, asymmetry: &str) -> PyResult<Self> {
        let policy = match asymmetry {
            "reject" => AsymmetryPolicy::Reject,
            "mean" => AsymmetryPolicy::Mean,
            "max" => AsymmetryPolicy::Max,
            "min" => AsymmetryPolicy::Min,
            "keep" => AsymmetryPolicy::Keep,
            other => return Err(unknown("asymmetry", other, "reject, mean, max, min, keep")),
        };
        let matrix = matrix.as_array().to_owned();
        let made = interruptible(py, move || Precomputed::new(matrix, policy))?;
        made.map(Self::of).map_err(|error| of_oracle(py, &error))
    }

    /// Rows of an n × d array: their cosines, or their inner products.
    #[staticmethod]
    #[pyo3(signature = (vectors, cosine=true))]
    fn vectors(py: Python<'_>, vectors: PyReadonlyArray2<'_, f64>, cosine: bool) -> PyResult<Self> {
        let vectors = vectors.as_array().to_owned();
        let proxy = if cosine { EmbeddingProxy::cosine } else { EmbeddingProxy::dot };
        let made = interruptible(py, move || proxy(vectors))?;
        made.map(Self::of).map_err(|error| of_oracle(py, &error))
    }

    /// A kernel between the rows of an n × d array: `rbf`, `polynomial` or `sigmoid`, as scikit-learn defines them.
    #[staticmethod]
    #[pyo3(signature = (vectors, kernel, gamma, coef0=1.0, degree=3))]
    fn vector_kernel(
        py: Python<'_>,
        vectors: PyReadonlyArray2<'_, f64>,
        kernel: &str,
        gamma: f64,
        coef0: f64,
        degree: i32,
    ) -> PyResult<Self> {
        let function = match kernel {
            "rbf" => VectorFunction::Rbf { gamma },
            "polynomial" => VectorFunction::Polynomial { gamma, coef0, degree },
            "sigmoid" => VectorFunction::Sigmoid { gamma, coef0 },
            other => return Err(unknown("kernel", other, "rbf, polynomial, sigmoid")),
        };
        let vectors = vectors.as_array().to_owned();
        let made = interruptible(py, move || VectorKernel::new(vectors, function))?;
        let kernel = made.map_err(|error| of_oracle(py, &error))?;
        Ok(Self { form: Some(Form::Blocks), ..Self::of(kernel) })
    }

    /// A program that scores texts, in JSON lines over its standard input and output: started here, and greeted. `settings` is JSON such as
    /// `{"command": ["python3", "score.py"], "processes": 2}`.
    #[staticmethod]
    fn program(py: Python<'_>, texts: Vec<String>, settings: &str) -> PyResult<Self> {
        let params: SubprocessParams = self::settings("program", settings)?;
        let started = interruptible(py, move || {
            let ids = (0..texts.len()).map(|item| item.to_string()).collect();
            Subprocess::start(params, Arc::new(ScoredItems::new(ids, texts)?))
        })?;
        let program = started.map_err(|error| value(&error))?;
        let apart = Itemless { identity: program.identity_apart_from_items(), symmetry: program.symmetry() };
        let seen = program.greeting().pairs.seen(program.items());
        let item_list = seen.map(|seen| ItemList::new(apart, seen.iter().map(|seen| seen.as_bytes())));
        Ok(Self { item_list, ..Self::of(program) })
    }

    /// Word mover's distance between texts, or one of its lower bounds (`kind`: `wmd`, `rwmd`, `wcd`), by one vector a word.
    #[staticmethod]
    #[pyo3(signature = (texts, vocabulary, vectors, kind="wmd", drop_stop_words=true, empty=None))]
    fn wmd(
        py: Python<'_>,
        texts: Vec<String>,
        vocabulary: Vec<String>,
        vectors: PyReadonlyArray2<'_, f32>,
        kind: &str,
        drop_stop_words: bool,
        empty: Option<f64>,
    ) -> PyResult<Self> {
        let vectors = vectors.as_array();
        if vocabulary.len() != vectors.nrows() {
            let message = format!("{} words but {} vectors", vocabulary.len(), vectors.nrows());
            return Err(PyValueError::new_err(message));
        }
        let clouds = detached(py, || clouds(&texts, &vocabulary, vectors, drop_stop_words, empty))??;
        Ok(match kind {
            "wmd" => Self::of(Wmd::new(clouds)),
            "rwmd" => Self::of(Rwmd::new(clouds)),
            "wcd" => Self::of(Wcd::new(clouds)),
            other => return Err(unknown("kind", other, "wmd, rwmd, wcd")),
        })
    }

    /// A kernel between trees in brackets; `settings` is JSON such as `{"kernel": "ptk", "lambda": 0.4}`.
    #[staticmethod]
    #[pyo3(signature = (trees, kernel, normalise=true))]
    fn tree_kernel(py: Python<'_>, trees: Vec<String>, kernel: &str, normalise: bool) -> PyResult<Self> {
        let params: TreeKernelParams = settings("tree kernel", kernel)?;
        let params = params.check().map_err(|error| value(&error))?;
        interruptible(py, move || {
            let parse = |(item, tree): (usize, &String)| {
                tree.parse::<Tree>().map_err(|error| PyValueError::new_err(format!("tree {item}: {error}")))
            };
            let trees: Vec<Tree> = trees.iter().enumerate().map(parse).collect::<PyResult<_>>()?;
            let forest = Forest::new(&trees).map_err(|error| value(&error))?;
            let kernel = TreeKernel::new(Arc::new(forest), params);
            match normalise {
                true => Normalized::new(Box::new(kernel)).map(Self::of).map_err(|error| value(&error)),
                false => Ok(Self::of(kernel)),
            }
        })?
    }

    /// Both orders of every pair as one score: `mean`, `max` or `min`.
    fn symmetrized(&self, mode: &str) -> PyResult<Self> {
        let mode = both_orders(mode)?;
        let item_list = self.item_list.as_ref().map(|list| list.symmetrized(mode));
        let inner = Arc::new(Symmetrized::new(Arc::clone(&self.inner), mode));
        let is_mean = mode == Symmetrization::Mean && self.inner.symmetry() == Symmetry::Asymmetric;
        let given = is_mean.then(|| GivenScore { oracle: Arc::clone(&self.inner), item_list: self.item_list.clone() });
        Ok(Self { inner, queue: Arc::clone(&self.queue), form: self.form, item_list, given })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// 64 hexadecimal digits that two interchangeable scores share.
    #[getter]
    fn identity(&self) -> String {
        self.inner.identity().to_hex()
    }

    /// True where f(i, j) = f(j, i).
    #[getter]
    fn symmetric(&self) -> bool {
        self.inner.symmetry() == Symmetry::Symmetric
    }

    /// Self-similarity, where it is known without a call.
    #[getter]
    fn diagonal(&self) -> Option<f64> {
        self.inner.known_diagonal()
    }

    /// Scores of an m × 2 array of items; neither counted nor kept.
    fn scores<'py>(&self, py: Python<'py>, of: PyReadonlyArray2<'_, i64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        scored(py, &self.queue, Arc::clone(&self.inner), pairs(self.inner.len(), &of)?)
    }

    /// Scores of rows × columns; neither counted nor kept.
    fn block<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray1<'_, i64>,
        columns: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (inner, n) = (Arc::clone(&self.inner), self.inner.len());
        let (rows, columns) = (items(n, &rows)?, items(n, &columns)?);
        let block = run(py, &self.queue, move |stopped| block_of(&Interruptible { inner, stopped }, &rows, &columns))?;
        block.map(|block| block.into_pyarray(py)).map_err(|error| of_oracle(py, &error))
    }
}

/// Scores of pairs, while this thread serves `queue`.
pub(crate) fn scored<'py>(
    py: Python<'py>,
    queue: &Arc<ScoreQueue>,
    inner: impl CoreOracle + 'static,
    pairs: Vec<Pair>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let scores = run(py, queue, move |stopped| {
        let mut scores = vec![0.0; pairs.len()];
        ask_pairs(&Interruptible { inner, stopped }, &pairs, &mut scores).map(|()| scores)
    })?;
    scores.map(|scores| scores.into_pyarray(py)).map_err(|error| of_oracle(py, &error))
}

/// A function of Python's by its name, apart from any items.
pub(crate) fn scorer(name: &str, symmetric: bool, diagonal: Option<f64>) -> Itemless {
    let symmetry = if symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric };
    let order: &[u8] = if symmetric { b"symmetric" } else { b"asymmetric" };
    let known = diagonal.map(f64::to_le_bytes);
    let mut parts: Vec<(&str, &[u8])> =
        vec![("kind", b"python"), ("version", b"1"), ("name", name.as_bytes()), ("order", order)];
    parts.extend(known.as_ref().map(|known| ("diagonal", &known[..])));
    Itemless { identity: Identity::of(&parts), symmetry }
}

pub(crate) fn both_orders(mode: &str) -> PyResult<Symmetrization> {
    match mode {
        "mean" => Ok(Symmetrization::Mean),
        "max" => Ok(Symmetrization::Max),
        "min" => Ok(Symmetrization::Min),
        other => Err(unknown("order", other, "mean, max, min")),
    }
}

pub(crate) fn unknown(what: &str, seen: &str, known: &str) -> PyErr {
    PyValueError::new_err(format!("`{what}` is {seen:?}, but must be one of {known}"))
}

/// Texts as clouds of the vectors of their words; the rule for words is that of the program.
fn clouds(
    texts: &[String],
    vocabulary: &[String],
    vectors: ArrayView2<'_, f32>,
    drop_stop_words: bool,
    empty: Option<f64>,
) -> PyResult<Arc<WordClouds>> {
    let place: HashMap<&str, u32> = vocabulary.iter().map(String::as_str).zip(0..).collect();
    let none = HashSet::new();
    let stop = if drop_stop_words { stop_words() } else { &none };
    let bag = |text: &String| {
        let mut counts: HashMap<u32, f64> = HashMap::new();
        for word in words(text).iter().filter(|word| !stop.contains(word.as_str())) {
            if let Some(&word) = place.get(word.as_str()) {
                *counts.entry(word).or_default() += 1.0;
            }
        }
        let mut counts: Vec<(u32, f64)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|count| count.0);
        counts
    };
    let ids = (0..texts.len()).map(|item| item.to_string()).collect();
    let bags = BagsOfWords::from_counts(texts.iter().map(bag)).with_ids(ids);
    let empty = empty.map_or(EmptyDocuments::Error, EmptyDocuments::Fill);
    WordClouds::new(&bags, vectors, empty).map(Arc::new).map_err(|error| value(&error))
}
