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
        Head::figures("cells of K"),
        Head::figures("share of n² (%)"),
        Head::figures("calls if run alone"),
    ];
    let block = |part: &[Group<'_>]| Block {
        heading: heading(&part[0].row.dataset, &part[0].row.comparison),
        head: head.clone(),
        lines: part
            .iter()
            .map(|group| {
                let row = group.row;
                let share = 100.0 * row.cells as f64 / (row.items as f64).powi(2);
                vec![
                    Cell::text(&row.method),
                    Cell::count(row.columns),
                    Cell::count(row.rank),
                    Cell::count(row.cells),
                    Cell::number(format!("{share:.1}"), share),
                    Cell::count(row.evaluations),
                ]
            })
            .collect(),
        folded: Vec::new(),
    };
    Ok(panels(&groups).map(block).collect())
}
