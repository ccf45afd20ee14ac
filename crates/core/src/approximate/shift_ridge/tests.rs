//! Promises of the choice of shift and ridge.

use ndarray::{Array1, Array2, Axis};
use rand::Rng as _;

use super::*;
use crate::approximate::Nystrom;
use crate::approximate::fixtures::fit_matrix;
use crate::landmarks::Landmarks;
use crate::linalg::relative_error;
use crate::stream::stream;

fn random(rows: usize, cols: usize) -> Array2<f64> {
    let mut rng = stream(5, "shift_ridge", "matrix", rows as u64);
    Array2::from_shape_fn((rows, cols), |_| rng.gen_range(-1.0..1.0))
}

/// PSD of rank 10 plus symmetric noise.
fn indefinite(n: usize) -> Array2<f64> {
    let (signal, noise) = (random(n, 10), random(n, n));
    signal.dot(&signal.t()) + (&noise + &noise.t()) * 0.5
}

fn fit(method: &dyn Approximate, matrix: &Array2<f64>, rank: usize) -> Approximation {
    fit_matrix(method, matrix, rank, (5, "shift_ridge"))
}

fn error(matrix: &Array2<f64>, fit: &Approximation) -> f64 {
    relative_error(matrix.view(), fit.to_dense().unwrap().view())
}

#[test]
fn shift_ridge_beats_nystrom_where_nystrom_explodes() {
    let matrix = indefinite(200);
    let ours = fit(&ShiftRidgeParams::default().check().unwrap(), &matrix, 60);
    let nystrom = fit(&Nystrom, &matrix, 60);
    assert!(error(&matrix, &ours) < 0.7 * error(&matrix, &nystrom));
    let report = ours.report();
    assert!(report.shift > 0.0 || report.ridge > 0.0);
    assert!(report.validation_error.unwrap() < 1.0);
}

/// An eigenvalue next to zero that all of W has and no part of it: what is judged by parts of W knows nothing of it.
#[test]
fn free_entries_tell_of_an_eigenvalue_next_to_zero() {
    let (n, rank) = (150, 40);
    let factor = random(n, n);
    // falls like 1/k, so that Nyström of a part of the landmarks is fine
    let mut matrix = (&factor / &Array1::from_shape_fn(n, |k| (k + 1) as f64)).dot(&factor.t());
    matrix = (&matrix + &matrix.t()) * 0.5;
    let order = Landmarks::uniform(n, &mut stream(5, "shift_ridge", "landmarks", 0)).order()[..rank].to_vec();
    let (last, others) = (order[rank - 1], &order[..rank - 1]);
    let rest = linalg::eigh(matrix.select(Axis(0), others).select(Axis(1), others).view()).unwrap();
    let b = rest.vectors.t().dot(&matrix.row(last).select(Axis(0), others));
    // the Schur complement of the last landmark
    matrix[[last, last]] = (&b * &b / &rest.values).sum() + 1e-7;
    let held_out = ShiftRidgeParams { ridges: vec![0.0, 0.15], ..ShiftRidgeParams::default() }.check().unwrap();
    let by_parts = error(&matrix, &fit(&held_out, &matrix, rank));
    let by_free_entries = error(&matrix, &fit(&held_out.with_free_entries(), &matrix, rank));
    assert!(by_parts > 2.0 && by_free_entries < 0.6, "{by_parts} {by_free_entries}");
}

#[test]
fn a_low_rank_psd_matrix_needs_neither_shift_nor_ridge() {
    let factor = random(80, 8);
    let matrix = factor.dot(&factor.t());
    let ours = fit(&ShiftRidgeParams::default().check().unwrap(), &matrix, 40);
    assert_eq!((ours.report().shift, ours.report().ridge), (0.0, 0.0));
    // rounding times the condition number of 8 kept eigenvalues
    assert!(error(&matrix, &ours) < 1e-10);
}

#[test]
fn clipped_g_makes_a_positive_matrix() {
    let matrix = indefinite(120);
    let params = ShiftRidgeParams { clip: true, ..Default::default() };
    let clipped = fit(&params.check().unwrap(), &matrix, 40);
    assert!(linalg::eigvalsh(clipped.to_dense().unwrap().view()).unwrap()[0] > -1e-9);
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let refused = |params: ShiftRidgeParams| params.check().unwrap_err().to_string();
    let params = ShiftRidgeParams { shifts: vec![], ..Default::default() };
    assert_eq!(refused(params), "`shift_ridge`: `shifts` is [], but must be a list of numbers ≥ 0");
    let params = ShiftRidgeParams { folds: 9, ..Default::default() };
    assert_eq!(refused(params), "`shift_ridge`: `folds` is 9, but must be at least 1 and at most 1 / `held_out`");
    let params = ShiftRidgeParams { held_out: 0.9, ..Default::default() };
    assert!(refused(params).contains("`held_out` is 0.9"));
    let fixed = Some(FixedShiftRidge { shift: 0.0, ridge: -1.0 });
    assert!(refused(ShiftRidgeParams { fixed, ..Default::default() }).contains("`fixed` is (0, -1)"));
}

fn variant(change: impl Fn(&mut ShiftRidgeParams)) -> ShiftRidge {
    let mut params = ShiftRidgeParams::default();
    change(&mut params);
    params.check().unwrap()
}

crate::conformance!(chosen, variant(|_| ()));
crate::conformance!(clipped, variant(|params| params.clip = true));
