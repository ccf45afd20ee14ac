//! Tables and figures of recall against calls.

use landmark_report::{FigureKind, FigureSpec, Metric, ResultRow, Selection, TableKind, TableSpec, distinct};

use super::METRICS;
use super::methods::SearchMethod;
use landmark_harness::layout::Layout;

/// Layout of rows of recall against calls, of a score of which an unordered pair takes `calls_per_pair` calls.
pub fn layout(calls_per_pair: u64, rows: &[ResultRow]) -> Layout {
    let caption = "Mean over items of the share of their true nearest that is in the list, exact scores where a call was made. A call is an unordered \
                   pair and serves both of its items. Perfect candidates are the best pairs of K itself, and the proxy fills what is not scored: methods that \
                   estimate can find more where calls are fewer than places.";
    let is_there = |metric: Metric| rows.iter().any(|row| row.metric == metric);
    let shown: Vec<Metric> = METRICS.iter().map(|(metric, _)| *metric).filter(|metric| is_there(*metric)).collect();
    let table = |metric: Metric, begins: &str, ends: &str, methods: &[String]| {
        TableSpec::new(
            format!("{begins}-{}", metric.id().replace('_', "-")),
            format!("{} {ends}", metric.spec().label),
            caption,
            TableKind::Grid {
                select: Selection { methods: methods.to_vec(), ..Selection::of(metric) },
                across: "calls",
            },
        )
    };
    // the search and what a reader chooses among come first; ablations and weaker baselines have tables of their own
    let named = |id: &str| rows.iter().find(|row| row.subject.id == id).map(|row| row.subject.method.clone());
    let chosen: Vec<String> = SearchMethod::CHOICES.iter().filter_map(|method| named(method.id())).collect();
    let mut others = distinct(rows.iter().map(|row| row.subject.method.clone()));
    others.retain(|method| !chosen.contains(method));
    let mut tables: Vec<TableSpec> =
        shown.iter().map(|&metric| table(metric, "table", "against calls per item", &chosen)).collect();
    if !others.is_empty() {
        tables.extend(
            shown.iter().map(|&metric| table(metric, "table-others", "of ablations and further baselines", &others)),
        );
    }
    let figure = |id: &str, title: &str, methods: &[SearchMethod]| {
        FigureSpec::new(
            id,
            title,
            caption,
            Selection {
                methods: methods.iter().map(|method| method.name().to_owned()).collect(),
                ..Selection::of(Metric::RecallAt10)
            },
            FigureKind::Curve { across: "calls", log_y: false, y_limits: Some((0.0, 1.0)) },
        )
    };
    let mut figures = Vec::new();
    if is_there(Metric::RecallAt10) {
        figures.push(figure("figure-recall-at-10", "recall@10 against calls per item", SearchMethod::CHOICES));
        let parts: Vec<SearchMethod> =
            SearchMethod::parts().into_iter().filter(|part| named(part.id()).is_some()).collect();
        if parts.iter().any(|part| !SearchMethod::CHOICES.contains(part)) {
            figures.push(figure("figure-parts", "recall@10 of rounds without one of their parts", &parts));
        }
    }
    let mut notes = Vec::new();
    if calls_per_pair > 1 {
        notes.push("the score takes both orders of a pair: a call here is two of the model's".to_owned());
    }
    Layout { tables, figures, notes, ..Layout::default() }
}

#[cfg(test)]
mod tests {
    use landmark_report::Subject;

    use super::*;

    #[test]
    fn the_first_table_has_the_search_and_its_baselines_and_every_other_method_is_in_the_second() {
        let row = |&(_, id, name): &(SearchMethod, &str, &str)| {
            ResultRow::new(Subject::new("records", id).called(name), Metric::RecallAt10, 0.5).at("calls", 5_usize)
        };
        let rows: Vec<ResultRow> = SearchMethod::ALL.iter().map(row).collect();
        let methods = |table: &TableSpec| match &table.kind {
            TableKind::Grid { select, .. } => select.methods.clone(),
            _ => Vec::new(),
        };
        let layout = layout(1, &rows);
        let ids: Vec<&str> = layout.tables.iter().map(|table| table.id.as_str()).collect();
        assert_eq!(ids, ["table-recall-at-10", "table-others-recall-at-10"]);
        let [first, second] = [0, 1].map(|place| methods(&layout.tables[place]));
        assert_eq!(first[..2], ["rounds", "proxy + rescore"]);
        assert!(first.len() == 8 && second.len() == SearchMethod::ALL.len() - 8, "{first:?} {second:?}");
        assert!(
            second.contains(&"rounds without kriging".to_owned()) && !second.iter().any(|name| first.contains(name))
        );
    }
}
