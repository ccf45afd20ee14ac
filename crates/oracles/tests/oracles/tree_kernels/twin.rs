//! The partial and the subset tree kernel as published, written down plainly: what the library is checked and timed
//! against.
//!
//! As in Moschitti 2006 and KeLP: pairs of nodes with equal labels, Δ by recursion with a memory, and the child subsequences of
//! each length in a table of their own, Δ_p(i, j) = Δ(c_i, d_j) D_p(i − 1, j − 1). Labels are compared as text, the tables
//! are allocated per pair; no limit on their size.

#![allow(clippy::needless_range_loop)] // indices as in the published recursion

use landmark_data::Tree;

pub(crate) struct Plain<'a> {
    tree: &'a Tree,
    children: Vec<Vec<usize>>,
}

impl<'a> Plain<'a> {
    pub(crate) fn new(tree: &'a Tree) -> Self {
        let mut children = vec![Vec::new(); tree.len()];
        for (node, &parent) in tree.parents().iter().enumerate().skip(1) {
            children[parent].push(node);
        }
        Self { tree, children }
    }

    fn is_leaf(&self, node: usize) -> bool {
        self.children[node].is_empty()
    }
}

/// PTK with gaps; `similar` returns how alike two labels are (1 for equal ones).
pub(crate) fn ptk(
    (x, y): (&Plain<'_>, &Plain<'_>),
    [lambda, mu, terminal_factor]: [f64; 3],
    similar: &dyn Fn(&str, &str) -> f64,
) -> f64 {
    let mut known = vec![vec![None; y.tree.len()]; x.tree.len()];
    let mut sum = 0.0;
    for a in 0..x.tree.len() {
        for b in 0..y.tree.len() {
            if similar(x.tree.label(a), y.tree.label(b)) > 0.0 {
                sum += ptk_delta((x, y), (a, b), [lambda, mu, terminal_factor], similar, &mut known);
            }
        }
    }
    sum
}

fn ptk_delta(
    (x, y): (&Plain<'_>, &Plain<'_>),
    (a, b): (usize, usize),
    params: [f64; 3],
    similar: &dyn Fn(&str, &str) -> f64,
    known: &mut Vec<Vec<Option<f64>>>,
) -> f64 {
    if let Some(value) = known[a][b] {
        return value;
    }
    let [lambda, mu, terminal_factor] = params;
    let alike = similar(x.tree.label(a), y.tree.label(b));
    let value = if alike == 0.0 {
        0.0
    } else if x.is_leaf(a) || y.is_leaf(b) {
        alike * mu * lambda * lambda * terminal_factor
    } else {
        let (m, n) = (x.children[a].len(), y.children[b].len());
        let mut of_children = vec![vec![0.0; n + 1]; m + 1];
        for i in 1..=m {
            for j in 1..=n {
                let pair = (x.children[a][i - 1], y.children[b][j - 1]);
                of_children[i][j] = ptk_delta((x, y), pair, params, similar, known);
            }
        }
        alike * mu * (lambda * lambda + all_lengths(&of_children, lambda))
    };
    known[a][b] = Some(value);
    value
}

/// Σ_p Σ_ij Δ_p(i, j), one table a length p.
fn all_lengths(delta: &[Vec<f64>], lambda: f64) -> f64 {
    let (m, n) = (delta.len() - 1, delta[0].len() - 1);
    let mut ending = delta.to_vec();
    let mut sum: f64 = ending.iter().flatten().sum();
    for _ in 1..m.min(n) {
        let mut reach = vec![vec![0.0; n + 1]; m + 1];
        let mut next = vec![vec![0.0; n + 1]; m + 1];
        for i in 1..=m {
            for j in 1..=n {
                next[i][j] = delta[i][j] * reach[i - 1][j - 1];
                reach[i][j] =
                    ending[i][j] + lambda * (reach[i - 1][j] + reach[i][j - 1]) - lambda * lambda * reach[i - 1][j - 1];
            }
        }
        ending = next;
        sum += ending.iter().flatten().sum::<f64>();
    }
    sum
}

/// SST, or ST where `subtree`; no extra leaf matches.
pub(crate) fn subset((x, y): (&Plain<'_>, &Plain<'_>), lambda: f64, subtree: bool) -> f64 {
    let mut known = vec![vec![None; y.tree.len()]; x.tree.len()];
    let mut sum = 0.0;
    for a in 0..x.tree.len() {
        for b in 0..y.tree.len() {
            sum += subset_delta((x, y), (a, b), lambda, subtree, &mut known);
        }
    }
    sum
}

fn subset_delta(
    (x, y): (&Plain<'_>, &Plain<'_>),
    (a, b): (usize, usize),
    lambda: f64,
    subtree: bool,
    known: &mut Vec<Vec<Option<f64>>>,
) -> f64 {
    if let Some(value) = known[a][b] {
        return value;
    }
    let production = |tree: &Plain<'_>, node: usize| -> Vec<String> {
        let labels = tree.children[node].iter().map(|&child| tree.tree.label(child).to_owned());
        std::iter::once(tree.tree.label(node).to_owned()).chain(labels).collect()
    };
    let mut value = 0.0;
    if !x.is_leaf(a) && !y.is_leaf(b) && production(x, a) == production(y, b) {
        value = lambda;
        for (&c, &d) in x.children[a].iter().zip(&y.children[b]) {
            let below = subset_delta((x, y), (c, d), lambda, subtree, known);
            value *= match (x.is_leaf(c) && y.is_leaf(d), subtree) {
                (true, _) => 1.0,
                (false, true) => below,
                (false, false) => 1.0 + below,
            };
        }
    }
    known[a][b] = Some(value);
    value
}
