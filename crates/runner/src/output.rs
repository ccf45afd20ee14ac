//! What is printed: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};

use miette::{GraphicalReportHandler, GraphicalTheme, Report};

/// Prints a text to standard output. A reader that has gone away (`runner list | head`) is no error.
///
/// # Errors
/// A full disk, and the like.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints an error to standard error, with its place and what to do. Colour never carries meaning: off a terminal, or
/// with NO_COLOR, the same text comes without it.
pub fn print_error(report: &Report) {
    let is_coloured = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let theme = if is_coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_context_lines(1).with_links(false);
    let mut text = String::new();
    if handler.render_report(&mut text, report.as_ref()).is_err() {
        text = format!("{report}\n");
    }
    let mut err = io::stderr().lock();
    // there is nowhere left to complain to
    let _ = err.write_all(text.trim_start_matches('\n').as_bytes()).and_then(|()| err.flush());
}

/// Rows of cells as aligned columns, two blanks apart; the last column is not padded.
pub fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line += &format!("{cell:width$}  ");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
