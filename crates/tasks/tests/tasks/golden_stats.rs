//! The metrics against values of an independent NumPy/SciPy implementation (`tests/golden/stats.json`).

use landmark_tasks::metrics::{accuracy, f1_binary, f1_macro, pearson, spearman};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::golden;

fn list<T: DeserializeOwned>(value: &Value) -> Vec<T> {
    serde_json::from_value(value.clone()).unwrap()
}

#[track_caller]
fn assert_close(actual: f64, expected: &Value, tolerance: f64, name: &str) {
    let expected = expected.as_f64().unwrap();
    assert!((actual - expected).abs() <= tolerance, "{name}: {actual}, expected {expected}");
}

#[test]
fn correlations_agree_with_scipy() {
    let golden = golden("stats.json");
    // the file's own tolerance, 1e-10: two summation orders of at most five numbers differ by a few ulp
    let tolerance = golden["tol"].as_f64().unwrap();
    for case in golden["correlation"].as_array().unwrap() {
        let (x, y) = (list::<f64>(&case["x"]), list::<f64>(&case["y"]));
        assert_close(pearson(&x, &y).unwrap(), &case["pearson"], tolerance, "pearson");
        assert_close(spearman(&x, &y).unwrap(), &case["spearman"], tolerance, "spearman");
    }
}

#[test]
fn accuracy_and_f1_agree_with_the_reference() {
    let golden = golden("stats.json");
    let tolerance = golden["tol"].as_f64().unwrap();
    for case in golden["classification"].as_array().unwrap() {
        let (truth, predicted) = (list::<usize>(&case["y_true"]), list::<usize>(&case["y_pred"]));
        assert_close(accuracy(&truth, &predicted).unwrap(), &case["accuracy"], tolerance, "accuracy");
        assert_close(f1_binary(&truth, &predicted, 1).unwrap(), &case["f1_pos1"], tolerance, "f1 of label 1");
        assert_close(f1_macro(&truth, &predicted).unwrap(), &case["f1_macro"], tolerance, "macro F1");
        assert_close(accuracy(&truth, &predicted).unwrap(), &case["f1_micro"], tolerance, "micro F1");
    }
}
