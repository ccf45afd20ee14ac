//! Kernel evaluations a second, on one thread: the library against the naive twin, and how both grow with the trees.
//!
//! `cargo bench -p landmark-oracles --no-default-features --bench tree_kernels`; with `LANDMARK_DATA` also on TREC's
//! dependency trees. The twin (`tree_kernels/twin.rs`) is the published recursion, written down plainly.

#![allow(clippy::unwrap_used)] // a benchmark

use std::path::PathBuf;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use landmark_core::oracle::{Oracle, Pair};
use landmark_core::stream::stream;
use landmark_data::{Tree, TreeBuilder, catalog};
use landmark_oracles::tree_kernel::{Forest, TreeKernel, TreeKernelParams};
use rand::Rng;
use rayon::ThreadPoolBuilder;

#[path = "tree_kernels/twin.rs"]
mod twin;
use twin::Plain;

/// Trees whose size and labels look like dependency trees: 40 labels, up to five children.
fn synthetic(nodes: usize) -> Vec<Tree> {
    let mut rng = stream(8, "tree_kernels", "bench", nodes as u64);
    let tree = |rng: &mut _| -> Tree { grow(nodes, rng) };
    (0..40).map(|_| tree(&mut rng)).collect()
}

fn grow(nodes: usize, rng: &mut impl Rng) -> Tree {
    let mut builder = TreeBuilder::new("ROOT");
    for _ in 1..nodes {
        while builder.depth() > 2 && rng.gen_bool(0.5) {
            builder.close();
        }
        builder.open(&format!("L{}", rng.gen_range(0..40)));
    }
    builder.finish()
}

fn time(criterion: &mut Criterion, name: &str, trees: &[Tree]) {
    let forest = Arc::new(Forest::new(trees).unwrap());
    let pairs: Vec<Pair> = (0..8).flat_map(|j| (8..trees.len()).map(move |i| (i, j))).collect();
    let mut scores = vec![0.0; pairs.len()];
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut group = criterion.benchmark_group(format!("tree_kernels/{name}"));
    group.sample_size(10).throughput(Throughput::Elements(pairs.len() as u64));
    let sst = TreeKernelParams::Sst { lambda: 0.4, leaves: false };
    for params in [TreeKernelParams::St { lambda: 0.4, leaves: false }, sst, TreeKernelParams::ptk()] {
        let kernel = TreeKernel::new(forest.clone(), params.check().unwrap());
        group.bench_function(BenchmarkId::new(params.id(), "landmark"), |bencher| {
            bencher.iter(|| pool.install(|| kernel.evaluate(&pairs, &mut scores).unwrap()));
        });
    }
    let plain: Vec<Plain<'_>> = trees.iter().map(Plain::new).collect();
    let equal = |a: &str, b: &str| if a == b { 1.0 } else { 0.0 };
    group.bench_function(BenchmarkId::new("sst", "twin"), |bencher| {
        bencher.iter(|| -> f64 { pairs.iter().map(|&(i, j)| twin::subset((&plain[i], &plain[j]), 0.4, false)).sum() });
    });
    group.bench_function(BenchmarkId::new("ptk", "twin"), |bencher| {
        let params = [0.4, 0.4, 5.0];
        bencher.iter(|| -> f64 { pairs.iter().map(|&(i, j)| twin::ptk((&plain[i], &plain[j]), params, &equal)).sum() });
    });
    group.finish();
}

fn kernels(criterion: &mut Criterion) {
    for nodes in [10, 20, 40, 80, 160] {
        time(criterion, &format!("{nodes} nodes"), &synthetic(nodes));
    }
    match std::env::var_os(catalog::DATA_VARIABLE).map(PathBuf::from) {
        None => eprintln!("skipped trec: LANDMARK_DATA is not set"),
        Some(folder) => {
            let ids: Vec<String> = (1..=200).map(|line| format!("train/{line}")).collect();
            let trees = catalog::load_kelp("trec", Some(&folder)).unwrap().trees("grct", &ids).unwrap();
            time(criterion, "trec grct", &trees);
        }
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
