//! Entries and calls that each cell of the sweep asks for.

use super::{Block, Cell, Head, heading};
use crate::error::ReportError;
use crate::groups::{Group, groups, panels};
use crate::input::ReportInput;
use crate::spec::Selection;

pub(super) fn blocks(input: &ReportInput<'_>, select: &Selection) -> Result<Vec<Block>, ReportError> {
    let groups = groups(input.rows, select)?;
    let head = vec![
        Head::text("method"),
        Head::figures("columns s"),
        Head::figures("rank"),
        Head::figures("entries of K"),
        Head::figures("share of n² (%)"),
        Head::figures("calls if run alone"),
    ];
    let block = |part: &[Group<'_>]| Block {
        heading: heading(&part[0].row.subject.dataset, &part[0].row.comparison),
        head: head.clone(),
        lines: part
            .iter()
            .map(|group| {
                let row = group.row;
                let share = 100.0 * row.cost.cells as f64 / (row.subject.items as f64).powi(2);
                vec![
                    Cell::text(&row.subject.method),
                    Cell::count(row.count("columns")),
                    Cell::count(row.count("rank")),
                    Cell::count(row.cost.cells),
                    Cell::number(format!("{share:.1}"), share),
                    Cell::count(row.cost.evaluations),
                ]
            })
            .collect(),
        folded: Vec::new(),
    };
    Ok(panels(&groups).map(block).collect())
}
