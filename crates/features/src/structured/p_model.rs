//! P-models: how much structure a matrix has, measured by its coherence graphs (paper, §2.2).
//!
//! Row i of A is gᵀPᵢ with g of t Gaussian numbers and Pᵢ (t × n). With p_{i,a} the a-th column of Pᵢ and
//! σᵢⱼ(a, b) = p_{i,a}·p_{j,b}:
//!
//! * *normalized*: every column has norm 1; *orthogonal*: columns of one Pᵢ are orthogonal. With both each row is N(0, I), and
//!   Λ̂_f is unbiased for linear Ψ (lemma 1).
//! * coherence graph Gᵢⱼ: its vertices are the sets {a, b}, a ≠ b, with σᵢⱼ ≠ 0, joined where they share an element.
//! * χ\[P\] = max over i < j of χ(Gᵢⱼ); μ\[P\] = max over i ≤ j of √(Σ_{a ≠ b} σᵢⱼ(a, b)²/n); μ̃\[P\] = max over i < j of
//!   Σ_a |σᵢⱼ(a, a)|.
//!
//! The formulas (5) and (6) are missing in the available copy of the paper; μ and μ̃ are those of its sister (Choromanski &
//! Sindhwani 2016, definitions of coherence and unicoherence, from memory), with the sum over both orders of a and b, so that a Hankel matrix
//! has the μ of the Toeplitz matrix it mirrors. The sum over a < b alone is at most this, and at least half of its square.

mod coloring;
mod graph;
mod misra_gries;
mod search;

use serde::Serialize;

pub use super::matrix::{PModel, Term};
pub use coloring::Chromatic;
pub use graph::CoherenceGraph;

/// σ below this is rounding: columns have norm 1 and at most some thousand terms.
const ZERO: f64 = 1e-12;

/// Pairs of rows where only their distance counts inside a block and blocks share nothing.
pub(super) fn shifted_pairs(rows: usize, block: usize) -> Vec<(usize, usize)> {
    (0..rows).step_by(block).flat_map(|start| (start + 1..rows.min(start + block)).map(move |j| (start, j))).collect()
}

pub(super) fn block_pairs(rows: usize, block: usize) -> Vec<(usize, usize)> {
    (0..rows)
        .step_by(block)
        .flat_map(|start| {
            let end = rows.min(start + block);
            (start..end).flat_map(move |i| (i + 1..end).map(move |j| (i, j)))
        })
        .collect()
}

/// σᵢⱼ: the nonzeros (a, b, value) by a, then b.
///
/// Cost: the nonzeros of one Pᵢ times those that share a place in Pⱼ.
pub fn correlations(model: &dyn PModel, i: usize, j: usize) -> Vec<(usize, usize, f64)> {
    let (_, n, budget) = model.shape();
    let mut by_place: Vec<Vec<(usize, f64)>> = vec![Vec::new(); budget];
    for b in 0..n {
        for (place, value) in model.column(j, b) {
            by_place[place].push((b, value));
        }
    }
    let (mut sums, mut touched, mut found) = (vec![0.0; n], Vec::new(), Vec::new());
    for a in 0..n {
        for (place, value) in model.column(i, a) {
            for &(b, other) in &by_place[place] {
                if sums[b] == 0.0 {
                    touched.push(b);
                }
                sums[b] += value * other;
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for b in touched.drain(..) {
            if sums[b].abs() > ZERO {
                found.push((a, b, sums[b]));
            }
            sums[b] = 0.0;
        }
    }
    found
}

/// The constants of a P-model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PModelReport {
    /// m.
    pub rows: usize,
    /// n.
    pub cols: usize,
    /// t.
    pub budget: usize,
    /// χ\[P\].
    pub chromatic: Chromatic,
    /// μ\[P\].
    pub coherence: f64,
    /// μ̃\[P\].
    pub unicoherence: f64,
    /// Largest |‖p_{i,a}‖² − 1|.
    pub normalization_error: f64,
    /// Largest |σᵢᵢ(a, b)|, a ≠ b.
    pub orthogonality_error: f64,
    /// Vertices of the largest coherence graph.
    pub largest_graph: usize,
    /// Pairs of rows looked at; the others are like them or share nothing.
    pub pairs: usize,
}

impl PModelReport {
    /// Looks at every kind of pair of rows. `effort` limits the search for one coloring, in steps; where it ends early, χ is
    /// known up to one.
    pub fn of(model: &dyn PModel, effort: u64) -> Self {
        let (rows, cols, budget) = model.shape();
        let pairs = model.row_pairs();
        let mut report = Self {
            rows,
            cols,
            budget,
            chromatic: Chromatic::EMPTY,
            coherence: 0.0,
            unicoherence: 0.0,
            normalization_error: 0.0,
            orthogonality_error: 0.0,
            largest_graph: 0,
            pairs: pairs.len(),
        };
        // a row that is in no pair shares nothing, but is a row
        let mut alone: Vec<usize> = pairs.iter().map(|&(i, _)| i).collect();
        alone.extend([0, rows - 1]);
        alone.sort_unstable();
        alone.dedup();
        for i in alone {
            report.add_row(&correlations(model, i, i));
        }
        for &(i, j) in &pairs {
            report.add_pair(&correlations(model, i, j), effort);
        }
        report
    }

    fn add_row(&mut self, correlations: &[(usize, usize, f64)]) {
        let mut norms = vec![0.0; self.cols];
        for &(a, b, value) in correlations {
            if a == b {
                norms[a] = value;
            } else {
                self.orthogonality_error = self.orthogonality_error.max(value.abs());
            }
        }
        let worst = norms.iter().map(|norm: &f64| (norm - 1.0).abs()).fold(0.0, f64::max);
        self.normalization_error = self.normalization_error.max(worst);
        self.coherence = self.coherence.max(off_diagonal(correlations, self.cols));
    }

    fn add_pair(&mut self, correlations: &[(usize, usize, f64)], effort: u64) {
        let diagonal = correlations
            .iter()
            .filter(|(a, b, _)| a == b)
            .map(|(_, _, value)| value.abs())
            .fold(0.0, |sum, value| sum + value);
        self.unicoherence = self.unicoherence.max(diagonal);
        self.coherence = self.coherence.max(off_diagonal(correlations, self.cols));
        let graph = CoherenceGraph::new(self.cols, correlations);
        self.largest_graph = self.largest_graph.max(graph.vertices().len());
        self.chromatic = self.chromatic.max(graph.chromatic_number(effort).0);
    }
}

/// √(Σ_{a ≠ b} σ²/n).
fn off_diagonal(correlations: &[(usize, usize, f64)], n: usize) -> f64 {
    let sum: f64 = correlations.iter().filter(|(a, b, _)| a != b).map(|(_, _, value)| value * value).sum();
    (sum / n as f64).sqrt()
}

#[cfg(test)]
mod tests;
