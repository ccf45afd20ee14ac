//! Tree kernel evaluations a second on one thread, against the naive twin and by the size of the trees; and seconds for landmark
//! columns and for the whole matrix of TREC's questions on all threads.
//!
//! `LANDMARK_DATA=… cargo run --release -p landmark-oracles --example time_tree_kernels`

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a measurement

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use landmark_core::oracle::{Oracle, Pair, block_of};
use landmark_core::stream::stream;
use landmark_data::{Tree, TreeBuilder, catalog};
use landmark_oracles::combined::Normalized;
use landmark_oracles::tree_kernel::{Forest, TreeKernel, TreeKernelParams};
use rand::Rng;
use rayon::ThreadPoolBuilder;

#[path = "../tests/oracles/tree_kernels/twin.rs"]
mod twin;
use twin::Plain;

const SST: TreeKernelParams = TreeKernelParams::Sst { lambda: 0.4, leaves: false };

fn main() {
    let folder = std::env::var_os(catalog::DATA_VARIABLE).map(PathBuf::from);
    let examples = catalog::load_kelp("trec", folder.as_deref()).unwrap();
    let ids: Vec<String> = examples.documents("quest").unwrap().ids().to_vec();
    let trees = examples.trees("grct", &ids).unwrap();
    println!("one thread: evaluations a second, landmark / twin = ratio");
    against_twin("TREC grct", &trees[..200]);
    for nodes in [10, 20, 40, 80, 160, 320] {
        against_twin(&format!("random, {nodes} nodes"), &synthetic(nodes));
    }
    columns(&trees);
}

/// Trees of 40 labels, about as bushy as dependency trees.
fn synthetic(nodes: usize) -> Vec<Tree> {
    let mut rng = stream(8, "tree_kernels", "bench", nodes as u64);
    let mut grow = || {
        let mut builder = TreeBuilder::new("ROOT");
        for _ in 1..nodes {
            while builder.depth() > 2 && rng.gen_bool(0.5) {
                builder.close();
            }
            builder.open(&format!("L{}", rng.gen_range(0..40)));
        }
        builder.finish()
    };
    (0..40).map(|_| grow()).collect()
}

fn seconds(mut run: impl FnMut()) -> f64 {
    let timed = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..5).map(timed).fold(f64::INFINITY, f64::min)
}

fn against_twin(name: &str, trees: &[Tree]) {
    let forest = Arc::new(Forest::new(trees).unwrap());
    let pairs: Vec<Pair> = (0..8).flat_map(|j| (8..trees.len()).map(move |i| (i, j))).collect();
    let plain: Vec<Plain<'_>> = trees.iter().map(Plain::new).collect();
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut scores = vec![0.0; pairs.len()];
    let mut ours = |params: TreeKernelParams| {
        let kernel = TreeKernel::new(forest.clone(), params.check().unwrap());
        // many calls a round: handing one to the pool must not count
        let calls = 1 + 20_000 / pairs.len();
        let mut all = || (0..calls).for_each(|_| kernel.evaluate(&pairs, &mut scores).unwrap());
        (calls * pairs.len()) as f64 / seconds(|| pool.install(&mut all))
    };
    let (sst, ptk) = (ours(SST), ours(TreeKernelParams::ptk()));
    let equal = |a: &str, b: &str| if a == b { 1.0 } else { 0.0 };
    let mut sum = 0.0;
    let twin_sst = pairs.len() as f64
        / seconds(|| sum += pairs.iter().map(|&(i, j)| twin::subset((&plain[i], &plain[j]), 0.4, false)).sum::<f64>());
    let params = [0.4, 0.4, 5.0];
    let twin_ptk = pairs.len() as f64
        / seconds(|| sum += pairs.iter().map(|&(i, j)| twin::ptk((&plain[i], &plain[j]), params, &equal)).sum::<f64>());
    assert!(sum.is_finite());
    println!(
        "{name}: sst {sst:.0} / {twin_sst:.0} = {:.1}; ptk {ptk:.0} / {twin_ptk:.0} = {:.1}",
        sst / twin_sst,
        ptk / twin_ptk
    );
}

fn columns(trees: &[Tree]) {
    let forest = Arc::new(Forest::new(trees).unwrap());
    let nodes = forest.nodes() as f64 / forest.len() as f64;
    let (labels, threads) = (forest.labels().len(), rayon::current_num_threads());
    println!("{} trees, {nodes:.1} nodes each, {labels} labels, {threads} threads", forest.len());
    let rows: Vec<usize> = (0..5452).collect();
    let landmarks: Vec<usize> = (0..500).map(|k| k * 10).collect();
    for params in [TreeKernelParams::St { lambda: 0.4, leaves: true }, SST, TreeKernelParams::ptk()] {
        let start = Instant::now();
        let kernel = TreeKernel::new(forest.clone(), params.check().unwrap());
        let kernel = Normalized::new(Box::new(kernel)).unwrap();
        let made = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let block = block_of(&kernel, &rows, &landmarks).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let all: Vec<usize> = (0..kernel.len()).collect();
        let start = Instant::now();
        let whole = block_of(&kernel, &all, &all).unwrap();
        println!(
            "{}: made in {made:.2} s; {} × {} in {seconds:.2} s (mean {:.4}); all {} cells in {:.1} s",
            params.id(),
            rows.len(),
            landmarks.len(),
            block.mean().unwrap(),
            whole.len(),
            start.elapsed().as_secs_f64()
        );
    }
}
