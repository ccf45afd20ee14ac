//! Colors for the edges of a graph U such that edges at one node differ: the chromatic number of the line graph.
//!
//! Δ ≤ χ ≤ Δ + 1 (Vizing 1964). Decided at once where Δ ≤ 2 (paths and cycles: 3 only for odd cycles), where U is bipartite
//! (Δ, König 1916) and where a component has more than Δ⌊k/2⌋ edges on k nodes (Δ + 1, overfull); else by an exact search that
//! colors the edge with the fewest free colors next and gives up after `effort` steps.

use serde::Serialize;

use super::misra_gries::one_more_than_degree;
use super::search::{Outcome, Search};

/// A chromatic number, exact where both are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Chromatic {
    pub lower: usize,
    pub upper: usize,
}

impl Chromatic {
    /// A graph without vertices.
    pub const EMPTY: Self = Self { lower: 0, upper: 0 };

    fn exactly(number: usize) -> Self {
        Self { lower: number, upper: number }
    }

    pub fn exact(&self) -> Option<usize> {
        (self.lower == self.upper).then_some(self.upper)
    }

    pub(super) fn max(self, other: Self) -> Self {
        Self { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }
}

pub(super) fn incidence(nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut at = vec![Vec::new(); nodes];
    for (edge, &(a, b)) in edges.iter().enumerate() {
        at[a].push(edge);
        at[b].push(edge);
    }
    at
}

/// The number of colors that `edges` need, and colors 0 … for them where a best coloring was found.
pub(super) fn edge_coloring(nodes: usize, edges: &[(usize, usize)], effort: u64) -> (Chromatic, Option<Vec<usize>>) {
    let at = incidence(nodes, edges);
    let degree = at.iter().map(Vec::len).max().unwrap_or(0);
    if degree <= 2 {
        let colors = paths_and_cycles(edges, &at);
        let number = colors.iter().max().map_or(0, |color| color + 1);
        return (Chromatic::exactly(number), Some(colors));
    }
    let components = Components::of(edges, &at);
    let bounds = if components.overfull(degree) {
        Chromatic::exactly(degree + 1)
    } else if components.bipartite {
        Chromatic::exactly(degree)
    } else {
        Chromatic { lower: degree, upper: degree + 1 }
    };
    if bounds.lower > degree {
        return (bounds, Some(one_more_than_degree(nodes, edges, degree + 1)));
    }
    match Search::run(nodes, edges, degree, effort) {
        Outcome::Found(colors) => (Chromatic::exactly(degree), Some(colors)),
        Outcome::Impossible => (Chromatic::exactly(degree + 1), Some(one_more_than_degree(nodes, edges, degree + 1))),
        Outcome::GaveUp if bounds.upper > degree => (bounds, Some(one_more_than_degree(nodes, edges, degree + 1))),
        Outcome::GaveUp => (bounds, None),
    }
}

/// Colors along each path or cycle: 0, 1, 0, 1 …, and 2 for the last edge of an odd cycle.
fn paths_and_cycles(edges: &[(usize, usize)], at: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut colors = vec![NONE; edges.len()];
    let mut walk = |start: usize| {
        let (mut node, mut color, mut first) = (start, 0, NONE);
        while let Some(&edge) = at[node].iter().find(|&&edge| colors[edge] == NONE) {
            let (a, b) = edges[edge];
            node = if node == a { b } else { a };
            colors[edge] = color;
            if first == NONE {
                first = edge;
            } else if node == start && color == colors[first] {
                colors[edge] = 2;
            }
            color = 1 - color;
        }
    };
    // ends of paths first; what is left are cycles
    (0..at.len()).filter(|&node| at[node].len() == 1).for_each(&mut walk);
    (0..at.len()).for_each(&mut walk);
    colors
}

/// Connected parts of U.
struct Components {
    sizes: Vec<(usize, usize)>,
    bipartite: bool,
}

impl Components {
    fn of(edges: &[(usize, usize)], at: &[Vec<usize>]) -> Self {
        let mut side: Vec<Option<bool>> = vec![None; at.len()];
        let (mut sizes, mut bipartite) = (Vec::new(), true);
        for start in 0..at.len() {
            if side[start].is_some() {
                continue;
            }
            side[start] = Some(false);
            let (mut stack, mut nodes, mut ends) = (vec![start], 0, 0);
            while let Some(node) = stack.pop() {
                nodes += 1;
                ends += at[node].len();
                for &edge in &at[node] {
                    let (a, b) = edges[edge];
                    let other = if node == a { b } else { a };
                    match side[other] {
                        None => {
                            side[other] = side[node].map(|side| !side);
                            stack.push(other);
                        }
                        seen => bipartite &= seen != side[node],
                    }
                }
            }
            sizes.push((nodes, ends / 2));
        }
        Self { sizes, bipartite }
    }

    fn overfull(&self, degree: usize) -> bool {
        self.sizes.iter().any(|&(nodes, edges)| edges > degree * (nodes / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(nodes: usize) -> Vec<(usize, usize)> {
        (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b))).collect()
    }

    fn brute_force(edges: &[(usize, usize)]) -> usize {
        fn possible(edges: &[(usize, usize)], colors: &mut Vec<usize>, number: usize) -> bool {
            let next = colors.len();
            next == edges.len()
                || (0..number).any(|color| {
                    let (a, b) = edges[next];
                    let clash = (0..next).any(|edge| {
                        let (c, d) = edges[edge];
                        colors[edge] == color && (a == c || a == d || b == c || b == d)
                    });
                    if clash {
                        return false;
                    }
                    colors.push(color);
                    let done = possible(edges, colors, number);
                    colors.pop();
                    done
                })
        }
        (0..).find(|&number| possible(edges, &mut Vec::new(), number)).unwrap()
    }

    fn check(nodes: usize, edges: &[(usize, usize)], expected: usize) {
        let (number, colors) = edge_coloring(nodes, edges, 1_000_000);
        assert_eq!(number.exact(), Some(expected), "{edges:?}");
        let colors = colors.unwrap();
        assert_eq!(colors.iter().max().map_or(0, |color| color + 1), expected);
        for at in incidence(nodes, edges) {
            let mut seen: Vec<usize> = at.iter().map(|&edge| colors[edge]).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), at.len(), "edges at one node differ");
        }
    }

    #[test]
    fn a_coloring_with_one_more_than_the_degree_is_always_found() {
        for seed in 0..200 {
            let mut rng = landmark_core::stream::stream(seed, "test", "graph", 0);
            let nodes = rand::Rng::gen_range(&mut rng, 2..14);
            let mut edges = complete(nodes);
            edges.retain(|_| rand::Rng::gen_bool(&mut rng, 0.6));
            let at = incidence(nodes, &edges);
            let degree = at.iter().map(Vec::len).max().unwrap();
            let colors = one_more_than_degree(nodes, &edges, degree + 1);
            assert_eq!(colors.len(), edges.len());
            assert!(colors.iter().all(|&color| color <= degree));
            for at in at {
                let mut seen: Vec<usize> = at.iter().map(|&edge| colors[edge]).collect();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len(), at.len(), "seed {seed}");
            }
        }
    }

    #[test]
    fn every_graph_on_five_nodes_agrees_with_brute_force() {
        let all = complete(5);
        for subset in 0..1_usize << all.len() {
            let edges: Vec<_> = (0..all.len()).filter(|k| subset >> k & 1 == 1).map(|k| all[k]).collect();
            if edges.len() <= 7 {
                check(5, &edges, brute_force(&edges));
            } else {
                assert!(edge_coloring(5, &edges, 1_000_000).0.exact().is_some());
            }
        }
    }

    #[test]
    fn without_effort_vizing_bounds_are_left() {
        // a prism is cubic, neither bipartite nor overfull
        let prism = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (0, 3), (1, 4), (2, 5)];
        assert_eq!(edge_coloring(6, &prism, 0).0, Chromatic { lower: 3, upper: 4 });
        assert_eq!(edge_coloring(6, &prism, 100_000).0.exact(), Some(3));
    }
}
