//! Tree kernels against golden values, KeLP's own scores, a naive twin and bad input.

mod twin;

mod golden;
mod kelp;
mod promises;

use std::sync::Arc;

use landmark_core::oracle::{Oracle, block_of};
use landmark_data::Tree;
use landmark_oracles::tree_kernel::{Forest, TreeKernel, TreeKernelParams};

fn trees(texts: &[&str]) -> Vec<Tree> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn kernel(trees: &[Tree], params: TreeKernelParams) -> TreeKernel {
    TreeKernel::new(Arc::new(Forest::new(trees).unwrap()), params.check().unwrap())
}

fn score(oracle: &dyn Oracle, i: usize, j: usize) -> f64 {
    block_of(oracle, &[i], &[j]).unwrap()[[0, 0]]
}
