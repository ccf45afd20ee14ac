//! Linear machines: 10,000 rows, both solvers' home grounds, and how an epoch grows with n; the exact kernel machine beside them.
//!
//! Rules: data from seed 2022, built outside the timed closure; ids are `group/rows×columns×classes`. The ratio against
//! scikit-learn is measured by `scripts/peers/svm.py`.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use landmark_core::stream::stream;
use landmark_tasks::kernel_svm::KernelSvmParams;
use landmark_tasks::linear_svm::{LinearSvmParams, MultiClass, Solver};
use landmark_tasks::svm::{Loss, Tolerance, TrainingSet};
use ndarray::Array2;
use rand::Rng;

/// Uniform noise of unit variance around one centre a class.
fn classes_around_centres(rows: usize, columns: usize, classes: usize) -> (Array2<f64>, Vec<usize>) {
    let rng = &mut stream(2022, "synthetic", "bench_svm", 0);
    let mut noise = |scale: f64| scale * 3f64.sqrt() * rng.gen_range(-1.0..1.0);
    let centres = Array2::from_shape_simple_fn((classes, columns), || noise(0.15));
    let mut x = Array2::from_shape_simple_fn((rows, columns), || noise(1.0));
    let labels: Vec<usize> = (0..rows).map(|i| i % classes).collect();
    x.outer_iter_mut().zip(&labels).for_each(|(mut row, &label)| row += &centres.row(label));
    (x, labels)
}

/// To a relative gap of 1e-4 at C = 1.
fn newton(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("newton");
    group.sample_size(10);
    for (rows, columns, classes) in [(10_000, 200, 3), (10_000, 500, 20)] {
        let (x, labels) = classes_around_centres(rows, columns, classes);
        let set = TrainingSet::new(&x, &labels, classes).expect("finite rows, a label each");
        let params = LinearSvmParams { solver: Solver::Newton, ..Default::default() }.check().expect("valid");
        group.bench_function(format!("{rows}×{columns}×{classes}"), |bencher| {
            bencher.iter(|| params.train_on(black_box(&set), 2022).expect("trained"));
        });
    }
}

/// Twenty epochs whatever the gap: the time of a row's visit must not grow with n.
fn dual_descent_epochs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dual_descent_20_epochs");
    group.sample_size(10);
    for rows in [2_500, 5_000, 10_000, 20_000] {
        let (x, labels) = classes_around_centres(rows, 200, 2);
        let set = TrainingSet::new(&x, &labels, 2).expect("finite rows, a label each");
        let params = LinearSvmParams {
            loss: Loss::Hinge,
            tolerance: Tolerance::Violation(1e-12),
            max_epochs: 20,
            shrinking: false,
            ..Default::default()
        };
        let params = params.check().expect("valid");
        group.throughput(Throughput::Elements(20 * rows as u64));
        group.bench_with_input(BenchmarkId::from_parameter(rows), &set, |bencher, set| {
            bencher.iter(|| params.train_on(black_box(set), 2022).expect("trained"));
        });
    }
}

/// All classes in one machine, to a relative gap of 1e-2.
fn crammer_singer(criterion: &mut Criterion) {
    let (x, labels) = classes_around_centres(4_000, 100, 10);
    let set = TrainingSet::new(&x, &labels, 10).expect("finite rows, a label each");
    let params = LinearSvmParams {
        c: 0.01,
        multi_class: MultiClass::CrammerSinger,
        tolerance: Tolerance::DualityGap(1e-2),
        ..Default::default()
    };
    let params = params.check().expect("valid");
    let mut group = criterion.benchmark_group("crammer_singer");
    group.sample_size(10);
    group.bench_function("4000×100×10", |bencher| {
        bencher.iter(|| params.train_on(black_box(&set), 2022).expect("trained"));
    });
}

/// The exact baseline at the size of the tweets' training part: a Gaussian kernel, C = 1, violation 1e-3.
fn kernel_machine(criterion: &mut Criterion) {
    let (x, labels) = classes_around_centres(2_176, 50, 3);
    let gram = Array2::from_shape_fn((2_176, 2_176), |(i, j)| {
        let difference = &x.row(i) - &x.row(j);
        (-0.01 * difference.dot(&difference)).exp()
    });
    let params = KernelSvmParams::default().check().expect("valid");
    let mut group = criterion.benchmark_group("kernel_smo");
    group.sample_size(10);
    group.bench_function("2176×3", |bencher| {
        bencher.iter(|| params.train(black_box(gram.view()), &labels, 3, 2022).expect("trained"));
    });
}

criterion_group!(benches, newton, dual_descent_epochs, crammer_singer, kernel_machine);
criterion_main!(benches);
