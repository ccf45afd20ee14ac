//! The kernel machines against a brute-force twin and against linfa-svm.

use landmark_core::stream::stream;
use landmark_tasks::kernel_svm::{KernelSvm, KernelSvmParams};
use landmark_tasks::svm::Tolerance;
use linfa::traits::Fit;
use ndarray::{Array1, Array2, ArrayView2, Axis, array, s};
use rand::Rng;

use crate::assert_near;

fn noisy(rows: usize, columns: usize, classes: usize, seed: u64) -> (Array2<f64>, Vec<usize>) {
    crate::noisy(rows, columns, classes, seed, 1.0)
}

/// exp(−‖x − y‖²/width) between the rows of x and of y.
fn gaussian(x: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>, width: f64) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), y.nrows()), |(i, j)| {
        let difference = &x.row(i) - &y.row(j);
        (-difference.dot(&difference) / width).exp()
    })
}

fn indefinite(n: usize, seed: u64) -> Array2<f64> {
    let rng = &mut stream(seed, "test", "indefinite", 0);
    let x = Array2::from_shape_simple_fn((n, n), || rng.gen_range(-1.0..1.0));
    &x + &x.t()
}

fn tight() -> KernelSvmParams {
    KernelSvmParams { tolerance: Tolerance::Violation(1e-9), max_epochs: 100_000, ..Default::default() }
}

fn train(params: KernelSvmParams, gram: &Array2<f64>, labels: &[usize], classes: usize) -> KernelSvm {
    let machine = params.check().unwrap().train(gram.view(), labels, classes, 3).unwrap();
    assert!(machine.report().converged(), "{:?}", machine.report());
    machine
}

/// β of class 1 for every training item.
fn beta(machine: &KernelSvm, items: usize) -> Array1<f64> {
    let mut beta = Array1::zeros(items);
    for (&i, &b) in machine.support().iter().zip(machine.coefficients().row(1)) {
        beta[i] = b;
    }
    beta
}

/// Scores K β of max Σ y β − ½ βᵀKβ, Σβ = 0, by projected gradient; the projection onto box and plane by bisection.
fn twin_scores(gram: &Array2<f64>, signs: &Array1<f64>, c: f64) -> Array1<f64> {
    let step = 1.0 / gram.diag().sum();
    let clip = |v: f64, sign: f64| if sign > 0.0 { v.clamp(0.0, c) } else { v.clamp(-c, 0.0) };
    let mut beta = Array1::<f64>::zeros(signs.len());
    for _ in 0..100_000 {
        beta = &beta + &((signs - &gram.dot(&beta)) * step);
        let (mut low, mut high) = (-100.0 * c, 100.0 * c);
        for _ in 0..70 {
            let shift = 0.5 * (low + high);
            let sum: f64 = beta.iter().zip(signs).map(|(b, s)| clip(b - shift, *s)).sum();
            if sum > 0.0 { low = shift } else { high = shift }
        }
        beta.iter_mut().zip(signs).for_each(|(b, s)| *b = clip(*b - low, *s));
    }
    gram.dot(&beta)
}

#[test]
fn smo_finds_the_optimum_of_a_projected_gradient_twin() {
    let (x, labels) = noisy(16, 2, 2, 1);
    let gram = gaussian(x.view(), x.view(), 3.0);
    let signs: Array1<f64> = labels.iter().map(|&l| if l == 1 { 1.0 } else { -1.0 }).collect();
    let machine = train(KernelSvmParams { c: 0.8, ..tight() }, &gram, &labels, 2);
    let ours = gram.dot(&beta(&machine, 16)).insert_axis(Axis(0));
    let twin = twin_scores(&gram, &signs, 0.8).insert_axis(Axis(0));
    // the optimal scores are unique; the twin's last bisection knows its shift to 100·2⁻⁷⁰, its slow tail to about 1e-7
    assert_near(&ours, &twin, 1e-6);
}

#[test]
fn on_an_indefinite_matrix_the_end_is_a_stationary_point() {
    for seed in 0..20 {
        let gram = indefinite(40, seed);
        let labels: Vec<usize> = (0..40).map(|i| usize::from(i % 3 == 0)).collect();
        let signs: Vec<f64> = labels.iter().map(|&l| if l == 1 { 1.0 } else { -1.0 }).collect();
        let c = 1.5;
        let machine = train(KernelSvmParams { c, ..tight() }, &gram, &labels, 2);
        let beta = beta(&machine, 40);
        assert!(beta.sum().abs() < 1e-9);
        let residuals = Array1::from_vec(signs.clone()) - gram.dot(&beta);
        let box_of = |i: usize| if signs[i] > 0.0 { (0.0, c) } else { (-c, 0.0) };
        let (mut rising, mut falling) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in 0..40 {
            let (low, high) = box_of(i);
            assert!(beta[i] >= low && beta[i] <= high, "outside the box");
            if beta[i] < high {
                rising = rising.max(residuals[i]);
            }
            if beta[i] > low {
                falling = falling.min(residuals[i]);
            }
        }
        // the solver's own tolerance and the rounding of residuals kept by updates
        assert!(rising - falling <= 1e-8, "seed {seed}: violation {}", rising - falling);
        // every step improved on β = 0
        assert!(machine.report().problems[0].dual > 0.0);
    }
}

#[test]
fn a_warm_path_ends_where_separate_runs_end() {
    let (x, labels) = noisy(90, 3, 3, 5);
    let gram = gaussian(x.view(), x.view(), 5.0);
    for bias in [true, false] {
        let params = KernelSvmParams { bias, ..tight() };
        let costs = [0.1, 1.0, 10.0, 0.5];
        let path = params.clone().check().unwrap().train_path(gram.view(), &labels, 3, &costs, 3).unwrap();
        for (machine, c) in path.iter().zip(costs) {
            let alone = train(KernelSvmParams { c, ..params.clone() }, &gram, &labels, 3);
            // K β is unique and found to a violation of 1e-9; the bias where no β is free may be any of an interval
            let scores = |m: &KernelSvm| m.decision(gram.view()).unwrap() - m.bias();
            assert_near(&scores(machine), &scores(&alone), 1e-5);
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (x, labels) = noisy(90, 3, 4, 8);
    let gram = gaussian(x.view(), x.view(), 5.0);
    for bias in [true, false] {
        let params = KernelSvmParams { bias, ..Default::default() }.check().unwrap();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| params.train(gram.view(), &labels, 4, 11).unwrap())
        };
        assert_eq!(with(1), with(3));
    }
}

#[test]
fn bad_matrices_are_refused_by_name() {
    let message = |gram: Array2<f64>, labels: &[usize]| {
        KernelSvmParams::default().check().unwrap().train(gram.view(), labels, 2, 1).unwrap_err().to_string()
    };
    assert_eq!(message(Array2::zeros((2, 3)), &[0, 1]), "the Gram matrix is 2 × 3, but must be square");
    assert_eq!(
        message(array![[1.0, 0.5], [0.25, 1.0]], &[0, 1]),
        "the Gram matrix is not symmetric: K(0, 1) = 0.5, K(1, 0) = 0.25; average both first"
    );
    assert_eq!(
        message(array![[1.0, f64::INFINITY], [0.25, 1.0]], &[0, 1]),
        "K(0, 1) of the Gram matrix is inf, but must be finite"
    );
    assert_eq!(
        message(array![[1.0, 0.5], [0.5, 1.0]], &[1, 1]),
        "all 2 training rows have label 1: a classifier needs at least two labels"
    );
    let refused = KernelSvmParams { c: 0.0, ..Default::default() }.check().unwrap_err().to_string();
    assert_eq!(refused, "`c` is 0, but must be positive and finite");
}

#[test]
fn linfa_svm_finds_the_same_scores_on_a_definite_kernel() {
    let (x, labels) = noisy(120, 3, 2, 4);
    let (train_x, test_x) = (x.slice(s![..80, ..]).to_owned(), x.slice(s![80.., ..]));
    let width = 4.0;
    let gram = gaussian(train_x.view(), train_x.view(), width);
    let similarities = gaussian(test_x, train_x.view(), width);
    let ours = train(KernelSvmParams { c: 2.0, ..tight() }, &gram, &labels[..80], 2);
    let targets: Array1<bool> = labels[..80].iter().map(|&l| l == 1).collect();
    let theirs = linfa_svm::Svm::<f64, bool>::params()
        .eps(1e-9)
        .pos_neg_weights(2.0, 2.0)
        .gaussian_kernel(width)
        .fit(&linfa::Dataset::new(train_x, targets))
        .unwrap();
    let scores = ours.decision(similarities.view()).unwrap();
    for (item, score) in test_x.outer_iter().zip(scores.column(1)) {
        let theirs = theirs.weighted_sum(&item) - theirs.rho;
        // both stop at a violation of 1e-9 or below; the bias is an average over the free items
        assert!((theirs - score).abs() < 1e-5, "{theirs} against {score}");
    }
}
