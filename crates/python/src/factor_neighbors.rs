//! Neighbors and pairs by the factors alone, which take no call.

use landmark_core::approximation::ScatteredEntries;
use landmark_core::oracle::Pair;
use landmark_tasks::neighbors as by_factors;
use landmark_tasks::neighbors::SignedVectors;
use ndarray::{Array1, Array2, ArrayView2};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::reading::{self, number, pair_array};
use crate::session::interruptible;

/// Scattered pairs as the factors have them.
pub(crate) type Scattered<'py> = Option<(PyReadonlyArray2<'py, i64>, PyReadonlyArray1<'py, f64>)>;

pub(crate) fn scattered(n: usize, entries: &Scattered<'_>) -> PyResult<Option<ScatteredEntries>> {
    let Some((pairs, scores)) = entries else { return Ok(None) };
    let (pairs, scores) = (reading::pairs(n, pairs)?, scores.as_array().to_vec());
    let mut seen = std::collections::HashSet::new();
    let is_good =
        pairs.len() == scores.len() && pairs.iter().all(|&(i, j)| i != j && seen.insert((i.min(j), i.max(j))));
    match is_good {
        true => Ok(Some(ScatteredEntries::new(n, &pairs, &scores))),
        false => Err(PyValueError::new_err("scattered pairs are distinct pairs of two items, one score each")),
    }
}

pub(crate) fn check(vectors: ArrayView2<'_, f64>, signature: &Array1<f64>) -> PyResult<()> {
    match vectors.ncols() == signature.len() {
        true => Ok(()),
        false => {
            let message = format!("vectors have {} columns, and there are {} signs", vectors.ncols(), signature.len());
            Err(PyValueError::new_err(message))
        }
    }
}

type ListsOfFactors<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f64>>);

fn lists<'py>(py: Python<'py>, found: &[Vec<by_factors::Neighbor>], k: usize) -> ListsOfFactors<'py> {
    let shape = (found.len(), k);
    let (mut items, mut scores) = (Array2::from_elem(shape, -1_i64), Array2::from_elem(shape, f64::NAN));
    for (i, list) in found.iter().enumerate() {
        for (place, near) in list.iter().enumerate() {
            (items[[i, place]], scores[[i, place]]) = (number(near.item), near.score);
        }
    }
    (items.into_pyarray(py), scores.into_pyarray(py))
}

/// The k most similar other items of every item by the factors: items and scores, n × k.
#[pyfunction]
#[pyo3(signature = (vectors, signature, k, entries=None))]
pub(crate) fn top_k<'py>(
    py: Python<'py>,
    vectors: PyReadonlyArray2<'py, f64>,
    signature: PyReadonlyArray1<'py, f64>,
    k: usize,
    entries: Scattered<'py>,
) -> PyResult<ListsOfFactors<'py>> {
    let (vectors, signature) = (vectors.as_array().to_owned(), signature.as_array().to_owned());
    check(vectors.view(), &signature)?;
    let n = vectors.nrows();
    let entries = scattered(n, &entries)?;
    let found = interruptible(py, move || {
        let signed = SignedVectors { vectors: vectors.view(), signature: &signature, scattered: entries.as_ref() };
        by_factors::top_k(signed, k, |_| {})
    })?;
    Ok(lists(py, &found, k.min(n.saturating_sub(1))))
}

/// The k items most similar to each of some vectors (m × r), by the factors.
#[pyfunction]
pub(crate) fn nearest_vectors<'py>(
    py: Python<'py>,
    queries: PyReadonlyArray2<'py, f64>,
    vectors: PyReadonlyArray2<'py, f64>,
    signature: PyReadonlyArray1<'py, f64>,
    k: usize,
) -> PyResult<ListsOfFactors<'py>> {
    let signature = signature.as_array().to_owned();
    let (queries, vectors) = (queries.as_array().to_owned(), vectors.as_array().to_owned());
    check(vectors.view(), &signature)?;
    check(queries.view(), &signature)?;
    let n = vectors.nrows();
    let found = interruptible(py, move || {
        let signed = SignedVectors { vectors: vectors.view(), signature: &signature, scattered: None };
        by_factors::nearest(queries.view(), signed, k)
    })?;
    Ok(lists(py, &found, k.min(n)))
}

type PairsOfFactors<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray1<f64>>);

/// The `count` most similar pairs of different items by the factors, best first, none below `at_least`: m × 2 items, m scores.
#[pyfunction]
#[pyo3(signature = (vectors, signature, count, at_least, entries=None))]
pub(crate) fn best_pairs<'py>(
    py: Python<'py>,
    vectors: PyReadonlyArray2<'py, f64>,
    signature: PyReadonlyArray1<'py, f64>,
    count: Option<usize>,
    at_least: f64,
    entries: Scattered<'py>,
) -> PyResult<PairsOfFactors<'py>> {
    let (vectors, signature) = (vectors.as_array().to_owned(), signature.as_array().to_owned());
    check(vectors.view(), &signature)?;
    let entries = scattered(vectors.nrows(), &entries)?;
    let found = interruptible(py, move || {
        let signed = SignedVectors { vectors: vectors.view(), signature: &signature, scattered: entries.as_ref() };
        by_factors::best_pairs(signed, count.unwrap_or(usize::MAX), at_least, |_| {})
    })?;
    let (pairs, scores): (Vec<Pair>, Vec<f64>) =
        found.iter().map(|pair| ((pair.first, pair.second), pair.score)).unzip();
    Ok((pair_array(py, pairs)?, scores.into_pyarray(py)))
}
