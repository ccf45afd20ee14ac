//! What Python hands over: settings as JSON, items as whole numbers, arrays of pairs.

use landmark_core::oracle::Pair;
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

use crate::errors::value;

/// Settings, written as JSON by the Python half.
pub(crate) fn settings<T: DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(format!("{what}: {}", without_place(&error))))
}

/// The message of a fault in settings. Its line and column are of a text that the user never saw.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let (text, place) = (error.to_string(), format!(" at line {} column {}", error.line(), error.column()));
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

/// Items below n.
pub(crate) fn items(n: usize, items: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    items.as_array().iter().map(|&item| index(n, item)).collect()
}

/// Pairs of items below n, from an m × 2 array.
pub(crate) fn pairs(n: usize, pairs: &PyReadonlyArray2<'_, i64>) -> PyResult<Vec<Pair>> {
    let pairs = pairs.as_array();
    if pairs.ncols() != 2 {
        return Err(PyValueError::new_err(format!("pairs are rows of two items, and these have {}", pairs.ncols())));
    }
    pairs.rows().into_iter().map(|pair| Ok((index(n, pair[0])?, index(n, pair[1])?))).collect()
}

fn index(n: usize, item: i64) -> PyResult<usize> {
    let refused = || PyIndexError::new_err(format!("item {item} is out of range: there are {n}, numbered from 0"));
    usize::try_from(item).ok().filter(|&item| item < n).ok_or_else(refused)
}

/// Items as NumPy has them.
pub(crate) fn item_array<'py>(py: Python<'py>, items: impl IntoIterator<Item = usize>) -> Bound<'py, PyArray1<i64>> {
    items.into_iter().map(number).collect::<Vec<i64>>().into_pyarray(py)
}

/// Pairs of items as NumPy has them, m × 2.
pub(crate) fn pair_array<'py>(
    py: Python<'py>,
    pairs: impl IntoIterator<Item = Pair>,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let flat: Vec<i64> = pairs.into_iter().flat_map(|(i, j)| [number(i), number(j)]).collect();
    let pairs = Array2::from_shape_vec((flat.len() / 2, 2), flat).map_err(|error| value(&error))?;
    Ok(pairs.into_pyarray(py))
}

/// An item as Python counts; there are fewer than 2⁶³.
pub(crate) fn number(item: usize) -> i64 {
    i64::try_from(item).unwrap_or(i64::MAX)
}
