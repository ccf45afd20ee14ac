//! What Python hands over: settings as JSON, items as whole numbers, arrays of pairs.

use landmark_core::oracle::Pair;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

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

/// An item as Python counts; there are fewer than 2⁶³.
pub(crate) fn number(item: usize) -> i64 {
    i64::try_from(item).unwrap_or(i64::MAX)
}
