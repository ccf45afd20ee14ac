//! Trees as kernels read them: labels as numbers, nodes breadth first, so that the children of a node stand side by side
//! and after it. 12 bytes a node.

use std::collections::HashMap;

use landmark_core::oracle::Identity;
use landmark_data::Tree;

/// n trees over one alphabet of labels.
#[derive(Debug, Clone)]
pub struct Forest {
    labels: Vec<String>,
    offsets: Vec<usize>,
    label: Vec<u32>,
    first_child: Vec<u32>,
    degree: Vec<u32>,
    identity: Identity,
}

/// Why trees make no forest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForestError {
    #[error("tree {tree} has {nodes} nodes; want fewer than 2^32 nodes and labels. Cut it at sentences")]
    TooLarge { tree: usize, nodes: usize },
}

/// One tree of a forest; nodes breadth first.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeView<'a> {
    pub(super) label: &'a [u32],
    pub(super) first_child: &'a [u32],
    pub(super) degree: &'a [u32],
}

impl TreeView<'_> {
    pub(super) fn len(&self) -> usize {
        self.label.len()
    }

    pub(super) fn children(&self, node: usize) -> std::ops::Range<usize> {
        let first = self.first_child[node] as usize;
        first..first + self.degree[node] as usize
    }
}

impl Forest {
    /// Numbers labels and nodes.
    ///
    /// # Errors
    /// [`ForestError::TooLarge`] for 2³² nodes or labels.
    pub fn new(trees: &[Tree]) -> Result<Self, ForestError> {
        let nodes = trees.iter().map(Tree::len).sum();
        let mut forest = Self {
            labels: Vec::new(),
            offsets: vec![0],
            label: Vec::with_capacity(nodes),
            first_child: Vec::with_capacity(nodes),
            degree: Vec::with_capacity(nodes),
            identity: Identity::of(&[]),
        };
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for (number, tree) in trees.iter().enumerate() {
            let too_large = |_| ForestError::TooLarge { tree: number, nodes: tree.len() };
            let order = breadth_first(tree);
            let mut next_child = 1;
            for &node in &order {
                let label = tree.label(node);
                let label = match numbers.get(label) {
                    Some(&known) => known,
                    None => {
                        let new = u32::try_from(forest.labels.len()).map_err(too_large)?;
                        forest.labels.push(label.to_owned());
                        numbers.insert(label.to_owned(), new);
                        new
                    }
                };
                forest.label.push(label);
                forest.first_child.push(u32::try_from(next_child).map_err(too_large)?);
                forest.degree.push(u32::try_from(tree.degree(node)).map_err(too_large)?);
                next_child += tree.degree(node);
            }
            forest.offsets.push(forest.label.len());
        }
        forest.identity = forest.digest();
        Ok(forest)
    }

    /// Number of trees n.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of nodes of all trees.
    pub fn nodes(&self) -> usize {
        self.label.len()
    }

    /// The distinct labels, in the order they were first seen.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Digest of all trees in their order.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    pub(super) fn tree(&self, i: usize) -> TreeView<'_> {
        let range = self.offsets[i]..self.offsets[i + 1];
        TreeView {
            label: &self.label[range.clone()],
            first_child: &self.first_child[range.clone()],
            degree: &self.degree[range],
        }
    }

    fn digest(&self) -> Identity {
        let bytes = |numbers: &[u32]| -> Vec<u8> { numbers.iter().flat_map(|x| x.to_le_bytes()).collect() };
        let offsets: Vec<u8> = self.offsets.iter().flat_map(|&x| (x as u64).to_le_bytes()).collect();
        let mut parts: Vec<(&str, &[u8])> = self.labels.iter().map(|label| ("label", label.as_bytes())).collect();
        let (label, degree) = (bytes(&self.label), bytes(&self.degree));
        parts.extend([("offsets", &offsets[..]), ("labels", &label[..]), ("degrees", &degree[..])]);
        Identity::of(&parts)
    }
}

/// The nodes of a tree (in preorder) level by level.
fn breadth_first(tree: &Tree) -> Vec<usize> {
    let parents = tree.parents();
    let mut start = vec![0; tree.len() + 1];
    for node in 0..tree.len() {
        start[node + 1] = start[node] + tree.degree(node);
    }
    let mut children = vec![0; tree.len() - 1];
    let mut filled = start.clone();
    for (node, &parent) in parents.iter().enumerate().skip(1) {
        children[filled[parent]] = node;
        filled[parent] += 1;
    }
    let mut order = Vec::with_capacity(tree.len());
    order.push(0);
    for place in 0..tree.len() {
        let node = order[place];
        order.extend_from_slice(&children[start[node]..start[node + 1]]);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_moves_with_shape_labels_and_order() {
        let identity = |trees: &[&str]| {
            Forest::new(&trees.iter().map(|t| t.parse().unwrap()).collect::<Vec<Tree>>()).unwrap().identity()
        };
        let mut seen = vec![
            identity(&["(a (b c))", "(d)"]),
            identity(&["(d)", "(a (b c))"]),
            identity(&["(a b c)", "(d)"]),
            identity(&["(a (b d))", "(c)"]),
            identity(&["(a (b c) d)"]),
        ];
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 5);
    }
}
