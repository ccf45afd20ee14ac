//! Coherence graphs: vertices are pairs {a, b} of columns that are correlated, joined where they share a column.
//!
//! Such a graph is the line graph of the graph U on the n columns whose edges are those pairs. Its chromatic number is therefore
//! the number of colors that the *edges* of U need, which Vizing's theorem pins to Δ(U) or Δ(U) + 1.

use super::coloring::{self, Chromatic};

/// The coherence graph of two rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoherenceGraph {
    columns: usize,
    vertices: Vec<(usize, usize)>,
}

impl CoherenceGraph {
    /// From the nonzeros (a, b, value) of σᵢⱼ among `columns` columns.
    pub fn new(columns: usize, correlations: &[(usize, usize, f64)]) -> Self {
        let pairs = correlations.iter().filter(|(a, b, _)| a != b);
        let mut vertices: Vec<_> = pairs.map(|&(a, b, _)| (a.min(b), a.max(b))).collect();
        vertices.sort_unstable();
        vertices.dedup();
        Self { columns, vertices }
    }

    /// The pairs (a, b), a < b, in order.
    pub fn vertices(&self) -> &[(usize, usize)] {
        &self.vertices
    }

    /// Positions (v, w), v < w, of vertices that share a column; each once, in order.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        for at in self.by_column() {
            for (k, &v) in at.iter().enumerate() {
                edges.extend(at[k + 1..].iter().map(|&w| (v, w)));
            }
        }
        edges.sort_unstable();
        edges
    }

    /// χ, and a color for each vertex where a coloring with the upper number was found. `effort` limits the search, in steps.
    pub fn chromatic_number(&self, effort: u64) -> (Chromatic, Option<Vec<usize>>) {
        coloring::edge_coloring(self.columns, &self.vertices, effort)
    }

    fn by_column(&self) -> Vec<Vec<usize>> {
        coloring::incidence(self.columns, &self.vertices)
    }
}
