//! Structured products and transforms. `scripts/peers/structured.py` compares them with SciPy and NumPy on one input.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use landmark_core::stream::stream;
use landmark_features::structured::transforms::{FftPlans, Room, walsh_hadamard};
use landmark_features::structured::{Family, SignHasher, SphericalKernel, StructuredFeaturesParams};
use ndarray::Array2;
use rand::Rng;

fn numbers(n: usize) -> Vec<f64> {
    let mut rng = stream(2022, "bench", "numbers", 0);
    (0..n).map(|_| rng.gen_range(-1.0..1.0)).collect()
}

fn products(criterion: &mut Criterion) {
    const N: usize = 4096;
    let x = numbers(N);
    let mut group = criterion.benchmark_group("product/n=m=4096");
    for family in [
        Family::Circulant,
        Family::Toeplitz,
        Family::Hankel,
        Family::LowDisplacement { rank: 4, nonzeros: 1 },
        Family::Fastfood { independent_norms: false },
        Family::Hd3,
    ] {
        let matrix = family.draw(N, N, &mut stream(2022, "bench", "matrix", 0), &mut FftPlans::new());
        let matrix = matrix.expect("good parameters");
        let (mut out, mut room) = (vec![0.0; N], Room::default());
        group.bench_function(family.id(), |bencher| {
            bencher.iter(|| matrix.apply_row(black_box(&x), &mut out, &mut room));
        });
    }
    group.finish();
}

fn hadamard(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hadamard");
    for n in [1 << 10, 1 << 16, 1 << 20] {
        // zeros stay zeros, however often they are transformed
        let mut x = vec![0.0_f64; n];
        group.bench_function(format!("n={n}"), |bencher| {
            bencher.iter(|| walsh_hadamard(black_box(&mut x)).expect("a power of two"));
        });
    }
    group.finish();
}

fn features(criterion: &mut Criterion) {
    let items = Array2::from_shape_vec((1000, 1024), numbers(1000 * 1024)).expect("as many numbers");
    let mut group = criterion.benchmark_group("features/1000x1024");
    for kernel in [SphericalKernel::Relu, SphericalKernel::Gaussian { sigma: 30.0 }] {
        let params = StructuredFeaturesParams { kernel, features: 1024, ..Default::default() };
        let map = params.check().and_then(|valid| valid.draw(1024)).expect("good parameters");
        group.bench_function(kernel.id(), |bencher| bencher.iter(|| black_box(map.features(items.view()))));
    }
    let params = StructuredFeaturesParams { kernel: SphericalKernel::Sign, features: 1024, ..Default::default() };
    let hasher = params.check().and_then(|valid| SignHasher::draw(&valid, 1024)).expect("good parameters");
    let hashes = hasher.hash(items.view()).expect("finite items");
    group.bench_function("hamming of all pairs", |bencher| bencher.iter(|| black_box(hashes.hamming_block(&hashes))));
    group.finish();
}

criterion_group!(benches, products, hadamard, features);
criterion_main!(benches);
