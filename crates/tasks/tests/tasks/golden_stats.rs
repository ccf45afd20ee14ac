//! The metrics against values of an independent NumPy/SciPy implementation (`tests/golden/stats.json`).

use std::path::Path;

use landmark_tasks::metrics::{accuracy, f1_binary, f1_macro, f1_micro, pearson, spearman};
use serde_json::Value;

fn golden() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/stats.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn labels(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|v| usize::try_from(v.as_u64().unwrap()).unwrap()).collect()
}

#[track_caller]
fn assert_close(actual: f64, expected: &Value, tolerance: f64, name: &str) {
    let expected = expected.as_f64().unwrap();
    assert!((actual - expected).abs() <= tolerance, "{name}: {actual}, expected {expected}");
}

#[test]
fn correlations_agree_with_scipy() {
    let golden = golden();
    // the file's own tolerance, 1e-10: two summation orders of at most five numbers differ by a few ulp
    let tolerance = golden["tol"].as_f64().unwrap();
    for case in golden["correlation"].as_array().unwrap() {
        let (x, y) = (floats(&case["x"]), floats(&case["y"]));
        assert_close(pearson(&x, &y).unwrap(), &case["pearson"], tolerance, "pearson");
        assert_close(spearman(&x, &y).unwrap(), &case["spearman"], tolerance, "spearman");
    }
}

#[test]
fn accuracy_and_f1_agree_with_the_reference() {
    let golden = golden();
    let tolerance = golden["tol"].as_f64().unwrap();
    for case in golden["classification"].as_array().unwrap() {
        let (truth, predicted) = (labels(&case["y_true"]), labels(&case["y_pred"]));
        assert_close(accuracy(&truth, &predicted).unwrap(), &case["accuracy"], tolerance, "accuracy");
        assert_close(f1_binary(&truth, &predicted, 1).unwrap(), &case["f1_pos1"], tolerance, "f1 of label 1");
        assert_close(f1_macro(&truth, &predicted).unwrap(), &case["f1_macro"], tolerance, "macro F1");
        assert_close(f1_micro(&truth, &predicted).unwrap(), &case["f1_micro"], tolerance, "micro F1");
    }
}
