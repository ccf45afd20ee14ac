//! Progress of a run: calls made of those planned, with rate, money and time left.
//!
//! On a terminal it is one moving line; elsewhere a plain line every ten seconds, so that a log file stays readable.

use std::io::IsTerminal;
use std::iter::Sum;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Between two looks at the meter on a terminal.
const TICK: Duration = Duration::from_millis(200);
/// Between two lines off a terminal.
const LINE: Duration = Duration::from_secs(10);
/// Between two such lines on work without a count.
const BUSY_LINE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Count {
    /// Entries, or whatever is counted.
    pub done: u64,
    /// Their cost, where calls have a price.
    pub paid: Option<f64>,
}

impl From<u64> for Count {
    fn from(done: u64) -> Self {
        Self { done, paid: None }
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |all, one| Self {
            done: all.done + one.done,
            paid: match (all.paid, one.paid) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            },
        })
    }
}

/// A progress display that looks at the work by itself until it is dropped.
pub struct Progress {
    bar: ProgressBar,
    done: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
    quiet: bool,
    plain: bool,
}

impl Progress {
    /// Shows `called()` on its way to `planned`; `what` are they: `calls`.
    pub fn start<C: Into<Count>>(
        planned: u64,
        what: &'static str,
        quiet: bool,
        called: impl Fn() -> C + Send + 'static,
    ) -> Self {
        // what comes last is cut off where the terminal ends
        let template = format!(
            "{{bar:20}} {{human_pos}}/{{human_len}} {what} · {{per_sec}}{{prefix}} · {{eta}} left · {{wide_msg}}"
        );
        let mut shown = 0;
        Self::watching(Some(planned), &template, quiet, LINE, move |bar, elapsed, is_line_due| {
            let so_far: Count = called().into();
            bar.set_position(so_far.done);
            if let Some(paid) = so_far.paid {
                bar.set_prefix(format!(" · {paid:.2} paid"));
            }
            if is_line_due {
                eprintln!("{}", line(&Moment { so_far, shown, planned, elapsed }, what, &bar.message()));
                shown = so_far.done;
            }
        })
    }

    /// Shows every few seconds that work without a count continues: `rendering the report`.
    pub fn busy(what: impl Into<String>, quiet: bool) -> Self {
        let template = "{spinner} {wide_msg} {elapsed}";
        let progress = Self::watching(None, template, quiet, BUSY_LINE, |bar, elapsed, is_line_due| {
            bar.tick();
            if is_line_due {
                eprintln!("{}: {} s so far", bar.message(), elapsed.as_secs());
            }
        });
        progress.now(what.into());
        progress
    }

    /// Calls `look` all the time, with the time since the start, and true where a plain line is due.
    fn watching(
        planned: Option<u64>,
        template: &str,
        quiet: bool,
        between_lines: Duration,
        mut look: impl FnMut(&ProgressBar, Duration, bool) + Send + 'static,
    ) -> Self {
        let plain = !std::io::stderr().is_terminal();
        let target = if quiet || plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(planned, target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let done = Arc::new(AtomicBool::new(false));
        let watcher = thread::spawn({
            let (bar, done) = (bar.clone(), Arc::clone(&done));
            move || {
                let (start, mut last_line) = (Instant::now(), Instant::now());
                while !done.load(Ordering::Relaxed) {
                    let is_line_due = plain && !quiet && last_line.elapsed() >= between_lines;
                    if is_line_due {
                        last_line = Instant::now();
                    }
                    look(&bar, start.elapsed(), is_line_due);
                    thread::park_timeout(TICK);
                }
            }
        });
        Self { bar, done, watcher: Some(watcher), quiet, plain }
    }

    /// Shows what is being computed now.
    pub fn now(&self, what: String) {
        self.bar.set_message(what);
    }

    /// Prints a line that stays.
    pub fn say(&self, line: &str) {
        if self.quiet {
            return;
        }
        if self.plain { eprintln!("{line}") } else { self.bar.suspend(|| eprintln!("{line}")) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.take() {
            watcher.thread().unpark();
            // a watcher that panicked has nothing left to show
            let _ = watcher.join();
        }
        self.bar.finish_and_clear();
    }
}

/// What a plain line is about.
struct Moment {
    so_far: Count,
    /// Of the line before.
    shown: u64,
    planned: u64,
    elapsed: Duration,
}

/// One plain line: rate and time left while the count moves; else that something is computed.
fn line(moment: &Moment, what: &str, message: &str) -> String {
    let &Moment { so_far: Count { done: so_far, paid }, shown, planned, elapsed } = moment;
    let count =
        if so_far >= planned { format!("all {planned} {what}") } else { format!("{so_far} of {planned} {what}") };
    let rate = so_far as f64 / elapsed.as_secs_f64().max(1e-9);
    let pace = if so_far == shown || so_far >= planned {
        format!("; computing for {} s", elapsed.as_secs())
    } else {
        let left = (planned - so_far) as f64 / rate.max(1e-9);
        let left = if left < 0.5 { String::new() } else { format!(", {left:.0} s left") };
        format!(", {rate:.0}/s{left}")
    };
    let paid = paid.map_or(String::new(), |paid| format!(", {paid:.2} paid"));
    let message = if message.is_empty() { String::new() } else { format!("; {message}") };
    count + &paid + &pace + &message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_rate_only_while_the_count_moves() {
        let at = |so_far, shown| {
            let moment = Moment { so_far: Count::from(so_far), shown, planned: 100, elapsed: Duration::from_secs(20) };
            (line(&moment, "calls", ""), line(&moment, "calls", "rank 10"))
        };
        assert_eq!(at(40, 20).0, "40 of 100 calls, 2/s, 30 s left");
        assert_eq!(at(40, 40).0, "40 of 100 calls; computing for 20 s");
        assert_eq!(at(0, 0).1, "0 of 100 calls; computing for 20 s; rank 10");
        assert_eq!(at(100, 40).1, "all 100 calls; computing for 20 s; rank 10");
        let so_far = Count { done: 40, paid: Some(1.234) };
        let moment = Moment { so_far, shown: 20, planned: 100, elapsed: Duration::from_secs(20) };
        assert_eq!(line(&moment, "calls", ""), "40 of 100 calls, 1.23 paid, 2/s, 30 s left");
    }
}
