//! Tables and figures of recall against calls.

use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, TableKind, TableSpec};

use super::METRICS;
use super::rivals::Rival;
use landmark_harness::layout::Layout;

/// Layout of rows of recall against calls, of a score of which an unordered pair takes `calls_per_pair` calls.
pub fn layout(calls_per_pair: u64, rows: &[ResultRow]) -> Layout {
    let caption = "Mean over items of the share of their true nearest that is in the list, exact scores where a call was made. A call is an unordered \
                   pair and serves both of its items. Perfect candidates are the best pairs of K itself: no choice of candidates finds more.";
    let is_there = |metric: Metric| rows.iter().any(|row| row.metric == metric);
    let shown: Vec<Metric> = METRICS.iter().map(|(metric, _)| *metric).filter(|metric| is_there(*metric)).collect();
    let table = |metric: Metric| TableSpec {
        id: format!("table-{}", metric.id().replace('_', "-")),
        title: format!("{} against calls per item", metric.spec().label),
        caption: caption.to_owned(),
        kind: TableKind::Grid { select: Selection::of(metric), across: "calls" },
    };
    // the one that a reader takes home, and what its winner is made of
    let figure = |id: &str, title: &str, rivals: &[Rival]| FigureSpec {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        select: Selection {
            methods: rivals.iter().map(|rival| rival.name().to_owned()).collect(),
            ..Selection::of(Metric::RecallAt10)
        },
        kind: FigureKind::Curve { across: "calls", log_y: false, y_limits: Some((0.0, 1.0)) },
    };
    let mut figures = Vec::new();
    if is_there(Metric::RecallAt10) {
        figures.push(figure("figure-recall-at-10", "recall@10 against calls per item", Rival::RIVALS));
        figures.push(figure("figure-parts", "recall@10 of rounds without each of their parts", &Rival::parts()));
    }
    let mut notes = Vec::new();
    if calls_per_pair > 1 {
        notes.push("the score takes both orders of a pair: a call here is two of the model's".to_owned());
    }
    Layout { tables: shown.iter().map(|metric| table(*metric)).collect(), figures, notes, ..Layout::default() }
}
