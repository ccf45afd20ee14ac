//! Coreference: average linkage on a matrix and on factors, and scoring 100,000 mentions.
//!
//! Rules: data from seed 2022, built outside the timed closure. The ratio against SciPy is measured by `scripts/peers/coref.py`.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use landmark_core::stream::stream;
use landmark_tasks::coreference::{
    CondensedDistances, Linkage, Singletons, average_linkage_of_factors, score_coreference,
};
use ndarray::{Array1, Array2};
use rand::Rng;

fn linkage(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("average_linkage");
    group.sample_size(10);
    for n in [1_000_usize, 4_000] {
        let rng = &mut stream(2022, "synthetic", "bench_linkage", n as u64);
        let values: Vec<f64> = (0..n * (n - 1) / 2).map(|_| rng.gen_range(0.0..1.0)).collect();
        let distances = CondensedDistances::new(n, values).expect("finite");
        group.bench_function(format!("matrix/{n}"), |bencher| {
            bencher.iter_batched(|| distances.clone(), |d| d.link(Linkage::Average), BatchSize::LargeInput);
        });
        let vectors = Array2::from_shape_simple_fn((n, 64), || rng.gen_range(-0.3..0.3));
        let signature = Array1::ones(64);
        group.bench_function(format!("factors_rank_64/{n}"), |bencher| {
            bencher.iter(|| average_linkage_of_factors(black_box(vectors.view()), signature.view()).expect("finite"));
        });
    }
}

/// 100,000 mentions in 10,000 clusters; a share of them was put elsewhere by the response.
fn scores(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("scores_100000_mentions");
    group.sample_size(10);
    for moved in [0.05, 0.3, 1.0] {
        let rng = &mut stream(2022, "synthetic", "bench_scores", 0);
        let (mut key, mut response) = (vec![Vec::new(); 10_000], vec![Vec::new(); 10_000]);
        for mention in 0..100_000_usize {
            let cluster = rng.gen_range(0..10_000);
            key[cluster].push(mention);
            response[if rng.gen_bool(moved) { rng.gen_range(0..10_000) } else { cluster }].push(mention);
        }
        group.bench_function(format!("moved/{moved}"), |bencher| {
            bencher
                .iter(|| score_coreference(black_box(&[(&key[..], &response[..])]), Singletons::Keep).expect("scored"));
        });
    }
}

criterion_group!(benches, linkage, scores);
criterion_main!(benches);
