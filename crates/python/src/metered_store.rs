//! The metered store as Python holds it: budget, store and γ on a score, and what is asked of them.
//!
//! ```text
//! job → Interruptible → exp(−γd) → Stored (the files of the program) → Metered (budget) → score
//! ```

use std::sync::Arc;

use landmark_core::oracle::{
    Budget, Metered, Oracle as CoreOracle, OracleError, Pair, Remembered, ask_pairs, block_of,
};
use landmark_store::{OracleLabel, StoreError, TileStore};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::called::Form;
use crate::errors::{of_fit, of_oracle, of_store};
use crate::fit::{FitSettings, Fitted};
use crate::neighbors::{self, Lists};
use crate::one_order::GivenOrders;
use crate::oracle::{Oracle, scored};
use crate::pairs;
use crate::reading::{self, settings};
use crate::scores::{IN_MEMORY, Kept, Scores};
use crate::session::{ScoreQueue, Stopped, interruptible, run};

/// Columns, and single pairs (m × 2).
type Entries<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<i64>>);

/// A score with its budget and its store. Frozen: any number of threads may ask, plan and fit.
#[pyclass(frozen, module = "landmark._native")]
pub(crate) struct MeteredStore {
    scores: Arc<Scores>,
    queue: Arc<ScoreQueue>,
    /// The process that opened it.
    process: u32,
}

impl MeteredStore {
    /// Runs a job on the scores, and on those that were evaluated before. What was scored is published before the answer, or the exception, is there.
    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        job: impl FnOnce(&Scores, &Arc<dyn CoreOracle>, &Arc<dyn CoreOracle>) -> T + Send + 'static,
    ) -> PyResult<T> {
        self.run_stoppable(py, |scores, stopped| {
            let (oracle, again) = (scores.oracle(Arc::clone(&stopped))?, scores.again(stopped)?);
            Ok(job(scores, &oracle, &again))
        })
    }

    /// Runs a job that makes its oracles itself.
    fn run_stoppable<T: Send + 'static>(
        &self,
        py: Python<'_>,
        job: impl FnOnce(&Scores, Stopped) -> Result<T, OracleError> + Send + 'static,
    ) -> PyResult<T> {
        let scores = Arc::clone(self.asked_of()?);
        let done = run(py, &self.queue, move |stopped| {
            scores.given.as_ref().map_or(Ok(()), GivenOrders::refresh)?;
            job(&scores, stopped)
        });
        let flushed = py.detach(|| self.scores.flush());
        let done = done?.map_err(|error: OracleError| of_oracle(py, &error))?;
        flushed.map_err(|error| of_store(&error))?;
        Ok(done)
    }

    fn items(&self) -> usize {
        self.scores.shape().len
    }

    /// What is asked: in a forked child after a look at what its parent left.
    fn asked_of(&self) -> PyResult<&Arc<Scores>> {
        if self.process != std::process::id() {
            self.scores.after_fork().map_err(|error| of_store(&error))?;
        }
        Ok(&self.scores)
    }
}

fn inner(proxies: &[PyRef<'_, Oracle>]) -> Vec<Arc<dyn CoreOracle>> {
    proxies.iter().map(|proxy| Arc::clone(&proxy.inner)).collect()
}

#[pymethods]
impl MeteredStore {
    /// Budget and store around a score. `store` is a folder or a URL, none keeps scores in memory; with `keep=False` nothing is kept, for
    /// scores that cost nothing. `gamma` turns distances d into exp(−γd), above the store. With `shares`, scores that the store has of other
    /// lists of these items are taken over, and written for this one unless `dry`. `diagonal` is the self-similarity, where it is known: with `gamma` that of
    /// similarities, and no distance.
    #[new]
    #[pyo3(signature = (oracle, store=None, budget=None, gamma=None, kind="python", description="", keep=true, shares=false, dry=false, diagonal=None))]
    fn new(
        py: Python<'_>,
        oracle: &Oracle,
        store: Option<String>,
        budget: Option<u64>,
        gamma: Option<f64>,
        kind: &str,
        description: &str,
        keep: bool,
        shares: bool,
        dry: bool,
        diagonal: Option<f64>,
    ) -> PyResult<Self> {
        let budget = Budget { entries: budget, seconds: None };
        let meter = Arc::new(Metered::with_budget(Arc::clone(&oracle.inner), budget));
        let mut given = None;
        let kept = match (keep, &store, oracle.form) {
            (false, ..) => Kept::Nowhere,
            // single orders are kept pair by pair
            (true, None, Some(Form::Blocks)) if oracle.given.is_none() => {
                Kept::Blocks(Arc::new(Remembered::new(Arc::clone(&meter))))
            }
            (true, ..) => {
                let label = OracleLabel::new(kind, description);
                let apart = OracleLabel::new(kind, format!("{description}, each order apart"));
                let (mean, item_list) = (Arc::clone(&meter), oracle.item_list.clone().filter(|_| shares));
                let single = oracle.given.clone();
                let open = move || {
                    let tiles = TileStore::open(store.as_deref().unwrap_or(IN_MEMORY))?;
                    let stored = Arc::new(tiles.attach(Arc::clone(&mean), label)?);
                    if let Some(list) = item_list {
                        stored.carry_over(&list, !dry)?;
                    }
                    let orders = single.map(|score| {
                        GivenOrders::open(score, &mean, Arc::clone(&stored), (&tiles, apart), (shares, dry))
                    });
                    Ok((stored, orders.transpose()?))
                };
                let (stored, orders) = interruptible(py, open)?.map_err(|error: StoreError| of_store(&error))?;
                given = orders;
                Kept::Store(stored)
            }
        };
        let contents = oracle.item_list.as_ref().map(|list| Arc::new(list.contents()));
        let scores = Scores { meter, kept, given, gamma, diagonal, contents };
        // a γ that is none is refused here
        scores.oracle(Arc::default()).map_err(|error| of_oracle(py, &error))?;
        Ok(Self { scores: Arc::new(scores), queue: Arc::clone(&oracle.queue), process: std::process::id() })
    }

    /// The process that opened it.
    #[getter]
    fn process(&self) -> u32 {
        self.process
    }

    /// Identity of the score: 64 hexadecimal digits.
    #[getter]
    fn identity(&self) -> String {
        self.scores.meter.inner().identity().to_hex()
    }

    /// Calls made so far.
    #[getter]
    fn calls(&self) -> u64 {
        self.scores.spent()
    }

    /// Counts calls that another store made for the same estimator: they take from this budget.
    fn charge(&self, calls: u64) {
        self.scores.meter.charge(calls);
    }

    /// Calls that the budget still allows; `None` without one.
    #[getter]
    fn calls_left(&self) -> Option<u64> {
        self.scores.left()
    }

    /// Distinct pairs that the store holds, from whichever run.
    #[getter]
    fn stored(&self) -> u64 {
        self.scores.stored()
    }

    /// Self-similarity, where it is known without a call.
    #[getter]
    fn diagonal(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        let oracle = self.scores.oracle(Arc::default()).map_err(|error| of_oracle(py, &error))?;
        Ok(oracle.known_diagonal())
    }

    /// Publishes what waits to be written.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let scores = self.asked_of()?;
        py.detach(|| scores.flush()).map_err(|error| of_store(&error))
    }

    /// Calls that these pairs would still take.
    fn missing(&self, py: Python<'_>, of: PyReadonlyArray2<'_, i64>) -> PyResult<u64> {
        let pairs = reading::pairs(self.items(), &of)?;
        let scores = Arc::clone(self.asked_of()?);
        interruptible(py, move || {
            let mut set = scores.set();
            pairs.iter().for_each(|&(i, j)| set.add_entry(i, j));
            scores.missing(&set)
        })
    }

    /// Similarities of an m × 2 array of items.
    fn scores<'py>(&self, py: Python<'py>, of: PyReadonlyArray2<'_, i64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let pairs: Vec<Pair> = reading::pairs(self.items(), &of)?;
        let scored = self.run(py, move |_, oracle, _| {
            let mut scores = vec![0.0; pairs.len()];
            ask_pairs(oracle.as_ref(), &pairs, &mut scores).map(|()| scores)
        })?;
        scored.map(|scores| scores.into_pyarray(py)).map_err(|error| of_oracle(py, &error))
    }

    /// Keeps scores that were made elsewhere, and answers how many are new. Scores are those below `gamma`.
    fn put(&self, py: Python<'_>, of: PyReadonlyArray2<'_, i64>, scores: PyReadonlyArray1<'_, f64>) -> PyResult<u64> {
        let (pairs, scores) = (reading::pairs(self.items(), &of)?, scores.as_array().to_vec());
        if pairs.len() != scores.len() {
            return Err(PyValueError::new_err(format!("{} pairs but {} scores", pairs.len(), scores.len())));
        }
        let Kept::Store(stored) = &self.asked_of()?.kept else {
            return Err(PyValueError::new_err("nothing is kept of this score: give `store`, or `known=True`"));
        };
        py.detach(|| stored.put(&pairs, &scores)).map_err(|error| of_store(&error))
    }

    /// Scores of pairs as they are kept (those below `gamma`), NaN for those that are not there.
    fn known<'py>(&self, py: Python<'py>, of: PyReadonlyArray2<'_, i64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let pairs = reading::pairs(self.items(), &of)?;
        let known = match &self.asked_of()?.kept {
            Kept::Store(stored) => py.detach(|| stored.known(&pairs)),
            Kept::Blocks(_) | Kept::Nowhere => vec![None; pairs.len()],
        };
        Ok(known.into_iter().map(|score| score.unwrap_or(f64::NAN)).collect::<Vec<f64>>().into_pyarray(py))
    }

    /// True if single orders are kept next to their means.
    #[getter]
    fn has_orders(&self) -> bool {
        self.scores.given.is_some()
    }

    /// Similarities of an m × 2 array of items in their order, which is kept apart from the mean of both.
    fn scores_in_order<'py>(
        &self,
        py: Python<'py>,
        of: PyReadonlyArray2<'_, i64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let pairs: Vec<Pair> = reading::pairs(self.items(), &of)?;
        let scored = self.run_stoppable(py, move |scores, stopped| {
            let Some(oracle) = scores.in_order(stopped)? else { return Ok(None) };
            let mut out = vec![0.0; pairs.len()];
            Ok(Some(ask_pairs(oracle.as_ref(), &pairs, &mut out).map(|()| out)))
        })?;
        let scored = scored.ok_or_else(one_order_alone)?;
        scored.map(|scores| scores.into_pyarray(py)).map_err(|error| of_oracle(py, &error))
    }

    /// Scores of pairs in their order as they are kept (those below `gamma`), NaN for those that are not there.
    fn known_in_order<'py>(
        &self,
        py: Python<'py>,
        of: PyReadonlyArray2<'_, i64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let pairs = reading::pairs(self.items(), &of)?;
        let orders = self.asked_of()?.given.as_ref().ok_or_else(one_order_alone)?;
        let known = py.detach(|| orders.given().known(&pairs));
        Ok(known.into_iter().map(|score| score.unwrap_or(f64::NAN)).collect::<Vec<f64>>().into_pyarray(py))
    }

    /// Keeps what another store of the same score keeps, in one order or both; nothing where orders are not kept apart.
    fn copy_from(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let (Some(to), Some(from)) = (&self.asked_of()?.given, &other.asked_of()?.given) else { return Ok(()) };
        py.detach(|| to.copy_from(from)).map_err(|error| of_store(&error))
    }

    /// Scores of an m × 2 array of items in their order, straight from the score: counted, and kept nowhere.
    fn asked<'py>(&self, py: Python<'py>, of: PyReadonlyArray2<'_, i64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let pairs: Vec<Pair> = reading::pairs(self.items(), &of)?;
        let meter = Arc::clone(&self.asked_of()?.meter);
        scored(py, &self.queue, meter, pairs)
    }

    /// Pairs (m × 2, at most `count`) to be asked in both orders before a fit, and whether it requests all of them itself.
    fn probe<'py>(&self, py: Python<'py>, fit: &str, count: usize) -> PyResult<(Bound<'py, PyArray2<i64>>, bool)> {
        let fit: FitSettings = settings("fit", fit)?;
        let fit = fit.ready(Vec::new())?;
        let scores = Arc::clone(self.asked_of()?);
        let (pairs, is_named) =
            interruptible(py, move || fit.probed(&scores, count))?.map_err(|error| of_fit(py, &error))?;
        Ok((reading::pair_array(py, pairs)?, is_named))
    }

    /// Similarities of rows × columns.
    fn block<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray1<'_, i64>,
        columns: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rows, columns) = (reading::items(self.items(), &rows)?, reading::items(self.items(), &columns)?);
        let block = self.run(py, move |_, oracle, _| block_of(oracle.as_ref(), &rows, &columns))?;
        block.map(|block| block.into_pyarray(py)).map_err(|error| of_oracle(py, &error))
    }

    /// JSON of the planned calls of a fit: no call is made.
    #[pyo3(signature = (fit, proxies))]
    fn plan(&self, py: Python<'_>, fit: &str, proxies: Vec<PyRef<'_, Oracle>>) -> PyResult<String> {
        let fit: FitSettings = settings("fit", fit)?;
        let fit = fit.ready(inner(&proxies))?;
        let scores = Arc::clone(self.asked_of()?);
        let call_plan = interruptible(py, move || fit.call_plan(&scores, fit.rank))?;
        call_plan.map(|call_plan| call_plan.json().to_string()).map_err(|error| of_fit(py, &error))
    }

    /// Columns and single pairs (m × 2) that a fit requests, as far as they are known before the first call.
    fn entries<'py>(&self, py: Python<'py>, fit: &str) -> PyResult<Entries<'py>> {
        let fit: FitSettings = settings("fit", fit)?;
        let fit = fit.ready(Vec::new())?;
        let scores = Arc::clone(self.asked_of()?);
        let entries = interruptible(py, move || fit.entries(&scores))?;
        let (columns, pairs) = entries.map_err(|error| of_fit(py, &error))?;
        Ok((reading::item_array(py, columns), reading::pair_array(py, pairs)?))
    }

    /// Fits; a dictionary of arrays and JSON.
    fn fit<'py>(
        &self,
        py: Python<'py>,
        fit: &str,
        proxies: Vec<PyRef<'py, Oracle>>,
    ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let fit: FitSettings = settings("fit", fit)?;
        let fit = fit.ready(inner(&proxies))?;
        let fitted = self.run(py, move |scores, oracle, again| fit.run(scores, oracle.as_ref(), again.as_ref()))?;
        fitted.map_err(|error| of_fit(py, &error)).and_then(|fitted: Fitted| fitted.into_python(py))
    }

    /// Lists of neighbors at a number of calls an item, or until a recall is stated; `fitted` is what the search stands on, and `candidates` (n × w, −1
    /// for none) what it begins with.
    #[pyo3(signature = (search, proxies, fitted=None, candidates=None))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        search: &str,
        proxies: Vec<PyRef<'py, Oracle>>,
        fitted: Option<neighbors::Fitted<'py>>,
        candidates: Option<PyReadonlyArray2<'py, i64>>,
    ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let search: neighbors::SearchSettings = settings("neighbors", search)?;
        let candidates = candidates.map(|lists| neighbors::candidates(self.items(), &lists)).transpose()?;
        let search = search.ready(inner(&proxies), neighbors::known(self.items(), fitted)?, candidates)?;
        let found = self.run_stoppable(py, move |scores, stopped| {
            let orders = scores.orders(search.coin(), &stopped)?;
            Ok(search.run(scores, &scores.oracle(stopped)?, orders.as_ref()))
        })?;
        found.map_err(|error| error.raised(py)).and_then(|found: Lists| found.into_python(py))
    }

    /// JSON of the planned calls of such a search; `known`: distinct pairs that a fit leaves.
    #[pyo3(signature = (search, has_proxy, known=None))]
    fn plan_nearest(&self, search: &str, has_proxy: bool, known: Option<u64>) -> PyResult<String> {
        let search: neighbors::SearchSettings = settings("neighbors", search)?;
        search.call_plan(self.asked_of()?, has_proxy, known)
    }

    /// Pairs of at least a similarity, with a guaranteed recall; `fitted` is what the search stands on. With `plan` set, no call is made. With `left` set
    /// (of the settings), the first `left` items are a list of their own, and pairs are those across.
    fn pairs<'py>(
        &self,
        py: Python<'py>,
        search: &str,
        fitted: neighbors::Fitted<'py>,
    ) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let search: pairs::PairSettings = settings("pairs", search)?;
        let factored = pairs::Factored::of(self.items(), fitted, search.left)?;
        let search = search.ready(factored)?;
        let found = self.run(py, move |scores, oracle, _| search.run(scores, oracle.as_ref()))?;
        found.map_err(|error| of_oracle(py, &error)).and_then(|found| found.into_python(py))
    }
}

fn one_order_alone() -> PyErr {
    PyValueError::new_err("cannot score single orders: the orders of a pair are kept apart with `order=\"mean\"` only")
}
