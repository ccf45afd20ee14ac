//! Tables and figures of recall against calls.

use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, TableKind, TableSpec};

use super::METRICS;
use crate::layout::Layout;
use crate::sweep::context::SweepContext;

pub(super) fn layout(context: &SweepContext<'_>, rows: &[ResultRow]) -> Layout {
    let caption = "Mean over items of the share of their true nearest that is in the list, exact scores where a call was made. A call is an unordered \
                   pair and serves both of its items. Perfect candidates are the best pairs of K itself: no choice of candidates finds more.";
    let is_there = |metric: Metric| rows.iter().any(|row| row.metric == metric);
    let shown: Vec<Metric> = METRICS.iter().map(|(metric, _)| *metric).filter(|metric| is_there(*metric)).collect();
    let table = |metric: Metric| TableSpec {
        id: format!("table-{}", metric.id().replace('_', "-")),
        title: format!("{} against calls an item", metric.spec().label),
        caption: caption.to_owned(),
        kind: TableKind::Grid { select: Selection::of(metric), across: "calls" },
    };
    let figure = |metric: Metric| FigureSpec {
        id: format!("figure-{}", metric.id().replace('_', "-")),
        title: format!("{} against calls an item", metric.spec().label),
        caption: caption.to_owned(),
        select: Selection::of(metric),
        kind: FigureKind::Curve { across: "calls", log_y: false, y_limits: Some((0.0, 1.0)) },
    };
    let mut notes = Vec::new();
    if context.metered.shape().evaluations_per_pair > 1 {
        notes.push("the score takes both orders of a pair: a call here is two of the model's".to_owned());
    }
    // the one that a reader takes home
    let figures = shown.iter().filter(|metric| **metric == Metric::RecallAt10).map(|metric| figure(*metric)).collect();
    Layout { tables: shown.iter().map(|metric| table(*metric)).collect(), figures, notes, ..Layout::default() }
}
