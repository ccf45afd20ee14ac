//! Output of the program: results to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use landmark_core::untrusted::{escaped, redacted};
use landmark_harness::recorded::{CommandRecord, Recorded};
use landmark_yaml::ConfigError;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, Report};
use serde_json::{Map, Value as Json, json};

use crate::cli::LogArgs;

/// Prints a text to standard output. A reader that has gone away (`landmark list | head`) is no error.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(escaped(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Answer of a command, for people and for programs.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// What people read.
    pub text: String,
    /// The same as data.
    pub result: Map<String, Json>,
    /// Files that the command wrote.
    pub files: Vec<PathBuf>,
}

impl Answer {
    /// A text with its data; `result` is an object, and its keys stand at the top of the answer's `result`.
    pub fn new(text: impl Into<String>, result: Json) -> Self {
        let result = match result {
            Json::Object(result) => result,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        Self { text: text.into(), result, files: Vec::new() }
    }

    /// A text with the files and facts that a command recorded while it ran.
    pub fn recorded(text: impl Into<String>, record: &CommandRecord) -> Self {
        let Recorded { files, facts } = record.recorded();
        Self { text: text.into(), result: facts, files }
    }

    /// The same, with these files.
    #[must_use]
    pub fn with_files(self, files: Vec<PathBuf>) -> Self {
        Self { files, ..self }
    }

    /// Prints the text, or with `--json` one line: `result` and `files` are data, `says` the lines for people.
    pub fn print(&self, log: LogArgs) -> io::Result<()> {
        if !log.json {
            return print(&self.text);
        }
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let lines: Vec<&str> = self.text.lines().collect();
        print(&(json!({ "result": self.result, "files": files, "says": lines }).to_string() + "\n"))
    }
}

/// Prints a line to standard error, if there is still somebody to read it.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", escaped(line));
}

/// A drawn error as it may be printed: without what looks like a secret, also in the lines of a file that it quotes, and with no order to the
/// terminal but those of color that it was drawn with.
fn harmless(drawn: &str) -> String {
    let mut out = String::with_capacity(drawn.len());
    for (at, piece) in redacted(drawn).split('\u{1b}').enumerate() {
        let is_color = |end: usize| piece[1..end].chars().all(|c| c.is_ascii_digit() || c == ';');
        let color = piece.find('m').filter(|&end| piece.starts_with('[') && is_color(end));
        match (at, color) {
            (0, _) => out += &escaped(piece),
            (_, Some(end)) => {
                out += "\u{1b}";
                out += &piece[..=end];
                out += &escaped(&piece[end + 1..]);
            }
            (_, None) => {
                out += "\\u{1b}";
                out += &escaped(piece);
            }
        }
    }
    out
}

/// Prints an error to standard error, with its place and what to do. Color never carries meaning: off a terminal, or
/// with NO_COLOR, the same text comes without it.
pub fn print_error(report: &Report) {
    let is_colored = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let theme = if is_colored { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_context_lines(1).with_links(false);
    let render = |diagnostic: &dyn Diagnostic| {
        let mut text = String::new();
        match handler.render_report(&mut text, diagnostic) {
            Ok(()) => text.trim_start_matches('\n').to_owned(),
            Err(_) => format!("{diagnostic}\n"),
        }
    };
    let text = match report.downcast_ref::<ConfigError>() {
        // each with its own frame, the sum last: that is where a reader looks first
        Some(error) => {
            let each: Vec<String> = error.each().map(render).collect();
            let sum = if each.len() > 1 || error.profile().is_some() {
                format!("\n{}\n", error.summary())
            } else {
                String::new()
            };
            each.join("\n") + &sum
        }
        None => render(report.as_ref()),
    };
    let text = harmless(&text);
    let mut err = io::stderr().lock();
    // there is nowhere left to report an error
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Rows of cells as aligned columns, two blanks apart; the last column is not padded.
pub fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width_in = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width_of(cell)).max();
    let widths: Vec<usize> = (0..count).map(|column| width_in(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line += cell;
            line += &" ".repeat(width - width_of(cell) + 2);
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Columns a text takes on a terminal: combining accents (K̃) take none.
fn width_of(text: &str) -> usize {
    text.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn a_complaint_keeps_its_colors_and_shows_all_other_orders_and_no_key() {
        let drawn = "\u{1b}[31merror\u{1b}[0m: \u{1b}[2J\u{1b}]0;title\u{7} Authorization: Bearer abc";
        let shown = "\u{1b}[31merror\u{1b}[0m: \\u{1b}[2J\\u{1b}]0;title\\u{7} Authorization: REDACTED";
        assert_eq!(harmless(drawn), shown);
    }
}
