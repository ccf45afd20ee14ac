//! Optimal transport for NumPy: the exact earth mover's distance.

use landmark_oracles::wmd;
use landmark_oracles::wmd::{EmdScratch, emd_with_flow};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::value;
use crate::session::detached;

/// Earth mover's distance of the masses `a` (m) and `b` (n) under `costs` (m × n), and the flow where it is asked for.
#[pyfunction]
#[pyo3(signature = (a, b, costs, flow=false))]
pub(crate) fn emd<'py>(
    py: Python<'py>,
    a: PyReadonlyArray1<'py, f64>,
    b: PyReadonlyArray1<'py, f64>,
    costs: PyReadonlyArray2<'py, f64>,
    flow: bool,
) -> PyResult<(f64, Option<Bound<'py, PyArray2<f64>>>)> {
    let (a, b, costs) = (a.as_array(), b.as_array(), costs.as_array());
    let (a, b, costs) = (a.as_standard_layout(), b.as_standard_layout(), costs.as_standard_layout());
    if costs.dim() != (a.len(), b.len()) {
        let message = format!("costs are {} × {}, masses {} and {}", costs.nrows(), costs.ncols(), a.len(), b.len());
        return Err(PyValueError::new_err(message));
    }
    let (Some(a), Some(b), Some(costs)) = (a.as_slice(), b.as_slice(), costs.as_slice()) else {
        return Err(PyValueError::new_err("masses and costs must be contiguous"));
    };
    let mut scratch = EmdScratch::default();
    if flow {
        let found = detached(py, || emd_with_flow(costs, a, b, &mut scratch))?.map_err(|error| value(&error))?;
        return Ok((found.distance, Some(found.flow.into_pyarray(py))));
    }
    let distance = detached(py, || wmd::emd(costs, a, b, &mut scratch))?.map_err(|error| value(&error))?;
    Ok((distance, None))
}
