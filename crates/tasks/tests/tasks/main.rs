//! Tasks end to end, and against other implementations: one program, which links once.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as the tests do")]

use std::path::Path;

use landmark_core::stream::stream;
use ndarray::Array2;
use rand::Rng as _;
use serde_json::Value;

mod classification;
mod golden_coreference;
mod golden_ranking;
mod golden_stats;
mod kernel_svm;
mod linear_svm;

/// A file of `tests/golden`.
fn golden(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Overlapping classes: Gaussian-like noise around random centers, which are `apart` times as far from each other.
fn noisy(rows: usize, columns: usize, classes: usize, seed: u64, apart: f64) -> (Array2<f64>, Vec<usize>) {
    let rng = &mut stream(seed, "test", "noisy", 0);
    let labels: Vec<usize> = (0..rows).map(|i| i % classes).collect();
    let mut noise = || (0..4).map(|_| rng.gen_range(-1.0..1.0)).sum::<f64>();
    let centers = Array2::from_shape_simple_fn((classes, columns), || apart * noise());
    let x = Array2::from_shape_fn((rows, columns), |(i, j)| centers[[labels[i], j]] + noise());
    (x, labels)
}

#[track_caller]
fn assert_near(left: &Array2<f64>, right: &Array2<f64>, tolerance: f64) {
    let largest = (left - right).mapv(f64::abs).fold(0.0, |m: f64, d| m.max(*d));
    assert!(largest <= tolerance, "differ by {largest:e}, allowed {tolerance:e}\n{left:.8}\n{right:.8}");
}
