//! Sketches of streams of rows and structured random features, for their Python classes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use landmark_core::oracle::Identity;
use landmark_features::sketch::{FrequentDirections as Sketch, FrequentDirectionsParams};
use landmark_features::structured::{StructuredFeatures as Map, StructuredFeaturesParams};
use ndarray::Array1;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::errors::value;
use crate::reading::settings;
use crate::session::detached;

/// Directions (d × m), and their squared singular values.
type Directions<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Columns of arrays, which no name stands for.
fn numbered() -> Identity {
    Identity::of(&[("columns", b"numbered")])
}

/// A sketch of rows (Frequent Directions). Frozen: rows may come from any thread, one block at a time.
#[pyclass(frozen, module = "landmark._native")]
pub(crate) struct FrequentDirections {
    sketch: Mutex<Sketch>,
    /// The process that had it last.
    holder: AtomicU32,
}

impl FrequentDirections {
    fn of(sketch: Sketch) -> Self {
        Self { sketch: Mutex::new(sketch), holder: AtomicU32::new(std::process::id()) }
    }

    /// The sketch, when no other thread has it.
    ///
    /// # Errors
    /// A forked child whose parent was changing it at that moment: that thread never ends here.
    fn sketch(&self) -> PyResult<MutexGuard<'_, Sketch>> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let (ours, start) = (std::process::id(), Instant::now());
        loop {
            match self.sketch.try_lock() {
                Ok(sketch) => {
                    self.holder.store(ours, Ordering::Relaxed);
                    return Ok(sketch);
                }
                Err(TryLockError::Poisoned(sketch)) => return Ok(sketch.into_inner()),
                Err(TryLockError::WouldBlock)
                    if self.holder.load(Ordering::Relaxed) != ours && start.elapsed() > PATIENCE =>
                {
                    return Err(PyRuntimeError::new_err(
                        "cannot use the sketch in this forked process: a thread of its parent was changing it at the time of the fork. Fork before or \
                         after that, or start processes with `spawn`",
                    ));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(200)),
            }
        }
    }
}

#[pymethods]
impl FrequentDirections {
    /// An empty sketch of rows with `columns` numbers; `settings` is JSON of `rows`, `form`, `buffer`.
    #[new]
    fn new(columns: usize, params: &str) -> PyResult<Self> {
        let params: FrequentDirectionsParams = settings("sketch", params)?;
        let sketch = params.check(columns, numbered()).map_err(|error| value(&error))?;
        Ok(Self::of(sketch))
    }

    /// The sketch that `to_bytes` wrote.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Sketch::from_bytes(bytes).map(Self::of).map_err(|error| value(&error))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, || self.sketch().map(|sketch| sketch.to_bytes()))??;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Appends rows.
    fn append(&self, py: Python<'_>, rows: PyReadonlyArray2<'_, f64>) -> PyResult<()> {
        let rows = rows.as_array();
        detached(py, || Ok::<_, PyErr>(self.sketch()?.append_block(rows)))??.map_err(|error| value(&error))
    }

    /// Appends the rows that another sketch saw.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        // a copy, so that two that merge each other wait for no lock
        let other = detached(py, || other.sketch().map(|sketch| sketch.clone()))??;
        detached(py, || Ok::<_, PyErr>(self.sketch()?.merge(&other)))??.map_err(|error| value(&error))
    }

    /// Y, at most l rows.
    fn sketched<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = detached(py, || Ok::<_, PyErr>(self.sketch()?.finished().map(|sketch| sketch.sketch())))??;
        rows.map(|rows| rows.into_pyarray(py)).map_err(|error| value(&error))
    }

    /// The m largest directions (d × m, orthonormal), and their squared singular values.
    fn projection<'py>(&self, py: Python<'py>, m: usize) -> PyResult<Directions<'py>> {
        let projection =
            detached(py, || Ok::<_, PyErr>(self.sketch()?.projection(m)))??.map_err(|error| value(&error))?;
        let squares: Array1<f64> = projection.squares().clone();
        Ok((projection.directions().to_owned().into_pyarray(py), squares.into_pyarray(py)))
    }

    /// JSON of the error bound of `sketched`, from the sketch alone.
    fn bound(&self, py: Python<'_>) -> PyResult<String> {
        let bound = detached(py, || Ok::<_, PyErr>(self.sketch()?.finished().map(|sketch| sketch.bound())))??;
        bound.map(|bound| json!(bound).to_string()).map_err(|error| value(&error))
    }
}

/// A drawn map from items to structured random features.
#[pyclass(frozen, module = "landmark._native")]
pub(crate) struct StructuredFeatures(Map);

#[pymethods]
impl StructuredFeatures {
    /// Draws the map for items of `columns` numbers; `params` is JSON of `kernel`, `family`, `features`, `preprocess`, `seed`.
    #[new]
    fn new(columns: usize, params: &str) -> PyResult<Self> {
        let params: StructuredFeaturesParams = settings("features", params)?;
        let map = params.check().and_then(|valid| valid.draw(columns)).map_err(|error| value(&error))?;
        Ok(Self(map))
    }

    /// Features of each item.
    fn transform<'py>(&self, py: Python<'py>, items: PyReadonlyArray2<'_, f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let items = items.as_array();
        let features = detached(py, || self.0.features(items))?.map_err(|error| value(&error))?;
        Ok(features.into_pyarray(py))
    }

    /// Number of features of an item.
    #[getter]
    fn features(&self) -> usize {
        self.0.feature_count()
    }
}
