//! The comparison that the project is about: relative errors at equal oracle entries on an indefinite matrix.
//!
//! The matrix has the spectrum of a fine-tuned cross-encoder's on 500 sentences (55 negative eigenvalues, λmax ≈ 62,
//! λmin ≈ −8.5) in random directions. The real matrix' errors are in the project's notes; this one checks that the order of
//! the methods and the known defects of the published ones come out, not the third digit.

use landmark_core::approximate::{
    Approximate, Nystrom, Optimal, ShiftRidgeParams, SiCurParams, Skeleton, SmsNystromParams, StaCur,
};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::linalg::{product, qr, relative_error};
use landmark_core::oracle::{AsymmetryPolicy, Precomputed};
use landmark_core::stream::stream;
use ndarray::{Array1, Array2};
use rand::Rng;

const N: usize = 500;
const TRIALS: u64 = 3;

fn cross_encoder_like() -> Precomputed {
    let mut rng = stream(2022, "equal entries", "matrix", 0);
    let (directions, _) = qr(Array2::from_shape_fn((N, N), |_| rng.gen_range(-1.0..1.0)).view()).expect("finite");
    let spectrum: Array1<f64> = (0..N)
        .map(|k| if k < 55 { -8.5 / (1.0 + k as f64).powf(0.7) } else { 62.0 / (k as f64 - 54.0).powf(0.9) })
        .collect();
    let matrix = product((&directions * &spectrum).view(), directions.t());
    Precomputed::new(matrix, AsymmetryPolicy::Reject).expect("symmetric up to rounding")
}

/// Mean relative error at the price of `columns` full columns.
fn error(oracle: &Precomputed, method: &dyn Approximate, columns: usize, known: Known) -> f64 {
    let rank = method.rank_for_columns(N, columns);
    let errors = (0..TRIALS).map(|replicate| {
        let landmarks = Landmarks::uniform(N, &mut stream(2022, "equal entries", "landmarks", replicate));
        let mut rng = stream(2022, "equal entries", "fit", replicate);
        let fit = method.fit(oracle, &landmarks, rank, known, &mut rng).expect("a possible rank");
        relative_error(oracle.matrix().view(), fit.to_dense().expect("no addend").view())
    });
    errors.sum::<f64>() / TRIALS as f64
}

/// s/n = .1 and .3.
const COLUMNS: [usize; 2] = [50, 150];

#[test]
fn shift_ridge_beats_the_published_methods_and_known_entries_help() {
    let oracle = cross_encoder_like();
    let sms = SmsNystromParams::default().check().unwrap();
    let sicur = SiCurParams::default().check().unwrap();
    let ours = ShiftRidgeParams::default().check().unwrap();
    let optimal = Optimal;
    for columns in COLUMNS {
        let [sms, sicur, ours, with_known, optimal] = [
            error(&oracle, &sms, columns, Known::NOTHING),
            error(&oracle, &sicur, columns, Known::NOTHING),
            error(&oracle, &ours, columns, Known::NOTHING),
            error(&oracle, &ours, columns, Known::LANDMARKS),
            error(&oracle, &optimal, columns, Known::NOTHING),
        ];
        assert!(with_known < ours && ours < sicur && sicur < sms, "{with_known} {ours} {sicur} {sms}");
        // no matrix of this rank is nearer than the optimum, which needs all of K
        assert!(optimal < ours, "{optimal} {ours}");
    }
}

#[test]
fn sms_as_printed_rises_again_and_the_corrected_diagonal_does_not() {
    let oracle = cross_encoder_like();
    let printed = SmsNystromParams::default().check().unwrap();
    let corrected = SmsNystromParams { correct_diagonal: true, ..Default::default() }.check().unwrap();
    let [few, many] = COLUMNS.map(|columns| error(&oracle, &printed, columns, Known::NOTHING));
    assert!(many > 1.3 * few, "{few} {many}");
    let [few_corrected, many_corrected] = COLUMNS.map(|columns| error(&oracle, &corrected, columns, Known::NOTHING));
    assert!(many_corrected < few_corrected, "{few_corrected} {many_corrected}");
    // measured on other indefinite matrices: .31 to .70 of the error as printed at s/n = .3
    let ratio = many_corrected / many;
    assert!((0.31..0.70).contains(&ratio), "{ratio}");
}

#[test]
fn nystrom_and_skeleton_explode_on_an_indefinite_matrix_and_stacur_is_poor() {
    let oracle = cross_encoder_like();
    let nystrom = Nystrom;
    let skeleton = Skeleton;
    let stacur = StaCur::default();
    for columns in COLUMNS {
        assert!(error(&oracle, &nystrom, columns, Known::NOTHING) > 1.0);
        assert!(error(&oracle, &skeleton, columns, Known::NOTHING) > 1.0);
        let poor = error(&oracle, &stacur, columns, Known::NOTHING);
        assert!((0.5..1.2).contains(&poor), "{poor}");
    }
}
