//! Recall of pairs and lists that somebody else made: the draws and the bounds of `recall_of`.

use std::collections::HashSet;

use landmark_core::oracle::Pair;
use landmark_core::stream::stream;
use landmark_neighbors::recall::{GivenLists, GivenPairs, share_found};
use landmark_neighbors::{Universe, sample_of};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::reading::{self, item_array, pair_array};

/// Uniform samples of the candidates and of the pairs that are none, at most `scored` and `sampled` of them. Candidates are distinct pairs (i, j), i < j.
#[pyfunction]
#[pyo3(signature = (items, left, candidates, scored, sampled, seed, name))]
#[expect(clippy::type_complexity, reason = "a tuple for Python")]
pub(crate) fn audit_pairs<'py>(
    py: Python<'py>,
    items: usize,
    left: Option<usize>,
    candidates: PyReadonlyArray2<'py, i64>,
    scored: u64,
    sampled: u64,
    seed: u64,
    name: &str,
) -> PyResult<(Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<i64>>)> {
    let universe = Universe { items, left };
    let given: Vec<Pair> = reading::pairs(items, &candidates)?;
    let is_candidate: HashSet<Pair> = given.iter().copied().filter(|&pair| universe.has(pair)).collect();
    if is_candidate.len() != given.len() {
        return Err(PyValueError::new_err("candidates are distinct pairs of two items, the smaller number first"));
    }
    let (all, left_out) = (given.len() as u64, universe.len() - given.len() as u64);
    let (of_candidates, of_others) = py.detach(|| {
        let mut rng = stream(seed, name, "audit of candidates", 0);
        // in their order if all of them are scored
        let of_candidates = match scored >= all {
            true => given,
            false => sample_of(given, usize::try_from(scored).unwrap_or(usize::MAX), &mut rng),
        };
        let mut rng = stream(seed, name, "audit of pairs left out", 0);
        (of_candidates, universe.sample(left_out, sampled, |pair| !is_candidate.contains(pair), &mut rng))
    });
    Ok((pair_array(py, of_candidates)?, pair_array(py, of_others)?))
}

/// Estimate (NaN if no positive pair was seen) and lower bound of the recall of candidate pairs; `counts` are candidates, those scored, those of them
/// that are positive, pairs left out, those sampled, those of them that are positive.
#[pyfunction]
pub(crate) fn recall_of_pairs(counts: [u64; 6], delta: f64) -> PyResult<(f64, f64)> {
    let [candidates, scored, positive, left_out, sampled, missed] = counts;
    if scored > candidates || positive > scored || sampled > left_out || missed > sampled {
        return Err(PyValueError::new_err("a sample is no larger than what it is drawn from"));
    }
    let given = GivenPairs { candidates, scored, positive, left_out, sampled, missed };
    Ok((given.recall().unwrap_or(f64::NAN), given.lower(delta)))
}

/// Estimate, lower bound and its name of the recall of lists of the k nearest, from the shares of audited items.
#[pyfunction]
pub(crate) fn recall_of_lists(
    shares: PyReadonlyArray1<'_, f64>,
    items: usize,
    k: usize,
    delta: f64,
) -> (f64, f64, String) {
    let shares = shares.as_array().to_vec();
    let lists = GivenLists { shares: &shares, items, k };
    let name = if shares.len() >= items { "all rows".to_owned() } else { lists.bound().to_string() };
    (lists.recall().unwrap_or(f64::NAN), lists.lower(delta), name)
}

/// Share of the k largest of `scores` (NaN: not to be counted) that `found` holds, by places; ties are as good as each other.
#[pyfunction]
pub(crate) fn share_of_nearest(
    scores: PyReadonlyArray1<'_, f64>,
    k: usize,
    found: PyReadonlyArray1<'_, i64>,
) -> PyResult<f64> {
    let scores = scores.as_array().to_vec();
    let found: HashSet<usize> = reading::items(scores.len(), &found)?.into_iter().collect();
    Ok(share_found(&scores, usize::MAX, k, |other| found.contains(&other)))
}

/// `count` items of n, drawn uniformly.
#[pyfunction]
pub(crate) fn audited_rows<'py>(
    py: Python<'py>,
    n: usize,
    count: usize,
    seed: u64,
    name: &str,
) -> Bound<'py, PyArray1<i64>> {
    let mut rng = stream(seed, name, "audit of lists", 0);
    item_array(py, sample_of((0..n).collect(), count, &mut rng))
}
