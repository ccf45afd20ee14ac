//! Both forms against the independent NumPy implementation (tests/golden/frequent_directions.json), which factors by SVD.

use ndarray::Array2;
use serde_json::Value;

use super::*;
use landmark_core::linalg::{eigvalsh, spectral_norm};
use landmark_core::oracle::Identity;

fn matrix(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).unwrap();
    Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
}

fn cases() -> (f64, Vec<Value>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/frequent_directions.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = file["cases"].as_array().unwrap().clone();
    assert!(cases.len() >= 4);
    (file["tol"].as_f64().unwrap(), cases)
}

fn sketch_of(case: &Value, form: Form) -> FrequentDirections {
    let l = usize::try_from(case["l"].as_u64().unwrap()).unwrap();
    let buffer = (form == Form::Buffered).then_some(2 * l);
    let x = matrix(&case["X"]);
    let mut sketch = FrequentDirectionsParams { rows: l, form, buffer }.check(x.ncols(), Identity::of(&[])).unwrap();
    x.rows().into_iter().for_each(|row| sketch.append(&row.to_vec()).unwrap());
    sketch.finish().unwrap();
    sketch
}

#[test]
fn both_forms_shrink_as_often_and_to_the_same_covariance_as_the_reference() {
    let (tolerance, cases) = cases();
    for case in &cases {
        for (form, name) in [(Form::Figure1, "liberty"), (Form::Buffered, "fast2l")] {
            let (sketch, wanted) = (sketch_of(case, form), &case[name]);
            let difference = sketch.gram() - matrix(&wanted["YtY"]);
            // the file states its tolerance for numbers of size 1; these are up to a few hundred
            let scale = case["fro2"].as_f64().unwrap();
            assert!(difference.iter().all(|d| d.abs() <= tolerance * scale.max(1.0)), "{name}: {difference}");
            let bound = sketch.bound();
            // the reference lets a zero row of X take a place; in figure 1 the row stays "zero-valued" and the next one goes there
            let zero_rows = matrix(&case["X"]).rows().into_iter().any(|row| row.iter().all(|&value| value == 0.0));
            let steps = wanted["n_svd"].as_u64().unwrap();
            assert!(bound.shrinks == steps || (zero_rows && bound.shrinks < steps), "{name}: {} steps", bound.shrinks);
            if let Some(subtracted) = wanted["sum_delta"].as_f64() {
                assert!((bound.subtracted - subtracted).abs() <= tolerance * scale, "{name}");
            }
            assert!((bound.squared_norm - scale).abs() <= tolerance * scale);
        }
    }
}

#[test]
fn the_error_is_that_of_the_reference_within_both_bounds_and_never_negative() {
    let (tolerance, cases) = cases();
    for case in &cases {
        let (x, scale) = (matrix(&case["X"]), case["fro2"].as_f64().unwrap());
        for (form, name, proven) in
            [(Form::Figure1, "liberty", "bound_2F_over_l"), (Form::Buffered, "fast2l", "bound_min_tail")]
        {
            let (sketch, wanted) = (sketch_of(case, form), &case[name]);
            let lost = x.t().dot(&x) - sketch.gram();
            let error = spectral_norm(lost.view()).unwrap();
            let slack = tolerance * scale;
            assert!((error - wanted["err2"].as_f64().unwrap()).abs() <= slack, "{name}: {error}");
            assert!(error <= sketch.bound().subtracted + slack && error <= wanted[proven].as_f64().unwrap() + slack);
            assert!(sketch.bound().subtracted <= wanted[proven].as_f64().unwrap() + slack, "{name}");
            assert!(eigvalsh(lost.view()).unwrap()[0] >= -slack, "{name}");
        }
    }
}
