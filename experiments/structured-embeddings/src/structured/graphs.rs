//! Coherence graphs as pictures: vertices on a circle in the order of a walk, so that a cycle looks like one, in the colors of a
//! best coloring.

use landmark_features::structured::Family;
use landmark_features::structured::p_model::{CoherenceGraph, correlations};
use landmark_harness::study::StudyError;
use landmark_report::{FigureKind, FigureSpec, GraphPanel, Metric, Selection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::family_name;
use super::p_model::draw;

/// The largest n whose graph can be read.
const LARGEST: usize = 24;
/// Steps of the search for a coloring.
const EFFORT: u64 = 200_000;

/// One coherence graph.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphSettings {
    family: Family,
    dimension: usize,
    /// i < j, from 0.
    rows: [usize; 2],
}

impl GraphSettings {
    pub(super) fn check(&self) -> Result<(), String> {
        let [i, j] = self.rows;
        let n = self.dimension;
        if !(2..=LARGEST).contains(&n) {
            return Err(format!("`graphs` has `dimension` {n}, but must be between 2 and {LARGEST} to be read"));
        }
        if i >= j || j >= n {
            return Err(format!("`graphs` has `rows` [{i}, {j}], but must have i < j < `dimension` = {n}"));
        }
        draw(self.family, n, 0).map_err(|error| error.to_string()).and_then(|matrix| {
            matrix.p_model().map(|_| ()).ok_or_else(|| format!("`{}` is no P-model", self.family.id()))
        })
    }

    fn panel(&self, seed: u64) -> Result<GraphPanel, StudyError> {
        let [i, j] = self.rows;
        let matrix = draw(self.family, self.dimension, seed)?;
        let model = matrix.p_model().ok_or("no P-model")?;
        let graph = CoherenceGraph::new(self.dimension, &correlations(model, i, j));
        let (number, colors) = graph.chromatic_number(EFFORT);
        let chromatic = if number.lower < number.upper {
            format!("χ = {} or {}", number.lower, number.upper)
        } else {
            format!("χ = {}", number.upper)
        };
        let order = walk(graph.vertices().len(), &graph.edges());
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(position, &vertex)| place[vertex] = position);
        Ok(GraphPanel {
            // rows and columns count from 1 in the paper
            title: format!(
                "{}, n = {}, rows {}, {}: {chromatic}",
                short_name(self.family),
                self.dimension,
                i + 1,
                j + 1
            ),
            vertices: order
                .iter()
                .map(|&vertex| {
                    let (a, b) = graph.vertices()[vertex];
                    (format!("{{{}, {}}}", a + 1, b + 1), colors.as_ref().map_or(0, |colors| colors[vertex]))
                })
                .collect(),
            edges: graph.edges().into_iter().map(|(v, w)| (place[v], place[w])).collect(),
        })
    }
}

/// As narrow as a panel.
fn short_name(family: Family) -> String {
    match family {
        Family::LowDisplacement { rank, .. } => format!("displacement rank {rank}"),
        _ => family_name(family),
    }
}

/// Vertices in the order of a depth-first walk, ends of paths first.
fn walk(vertices: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut near = vec![Vec::new(); vertices];
    for &(v, w) in edges {
        near[v].push(w);
        near[w].push(v);
    }
    let mut starts: Vec<usize> = (0..vertices).collect();
    starts.sort_by_key(|&vertex| near[vertex].len() > 1);
    let (mut seen, mut order) = (vec![false; vertices], Vec::new());
    for start in starts {
        let mut stack = vec![start];
        while let Some(vertex) = stack.pop() {
            if !std::mem::replace(&mut seen[vertex], true) {
                order.push(vertex);
                stack.extend(near[vertex].iter().rev());
            }
        }
    }
    order
}

/// One figure with a panel a graph, and what could not be drawn.
pub(super) fn draw_graphs(graphs: &[GraphSettings], seed: u64) -> (Vec<FigureSpec>, Vec<String>) {
    let (mut panels, mut notes) = (Vec::new(), Vec::new());
    for graph in graphs {
        match graph.panel(seed) {
            Ok(panel) => panels.push(panel),
            Err(error) => notes.push(format!("no coherence graph of {}: {error}", family_name(graph.family))),
        }
    }
    if panels.is_empty() {
        return (Vec::new(), notes);
    }
    let caption = "A vertex is a pair of columns that are correlated between the two rows; an edge joins pairs that share a column. \
                   Neighbors differ in color and marker. A circulant matrix gives cycles, which take three colors where their \
                   length is odd; a larger budget cuts them to paths, which take two.";
    let title = "Coherence graphs (figures 1 and 2 of the paper)";
    let select = Selection::of(Metric::Coherence);
    (vec![FigureSpec::new("figure-graphs", title, caption, select, FigureKind::Graphs(panels))], notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(family: Family, dimension: usize, rows: [usize; 2]) -> GraphSettings {
        GraphSettings { family, dimension, rows }
    }

    #[test]
    fn a_cycle_is_walked_round_and_neighbors_differ() {
        let panel = settings(Family::Circulant, 7, [0, 2]).panel(1).unwrap();
        assert_eq!(panel.vertices.len(), 7);
        assert!(panel.title.ends_with("rows 1, 3: χ = 3"), "{}", panel.title);
        for &(v, w) in &panel.edges {
            assert!(v.abs_diff(w) == 1 || v.abs_diff(w) == 6, "neighbors on the circle are joined");
            assert_ne!(panel.vertices[v].1, panel.vertices[w].1);
        }
    }
}
