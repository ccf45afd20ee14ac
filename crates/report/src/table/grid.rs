//! Methods down, sizes across, a part per dataset and comparison; the best sublinear method of a column stands out.

use super::{Block, Cell, Footnotes, Head, Mark, heading};
use crate::error::ReportError;
use crate::groups::{Group, groups, panels};
use crate::input::ReportInput;
use crate::results::{Axis, Direction, Subject};
use crate::spec::{Selection, distinct};

pub(super) fn blocks(
    input: &ReportInput<'_>,
    select: &Selection,
    across: &'static str,
    footnotes: &mut Footnotes,
) -> Result<Vec<Block>, ReportError> {
    let groups = groups(input.rows, select)?;
    Ok(panels(&groups).map(|part| block(input, part, select, across, footnotes)).collect())
}

fn block(
    input: &ReportInput<'_>,
    part: &[Group<'_>],
    select: &Selection,
    across: &'static str,
    footnotes: &mut Footnotes,
) -> Block {
    let may_be_best = |group: &Group<'_>| {
        let Subject { is_cap, method, .. } = &group.row.subject;
        !is_cap && !select.unmarked.contains(method)
    };
    let place = |group: &Group<'_>| group.row.along(across);
    let mut places: Vec<f64> = part.iter().map(place).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut head = vec![Head::text("method")];
    head.extend(places.iter().map(|&place| Head::figures(Axis::of(across).head(place))));
    // methods in the order of the selection, else of the rows
    let of_rows = input.rows.iter().map(|row| &row.subject.method);
    let mut methods = distinct(select.methods.iter().chain(of_rows).map(String::as_str));
    methods.retain(|method| part.iter().any(|group| group.row.subject.method == *method));
    let best_at = |&at: &f64| best_of(part, |group| place(group) == at && may_be_best(group));
    let best: Vec<Option<f64>> = places.iter().map(best_at).collect();
    let lines = methods.into_iter().map(|method| {
        let mut cells = vec![Cell::text(method)];
        for (&at, best) in places.iter().zip(&best) {
            let group = part.iter().find(|group| group.row.subject.method == method && place(group) == at);
            let best = best.filter(|_| group.is_some_and(may_be_best));
            cells.push(group.map_or_else(Cell::none, |group| figure(group, best, footnotes)));
        }
        cells
    });
    Block {
        heading: heading(&part[0].row.subject.dataset, &part[0].row.comparison),
        head,
        lines: lines.collect(),
        folded: Vec::new(),
    }
}

fn best_of(part: &[Group<'_>], is_here: impl Fn(&Group<'_>) -> bool) -> Option<f64> {
    let means = part.iter().filter(|group| is_here(group)).map(|group| group.estimate.mean);
    match part[0].row.metric.spec().better {
        Direction::Higher => means.max_by(f64::total_cmp),
        Direction::Lower => means.min_by(f64::total_cmp),
        Direction::Neither => None,
    }
}

fn figure(group: &Group<'_>, best: Option<f64>, footnotes: &mut Footnotes) -> Cell {
    let (metric, estimate) = (group.row.metric, group.estimate);
    let mut text = metric.show(estimate.mean);
    if estimate.interval.is_some() {
        text += &format!(" ± {}", metric.show_half_width(estimate.half_width(), estimate.mean));
    }
    let mut cell = Cell::number(text, estimate.mean);
    cell.notes = group.row.note.iter().map(|note| footnotes.number(note)).collect();
    // what prints as the best is the best: the last bit of a machine moves no mark
    let is_best = best.is_some_and(|best| metric.show(best) == metric.show(estimate.mean));
    cell.marked(if is_best { Mark::Best } else { Mark::None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::results::Metric;

    #[test]
    fn a_method_that_may_not_be_the_best_is_never_marked_and_the_selection_orders_the_lines() {
        let (rows, reference) = (fixture::rows(), fixture::reference());
        let input = fixture::input(&rows, &reference);
        let marked = |select: &Selection| -> Vec<(String, bool)> {
            let blocks = blocks(&input, select, "rank", &mut Footnotes::default()).unwrap();
            let is_best = |line: &Vec<Cell>| line.iter().any(|cell| cell.mark == Mark::Best);
            blocks[0].lines.iter().map(|line| (line[0].text.clone(), is_best(line))).collect()
        };
        let methods = ["SiCUR", "Nyström", "shift_ridge", "Optimal"].map(str::to_owned).to_vec();
        let select = Selection { methods, ..Selection::compared_at(Metric::RelativeError, "rank") };
        let names = |best| ["SiCUR", "Nyström", "shift_ridge", "Optimal"].map(|name| (name.to_owned(), name == best));
        assert_eq!(marked(&select), names("shift_ridge"));
        let unmarked = vec!["shift_ridge".to_owned()];
        assert_eq!(marked(&Selection { unmarked, ..select }), names("SiCUR"));
    }
}
