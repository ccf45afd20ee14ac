//! Methods down, sizes across, a part per dataset and comparison; the best sublinear method of a column stands out.

use super::{Block, Cell, Footnotes, Head, Mark, heading};
use crate::error::ReportError;
use crate::groups::{Group, groups, panels};
use crate::input::ReportInput;
use crate::results::{Axis, Direction};
use crate::spec::Selection;

pub(super) fn blocks(
    input: &ReportInput<'_>,
    select: &Selection,
    across: &'static str,
    footnotes: &mut Footnotes,
) -> Result<Vec<Block>, ReportError> {
    let groups = groups(input.rows, select)?;
    Ok(panels(&groups).map(|part| block(input, part, across, footnotes)).collect())
}

fn block(input: &ReportInput<'_>, part: &[Group<'_>], across: &'static str, footnotes: &mut Footnotes) -> Block {
    let place = |group: &Group<'_>| group.row.along(across);
    let mut places: Vec<f64> = part.iter().map(place).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut head = vec![Head::text("method")];
    head.extend(places.iter().map(|&place| Head::figures(Axis::of(across).head(place))));
    // a method keeps its place in the rows
    let mut methods: Vec<&str> = Vec::new();
    for row in input.rows {
        let here = part.iter().any(|group| group.row.subject.method == row.subject.method);
        if here && !methods.contains(&row.subject.method.as_str()) {
            methods.push(&row.subject.method);
        }
    }
    let best: Vec<Option<f64>> = places.iter().map(|&at| best_of(part, |group| place(group) == at)).collect();
    let lines = methods.iter().map(|method| {
        let mut cells = vec![Cell::text(*method)];
        for (&at, best) in places.iter().zip(&best) {
            let group = part.iter().find(|group| group.row.subject.method == *method && place(group) == at);
            cells.push(group.map_or_else(Cell::none, |group| figure(group, *best, footnotes)));
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
    let here = part.iter().filter(|group| is_here(group));
    let means = here.filter(|group| !group.row.subject.is_cap).map(|group| group.estimate.mean);
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
    cell.marked(if !group.row.subject.is_cap && is_best { Mark::Best } else { Mark::None })
}
