//! `st`: equal complete subtrees. Every distinct subtree has a number and a weight, so that a pair costs one merge.

use std::collections::HashMap;

use super::forest::Forest;
use super::key_lists::KeyLists;

#[derive(Debug)]
pub(super) struct Subtree {
    lists: KeyLists,
    /// λ^(nodes with children) of every distinct subtree; λ or 0 for a leaf.
    weights: Vec<f64>,
}

impl Subtree {
    pub(super) fn new(forest: &Forest, lambda: f64, leaves: bool) -> Self {
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        // Δ of a subtree with itself: λ at a node with children times that of the children, where a leaf counts 1
        let mut products: Vec<f64> = Vec::new();
        let mut weights = Vec::new();
        let mut of_tree: Vec<Vec<u32>> = Vec::with_capacity(forest.len());
        for tree in (0..forest.len()).map(|i| forest.tree(i)) {
            let mut ids = vec![0_u32; tree.len()];
            for node in (0..tree.len()).rev() {
                let children = tree.children(node);
                let mut key = vec![tree.label[node]];
                key.extend_from_slice(&ids[children.clone()]);
                // as many as there are nodes at most, and those are numbered in 32 bits
                let new = products.len() as u32;
                ids[node] = *numbers.entry(key).or_insert(new);
                if ids[node] == new {
                    let of_children: f64 =
                        ids[children.clone()].iter().map(|&child| products[child as usize]).product();
                    let leaf = children.is_empty();
                    products.push(if leaf { 1.0 } else { lambda * of_children });
                    weights.push(match (leaf, leaves) {
                        (false, _) => lambda * of_children,
                        (true, true) => lambda,
                        (true, false) => 0.0,
                    });
                }
            }
            of_tree.push(ids);
        }
        Self { lists: KeyLists::new(forest, |number, _, node| Some(of_tree[number][node])), weights }
    }

    pub(super) fn score(&self, i: usize, j: usize) -> f64 {
        let mut sum = 0.0;
        self.lists.list(i).merge(self.lists.list(j), |subtree, mine, theirs| {
            sum += self.weights[subtree as usize] * (mine.len() * theirs.len()) as f64;
        });
        sum
    }
}
