//! Seconds for the landmark columns and for the whole matrix of TREC's questions, all threads, self-similarities included.
//!
//! `LANDMARK_DATA=… cargo run --release -p landmark-oracles --no-default-features --example time_tree_kernels`

#![allow(clippy::unwrap_used, clippy::print_stdout)] // a measurement

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use landmark_core::oracle::{Oracle, block_of};
use landmark_data::catalog;
use landmark_oracles::combined::Normalised;
use landmark_oracles::tree_kernel::{Forest, TreeKernel, TreeKernelParams};

fn main() {
    let folder = std::env::var_os(catalog::DATA_VARIABLE).map(PathBuf::from);
    let examples = catalog::load_kelp("trec", folder.as_deref()).unwrap();
    let ids: Vec<String> = examples.documents("quest").unwrap().ids().to_vec();
    let forest = Arc::new(Forest::new(&examples.trees("grct", &ids).unwrap()).unwrap());
    let nodes = forest.nodes() as f64 / forest.len() as f64;
    println!(
        "{} trees, {nodes:.1} nodes each, {} labels, {} threads",
        forest.len(),
        forest.labels().len(),
        rayon::current_num_threads()
    );
    let rows: Vec<usize> = (0..5452).collect();
    let columns: Vec<usize> = (0..500).map(|k| k * 10).collect();
    for params in [
        TreeKernelParams::St { lambda: 0.4, leaves: true },
        TreeKernelParams::Sst { lambda: 0.4, leaves: true },
        TreeKernelParams::ptk(),
    ] {
        let start = Instant::now();
        let kernel = TreeKernel::new(forest.clone(), params.check().unwrap());
        let kernel = Normalised::new(Box::new(kernel)).unwrap();
        let made = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let block = block_of(&kernel, &rows, &columns).unwrap();
        let seconds = start.elapsed().as_secs_f64();
        let (calls, mean) = (rows.len() * columns.len(), block.sum() / block.len() as f64);
        println!(
            "{}: made in {made:.2} s; 5,452 × 500 in {seconds:.2} s, {:.2} µs a cell (mean {mean:.4})",
            params.id(),
            1e6 * seconds / calls as f64
        );
        let start = Instant::now();
        let all: Vec<usize> = (0..kernel.len()).collect();
        let whole = block_of(&kernel, &all, &all).unwrap();
        println!("{}: all {} cells in {:.1} s", params.id(), whole.len(), start.elapsed().as_secs_f64());
    }
}
