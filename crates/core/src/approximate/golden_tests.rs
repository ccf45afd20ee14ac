//! Every method against the independent NumPy implementation (tests/golden/approximators.json).

use serde_json::Value;

use super::fixtures::{golden, list, matrix};
use super::*;
use crate::approximation::Known;
use crate::linalg::{frobenius_norm, relative_error};
use crate::oracle::{AsymmetryPolicy, Precomputed};
use crate::stream::stream;

struct Case {
    id: String,
    oracle: Precomputed,
    landmarks: Landmarks,
    rank: usize,
    raw: Value,
}

fn cases() -> Vec<Case> {
    let file = golden("approximators");
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() >= 4);
    cases
        .iter()
        .map(|raw| {
            let matrix = matrix(&raw["K"]);
            let n = matrix.nrows();
            // S2 is S1 and more, in this order
            assert!(list::<usize>(&raw["S2"]).starts_with(&list::<usize>(&raw["S1"])));
            Case {
                id: raw["id"].as_str().unwrap().to_owned(),
                oracle: Precomputed::new(matrix, AsymmetryPolicy::Reject).unwrap(),
                landmarks: Landmarks::from_orders(n, list::<usize>(&raw["S2"]), list::<usize>(&raw["Sr"])),
                rank: list::<usize>(&raw["S1"]).len(),
                raw: raw.clone(),
            }
        })
        .collect()
}

/// 1e-7 · max(1, |value|), as the reference states; the singular PSD case compares the error alone, to 1e-6.
fn assert_reproduces(case: &Case, name: &str, approximation: &Approximation) {
    let expected = &case.raw["expected"][name];
    let dense = approximation.to_dense().unwrap();
    let truth = case.oracle.matrix();
    let near = |what: &str, ours: f64, theirs: f64, tolerance: f64| {
        let bound = tolerance * theirs.abs().max(1.0);
        assert!((ours - theirs).abs() <= bound, "{} {name} {what}: {ours} against {theirs}", case.id);
    };
    let number = |key: &str| expected[key].as_f64().unwrap();
    let singular = case.id.starts_with("psd_lowrank");
    let tolerance = if singular { 1e-6 } else { number("tol") };
    near("relative error", relative_error(truth.view(), dense.view()), number("relerr"), tolerance);
    if singular {
        return;
    }
    near("trace", dense.diag().sum(), number("trace"), tolerance);
    near("norm", frobenius_norm(dense.view()), number("fro"), tolerance);
    for (j, value) in expected["row0"].as_array().unwrap().iter().enumerate() {
        near(&format!("row 0, column {j}"), dense[[0, j]], value.as_f64().unwrap(), tolerance);
    }
    if expected["K"].is_array() {
        for ((i, j), &value) in matrix(&expected["K"]).indexed_iter() {
            near(&format!("({i}, {j})"), dense[[i, j]], value, tolerance);
        }
    }
}

fn reproduce(name: &str, method: impl Fn(&Case) -> Box<dyn Approximate>) {
    for case in cases() {
        let mut rng = stream(0, "golden", "folds", 0);
        let fit = method(&case).fit(&case.oracle, &case.landmarks, case.rank, Known::NOTHING, &mut rng).unwrap();
        assert_reproduces(&case, name, &fit);
    }
}

fn sms(change: impl Fn(&mut SmsNystromParams)) -> Box<dyn Approximate> {
    let mut params = SmsNystromParams::default();
    change(&mut params);
    Box::new(params.check().unwrap())
}

#[test]
fn nystrom_reproduces_the_reference() {
    reproduce("nystrom", |_| Box::new(Nystrom));
}

#[test]
fn sms_nystrom_reproduces_the_reference_in_all_its_variants() {
    reproduce("sms_alg1", |_| sms(|_| ()));
    reproduce("sms_alg1_minus_e_on_S1", |_| sms(|params| params.correct_diagonal = true));
    reproduce("sms_no_outer_shift", |_| sms(|params| params.outer_shift = false));
    reproduce("sms_alg1_beta_spectral", |_| sms(|params| params.rescale = Rescale::Spectral));
}

#[test]
fn sms_nystrom_finds_the_shift_of_the_reference() {
    for case in cases() {
        let mut rng = stream(0, "golden", "folds", 0);
        let fit = sms(|_| ()).fit(&case.oracle, &case.landmarks, case.rank, Known::NOTHING, &mut rng).unwrap();
        let (lambda, shift) = (case.raw["lambda_min_S2"].as_f64().unwrap(), case.raw["e"].as_f64().unwrap());
        // rounding of an eigenvalue of a matrix of norm ≈ 10
        assert!((fit.report().lambda_min.unwrap() - lambda).abs() < 1e-12);
        assert!((fit.report().shift - shift).abs() < 1e-12);
    }
}

#[test]
fn cur_methods_reproduce_the_reference() {
    reproduce("skeleton", |_| Box::new(Skeleton));
    reproduce("sicur", |_| Box::new(SiCurParams::default().check().unwrap()));
    reproduce("stacur_s", |_| Box::new(StaCur { same: true }));
    reproduce("stacur_d", |_| Box::new(StaCur { same: false }));
}

#[test]
fn optimal_reproduces_the_reference() {
    for case in cases() {
        let method = Optimal;
        let mut rng = stream(0, "golden", "folds", 0);
        let fit = method.fit(&case.oracle, &case.landmarks, case.rank, Known::NOTHING, &mut rng).unwrap();
        assert_reproduces(&case, &format!("optimal_k_{}", case.rank), &fit);
    }
}

#[test]
fn shift_ridge_reproduces_the_reference_at_a_given_shift_and_ridge() {
    reproduce("shift_ridge", |case| {
        let given = &case.raw["shift_ridge"];
        let (shift, ridge) = (given["shift"].as_f64().unwrap(), given["rho"].as_f64().unwrap());
        let fixed = Some(FixedShiftRidge { shift, ridge });
        Box::new(ShiftRidgeParams { fixed, ..ShiftRidgeParams::default() }.check().unwrap())
    });
}
