//! Our methods against the best of the baselines, replicate by replicate: both saw the same landmarks, so the difference is paired.
//!
//! The interval is the 95 % percentile bootstrap of the mean paired difference over replicates (2,000 resamples, seeded by name).

use landmark_core::stream::stream;
use landmark_tasks::metrics::paired_bootstrap;

use super::{Block, Cell, Head, Mark, heading};
use crate::error::ReportError;
use crate::groups::{Group, groups, panels};
use crate::input::ReportInput;
use crate::results::{Axis, Direction, ResultRow};
use crate::spec::Selection;

const RESAMPLES: usize = 2000;

pub(super) fn blocks(
    input: &ReportInput<'_>,
    select: &Selection,
    across: &'static str,
    ours: &[String],
    baselines: &[String],
) -> Result<Vec<Block>, ReportError> {
    let groups = groups(input.rows, select)?;
    let lower_is_better = select.metric.spec().better == Direction::Lower;
    let mut blocks = Vec::new();
    for part in panels(&groups) {
        let mut lines = Vec::new();
        let mut part = part.to_vec();
        part.sort_by(|a, b| a.row.along(across).total_cmp(&b.row.along(across)));
        for size in part.chunk_by(|a, b| a.row.along(across) == b.row.along(across)) {
            let best = size.iter().filter(|group| baselines.contains(&group.row.subject.method)).min_by(|a, b| {
                let order = a.estimate.mean.total_cmp(&b.estimate.mean);
                if lower_is_better { order } else { order.reverse() }
            });
            let Some(best) = best else { continue };
            for group in size.iter().filter(|group| ours.contains(&group.row.subject.method)) {
                lines.push(line(group, best, across, lower_is_better)?);
            }
        }
        if !lines.is_empty() {
            let head = vec![
                Head::figures(Axis::of(across).label),
                Head::text("method"),
                Head::text("best baseline"),
                Head::figures(select.metric.head()),
                Head::figures("of the baseline"),
                Head::figures("difference"),
                Head::figures("95 % interval"),
                Head::text("verdict"),
            ];
            blocks.push(Block {
                heading: heading(&part[0].row.subject.dataset, &part[0].row.comparison),
                head,
                lines,
                folded: Vec::new(),
            });
        }
    }
    Ok(blocks)
}

fn place(row: &ResultRow, axis: &str) -> Cell {
    let along = row.along(axis);
    if along.fract() == 0.0 { Cell::count(row.count(axis)) } else { Cell::number(along.to_string(), along) }
}

fn line(group: &Group<'_>, best: &Group<'_>, across: &str, lower_is_better: bool) -> Result<Vec<Cell>, ReportError> {
    let metric = group.row.metric;
    let pairs: Vec<(f64, f64)> = group
        .values
        .iter()
        .filter_map(|(replicate, value)| {
            let other = best.values.iter().find(|(number, _)| number == replicate);
            other.map(|(_, other)| (*value, *other))
        })
        .collect();
    let mut cells = vec![
        place(group.row, across),
        Cell::text(&group.row.subject.method),
        Cell::text(&best.row.subject.method),
        Cell::number(metric.show(group.estimate.mean), group.estimate.mean),
        Cell::number(metric.show(best.estimate.mean), best.estimate.mean),
    ];
    // one pair has no spread to resample
    if pairs.len() < 2 {
        let difference = group.estimate.mean - best.estimate.mean;
        cells.push(Cell::number(metric.show_difference(difference), difference));
        cells.extend([Cell::none(), Cell::text("one replicate").marked(Mark::Faint)]);
        return Ok(cells);
    }
    let (left, right): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let rng = &mut stream(0, &group.row.subject.dataset, "report/paired", group.row.count(across));
    let interval = paired_bootstrap(&left, &right, 0.95, RESAMPLES, rng)?;
    let is_zero = |value| metric.show_difference(value) == metric.show_difference(0.0);
    // an end that prints as zero touches it: the last bit of a machine decides no verdict
    let (below, above) = (interval.high < 0.0 && !is_zero(interval.high), interval.low > 0.0 && !is_zero(interval.low));
    let (verdict, mark) = match (below, above) {
        // what the table prints as zero is no difference, however sure it is
        _ if is_zero(interval.estimate) => ("even", Mark::Even),
        (false, false) => ("undecided", Mark::Even),
        (below, _) if below == lower_is_better => ("better", Mark::Good),
        _ => ("worse", Mark::Bad),
    };
    let show = |value| metric.show_difference(value);
    cells.extend([
        Cell::number(show(interval.estimate), interval.estimate),
        Cell::number(format!("{} … {}", show(interval.low), show(interval.high)), interval.low),
        Cell::text(verdict).marked(mark),
    ]);
    Ok(cells)
}
