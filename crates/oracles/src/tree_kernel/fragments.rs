//! The small fragments of a tree kernel, written out: one sparse vector a tree, whose inner product is what fragments of at most
//! `size` nodes (productions in `st` and `sst`) add to the kernel.
//!
//! A tree kernel is Σ_f w_f(x) w_f(y) over all fragments f, far too many to write out; those of few nodes are few, and weigh most
//! where λ and µ are below 1. Counting them costs nothing next to the kernel, so they are a proxy: landmarks have only to explain
//! the larger ones. With `size` nodes or fewer in every tree the inner product is the kernel itself.
//!
//! Weights, a fragment's being the root of what a pair of them counts: `st` and `sst` √λ a production; `ptk` √µ λ for a node
//! without children (times √t for a leaf), √µ λ^gaps times those of its children for one with. `sptk` counts as `ptk`, of equal labels.
//! A label that is a leaf in one tree and has children in another counts √t in place of t: the kernel itself is no inner product there.
//!
//! The idea of a kernel's fragments as explicit features: Pighin & Moschitti 2009; as a proxy: this project. Cost: O(m²) fragments a
//! node of m children at three nodes.

use std::collections::HashMap;

use landmark_core::oracle::OracleError;

use super::forest::{Forest, TreeView};
use super::params::{TreeKernelParams, TreeKernelValidParams};
use crate::combined::SparseVectors;

/// Symbol of a closing bracket in a key; labels are fewer.
const CLOSE: u32 = u32::MAX;
/// Begins the leaf of a subset tree, which is a fragment of another kind.
const LEAF: u32 = u32::MAX - 1;

#[derive(Debug, Clone)]
struct Fragment {
    /// Labels in preorder, brackets closed: equal for equal fragments.
    key: Vec<u32>,
    size: usize,
    weight: f64,
}

struct Sequence {
    fragment: Fragment,
    last: Option<usize>,
}

/// The fragments of at most `size` nodes or productions of every tree, weighted as the kernel does.
///
/// # Errors
/// [`OracleError::NotFinite`] where weights overflow.
pub fn fragments(forest: &Forest, params: TreeKernelValidParams, size: usize) -> Result<SparseVectors, OracleError> {
    let mut columns: HashMap<Vec<u32>, usize> = HashMap::new();
    let rows: Vec<Vec<(usize, f64)>> = (0..forest.len())
        .map(|i| {
            let tree = forest.tree(i);
            let mut row = Vec::new();
            for node in 0..tree.len() {
                for Fragment { key, weight, .. } in rooted(tree, node, params.params(), size) {
                    let next = columns.len();
                    row.push((*columns.entry(key).or_insert(next), weight));
                }
            }
            row
        })
        .collect();
    SparseVectors::new(&rows)
}

fn rooted(tree: TreeView<'_>, node: usize, params: &TreeKernelParams, size: usize) -> Vec<Fragment> {
    match *params {
        TreeKernelParams::St { lambda, leaves } => match complete(tree, node, lambda, size) {
            Some(subtree) if subtree.size > 0 => vec![subtree],
            _ => leaf(tree, node, lambda, leaves),
        },
        TreeKernelParams::Sst { lambda, leaves } => {
            if tree.children(node).is_empty() {
                leaf(tree, node, lambda, leaves)
            } else {
                subset(tree, node, lambda, size)
            }
        }
        TreeKernelParams::Ptk { lambda, mu, terminal_factor }
        | TreeKernelParams::Sptk { lambda, mu, terminal_factor } => {
            partial(tree, node, [lambda, mu, terminal_factor], size)
        }
    }
}

/// A leaf by itself, where equal ones count.
fn leaf(tree: TreeView<'_>, node: usize, lambda: f64, counts: bool) -> Vec<Fragment> {
    if counts && tree.children(node).is_empty() {
        vec![Fragment { key: vec![LEAF, tree.label[node]], size: 0, weight: lambda.sqrt() }]
    } else {
        Vec::new()
    }
}

/// The whole tree below `node`, if it has at most `size` productions.
fn complete(tree: TreeView<'_>, node: usize, lambda: f64, size: usize) -> Option<Fragment> {
    let mut whole = Fragment { key: vec![tree.label[node]], size: 0, weight: 1.0 };
    if !tree.children(node).is_empty() {
        (whole.size, whole.weight) = (1, lambda.sqrt());
    }
    for child in tree.children(node) {
        let below = complete(tree, child, lambda, size.checked_sub(whole.size)?)?;
        whole = joined(&whole, &below, 1.0);
    }
    whole.key.push(CLOSE);
    (whole.size <= size).then_some(whole)
}

/// Subset trees of at most `size` productions below a node with children.
fn subset(tree: TreeView<'_>, node: usize, lambda: f64, size: usize) -> Vec<Fragment> {
    if size == 0 {
        return Vec::new();
    }
    let mut grown = vec![Fragment { key: vec![tree.label[node]], size: 1, weight: lambda.sqrt() }];
    for child in tree.children(node) {
        let bare = Fragment { key: vec![tree.label[child], CLOSE], size: 0, weight: 1.0 };
        let mut ways = vec![bare];
        if !tree.children(child).is_empty() {
            ways.extend(subset(tree, child, lambda, size - 1));
        }
        let fits = |(so_far, way): &(&Fragment, &Fragment)| so_far.size + way.size <= size;
        let pairs = grown.iter().flat_map(|so_far| ways.iter().map(move |way| (so_far, way)));
        grown = pairs.filter(fits).map(|(so_far, way)| joined(so_far, way, 1.0)).collect();
    }
    closed(grown)
}

/// Partial trees of at most `size` nodes.
fn partial(tree: TreeView<'_>, node: usize, [lambda, mu, terminal_factor]: [f64; 3], size: usize) -> Vec<Fragment> {
    if size == 0 {
        return Vec::new();
    }
    let children = tree.children(node);
    let terminal = if children.is_empty() { terminal_factor.sqrt() } else { 1.0 };
    let alone = Fragment { key: vec![tree.label[node]], size: 1, weight: mu.sqrt() };
    let mut sequences = vec![Sequence { fragment: alone, last: None }];
    for (position, child) in children.enumerate() {
        let ways = partial(tree, child, [lambda, mu, terminal_factor], size - 1);
        for chosen in 0..sequences.len() {
            let Sequence { fragment, last } = &sequences[chosen];
            let gaps = last.map_or(0, |last| position - last - 1);
            let gap_weight = lambda.powf(gaps as f64);
            let fitting = ways.iter().filter(|way| fragment.size + way.size <= size);
            let longer: Vec<Sequence> = fitting
                .map(|way| Sequence { fragment: joined(fragment, way, gap_weight), last: Some(position) })
                .collect();
            sequences.extend(longer);
        }
    }
    sequences[0].fragment.weight *= lambda * terminal;
    closed(sequences.into_iter().map(|sequence| sequence.fragment).collect())
}

fn joined(root: &Fragment, child: &Fragment, weight: f64) -> Fragment {
    let key = root.key.iter().chain(&child.key).copied().collect();
    Fragment { key, size: root.size + child.size, weight: root.weight * child.weight * weight }
}

fn closed(mut fragments: Vec<Fragment>) -> Vec<Fragment> {
    fragments.iter_mut().for_each(|fragment| fragment.key.push(CLOSE));
    fragments
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use landmark_core::oracle::block_of;
    use landmark_data::Tree;

    use super::super::TreeKernel;
    use super::*;

    fn forest() -> Arc<Forest> {
        let trees = [
            "(s (np (d the) (n dog)) (vp (v runs) (adv fast)))",
            "(s (np (d the) (n cat)) (vp (v runs)))",
            "(vp (v runs) (np (d the) (d the) (n dog)) (adv fast))",
            "(dog)",
        ];
        let trees: Vec<Tree> = trees.iter().map(|tree| tree.parse().unwrap()).collect();
        Arc::new(Forest::new(&trees).unwrap())
    }

    fn kernels() -> Vec<TreeKernelParams> {
        vec![
            TreeKernelParams::ptk(),
            TreeKernelParams::Ptk { lambda: 0.7, mu: 0.3, terminal_factor: 2.0 },
            TreeKernelParams::Sst { lambda: 0.4, leaves: true },
            TreeKernelParams::Sst { lambda: 0.4, leaves: false },
            TreeKernelParams::St { lambda: 0.6, leaves: true },
        ]
    }

    #[test]
    fn all_fragments_together_are_the_kernel() {
        let forest = forest();
        let all: Vec<usize> = (0..forest.len()).collect();
        for params in kernels() {
            let params = params.check().unwrap();
            let kernel = block_of(&TreeKernel::new(Arc::clone(&forest), params), &all, &all).unwrap();
            let ours = block_of(&fragments(&forest, params, 20).unwrap(), &all, &all).unwrap();
            // sums of up to some thousand products in another order
            assert!(
                ours.iter().zip(&kernel).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b)),
                "{params:?}: {ours} {kernel}"
            );
        }
    }

    #[test]
    fn more_nodes_bring_the_inner_product_nearer_to_the_kernel_from_below() {
        let forest = forest();
        for params in kernels() {
            let params = params.check().unwrap();
            let kernel = block_of(&TreeKernel::new(Arc::clone(&forest), params), &[0], &[2]).unwrap()[[0, 0]];
            let of_size = |size| block_of(&fragments(&forest, params, size).unwrap(), &[0], &[2]).unwrap()[[0, 0]];
            let sizes: Vec<f64> = (1..6).map(of_size).collect();
            assert!(
                sizes.is_sorted() && sizes[0] > 0.0 && sizes[4] <= kernel + 1e-12,
                "{params:?}: {sizes:?} {kernel}"
            );
        }
    }
}
