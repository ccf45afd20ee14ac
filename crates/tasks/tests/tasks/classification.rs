//! Classification end to end on synthetic items.

use landmark_core::stream::stream;
use landmark_tasks::TaskError;
use landmark_tasks::classification::{
    ClassificationParams, KernelClassificationParams, Scaling, classify, classify_kernel, cross_validate,
    cross_validate_kernel,
};
use landmark_tasks::kernel_svm::KernelSvmParams;
use landmark_tasks::linear_svm::LinearSvmParams;
use landmark_tasks::svm::Tolerance;
use ndarray::Array2;
use rand::Rng;

/// Three overlapping clouds with labels 5, 7 and 9, and a split of their items.
fn clouds() -> (Array2<f64>, Vec<usize>, Vec<usize>, Vec<usize>) {
    let rng = &mut stream(1, "test", "clouds", 0);
    let labels: Vec<usize> = (0..150).map(|i| 5 + 2 * (i % 3)).collect();
    let mut noise = || (0..4).map(|_| rng.gen_range(-1.0..1.0)).sum::<f64>();
    let centers = Array2::from_shape_simple_fn((3, 6), || 0.8 * noise());
    let x = Array2::from_shape_fn((150, 6), |(i, j)| centers[[i % 3, j]] + noise());
    let (train, test) = (0..150).partition(|i| i % 5 != 0);
    (x, labels, train, test)
}

fn params(costs: &[f64], scaling: Scaling) -> ClassificationParams {
    ClassificationParams { costs: costs.to_vec(), folds: 5, scaling, ..Default::default() }
}

#[test]
fn the_cost_is_the_best_of_cross_validation_on_the_training_items() {
    let (x, labels, train, test) = clouds();
    let params = params(&[1e-5, 1.0, 0.01], Scaling::None).check().unwrap();
    let outcome = classify(x.view(), &labels, &train, &test, &params, 3).unwrap();
    let table = cross_validate(x.view(), &labels, &train, &params, 3).unwrap();
    assert_eq!(outcome.cross_validation.as_ref(), Some(&table));
    assert_eq!(outcome.c, table.best().c);
    assert_eq!(table.costs.iter().map(|entry| entry.c).collect::<Vec<_>>(), [1e-5, 1.0, 0.01]);
    assert!(outcome.accuracy > 0.75, "{}", outcome.accuracy);
    assert!(outcome.predictions.iter().all(|label| [5, 7, 9].contains(label)));
}

#[test]
fn test_labels_do_not_leak_into_the_choice_or_the_predictions() {
    let (x, labels, train, test) = clouds();
    let params = params(&[0.01, 1.0], Scaling::Columns).check().unwrap();
    let mut scrambled = labels.clone();
    test.iter().for_each(|&i| scrambled[i] = 5);
    let honest = classify(x.view(), &labels, &train, &test, &params, 3).unwrap();
    let blind = classify(x.view(), &scrambled, &train, &test, &params, 3).unwrap();
    assert_eq!(honest.cross_validation, blind.cross_validation);
    assert_eq!(honest.predictions, blind.predictions);
}

#[test]
fn a_kernel_machine_on_the_linear_kernel_agrees_with_the_linear_machine() {
    let (x, labels, train, test) = clouds();
    let gram = x.dot(&x.t());
    let svm = LinearSvmParams {
        c: 0.1,
        bias: None,
        loss: landmark_tasks::svm::Loss::Hinge,
        tolerance: Tolerance::DualityGap(1e-10),
        max_epochs: 100_000,
        ..Default::default()
    };
    let linear = ClassificationParams { svm, ..params(&[], Scaling::None) }.check().unwrap();
    let svm = KernelSvmParams {
        c: 0.1,
        bias: false,
        tolerance: Tolerance::DualityGap(1e-10),
        max_epochs: 100_000,
        ..Default::default()
    };
    let kernel = KernelClassificationParams { svm, ..Default::default() }.check().unwrap();
    let with_features = classify(x.view(), &labels, &train, &test, &linear, 3).unwrap();
    let with_gram = classify_kernel(gram.view(), &labels, &train, &test, &kernel, 3).unwrap();
    assert_eq!(with_features.predictions, with_gram.predictions);
    assert!(with_gram.support.unwrap() < train.len());
}

#[test]
fn kernel_costs_are_cross_validated_too() {
    let (x, labels, train, test) = clouds();
    let gram = x.dot(&x.t());
    let params = KernelClassificationParams { costs: vec![1e-4, 0.1], folds: 4, ..Default::default() }.check().unwrap();
    let outcome = classify_kernel(gram.view(), &labels, &train, &test, &params, 3).unwrap();
    let table = cross_validate_kernel(gram.view(), &labels, &train, &params, 3).unwrap();
    assert_eq!(outcome.cross_validation, Some(table));
}

#[test]
fn a_label_that_is_only_tested_is_reported_and_counts_as_wrong() {
    let (x, mut labels, train, test) = clouds();
    labels[test[0]] = 4;
    let outcome =
        classify(x.view(), &labels, &train, &test, &params(&[1.0], Scaling::None).check().unwrap(), 3).unwrap();
    assert_eq!(outcome.unseen_labels, [4]);
    assert_ne!(outcome.predictions[0], 4);
}

#[test]
fn a_label_rarer_than_the_folds_does_no_harm() {
    let (x, mut labels, train, test) = clouds();
    labels[train[0]] = 1;
    let params = params(&[0.1, 1.0], Scaling::None).check().unwrap();
    classify(x.view(), &labels, &train, &test, &params, 3).unwrap();
}

#[test]
fn bad_input_names_the_item_of_the_whole() {
    let (mut x, mut labels, train, test) = clouds();
    let params = params(&[1.0], Scaling::None).check().unwrap();
    let message = |x: &Array2<f64>, labels: &[usize]| {
        classify(x.view(), labels, &train, &test, &params, 3).unwrap_err().to_string()
    };
    let short = classify(x.view(), &labels[1..], &train, &test, &params, 3).unwrap_err();
    assert_eq!(short, TaskError::Labels { items: 150, labels: 149 });
    x[[41, 2]] = f64::NAN;
    assert_eq!(message(&x, &labels), "feature 2 of row 41 is NaN, but must be finite");
    x[[41, 2]] = 0.0;
    x[[40, 3]] = f64::INFINITY; // a test item
    assert_eq!(message(&x, &labels), "feature 3 of row 40 is inf, but must be finite");
    x[[40, 3]] = 0.0;
    let kept = std::mem::replace(&mut x[[41, 2]], 2e154);
    assert!(message(&x, &labels).starts_with("row 41 is too long to be squared"));
    x[[41, 2]] = kept;
    labels.fill(9);
    assert_eq!(message(&x, &labels), "all 120 training rows have label 9: a classifier needs at least two labels");
}
