//! The scores of one model over any items, as `Cached` reads and writes them: docs/python.md.

use std::sync::{Mutex, MutexGuard, PoisonError};

use landmark_core::oracle::{Itemless, Oracle as _, Symmetrized};
use landmark_store::{OracleLabel, ScorePool as Pool, TileStore};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors::of_store;
use crate::oracle::{DIGEST, both_orders, scorer};
use crate::scores::IN_MEMORY;

/// Scores by digests of the items, 16 bytes each.
#[pyclass(frozen, module = "landmark._native")]
pub(crate) struct ScorePool {
    pool: Mutex<Pool>,
}

impl ScorePool {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl ScorePool {
    /// Scores of a function named `name`. `order` is `given` where the order of a pair counts, `symmetric` where it does not, or `mean`, `max`, `min`
    /// for both orders as one score. `process` names the writer.
    #[new]
    #[pyo3(signature = (name, order, process, store=None, diagonal=None, description=""))]
    fn new(
        py: Python<'_>,
        name: &str,
        order: &str,
        process: &str,
        store: Option<String>,
        diagonal: Option<f64>,
        description: &str,
    ) -> PyResult<Self> {
        let of = scorer(name, order == "symmetric", diagonal);
        let of = match order {
            "given" | "symmetric" => of,
            mode => {
                let both = Symmetrized::new(of, both_orders(mode)?);
                Itemless { identity: both.identity(), symmetry: both.symmetry() }
            }
        };
        let label = OracleLabel::new("python", description);
        let opened = py.detach(|| {
            let store = TileStore::open(store.as_deref().unwrap_or(IN_MEMORY))?;
            Pool::open(store, of, label, process.as_bytes())
        });
        Ok(Self { pool: Mutex::new(opened.map_err(|error| of_store(&error))?) })
    }

    fn __len__(&self) -> usize {
        self.pool().len()
    }

    /// Scores of pairs, the k-th of `left` with the k-th of `right`; NaN for those that are not there.
    fn get<'py>(
        &self,
        py: Python<'py>,
        left: PyBackedBytes,
        right: PyBackedBytes,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (left, right) = sides(&left, &right)?;
        let scores = py.detach(|| {
            let pool = self.pool();
            left.iter().zip(right).map(|(a, b)| pool.get(a, b).unwrap_or(f64::NAN)).collect::<Vec<f64>>()
        });
        Ok(scores.into_pyarray(py))
    }

    /// Takes scores in, and answers how many are new; `flush` writes them.
    fn put(
        &self,
        py: Python<'_>,
        left: PyBackedBytes,
        right: PyBackedBytes,
        scores: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<usize> {
        let (left, right) = sides(&left, &right)?;
        let scores = scores.as_array().to_vec();
        if scores.len() != left.len() {
            return Err(PyValueError::new_err(format!("{} pairs but {} scores", left.len(), scores.len())));
        }
        Ok(py.detach(|| {
            let all = left.iter().zip(right).zip(scores).map(|((a, b), score)| (&a[..], &b[..], score));
            self.pool().put(all)
        }))
    }

    /// Writes what was taken in.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.pool().flush()).map_err(|error| of_store(&error))
    }

    /// Reads what others have written since, and answers how many scores that adds.
    fn refresh(&self, py: Python<'_>) -> PyResult<usize> {
        py.detach(|| self.pool().refresh()).map_err(|error| of_store(&error))
    }
}

type Digests<'a> = &'a [[u8; DIGEST]];

fn sides<'a>(left: &'a PyBackedBytes, right: &'a PyBackedBytes) -> PyResult<(Digests<'a>, Digests<'a>)> {
    let ((left, rest), (right, other)) = (left.as_chunks(), right.as_chunks());
    match left.len() == right.len() && rest.is_empty() && other.is_empty() {
        true => Ok((left, right)),
        false => Err(PyValueError::new_err("both sides of the pairs have one digest of 16 bytes per pair")),
    }
}
