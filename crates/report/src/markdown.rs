//! `summary.md`: what a reader sees first, in a terminal or a code review.

use std::fmt::Write as _;

use crate::claims::claims_table;
use crate::input::{ReportInput, how_to_read};
use crate::table::{Block, Cell, Mark, Table};

/// The whole summary. Figures are referred to by file name.
pub(super) fn summary(input: &ReportInput<'_>, outcome: Option<&str>, tables: &[Table]) -> String {
    let mut out = format!("# {}\n\n", input.title);
    if let Some(outcome) = outcome {
        let _ = writeln!(out, "{outcome}\n");
    }
    for caveat in &input.caveats {
        let weight = if caveat.breaks_comparison { " Not comparable with the paper." } else { "" };
        let _ = writeln!(out, "> **{}.**{weight}", caveat.words());
        out.push_str(">\n");
    }
    if let Some(reference) = input.reference {
        let _ = writeln!(out, "> Paper: {}\n", reference.paper);
    } else if !input.caveats.is_empty() {
        out.truncate(out.len() - 2);
        out.push('\n');
    }
    let _ = writeln!(out, "Profile `{}`. Made by:\n\n```\n{}\n```\n", input.profile, input.command);
    if !input.claims.is_empty() {
        let _ = writeln!(out, "## Claims of the paper\n\n{}", claims_table(&input.claims));
    }
    for figure in &input.figures {
        let _ = writeln!(out, "## {}\n\n![{}]({}.png)\n", figure.title, figure.title, figure.id);
        paragraph(&mut out, &figure.caption);
    }
    for table in tables {
        let _ = writeln!(out, "## {}\n", table.title);
        paragraph(&mut out, &table.caption);
        for block in &table.blocks {
            write_block(&mut out, block);
        }
        for (index, note) in table.footnotes.iter().enumerate() {
            let _ = writeln!(out, "{} {note}  ", superscript(index + 1));
        }
        if !table.footnotes.is_empty() {
            out.push('\n');
        }
    }
    if !input.notes.is_empty() {
        out.push_str("## Notes\n\n");
        for note in &input.notes {
            let _ = writeln!(out, "- {note}");
        }
        out.push('\n');
    }
    out.push_str(how_to_read(input.reference));
    out.push('\n');
    out
}

fn paragraph(out: &mut String, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(out, "{text}\n");
    }
}

/// Columns are padded so that the source reads as a table too.
fn write_block(out: &mut String, block: &Block) {
    if !block.heading.is_empty() {
        let _ = writeln!(out, "**{}**\n", block.heading);
    }
    write_lines(out, block, &block.lines);
    if let Some(words) = block.folded_words() {
        let _ = writeln!(out, "<details><summary>{words}</summary>\n");
        write_lines(out, block, &block.folded);
        out.push_str("</details>\n\n");
    }
}

fn write_lines(out: &mut String, block: &Block, lines: &[Vec<Cell>]) {
    let lines: Vec<Vec<String>> = lines.iter().map(|line| line.iter().map(cell).collect()).collect();
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.chain([block.head[column].text.chars().count(), 3]).max().unwrap_or(3)
    };
    let widths: Vec<usize> = (0..block.head.len()).map(width).collect();
    let mut write_line = |cells: &mut dyn Iterator<Item = &str>| {
        for ((text, &width), head) in cells.zip(&widths).zip(&block.head) {
            let _ = if head.figures { write!(out, "| {text:>width$} ") } else { write!(out, "| {text:<width$} ") };
        }
        out.push_str("|\n");
    };
    write_line(&mut block.head.iter().map(|head| head.text.as_str()));
    let rules: Vec<String> = widths
        .iter()
        .zip(&block.head)
        .map(|(&width, head)| if head.figures { format!("{}:", "-".repeat(width - 1)) } else { "-".repeat(width) })
        .collect();
    write_line(&mut rules.iter().map(String::as_str));
    for line in &lines {
        write_line(&mut line.iter().map(String::as_str));
    }
    out.push('\n');
}

fn cell(cell: &Cell) -> String {
    let text = cell.text.replace('|', "\\|");
    let notes: String = cell.notes.iter().map(|&note| superscript(note)).collect::<Vec<_>>().join("˒");
    if cell.mark == Mark::Best { format!("**{text}**{notes}") } else { text + &notes }
}

/// `12` → `¹²`.
fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().chars().filter_map(|digit| digit.to_digit(10)).map(|digit| DIGITS[digit as usize]).collect()
}
