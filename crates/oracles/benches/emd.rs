//! Time of the word mover's distance and of its bounds, word distances included, by pairs.
//!
//! `cargo bench -p landmark-oracles --no-default-features --bench emd`; with `LANDMARK_DATA` also on the real corpora.
//! Pairs are 8 columns × 400 rows, the way approximators buy them. Against a named peer: `scripts/peers/emd.py`.

#![allow(clippy::unwrap_used)] // a benchmark

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use landmark_core::oracle::{Oracle, Pair};
use landmark_oracles::wmd::{EmptyDocuments, Rwmd, Wcd, Wmd, WordClouds};
use rayon::ThreadPoolBuilder;

#[path = "emd/shapes.rs"]
mod shapes;
use shapes::{Shape, real, synthetic_news, synthetic_tweets};

const COLUMNS: usize = 8;
const ROWS: usize = 400;

fn documents(criterion: &mut Criterion) {
    time(criterion, "synthetic_tweets", &synthetic_tweets());
    time(criterion, "synthetic_news", &synthetic_news());
    for name in ["twitter", "20news"] {
        match real(name) {
            Ok(Some(shape)) => time(criterion, name, &shape),
            Ok(None) => eprintln!("skipped {name}: LANDMARK_DATA is not set"),
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

fn time(criterion: &mut Criterion, name: &str, shape: &Shape) {
    let clouds = WordClouds::new(&shape.bags, shape.vectors.view(), EmptyDocuments::Error).unwrap();
    let clouds = Arc::new(clouds);
    let pairs: Vec<Pair> = (0..COLUMNS).flat_map(|j| (COLUMNS..COLUMNS + ROWS).map(move |i| (i, j))).collect();
    let mut scores = vec![0.0; pairs.len()];
    let oracles: [(&str, Box<dyn Oracle>); 3] = [
        ("wmd", Box::new(Wmd::new(clouds.clone()))),
        ("rwmd", Box::new(Rwmd::new(clouds.clone()))),
        ("wcd", Box::new(Wcd::new(clouds.clone()))),
    ];
    let mut group = criterion.benchmark_group(format!("emd/{name}"));
    group.sample_size(10).throughput(Throughput::Elements(pairs.len() as u64));
    for (id, oracle) in &oracles {
        for threads in [1, 2] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            group.bench_function(BenchmarkId::new(*id, format!("{threads} threads")), |bencher| {
                bencher.iter(|| pool.install(|| oracle.evaluate(&pairs, &mut scores).unwrap()));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, documents);
criterion_main!(benches);
