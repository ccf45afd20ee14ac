//! What a user sees of a fetch: a bar for each download, notes, and one question about licenses.

use std::io::{BufRead, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

pub trait Watch {
    /// A download begins; `total` bytes where known, of which `done` were there before.
    fn begin(&mut self, what: &str, done: u64, total: Option<u64>);
    /// Number of its bytes that are there.
    fn at(&mut self, bytes: u64);
    /// It ended, well or not.
    fn end(&mut self);
    fn say(&mut self, line: &str);
    /// True for yes; nobody there is a no.
    fn ask(&mut self, question: &str) -> bool;
}

#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;

impl Watch for Silent {
    fn begin(&mut self, _: &str, _: u64, _: Option<u64>) {}
    fn at(&mut self, _: u64) {}
    fn end(&mut self) {}
    fn say(&mut self, line: &str) {
        tracing::info!("{line}");
    }
    fn ask(&mut self, _: &str) -> bool {
        false
    }
}

/// Standard error, and for questions standard input where both are a terminal.
#[derive(Debug, Default)]
pub struct Console {
    pub quiet: bool,
    bar: Option<ProgressBar>,
}

impl Console {
    /// With bars and notes unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, bar: None }
    }

    pub fn has_somebody() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }
}

impl Watch for Console {
    fn begin(&mut self, what: &str, done: u64, total: Option<u64>) {
        if self.quiet {
            return;
        }
        let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        let style = ProgressStyle::with_template("  {msg} {bar:24} {bytes} of {total_bytes}, {bytes_per_sec}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what.to_owned());
        bar.set_position(done);
        self.bar = Some(bar);
    }

    fn at(&mut self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(bytes);
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn say(&mut self, line: &str) {
        if !self.quiet {
            // a reader that has gone away stops no fetch
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
    }

    fn ask(&mut self, question: &str) -> bool {
        if !Self::has_somebody() {
            return false;
        }
        eprint!("{question} [y/N] ");
        let _ = std::io::stderr().flush();
        let mut answer = String::new();
        let heard = std::io::stdin().lock().read_line(&mut answer).is_ok();
        heard && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
    }
}

pub fn megabytes(bytes: u64) -> String {
    if bytes < 100_000 { format!("{:.1} kB", bytes as f64 / 1e3) } else { format!("{:.1} MB", bytes as f64 / 1e6) }
}
