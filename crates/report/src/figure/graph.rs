//! Graphs: vertices on a circle, edges as chords, a color and a marker for each class of a coloring.

use std::f64::consts::TAU;

use super::axis::Axis;
use super::chart::{Chart, Panel, Series, Shape, caveats};
use super::style::SeriesStyle;
use crate::input::ReportInput;
use crate::spec::GraphPanel;

/// Radii of labels: outside the circle of radius 1, further to the sides since they are wider than high.
const LABELS: (f64, f64) = (1.27, 1.17);
/// Half the height of a panel, in radii.
const HALF_HEIGHT: f64 = 1.32;

/// One panel a graph.
pub(super) fn chart(graphs: &[GraphPanel], input: &ReportInput<'_>) -> Chart {
    // the shape of a plot, as the layout has it
    let aspect = match graphs.len() {
        0 | 1 => 1.85,
        2 => 1.4,
        _ => 1.25,
    };
    let most = graphs.iter().flat_map(|graph| &graph.vertices).map(|(_, color)| color + 1).max().unwrap_or(0);
    Chart {
        panels: graphs.iter().map(|graph| panel(graph, aspect)).collect(),
        x_label: String::new(),
        y_label: String::new(),
        legend: (0..most).map(|color| (format!("color {}", color + 1), style(color))).collect(),
        caveat: caveats(input, &[]).join(" · "),
    }
}

fn style(color: usize) -> SeriesStyle {
    SeriesStyle { width: 0.0, ..SeriesStyle::of_method(color) }
}

fn panel(graph: &GraphPanel, aspect: f64) -> Panel {
    let count = graph.vertices.len().max(1) as f64;
    // from the top, clockwise
    let at = |vertex: usize, radius: f64| {
        let angle = TAU * vertex as f64 / count;
        (radius * angle.sin(), radius * angle.cos())
    };
    let edges = graph.edges.iter().map(|&(v, w)| [at(v, 1.0), at(w, 1.0)]).collect();
    let mut series = vec![Series { style: style(0), shape: Shape::Segments(edges) }];
    let most = graph.vertices.iter().map(|(_, color)| color + 1).max().unwrap_or(0);
    for color in 0..most {
        let of_color = graph.vertices.iter().enumerate().filter(|(_, (_, own))| *own == color);
        let points = of_color.map(|(vertex, _)| at(vertex, 1.0)).collect();
        series.push(Series { style: style(color), shape: Shape::Points(points) });
    }
    let labels = graph.vertices.iter().enumerate().map(|(vertex, (label, _))| {
        let (x, y) = at(vertex, 1.0);
        (LABELS.0 * x, LABELS.1 * y, label.clone())
    });
    Panel {
        title: graph.title.clone(),
        x: Axis::bare(-aspect * HALF_HEIGHT, aspect * HALF_HEIGHT),
        y: Axis::bare(-HALF_HEIGHT, HALF_HEIGHT),
        series,
        labels: labels.collect(),
        above: Vec::new(),
    }
}
