//! Methods down, sizes across, a part per dataset and comparison; the best sublinear method of a column stands out.

use super::{Block, Cell, Footnotes, Head, Mark, heading};
use crate::error::ReportError;
use crate::groups::{Group, groups, panels};
use crate::input::ReportInput;
use crate::results::Direction;
use crate::spec::{Selection, XAxis};

pub(super) fn blocks(
    input: &ReportInput<'_>,
    select: &Selection,
    across: XAxis,
    footnotes: &mut Footnotes,
) -> Result<Vec<Block>, ReportError> {
    let groups = groups(input.rows, select)?;
    Ok(panels(&groups).map(|part| block(input, part, across, footnotes)).collect())
}

fn block(input: &ReportInput<'_>, part: &[Group<'_>], across: XAxis, footnotes: &mut Footnotes) -> Block {
    let mut sizes: Vec<u64> = part.iter().map(|group| group.row.columns).collect();
    sizes.dedup();
    let mut head = vec![Head::text("method")];
    let sizes_head = sizes.iter().filter_map(|size| part.iter().find(|group| group.row.columns == *size));
    head.extend(sizes_head.map(|group| Head::figures((across.head)((across.of)(group.row)))));
    // a method keeps its place in the rows
    let mut methods: Vec<&str> = Vec::new();
    for row in input.rows {
        let here = part.iter().any(|group| group.row.method == row.method);
        if here && !methods.contains(&row.method.as_str()) {
            methods.push(&row.method);
        }
    }
    let best: Vec<Option<f64>> = sizes.iter().map(|&size| best_of(part, size)).collect();
    let lines = methods.iter().map(|method| {
        let mut cells = vec![Cell::text(*method)];
        for (&size, best) in sizes.iter().zip(&best) {
            let group = part.iter().find(|group| group.row.method == *method && group.row.columns == size);
            cells.push(group.map_or_else(Cell::none, |group| figure(group, *best, footnotes)));
        }
        cells
    });
    Block {
        heading: heading(&part[0].row.dataset, &part[0].row.comparison),
        head,
        lines: lines.collect(),
        folded: Vec::new(),
    }
}

fn best_of(part: &[Group<'_>], size: u64) -> Option<f64> {
    let means =
        part.iter().filter(|group| group.row.columns == size && !group.row.is_cap()).map(|group| group.estimate.mean);
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
        text += &format!(" ± {}", metric.show(estimate.half_width()));
    }
    let mut cell = Cell::number(text, estimate.mean);
    cell.notes = group.row.note.iter().map(|note| footnotes.number(note)).collect();
    // what prints as the best is the best: the last bit of a machine moves no mark
    let is_best = best.is_some_and(|best| metric.show(best) == metric.show(estimate.mean));
    cell.marked(if !group.row.is_cap() && is_best { Mark::Best } else { Mark::None })
}
