//! Approximations and errors of a matrix in other units, and of kernels that are the identity but for rounding.

use std::sync::Arc;

use ndarray::Array2;

use super::{
    Approximate, ByOneOrder, Link, Nystrom, Optimal, Proxied, ScatteredParams, ShiftRidgeParams, SiCurParams, Skeleton,
    SmsNystromParams, StaCur, StackParams,
};
use crate::approximation::Known;
use crate::error_estimate::{Sample, relative_errors};
use crate::landmarks::Landmarks;
use crate::oracle::{AsymmetryPolicy, Coin, Kernel, Kernelized, OneOrder, Oracle, Precomputed};
use crate::stream::stream;

const ITEMS: usize = 24;

fn matrix() -> Array2<f64> {
    let at = |i: usize, k: usize| ((3 * i + 7 * k + 1) as f64).sin() / (k + 1) as f64;
    let sign = |k: usize| if k % 4 == 3 { -0.3 } else { 1.0 };
    Array2::from_shape_fn((ITEMS, ITEMS), |(i, j)| {
        let (low, high) = (i.min(j), i.max(j));
        (0..8).map(|k| sign(k) * at(low, k) * at(high, k)).sum::<f64>() + if i == j { 0.5 } else { 0.0 }
    })
}

fn methods() -> Vec<(&'static str, Arc<dyn Approximate>)> {
    let rescale = super::Rescale::Frobenius;
    vec![
        ("nystrom", Arc::new(Nystrom)),
        ("sms_nystrom", Arc::new(SmsNystromParams { rescale, ..SmsNystromParams::default() }.check().unwrap())),
        ("sicur", Arc::new(SiCurParams::default().check().unwrap())),
        ("skeleton", Arc::new(Skeleton)),
        ("stacur", Arc::new(StaCur { same: true })),
        ("shift_ridge", Arc::new(ShiftRidgeParams::default().check().unwrap())),
        ("optimal", Arc::new(Optimal)),
    ]
}

/// Errors over all entries, the symmetric part, off the diagonal and unevaluated ones, with the error that the method expects.
fn errors(method: &dyn Approximate, matrix: &Array2<f64>) -> Vec<Option<f64>> {
    let oracle = Precomputed::new(matrix.clone(), AsymmetryPolicy::Reject).unwrap();
    let landmarks = Landmarks::uniform(ITEMS, &mut stream(3, "scale", "landmarks", 0));
    let fit = method.fit(&oracle, &landmarks, 6, Known::NOTHING, &mut stream(3, "scale", "fit", 0)).unwrap();
    let errors = relative_errors(&oracle, &fit).unwrap();
    vec![
        Some(errors.raw),
        Some(errors.symmetrized),
        Some(errors.off_diagonal),
        errors.unevaluated,
        fit.report().validation_error,
        fit.report().condition,
    ]
}

fn proxy() -> Arc<dyn Oracle> {
    let cheap = Array2::from_shape_fn((ITEMS, ITEMS), |(i, j)| ((i + j) as f64).cos() + ((i * j) as f64).sin());
    Arc::new(Precomputed::new(cheap, AsymmetryPolicy::Mean).unwrap())
}

fn all_methods() -> Vec<(String, Arc<dyn Approximate>)> {
    let mut all: Vec<(String, Arc<dyn Approximate>)> = Vec::new();
    let scattered = ScatteredParams { columns: 0.5, ..ScatteredParams::default() };
    for (name, method) in methods() {
        all.push((
            format!("{name} around a proxy"),
            Arc::new(Proxied::new(Arc::clone(&method), proxy(), Link { degree: 2 })),
        ));
        if name != "optimal" {
            all.push((
                format!("{name} with pairs"),
                Arc::new(scattered.around(Arc::clone(&method), vec![proxy()]).unwrap()),
            ));
        }
        all.push((name.to_owned(), method));
    }
    for (name, proxies) in [("stack", Vec::new()), ("stack with a proxy", vec![proxy()])] {
        let stack = StackParams { columns: Some(0.75), ..StackParams::default() }.check().unwrap();
        all.push((name.to_owned(), Arc::new(stack.with_proxies(proxies))));
    }
    all
}

/// K̃, the rows that new items would have, and the sampled error, in the unit of the matrix.
fn results(method: &dyn Approximate, matrix: &Array2<f64>, rank: usize, unit: f64) -> Vec<Vec<u64>> {
    let oracle = Precomputed::new(matrix * unit, AsymmetryPolicy::Reject).unwrap();
    results_of(method, &oracle, rank, unit)
}

fn results_of(method: &dyn Approximate, oracle: &dyn Oracle, rank: usize, unit: f64) -> Vec<Vec<u64>> {
    let landmarks = Landmarks::uniform(ITEMS, &mut stream(3, "scale", "landmarks", 0));
    let fit = method.fit(oracle, &landmarks, rank, Known::LANDMARKS, &mut stream(3, "scale", "fit", 0)).unwrap();
    let sample = Sample::draw(ITEMS, fit.landmarks(), 60, &mut stream(3, "scale", "sample", 0));
    let estimate = sample.estimate(oracle, &fit, 0.95).unwrap();
    let agreement = sample.agreement(oracle, &fit).unwrap();
    assert_eq!(agreement, estimate.agreement);
    let off = estimate.off_diagonal;
    let numbers = [estimate.relative_error, estimate.lower, estimate.upper, off.value, off.lower, off.upper];
    let free = estimate.unevaluated.map_or([f64::NAN; 3], |error| [error.value, error.lower, error.upper]);
    let large = [agreement.large_scores.unwrap_or(f64::NAN), agreement.correlation.unwrap_or(f64::NAN)];
    let mut product = vec![0.0; ITEMS];
    fit.apply(&[1.0; ITEMS], &mut product).unwrap();
    let bits = |values: &mut dyn Iterator<Item = f64>| values.map(f64::to_bits).collect::<Vec<u64>>();
    vec![
        bits(&mut fit.to_dense().unwrap().iter().map(|value| value / unit)),
        bits(&mut product.iter().map(|value| value / unit)),
        bits(&mut numbers.into_iter().chain(free).chain(large)),
        bits(&mut [fit.report().shift, fit.report().ridge].into_iter().map(|value| value / unit)),
    ]
}

#[test]
fn every_method_and_the_sampled_error_are_the_same_to_the_last_bit_in_units_of_a_power_of_two() {
    let plain = matrix();
    for (name, method) in all_methods() {
        let wanted = results(method.as_ref(), &plain, 10, 1.0);
        for exponent in [-560, 560] {
            let found = results(method.as_ref(), &plain, 10, 2.0_f64.powi(exponent));
            for (part, (wanted, found)) in
                ["dense", "product", "errors", "report"].iter().zip(wanted.iter().zip(&found))
            {
                assert_eq!(wanted, found, "{part} of {name} at 2^{exponent}");
            }
        }
    }
}

#[test]
fn a_method_by_one_order_is_the_same_to_the_last_bit_in_units_of_a_power_of_two() {
    let coin = Coin::new(1);
    let asymmetric = matrix() + Array2::from_shape_fn((ITEMS, ITEMS), |(i, j)| 0.1 * ((i as f64) - (j as f64)).sin());
    let method = ByOneOrder::new(Arc::new(ShiftRidgeParams::default().check().unwrap()), coin);
    let results = |unit: f64| {
        let oracle = Precomputed::new(&asymmetric * unit, AsymmetryPolicy::Keep).unwrap();
        results_of(&method, &OneOrder::new(&oracle, coin), 8, unit)
    };
    let wanted = results(1.0);
    for exponent in [-900, -560, 560, 900] {
        assert_eq!(results(2.0_f64.powi(exponent)), wanted, "2^{exponent}");
    }
}

#[test]
fn kernels_whose_rows_underflow_to_the_identity_have_finite_errors_by_every_method() {
    let distances = Array2::from_shape_fn((ITEMS, ITEMS), |(i, j)| (i as f64 - j as f64).abs());
    for gamma in [50.0, 200.0, 1e4, 1e300] {
        let oracle = Precomputed::new(distances.clone(), AsymmetryPolicy::Reject).unwrap();
        let oracle = Kernelized::new(oracle, Kernel::Exponential { gamma }).unwrap();
        let all: Vec<usize> = (0..ITEMS).collect();
        let matrix = crate::oracle::block_of(&oracle, &all, &all).unwrap();
        for (name, method) in methods() {
            let found = errors(method.as_ref(), &matrix);
            let is_finite = |error: &f64| error.is_finite() && *error <= 2.0 || name == "stacur";
            assert!(found[..2].iter().flatten().all(is_finite), "{name}, {gamma}: {found:?}");
            assert!(found.iter().flatten().all(|error| !error.is_nan()), "{name}, {gamma}: {found:?}");
        }
    }
}
