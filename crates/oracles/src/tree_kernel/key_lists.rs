//! Nodes of every tree sorted by a key, so that the equal ones of two trees are found by merging. 8 bytes a node.

use super::forest::{Forest, TreeView};

/// For each tree its nodes with a key, by (key, node).
#[derive(Debug)]
pub(super) struct KeyLists {
    offsets: Vec<usize>,
    keys: Vec<u32>,
    nodes: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(super) struct KeyList<'a> {
    keys: &'a [u32],
    pub(super) nodes: &'a [u32],
}

impl KeyLists {
    /// Lists the nodes to which `key(tree number, tree, node)` gives a key.
    pub(super) fn new(forest: &Forest, key: impl Fn(usize, TreeView<'_>, usize) -> Option<u32>) -> Self {
        let mut lists = Self { offsets: vec![0], keys: Vec::new(), nodes: Vec::new() };
        for number in 0..forest.len() {
            let tree = forest.tree(number);
            let numbered = (0u32..).zip(0..tree.len());
            let mut keyed: Vec<(u32, u32)> =
                numbered.filter_map(|(name, node)| Some((key(number, tree, node)?, name))).collect();
            keyed.sort_unstable();
            lists.keys.extend(keyed.iter().map(|&(key, _)| key));
            lists.nodes.extend(keyed.iter().map(|&(_, node)| node));
            lists.offsets.push(lists.keys.len());
        }
        lists
    }

    pub(super) fn list(&self, i: usize) -> KeyList<'_> {
        let range = self.offsets[i]..self.offsets[i + 1];
        KeyList { keys: &self.keys[range.clone()], nodes: &self.nodes[range] }
    }
}

impl KeyList<'_> {
    /// Calls `found(stretch of self, stretch of other)` for every key that both have.
    pub(super) fn merge(
        self,
        other: KeyList<'_>,
        mut found: impl FnMut(u32, std::ops::Range<usize>, std::ops::Range<usize>),
    ) {
        let (mut a, mut b) = (0, 0);
        while a < self.keys.len() && b < other.keys.len() {
            match self.keys[a].cmp(&other.keys[b]) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => {
                    let key = self.keys[a];
                    let end = |keys: &[u32], from: usize| {
                        keys[from..].iter().position(|&other| other != key).map_or(keys.len(), |n| from + n)
                    };
                    let (a_end, b_end) = (end(self.keys, a), end(other.keys, b));
                    found(key, a..a_end, b..b_end);
                    (a, b) = (a_end, b_end);
                }
            }
        }
    }

    /// For each of the `len` nodes of this tree, the stretch of the other's list with its key; (0, 0) where there is none.
    pub(super) fn matches(self, len: usize, other: KeyList<'_>, matches: &mut Vec<(u32, u32)>) {
        matches.clear();
        matches.resize(len, (0, 0));
        self.merge(other, |_, mine, theirs| {
            // positions in a list of nodes that are numbered in 32 bits
            let stretch = (theirs.start as u32, theirs.end as u32);
            self.nodes[mine].iter().for_each(|&node| matches[node as usize] = stretch);
        });
    }
}
