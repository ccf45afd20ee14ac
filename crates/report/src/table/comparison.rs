//! Paper ± sd | ours ± interval | Δ, a line per rank and method; a verdict for the lines that can be judged, one footnote for the others.

use super::{Block, Cell, Footnotes, Head, Mark, heading};
use crate::error::ReportError;
use crate::groups::{Group, groups, panels};
use crate::input::ReportInput;
use crate::reference::ReferenceValue;
use crate::results::{Metric, ResultRow};
use crate::spec::Selection;
use crate::verdict::{Verdict, applies_to, printed};

pub(super) fn blocks(
    input: &ReportInput<'_>,
    select: &Selection,
    reference: Option<&str>,
    footnotes: &mut Footnotes,
) -> Result<Vec<Block>, ReportError> {
    let groups = groups(input.rows, select)?;
    let paper: Vec<_> = printed(input, reference).into_iter().filter(|value| value.metric == select.metric).collect();
    let mut blocks = Vec::new();
    for part in panels(&groups) {
        let (dataset, comparison) = (&part[0].row.subject.dataset, &part[0].row.comparison);
        let mut lines: Vec<Vec<Cell>> =
            part.iter().map(|group| line(input, select.metric, group, &paper, footnotes)).collect();
        let here = |value: &&&ReferenceValue| {
            let same = value.comparison.as_ref().map_or(comparison != "entries", |wanted| wanted == comparison);
            value.dataset == *dataset && same && !part.iter().any(|group| applies_to(value, group))
        };
        let mut folded: Vec<Vec<Cell>> =
            paper.iter().filter(here).map(|value| line_not_run(input, select.metric, value)).collect();
        let mut head = head(select.metric);
        let is_judged = |cell: &Cell| cell.verdict.as_ref().is_some_and(Verdict::is_judged);
        if !lines.iter().flatten().any(is_judged) {
            head.pop();
            lines.iter_mut().chain(&mut folded).for_each(|line| drop(line.pop()));
        }
        blocks.push(Block { heading: heading(dataset, comparison), head, lines, folded });
    }
    Ok(blocks)
}

fn head(metric: Metric) -> Vec<Head> {
    vec![
        Head::text("method"),
        Head::figures("rank"),
        Head::figures("entries of K"),
        Head::figures(format!("paper {}", metric.head())),
        Head::figures(format!("ours {}", metric.head())),
        Head::figures("Δ"),
        Head::text("verdict"),
    ]
}

fn line(
    input: &ReportInput<'_>,
    metric: Metric,
    group: &Group<'_>,
    paper: &[&ReferenceValue],
    footnotes: &mut Footnotes,
) -> Vec<Cell> {
    let row = group.row;
    let mut ours = Cell::number(ours_text(metric, group), group.estimate.mean);
    ours.notes = row.note.iter().map(|note| footnotes.number(note)).collect();
    let mut cells = vec![Cell::text(&row.subject.method), Cell::count(row.count("rank")), Cell::count(row.cost.cells)];
    match paper.iter().find(|value| applies_to(value, group)) {
        None => cells.extend([Cell::none(), ours, Cell::none(), Cell::none()]),
        Some(value) => {
            let verdict = Verdict::of(metric, &group.estimate, value, &input.caveats);
            let difference = group.estimate.mean - value.value;
            let word = word_cell(&verdict);
            let mut difference = Cell::number(metric.show_difference(difference), difference);
            if let Verdict::NotComparable(reasons) = &verdict {
                difference.notes =
                    vec![footnotes.number(&format!("not comparable with the paper: {}", reasons.join("; ")))];
            }
            difference.verdict = Some(verdict);
            cells.extend([Cell::number(paper_text(metric, value), value.value), ours, difference, word]);
        }
    }
    cells
}

/// A number of the paper that nothing of this run stands next to.
fn line_not_run(input: &ReportInput<'_>, metric: Metric, value: &ReferenceValue) -> Vec<Cell> {
    let is_it = |row: &&ResultRow| row.subject.id == value.method && row.subject.variant.is_empty();
    let name = input.rows.iter().find(is_it).map_or(value.method.as_str(), |row| row.subject.method.as_str());
    vec![
        Cell::text(name),
        value.rank.map_or_else(Cell::none, Cell::count),
        Cell::none(),
        Cell::number(paper_text(metric, value), value.value),
        Cell::none(),
        Cell { verdict: Some(Verdict::NotRun), ..Cell::none() },
        Cell::none(),
    ]
}

/// The word of a line that is judged.
fn word_cell(verdict: &Verdict) -> Cell {
    let mark = match verdict {
        Verdict::NotComparable(_) | Verdict::NotRun => return Cell::none(),
        Verdict::Within | Verdict::Even | Verdict::Different => Mark::Even,
        Verdict::Better => Mark::Good,
        Verdict::Worse => Mark::Bad,
    };
    Cell::text(verdict.word()).marked(mark)
}

fn ours_text(metric: Metric, group: &Group<'_>) -> String {
    let mean = metric.show(group.estimate.mean);
    match group.estimate.interval {
        Some(_) => format!("{mean} ± {}", metric.show_half_width(group.estimate.half_width(), group.estimate.mean)),
        None => mean,
    }
}

fn paper_text(metric: Metric, value: &ReferenceValue) -> String {
    match value.sd {
        Some(sd) => format!("{} ± {}", metric.show(value.value), metric.show(sd)),
        None => metric.show(value.value),
    }
}
