//! SMS-Nyström against its formula, and its options.

use ndarray::Array2;
use rand::Rng as _;

use super::*;
use crate::approximate::Nystrom;
use crate::approximate::fixtures::fit_matrix;
use crate::linalg::relative_error;
use crate::stream::stream;

fn random(rows: usize, cols: usize) -> Array2<f64> {
    let mut rng = stream(3, "sms_nystrom", "matrix", rows as u64);
    Array2::from_shape_fn((rows, cols), |_| rng.gen_range(-1.0..1.0))
}

fn fit(method: &dyn Approximate, matrix: &Array2<f64>, rank: usize) -> Approximation {
    fit_matrix(method, matrix, rank, (3, "sms_nystrom"))
}

/// PSD of rank 30 plus symmetric noise.
fn indefinite(n: usize) -> Array2<f64> {
    let (signal, noise) = (random(n, 30), random(n, n));
    signal.dot(&signal.t()) + (&noise + &noise.t())
}

#[test]
fn sms_equals_nystrom_on_psd() {
    let factor = random(60, 60);
    let matrix = factor.dot(&factor.t());
    let sms = fit(&SmsNystromParams::default().check().unwrap(), &matrix, 20);
    let nystrom = fit(&Nystrom, &matrix, 20);
    assert_eq!(sms.report().shift, 0.0);
    assert_eq!(sms.to_dense().unwrap(), nystrom.to_dense().unwrap());
}

#[test]
fn correct_diagonal_returns_the_landmark_columns_as_they_are() {
    let matrix = indefinite(60);
    let plain = fit(&SmsNystromParams::default().check().unwrap(), &matrix, 20);
    let params = SmsNystromParams { correct_diagonal: true, ..Default::default() };
    let corrected = fit(&params.check().unwrap(), &matrix, 20);
    let shift = plain.report().shift;
    assert!(shift > 0.0);
    for &t in corrected.landmarks() {
        // the condition number of W + eI, about 1e3, times rounding
        assert!((corrected.entry(t, t).unwrap() - matrix[[t, t]]).abs() < 1e-10);
        assert!((plain.entry(t, t).unwrap() - matrix[[t, t]] - shift).abs() < 1e-10);
    }
    let error = |fit: &Approximation| relative_error(matrix.view(), fit.to_dense().unwrap().view());
    assert!(error(&corrected) < error(&plain));
}

#[test]
fn a_large_block_takes_lanczos_to_the_same_shift() {
    let matrix = indefinite(700);
    let found = fit(&SmsNystromParams::default().check().unwrap(), &matrix, 300);
    let landmarks = Landmarks::uniform(700, &mut stream(3, "sms_nystrom", "landmarks", 0));
    let wider = &landmarks.order()[..600];
    assert!(wider.len() > LANCZOS_ABOVE);
    let block = matrix.select(ndarray::Axis(0), wider).select(ndarray::Axis(1), wider);
    let exact = linalg::eigvalsh(block.view()).unwrap()[0];
    let lambda = found.report().lambda_min.unwrap();
    assert!((lambda - exact).abs() <= LANCZOS_TOLERANCE * exact.abs(), "{lambda} {exact}");
}

#[test]
fn z_one_and_alpha_one_make_a_singular_core_that_is_cut() {
    let params = SmsNystromParams { z: 1.0, alpha: 1.0, ..Default::default() };
    let found = fit(&params.check().unwrap(), &indefinite(60), 20);
    assert_eq!((found.report().dropped, found.rank()), (1, 19));
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let refused = |params: SmsNystromParams| params.check().unwrap_err().to_string();
    let params = SmsNystromParams { alpha: -1.0, ..Default::default() };
    assert_eq!(refused(params), "`sms_nystrom`: `alpha` is -1, but must be a number ≥ 0");
    let params = SmsNystromParams { z: 0.5, ..Default::default() };
    assert_eq!(refused(params), "`sms_nystrom`: `z` is 0.5, but must be a number ≥ 1");
    let params = SmsNystromParams { outer_shift: false, correct_diagonal: true, ..Default::default() };
    assert!(refused(params).contains("`correct_diagonal` is true"));
    assert!(serde_json::from_str::<SmsNystromParams>(r#"{"alhpa": 2}"#).unwrap_err().to_string().contains("alhpa"));
}

#[test]
fn equal_calls_are_s_minus_half_s_squared_over_n() {
    let method = SmsNystromParams::default().check().unwrap();
    // s − s²/2n = 700 − 81.7, up to the half columns that a whole rank cannot have
    assert!((617..=619).contains(&method.rank_for_columns(3000, 700)));
}

fn variant(change: impl Fn(&mut SmsNystromParams)) -> SmsNystrom {
    let mut params = SmsNystromParams::default();
    change(&mut params);
    params.check().unwrap()
}

crate::conformance!(as_printed, variant(|_| ()));
crate::conformance!(corrected, variant(|params| params.correct_diagonal = true));
crate::conformance!(inner_shift_only, variant(|params| params.outer_shift = false));
crate::conformance!(wide, variant(|params| params.z = 3.0));
