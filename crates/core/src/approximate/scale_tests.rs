//! Approximations and errors of a matrix in other units, and of kernels that are the identity but for rounding.

use std::sync::Arc;

use ndarray::Array2;

use super::{Approximate, Nystrom, Optimal, ShiftRidgeParams, SiCurParams, Skeleton, SmsNystromParams, StaCur};
use crate::approximation::Known;
use crate::error_estimate::relative_errors;
use crate::landmarks::Landmarks;
use crate::oracle::{AsymmetryPolicy, Kernel, Kernelized, Precomputed};
use crate::stream::stream;

const ITEMS: usize = 24;

/// An indefinite matrix with a decaying spectrum.
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

#[test]
fn a_matrix_in_units_of_any_power_of_two_has_the_same_errors_by_every_method() {
    let plain = matrix();
    for (name, method) in methods() {
        let wanted = errors(method.as_ref(), &plain);
        assert!(wanted[0].is_some_and(|error| error > 1e-6 && error < 1.5), "{name}: {wanted:?}");
        for exponent in [-900, -560, -300, -100, 100, 300, 560, 900] {
            let found = errors(method.as_ref(), &(&plain * 2.0_f64.powi(exponent)));
            for (wanted, found) in wanted.iter().zip(&found) {
                let near = match (wanted, found) {
                    // a decomposition of the same numbers in other units may round elsewhere; conditions are up to 1e10
                    (Some(wanted), Some(found)) => (wanted - found).abs() <= 1e-9 * wanted.abs(),
                    (None, None) => true,
                    _ => false,
                };
                assert!(near, "{name} at 2^{exponent}: {found:?} for {wanted:?}");
            }
        }
    }
}

#[test]
fn kernels_whose_rows_underflow_to_the_identity_have_finite_errors_by_every_method() {
    let distances = Array2::from_shape_fn((ITEMS, ITEMS), |(i, j)| (i as f64 - j as f64).abs());
    for gamma in [50.0, 200.0, 1e4, 1e300] {
        let oracle = Precomputed::new(distances.clone(), AsymmetryPolicy::Reject).unwrap();
        for kernel in [Kernel::Exponential { gamma }, Kernel::Rbf { gamma }] {
            let oracle = Kernelized::new(oracle.clone(), kernel).unwrap();
            let all: Vec<usize> = (0..ITEMS).collect();
            let matrix = crate::oracle::block_of(&oracle, &all, &all).unwrap();
            for (name, method) in methods() {
                let found = errors(method.as_ref(), &matrix);
                let is_finite = |error: &f64| error.is_finite() && *error <= 2.0 || name == "stacur";
                assert!(found[..2].iter().flatten().all(is_finite), "{name}, {kernel:?}: {found:?}");
                assert!(found.iter().flatten().all(|error| !error.is_nan()), "{name}, {kernel:?}: {found:?}");
            }
        }
    }
}
