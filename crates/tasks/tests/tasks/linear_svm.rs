//! The linear machines against brute-force twins and against each other.

use landmark_tasks::classification::{ClassificationParams, cross_validate};
use landmark_tasks::linear_svm::{LinearSvm, LinearSvmParams, MultiClass, Solver};
use landmark_tasks::svm::{ClassWeights, Loss, SparseRows, SvmError, Tolerance, TrainingSet};
use linfa::traits::{Fit, Predict};
use ndarray::{Array1, Array2, ArrayView2, Axis, array, concatenate, s};

use crate::assert_near;

fn noisy(rows: usize, columns: usize, classes: usize, seed: u64) -> (Array2<f64>, Vec<usize>) {
    crate::noisy(rows, columns, classes, seed, 0.5)
}

fn tight() -> LinearSvmParams {
    LinearSvmParams { tolerance: Tolerance::DualityGap(1e-11), max_epochs: 200_000, ..Default::default() }
}

fn train(params: LinearSvmParams, x: &Array2<f64>, labels: &[usize], classes: usize) -> LinearSvm {
    let machine = params.check().unwrap().train(x, labels, classes, 7).unwrap();
    assert!(machine.report().converged(), "{:?}", machine.report());
    machine
}

/// [weights | bias] as one matrix, for comparisons.
fn solution(machine: &LinearSvm) -> Array2<f64> {
    concatenate![Axis(1), machine.weights(), machine.bias().view().insert_axis(Axis(1))]
}

fn with_ones(x: &Array2<f64>) -> Array2<f64> {
    concatenate![Axis(1), x.view(), Array2::ones((x.nrows(), 1))]
}

/// w of min ½αᵀQα − Σα + Σα²/4C over the box, by projected gradient with a constant step.
fn binary_twin(x: ArrayView2<'_, f64>, signs: &Array1<f64>, c: f64, loss: Loss) -> Array1<f64> {
    let signed = &x * &signs.view().insert_axis(Axis(1));
    let mut q = signed.dot(&signed.t());
    let upper = if loss == Loss::Hinge { c } else { f64::INFINITY };
    if loss == Loss::SquaredHinge {
        q.diag_mut().map_inplace(|d| *d += 0.5 / c);
    }
    let step = 1.0 / q.diag().sum(); // trace ≥ largest eigenvalue
    let mut alpha = Array1::<f64>::zeros(signs.len());
    for _ in 0..400_000 {
        let gradient = q.dot(&alpha) - 1.0;
        alpha = (&alpha - &(gradient * step)).mapv(|a| a.clamp(0.0, upper));
    }
    signed.t().dot(&alpha)
}

/// W (classes × d) of the Crammer–Singer dual by projected gradient; the projection onto {Σ_m α_m = 0, α_m ≤ U_m} by bisection.
fn crammer_singer_twin(x: ArrayView2<'_, f64>, labels: &[usize], classes: usize, c: f64) -> Array2<f64> {
    let gram = x.dot(&x.t());
    let step = 1.0 / gram.diag().sum();
    let margins = Array2::from_shape_fn((labels.len(), classes), |(i, m)| if m == labels[i] { 0.0 } else { 1.0 });
    let mut alpha = Array2::<f64>::zeros(margins.dim());
    for _ in 0..60_000 {
        let gradient = gram.dot(&alpha) + &margins;
        alpha -= &(gradient * step);
        for (i, mut row) in alpha.outer_iter_mut().enumerate() {
            let upper = |m: usize| if m == labels[i] { c } else { 0.0 };
            let (mut low, mut high) = (-100.0 * c, 100.0 * c);
            for _ in 0..70 {
                let shift = 0.5 * (low + high);
                let sum: f64 = row.iter().enumerate().map(|(m, a)| (a + shift).min(upper(m))).sum();
                if sum < 0.0 { low = shift } else { high = shift }
            }
            row.iter_mut().enumerate().for_each(|(m, a)| *a = (*a + low).min(upper(m)));
        }
    }
    alpha.t().dot(&x)
}

#[test]
fn both_losses_and_solvers_find_the_optimum_of_a_projected_gradient_twin() {
    let (x, labels) = noisy(14, 3, 2, 1);
    let signs: Array1<f64> = labels.iter().map(|&l| if l == 1 { 1.0 } else { -1.0 }).collect();
    let cases = [
        (Loss::Hinge, Solver::DualDescent),
        (Loss::SquaredHinge, Solver::DualDescent),
        (Loss::SquaredHinge, Solver::Newton),
    ];
    for (loss, solver) in cases {
        let twin = binary_twin(with_ones(&x).view(), &signs, 0.7, loss);
        let machine = train(LinearSvmParams { c: 0.7, loss, solver, ..tight() }, &x, &labels, 2);
        let ours = solution(&machine).slice(s![1..2, ..]).to_owned();
        // ½‖w − w*‖² ≤ gap ≤ 1e-11 · primal (about 5), so ‖w − w*‖ ≤ 1e-5
        assert_near(&ours, &twin.insert_axis(Axis(0)), 1e-5);
    }
}

#[test]
fn crammer_singer_finds_the_optimum_of_a_projected_gradient_twin() {
    let (x, labels) = noisy(15, 3, 3, 2);
    let twin = crammer_singer_twin(with_ones(&x).view(), &labels, 3, 0.4);
    let params = LinearSvmParams { c: 0.4, multi_class: MultiClass::CrammerSinger, ..tight() };
    // as above
    assert_near(&solution(&train(params, &x, &labels, 3)), &twin, 1e-5);
}

#[test]
fn a_warm_path_ends_where_separate_runs_end() {
    let (x, labels) = noisy(120, 5, 3, 5);
    let costs = [0.01, 0.1, 1.0, 0.05];
    let set = TrainingSet::new(&x, &labels, 3).unwrap();
    let cases = [
        (MultiClass::OneVsRest, Loss::Hinge, Solver::DualDescent),
        (MultiClass::OneVsRest, Loss::SquaredHinge, Solver::DualDescent),
        (MultiClass::OneVsRest, Loss::SquaredHinge, Solver::Newton),
        (MultiClass::CrammerSinger, Loss::Hinge, Solver::Auto),
    ];
    for (multi_class, loss, solver) in cases {
        let params = LinearSvmParams { multi_class, loss, solver, ..tight() };
        let path = params.clone().check().unwrap().train_path(&set, &costs, 7).unwrap();
        for (machine, c) in path.iter().zip(costs) {
            assert!(machine.report().converged());
            let alone = train(LinearSvmParams { c, ..params.clone() }, &x, &labels, 3);
            // gap ≤ 1e-11 · primal (about 60)
            assert_near(&solution(machine), &solution(&alone), 1e-4);
        }
    }
}

#[test]
fn a_large_cost_is_reached_through_smaller_ones_in_few_steps() {
    // 300 rows of random labels in 200 columns are separable, and hardly
    let (x, _) = noisy(300, 200, 2, 8);
    let labels: Vec<usize> = (0..300).map(|i| usize::from((i * i) % 7 < 3)).collect();
    let params = LinearSvmParams { solver: Solver::Newton, c: 1e6, ..Default::default() };
    let machine = train(params.clone(), &x, &labels, 2);
    // 17 from w = 0
    assert!(machine.report().epochs() <= 10, "{:?}", machine.report());
    let path: Vec<f64> = (-3..=6).map(|k| 10f64.powi(k)).collect();
    let set = TrainingSet::new(&x, &labels, 2).unwrap();
    let path = params.check().unwrap().train_path(&set, &path, 7).unwrap();
    let objective = |machine: &LinearSvm| machine.report().problems[0].primal;
    let (alone, last) = (objective(&machine), objective(&path[9]));
    // both within the gap of the optimum
    assert!((alone - last).abs() <= 2e-4 * last, "{alone} {last}");
}

#[test]
fn rows_too_long_to_be_squared_are_refused() {
    let x = array![[1.0, 0.0], [1e154, 1e154], [-1.4e154, 0.0]];
    let wanted = "row 1 is too long to be squared, but must be shorter than 1e154: divide all rows by one number";
    let sparse = SparseRows::from_dense(x.view()).unwrap();
    assert_eq!(TrainingSet::new(&x, &[0, 1, 1], 2).unwrap_err().to_string(), wanted);
    assert_eq!(TrainingSet::new(&sparse, &[0, 1, 1], 2).unwrap_err().to_string(), wanted);
}

#[test]
fn a_newton_system_beyond_f64_is_an_error() {
    // the square of each row is finite, their sum is not
    let size = 9e153;
    let x = array![[size, size], [size, 0.9 * size], [-size, -size], [-size, -0.9 * size]];
    let params = LinearSvmParams { solver: Solver::Newton, ..Default::default() }.check().unwrap();
    let error = params.train(&x, &[1, 1, 0, 0], 2, 7).unwrap_err();
    assert!(matches!(error, SvmError::Overflow { .. }), "{error}");
}

#[test]
fn a_newton_system_beyond_f64_is_an_error_of_its_fold() {
    let x = Array2::from_shape_fn((20, 2), |(i, j)| if i % 2 == 0 { 9e153 } else { -9e153 } * (1.0 - 0.1 * j as f64));
    let labels: Vec<usize> = (0..20).map(|i| i % 2).collect();
    let all: Vec<usize> = (0..20).collect();
    let params = ClassificationParams { costs: vec![1.0], folds: 2, ..Default::default() }.check().unwrap();
    let error = cross_validate(x.view(), &labels, &all, &params, 7).unwrap_err().to_string();
    assert!(error.starts_with("fold 0 of 2: the squares of the rows times `c`"), "{error}");
}

#[test]
fn sparse_rows_give_the_machine_of_dense_rows() {
    let (mut x, labels) = noisy(90, 6, 3, 8);
    x.mapv_inplace(|v| if v.abs() < 0.8 { 0.0 } else { v });
    let sparse = SparseRows::from_dense(x.view()).unwrap();
    for multi_class in [MultiClass::OneVsRest, MultiClass::CrammerSinger] {
        let params = LinearSvmParams { multi_class, ..tight() };
        let dense = train(params.clone(), &x, &labels, 3);
        let other = params.check().unwrap().train(&sparse, &labels, 3, 7).unwrap();
        assert_near(&solution(&dense), &solution(&other), 1e-4);
        let scores = (dense.decision(&x).unwrap(), dense.decision(&sparse).unwrap());
        // one machine asked twice: only the order of the sums differs
        assert_near(&scores.0, &scores.1, 1e-12);
    }
}

#[test]
fn rows_wider_than_there_are_of_them_give_the_machine_of_sparse_rows() {
    // sparse rows know no inner products: the twin walks on features alone
    let costs = [0.001, 0.1, 10.0];
    for (classes, bias, loss) in
        [(3, Some(2.0), Loss::Hinge), (2, Some(1.0), Loss::SquaredHinge), (3, None, Loss::SquaredHinge)]
    {
        let (mut x, labels) = noisy(60, 100, classes, 18);
        let twice = x.row(7).to_owned();
        x.row_mut(30).assign(&twice); // a matrix of inner products without full rank
        let sparse = SparseRows::from_dense(x.view()).unwrap();
        let params = LinearSvmParams { bias, loss, ..tight() }.check().unwrap();
        let of_dense = params.train_path(&TrainingSet::new(&x, &labels, classes).unwrap(), &costs, 7).unwrap();
        let of_sparse = params.train_path(&TrainingSet::new(&sparse, &labels, classes).unwrap(), &costs, 7).unwrap();
        for (dense, sparse) in of_dense.iter().zip(&of_sparse) {
            assert!(dense.report().converged(), "{:?}", dense.report());
            assert_near(&solution(dense), &solution(sparse), 1e-5);
            let objective = |machine: &LinearSvm| machine.report().problems[0].primal;
            assert!((objective(dense) - objective(sparse)).abs() <= 1e-9 * objective(sparse));
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for (columns, solver) in [(9, Solver::DualDescent), (9, Solver::Newton), (300, Solver::Auto)] {
        let (x, labels) = noisy(200, columns, 5, 9);
        let params = LinearSvmParams { solver, ..Default::default() }.check().unwrap();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| params.train(&x, &labels, 5, 11).unwrap())
        };
        assert_eq!(with(1), with(2));
        assert_eq!(with(1), with(5));
    }
}

#[test]
fn balanced_class_weights_are_inverse_frequencies() {
    let (x, mut labels) = noisy(30, 3, 2, 13);
    labels[..12].fill(0); // 21 rows of class 0, 9 of class 1
    assert_eq!(labels.iter().filter(|&&l| l == 1).count(), 9);
    let of = |class_weights| train(LinearSvmParams { class_weights, ..tight() }, &x, &labels, 2);
    let given = ClassWeights::Given(vec![30.0 / (2.0 * 21.0), 30.0 / (2.0 * 9.0)]);
    assert_eq!(of(ClassWeights::Balanced), of(given));
}

#[test]
fn giving_up_is_reported_with_the_gap_that_was_reached() {
    let (x, labels) = noisy(400, 20, 2, 15);
    let params = LinearSvmParams { c: 1e4, loss: Loss::Hinge, max_epochs: 3, ..Default::default() };
    let machine = params.check().unwrap().train(&x, &labels, 2, 1).unwrap();
    assert!(!machine.report().converged());
    assert!(machine.report().relative_gap() > 1e-4);
    assert_eq!(machine.report().epochs(), 3);
}

#[test]
fn linfa_traits_train_and_predict() {
    let (x, labels) = noisy(60, 4, 3, 17);
    let dataset = linfa::Dataset::new(x.clone(), Array1::from_vec(labels.clone()));
    let params = LinearSvmParams::default().check().unwrap();
    let machine: LinearSvm = params.fit(&dataset).unwrap();
    assert_eq!(machine, params.train(&x, &labels, 3, 0).unwrap());
    let predicted: Array1<usize> = Predict::predict(&machine, dataset.records());
    assert_eq!(predicted.to_vec(), machine.predict(&x).unwrap());
}

#[test]
fn bad_input_is_refused_by_name() {
    let x = array![[1.0, 0.0], [0.0, f64::NAN], [1.0, 1.0]];
    let good = array![[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]];
    let message = |x: &Array2<f64>, labels: &[usize], classes| {
        LinearSvmParams::default().check().unwrap().train(x, labels, classes, 1).unwrap_err().to_string()
    };
    assert_eq!(message(&x, &[0, 1, 1], 2), "feature 1 of row 1 is NaN, but must be finite");
    assert_eq!(
        message(&good, &[1, 1, 1], 2),
        "all 3 training rows have label 1: a classifier needs at least two labels"
    );
    assert_eq!(
        message(&good, &[0, 2, 2], 3),
        "class 1 of 3 has no training row: drop it from the classes or give it an example"
    );
    assert_eq!(message(&good, &[0, 3, 1], 3), "row 1 has label 3, but there are 3 classes (0 to 2)");
    assert_eq!(message(&good, &[0, 1], 2), "3 rows have 2 `labels`: give one a row");
    assert_eq!(
        message(&Array2::zeros((0, 2)), &[], 2),
        "cannot train on 0 rows of 2 features: both must be at least 1"
    );
    let refused = |params: LinearSvmParams| params.check().unwrap_err().to_string();
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = refused(LinearSvmParams { c, ..Default::default() });
        assert_eq!(message, format!("`c` is {c}, but must be positive and finite"));
    }
    let newton = LinearSvmParams { solver: Solver::Newton, loss: Loss::Hinge, ..Default::default() };
    assert!(refused(newton).starts_with("`solver` is newton"));
    let machine = LinearSvmParams::default().check().unwrap().train(&good, &[0, 1, 1], 2, 1).unwrap();
    assert_eq!(machine.decision(&Array2::zeros((1, 3))), Err(SvmError::Width { wanted: 2, found: 3 }));
}

#[test]
fn parameters_read_and_write_as_a_configuration_does() {
    let text = r#"{"c": 10.0, "loss": "hinge", "multi_class": "crammer_singer", "tolerance": {"violation": 0.1}}"#;
    let params: LinearSvmParams = serde_json::from_str(text).unwrap();
    assert_eq!((params.c, params.tolerance, params.bias), (10.0, Tolerance::Violation(0.1), Some(1.0)));
    assert!(serde_json::from_str::<LinearSvmParams>(r#"{"C": 1.0}"#).is_err());
}

/// Nyström-like features of overlapping clouds: the square root of a Gaussian kernel's columns, strongly uneven in scale.
fn kernel_features(rows: usize, landmarks: usize, seed: u64) -> (Array2<f64>, Vec<usize>) {
    let (x, labels) = noisy(rows, 5, 3, seed);
    let gaussian = |a: usize, b: usize| {
        let difference = &x.row(a) - &x.row(b);
        (-0.1 * difference.dot(&difference)).exp()
    };
    (Array2::from_shape_fn((rows, landmarks), |(i, j)| gaussian(i, j)), labels)
}

#[test]
fn the_costs_of_the_paper_up_to_1e12_are_solved() {
    // 380 features separate the 400 rows, 60 do not
    for landmarks in [60, 380] {
        let (x, labels) = kernel_features(400, landmarks, 18);
        let set = TrainingSet::new(&x, &labels, 3).unwrap();
        let costs: Vec<f64> = (0..=12).map(|k| 10f64.powi(k)).collect();
        let path = LinearSvmParams::default().check().unwrap().train_path(&set, &costs, 1).unwrap();
        for (machine, c) in path.iter().zip(costs) {
            assert!(machine.report().converged(), "{landmarks} features, C = {c:e}: {:?}", machine.report());
        }
    }
}
