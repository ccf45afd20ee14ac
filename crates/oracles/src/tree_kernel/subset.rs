//! `sst`: shared subset trees, by the recursion of Collins & Duffy from the leaves up.

use std::collections::HashMap;

use super::Scratch;
use super::forest::Forest;
use super::key_lists::KeyLists;

#[derive(Debug)]
pub(super) struct Subset {
    /// Nodes with children, by production: label and the labels of the children in order.
    productions: KeyLists,
    /// The production of every node; leaves have none and hold [`LEAF`].
    production: Vec<Vec<u32>>,
    leaves: Option<KeyLists>,
    lambda: f64,
}

/// No production: there are fewer than 2³² nodes, and so fewer productions.
const LEAF: u32 = u32::MAX;

impl Subset {
    pub(super) fn new(forest: &Forest, lambda: f64, leaves: bool) -> Self {
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut production = Vec::with_capacity(forest.len());
        for tree in (0..forest.len()).map(|i| forest.tree(i)) {
            let mut number = |node: usize| {
                let children = tree.children(node);
                if children.is_empty() {
                    return LEAF;
                }
                let mut key = vec![tree.label[node]];
                key.extend_from_slice(&tree.label[children]);
                // as many as there are nodes at most, and those are numbered in 32 bits
                let new = numbers.len() as u32;
                *numbers.entry(key).or_insert(new)
            };
            production.push((0..tree.len()).map(&mut number).collect::<Vec<u32>>());
        }
        let productions =
            KeyLists::new(forest, |tree, _, node| Some(production[tree][node]).filter(|&number| number != LEAF));
        let leaves =
            leaves.then(|| KeyLists::new(forest, |_, tree, node| (tree.degree[node] == 0).then(|| tree.label[node])));
        Self { productions, production, leaves, lambda }
    }

    pub(super) fn score(&self, forest: &Forest, scratch: &mut Scratch, i: usize, j: usize) -> f64 {
        let (first, second) = (forest.tree(i), forest.tree(j));
        let width = second.len();
        let Scratch { delta, matches, .. } = scratch;
        super::enlarge(delta, first.len() * width);
        let theirs = self.productions.list(j);
        self.productions.list(i).matches(first.len(), theirs, matches);
        let mut sum = 0.0;
        for a in (0..first.len()).rev() {
            let (start, end) = matches[a];
            for &b in &theirs.nodes[start as usize..end as usize] {
                let mut value = self.lambda;
                for (x, y) in first.children(a).zip(second.children(b as usize)) {
                    let production = self.production[i][x];
                    if production != LEAF && production == self.production[j][y] {
                        value *= 1.0 + delta[x * width + y];
                    }
                }
                delta[a * width + b as usize] = value;
                sum += value;
            }
        }
        if let Some(leaves) = &self.leaves {
            let mut equal = 0;
            leaves.list(i).merge(leaves.list(j), |_, mine, theirs| equal += mine.len() * theirs.len());
            sum += self.lambda * equal as f64;
        }
        sum
    }
}
