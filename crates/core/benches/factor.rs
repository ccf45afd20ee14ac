//! Factoring n = 3,000 items at s = 700 from entries that cost nothing: eigendecompositions and products, no oracle.
//!
//! The matrix has the shape of a cross-encoder's: a positive part of falling spectrum plus symmetric noise, so that about a
//! quarter of the eigenvalues are negative. Built once, outside the timed closures. `scripts/peers/factor.py` compares the
//! same work with NumPy on one input.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use landmark_core::approximate::{Approximate, Nystrom, ShiftRidgeParams, SiCurParams, SmsNystromParams, StaCur};
use landmark_core::approximation::Known;
use landmark_core::landmarks::Landmarks;
use landmark_core::linalg::product;
use landmark_core::oracle::{AsymmetryPolicy, Precomputed};
use landmark_core::stream::stream;
use ndarray::Array2;
use rand::Rng;

const N: usize = 3000;
const S: usize = 700;

fn similarity() -> Precomputed {
    let mut rng = stream(2022, "bench", "factor", 0);
    let signal = Array2::from_shape_fn((N, 100), |(_, k)| rng.gen_range(-1.0..1.0) / (1.0 + k as f64 / 4.0));
    let noise = Array2::from_shape_fn((N, N), |_| rng.gen_range(-0.05..0.05));
    let matrix = product(signal.view(), signal.t()) + (&noise + &noise.t());
    Precomputed::new(matrix, AsymmetryPolicy::Mean).expect("a finite square matrix")
}

fn factor(criterion: &mut Criterion) {
    let oracle = similarity();
    let landmarks = Landmarks::uniform(N, &mut stream(2022, "bench", "landmarks", 0));
    let checked = "default parameters are valid";
    let methods: Vec<(&str, Box<dyn Approximate>, usize)> = vec![
        ("nystrom", Box::new(Nystrom), S),
        ("sms_nystrom", Box::new(SmsNystromParams::default().check().expect(checked)), S),
        // s2 = 700 columns are rank 350
        ("sicur", Box::new(SiCurParams::default().check().expect(checked)), S / 2),
        ("stacur", Box::new(StaCur::default()), S),
        ("shift_ridge", Box::new(ShiftRidgeParams::default().check().expect(checked)), S),
    ];
    let mut group = criterion.benchmark_group("factor/n=3000,s=700");
    group.sample_size(10);
    for (name, method, rank) in &methods {
        group.bench_function(*name, |bencher| {
            bencher.iter(|| {
                let mut rng = stream(2022, "bench", "fit", 0);
                let fit = method.fit(&oracle, &landmarks, *rank, Known::NOTHING, &mut rng);
                black_box(fit.expect("a finite matrix").rank())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, factor);
criterion_main!(benches);
