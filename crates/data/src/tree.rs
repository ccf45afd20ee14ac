//! Ordered labelled trees: the items of tree kernels.
//!
//! Written in brackets, `(S (NP (D the) (N dog)) (VP (V runs)))`: a node is `(label child …)`, a child is another node or
//! a bare word, which is a leaf. `(D (the))` is the same tree as `(D the)`, and so is KeLP's `(D(the))`. Labels are
//! anything without blanks and brackets. The root may have no label, as in the Penn Treebank: `((S …))` is `(S …)`, and
//! with several children its label is `ROOT`. Trees that are built by [`TreeBuilder`] may have any labels.
//!
//! A tree is kept in preorder, all labels in one string: 16 bytes a node and its label. Nothing here recurses, so no
//! depth and no number of children is too much.

use std::fmt;

mod brackets;

pub use brackets::BracketError;

/// A tree of at least one node; nodes are numbered in preorder, the root is 0.
///
/// ```
/// use landmark_data::Tree;
/// let tree: Tree = "(S (NP (D the) (N dog)) (VP (V runs)))".parse()?;
/// assert_eq!((tree.len(), tree.label(0), tree.degree(0)), (9, "S", 2));
/// assert_eq!(tree.to_string(), "(S (NP (D the) (N dog)) (VP (V runs)))");
/// # Ok::<(), landmark_data::BracketError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Tree {
    text: String,
    /// End of the label of each node in `text`.
    ends: Vec<usize>,
    degrees: Vec<usize>,
}

impl Tree {
    /// Number of nodes, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a tree is never empty")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The label of a node.
    ///
    /// # Panics
    /// For a node that is not there.
    pub fn label(&self, node: usize) -> &str {
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.text[start..self.ends[node]]
    }

    /// Number of children of a node; 0 for a leaf.
    pub fn degree(&self, node: usize) -> usize {
        self.degrees[node]
    }

    /// The parent of each node, the root its own.
    pub fn parents(&self) -> Vec<usize> {
        let mut parents = vec![0; self.len()];
        // ancestors that still wait for children, with how many
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (node, (parent, &degree)) in parents.iter_mut().zip(&self.degrees).enumerate() {
            if let Some((last, waiting)) = open.last_mut() {
                *parent = *last;
                *waiting -= 1;
                if *waiting == 0 {
                    open.pop();
                }
            }
            if degree > 0 {
                open.push((node, degree));
            }
        }
        parents
    }

    /// Nodes on the longest way down, the root included.
    pub fn height(&self) -> usize {
        let parents = self.parents();
        let mut depth = vec![1; self.len()];
        for node in 1..self.len() {
            depth[node] = depth[parents[node]] + 1;
        }
        depth.into_iter().max().unwrap_or(1)
    }

    fn without_root(self) -> Self {
        let cut = self.ends[0];
        Self {
            text: self.text[cut..].to_owned(),
            ends: self.ends[1..].iter().map(|end| end - cut).collect(),
            degrees: self.degrees[1..].to_vec(),
        }
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tree({self})")
    }
}

/// Builds a tree from the root down, children from left to right.
///
/// ```
/// use landmark_data::TreeBuilder;
/// let mut builder = TreeBuilder::new("S");
/// builder.open("NP");
/// builder.leaf("dogs");
/// builder.close();
/// builder.leaf("bark");
/// assert_eq!(builder.finish().to_string(), "(S (NP dogs) bark)");
/// ```
#[derive(Debug, Clone)]
pub struct TreeBuilder {
    tree: Tree,
    open: Vec<usize>,
}

impl TreeBuilder {
    /// A tree with this label at its root, which stays open to the end.
    pub fn new(root: &str) -> Self {
        let tree = Tree { text: root.to_owned(), ends: vec![root.len()], degrees: vec![0] };
        Self { tree, open: vec![0] }
    }

    /// Adds a child to the node that is open, and opens it in turn.
    pub fn open(&mut self, label: &str) {
        let node = self.add(label);
        self.open.push(node);
    }

    /// Adds a child without children to the node that is open.
    pub fn leaf(&mut self, label: &str) {
        self.add(label);
    }

    /// Ends the node that is open; the root stays open.
    pub fn close(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
        }
    }

    /// Number of nodes that are open; 1 at the root.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The tree; what is open is closed.
    pub fn finish(self) -> Tree {
        self.tree
    }

    fn add(&mut self, label: &str) -> usize {
        if let Some(&parent) = self.open.last() {
            self.tree.degrees[parent] += 1;
        }
        self.tree.text.push_str(label);
        self.tree.ends.push(self.tree.text.len());
        self.tree.degrees.push(0);
        self.tree.len() - 1
    }
}
