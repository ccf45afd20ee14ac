//! Unbiasedness and coverage, by simulation.

use ndarray::Array2;

use super::*;
use crate::approximate::{Approximate, NystromParams};
use crate::approximation::Known;
use crate::landmarks::Landmarks;
use crate::oracle::{AsymmetryPolicy, Metered, OracleShape, Precomputed};
use crate::stream::stream;

fn indefinite(n: usize) -> Precomputed {
    let mut rng = stream(1, "error estimate", "matrix", 0);
    let z = Array2::from_shape_fn((n, 8), |_| rng.gen_range(-1.0..1.0));
    let noise = Array2::from_shape_fn((n, n), |_| rng.gen_range(-0.3..0.3));
    Precomputed::new(z.dot(&z.t()) + noise, AsymmetryPolicy::Mean).unwrap()
}

fn fitted(oracle: &Precomputed, rank: usize) -> (Approximation, Landmarks) {
    let landmarks = Landmarks::uniform(oracle.len(), &mut stream(2, "error estimate", "landmarks", 0));
    let method = NystromParams::default().check().unwrap();
    let mut rng = stream(2, "error estimate", "fit", 0);
    (method.fit(oracle, &landmarks, rank, Known::LANDMARKS, &mut rng).unwrap(), landmarks)
}

#[test]
fn the_exact_error_is_that_of_the_dense_matrices() {
    let oracle = indefinite(70);
    let (approximation, _) = fitted(&oracle, 12);
    let dense = crate::linalg::relative_error(oracle.matrix().view(), approximation.to_dense().unwrap().view());
    // the same sums in another order
    assert!((relative_error(&oracle, &approximation).unwrap() - dense).abs() < 1e-12);
}

#[test]
fn the_estimate_is_unbiased_and_its_interval_covers_as_often_as_it_says() {
    let oracle = indefinite(120);
    let (approximation, landmarks) = fitted(&oracle, 10);
    let truth = relative_error(&oracle, &approximation).unwrap();
    let runs = 400;
    let (mut covered, mut squares) = (0, 0.0);
    for run in 0..runs {
        let mut rng = stream(3, "error estimate", "sample", run);
        let sample = Sample::draw(120, &landmarks.order()[..10], 500, &mut rng);
        let estimate = sample.estimate(&oracle, &approximation, 0.95).unwrap();
        squares += estimate.relative_error.powi(2);
        covered += u32::from(estimate.lower <= truth && truth <= estimate.upper);
    }
    // 400 runs at 95 %: 380 ± 4.4; five standard deviations and some for the tails of squared errors
    assert!((355..=400).contains(&covered), "{covered}");
    // the mean over 400 × 500 cells is within 2 % of the squared error
    assert!((squares / runs as f64 / truth.powi(2) - 1.0).abs() < 0.02, "{squares} {truth}");
}

#[test]
fn it_asks_for_the_cells_it_planned() {
    let oracle = indefinite(60);
    let (approximation, landmarks) = fitted(&oracle, 6);
    let sample = Sample::draw(60, &landmarks.order()[..6], 300, &mut stream(4, "error estimate", "sample", 0));
    let plan = sample.plan();
    let metered = Metered::new(&oracle);
    sample.estimate(&metered, &approximation, 0.95).unwrap();
    let columns = 60 * 6 + 6 * 54;
    assert_eq!(metered.spent().cells, plan.cells(60) + columns);
    assert!(plan.evaluations(OracleShape::of(&oracle)) <= plan.cells(60));
}

#[test]
fn with_all_items_as_landmarks_nothing_is_left_to_sample() {
    let oracle = indefinite(20);
    let (approximation, landmarks) = fitted(&oracle, 20);
    let sample = Sample::draw(20, landmarks.order(), 100, &mut stream(5, "error estimate", "sample", 0));
    let estimate = sample.estimate(&oracle, &approximation, 0.95).unwrap();
    assert_eq!((estimate.samples, estimate.lower), (0, estimate.upper));
    assert!(estimate.relative_error < 1e-6);
}

#[test]
fn quantiles_are_those_of_the_tables() {
    for (p, z) in [(0.975, 1.959_963_984_540_054), (0.95, 1.644_853_626_951_472_7), (0.995, 2.575_829_303_548_900_4)] {
        assert!((normal_quantile(p) - z).abs() < 1e-9);
    }
}
