//! `ptk` and `sptk`: shared partial trees.
//!
//! For children c_1 … c_m of a and d_1 … d_n of b, let S(i, j) weigh all pairs of subsequences that end at c_i and d_j:
//!
//! S(i, j) = Δ(c_i, d_j) (1 + D(i−1, j−1)),  D(i, j) = Σ_{i' ≤ i, j' ≤ j} λ^{(i−i') + (j−j')} S(i', j')
//!
//! and ΣS is what Δ(a, b) needs. Moschitti 2006 (and KeLP) sum each length apart, in O(m n min(m, n)); since all lengths
//! count alike, one pass over m n does. With R(i, j) the part of D(i, j) that ends in row i,
//! D(i, j) = λ D(i−1, j) + R(i, j) and R(i, j) = λ R(i, j−1) + S(i, j): nothing is ever subtracted.

use super::Scratch;
use super::forest::Forest;
use super::key_lists::KeyLists;
use super::similarity::Labels;

#[derive(Debug)]
pub(super) struct Partial<L> {
    lists: KeyLists,
    labels: L,
    lambda: f64,
    mu: f64,
    /// µ λ² t
    leaf: f64,
}

impl<L: Labels> Partial<L> {
    pub(super) fn new(forest: &Forest, [lambda, mu, terminal_factor]: [f64; 3], labels: L) -> Self {
        let lists = KeyLists::new(forest, |_, tree, node| Some(labels.group(tree.label[node])));
        Self { lists, labels, lambda, mu, leaf: mu * lambda * lambda * terminal_factor }
    }

    pub(super) fn score(&self, forest: &Forest, scratch: &mut Scratch, i: usize, j: usize) -> f64 {
        let (first, second) = (forest.tree(i), forest.tree(j));
        let width = second.len();
        let Scratch { delta, matches, row } = scratch;
        super::enlarge(delta, first.len() * width);
        let theirs = self.lists.list(j);
        self.lists.list(i).matches(first.len(), theirs, matches);
        let mut sum = 0.0;
        for a in (0..first.len()).rev() {
            let (start, end) = matches[a];
            let children = first.children(a);
            for &b in &theirs.nodes[start as usize..end as usize] {
                let b = b as usize;
                let mut value = self.labels.similarity(first.label[a], second.label[b]);
                let theirs = second.children(b);
                if value > 0.0 {
                    value *= if children.is_empty() || theirs.is_empty() {
                        self.leaf
                    } else {
                        let first_row = &delta[children.start * width..];
                        let labels = (&first.label[children.clone()], &second.label[theirs.clone()]);
                        let sequences = self.sequences(labels, first_row, width, theirs.start, row);
                        self.mu * (self.lambda * self.lambda + sequences)
                    };
                }
                delta[a * width + b] = value;
                sum += value;
            }
        }
        sum
    }

    /// ΣS over the children with these labels; Δ(c_i, d_j) stands at `delta[i · width + from + j]` where groups agree.
    #[inline]
    fn sequences(
        &self,
        (mine, theirs): (&[u32], &[u32]),
        delta: &[f64],
        width: usize,
        from: usize,
        above: &mut Vec<f64>,
    ) -> f64 {
        if let ([x], [y]) = (mine, theirs) {
            return if self.labels.group(*x) == self.labels.group(*y) { delta[from] } else { 0.0 };
        }
        above.clear();
        above.resize(theirs.len(), 0.0);
        let mut sum = 0.0;
        for (i, &x) in mine.iter().enumerate() {
            let group = self.labels.group(x);
            let of_child = &delta[i * width + from..][..theirs.len()];
            // R(i, j − 1) and D(i − 1, j − 1)
            let (mut left, mut corner) = (0.0, 0.0);
            for ((&y, &value), above) in theirs.iter().zip(of_child).zip(above.iter_mut()) {
                let ending = if group == self.labels.group(y) { value * (1.0 + corner) } else { 0.0 };
                sum += ending;
                left = self.lambda * left + ending;
                corner = *above;
                *above = self.lambda * corner + left;
            }
        }
        sum
    }
}
