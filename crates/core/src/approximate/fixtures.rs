//! What the tests of several methods share.

use ndarray::Array2;
use serde::de::DeserializeOwned;

use super::Approximate;
use crate::approximation::{Approximation, Known};
use crate::landmarks::Landmarks;
use crate::oracle::{AsymmetryPolicy, Precomputed};
use crate::stream::stream;

/// A fit to a symmetric matrix that keeps no known entries; landmarks and choices from the streams of `name`.
pub(crate) fn fit_matrix(
    method: &dyn Approximate,
    matrix: &Array2<f64>,
    rank: usize,
    (seed, name): (u64, &str),
) -> Approximation {
    let oracle = Precomputed::new(matrix.clone(), AsymmetryPolicy::Reject).unwrap();
    let landmarks = Landmarks::uniform(matrix.nrows(), &mut stream(seed, name, "landmarks", 0));
    method.fit(&oracle, &landmarks, rank, Known::NOTHING, &mut stream(seed, name, "fit", 0)).unwrap()
}

/// A file of `tests/golden`.
pub(crate) fn golden(name: &str) -> serde_json::Value {
    let path = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn list<T: DeserializeOwned>(value: &serde_json::Value) -> Vec<T> {
    serde_json::from_value(value.clone()).unwrap()
}

pub(crate) fn matrix(value: &serde_json::Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = list(value);
    Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
}
