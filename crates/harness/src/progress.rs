//! Progress of a run: entries evaluated against entries planned, with rate and time left.
//!
//! On a terminal it is one moving line; elsewhere a plain line every ten seconds, so that a log file stays readable.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Between two looks at the meter on a terminal.
const TICK: Duration = Duration::from_millis(200);
/// Between two lines off a terminal.
const LINE: Duration = Duration::from_secs(10);

/// A progress display that reads a counter by itself until it is dropped.
pub struct Progress {
    bar: ProgressBar,
    done: Arc<AtomicBool>,
    watcher: Option<JoinHandle<()>>,
    quiet: bool,
    plain: bool,
}

impl Progress {
    /// Shows `bought()` on its way to `planned`; `what` are they: `entries bought`.
    pub fn start(planned: u64, what: &'static str, quiet: bool, bought: impl Fn() -> u64 + Send + 'static) -> Self {
        let plain = !std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(
            Some(planned),
            if quiet || plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() },
        );
        let template = format!("{{bar:30}} {{human_pos}}/{{human_len}} {what} · {{per_sec}} · {{eta}} left · {{msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        let done = Arc::new(AtomicBool::new(false));
        let watcher = {
            let (bar, done) = (bar.clone(), Arc::clone(&done));
            let speaks = plain && !quiet;
            thread::spawn(move || watch(&bar, what, &done, speaks, &bought))
        };
        Self { bar, done, watcher: Some(watcher), quiet, plain }
    }

    /// Says what is being computed now.
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

fn watch(bar: &ProgressBar, what: &str, done: &AtomicBool, speaks: bool, bought: &dyn Fn() -> u64) {
    let start = Instant::now();
    let mut last_line = Instant::now();
    while !done.load(Ordering::Relaxed) {
        let so_far = bought();
        bar.set_position(so_far);
        if speaks && last_line.elapsed() >= LINE {
            last_line = Instant::now();
            let planned = bar.length().unwrap_or(0);
            if so_far >= planned {
                eprintln!("all {planned} {what}; {}", bar.message());
                continue;
            }
            let rate = so_far as f64 / start.elapsed().as_secs_f64();
            let left = planned.saturating_sub(so_far) as f64 / rate.max(1e-9);
            let left = if so_far == 0 || left < 0.5 { String::new() } else { format!(", {left:.0} s left") };
            eprintln!("{so_far} of {planned} {what}, {rate:.0}/s{left}; {}", bar.message());
        }
        thread::park_timeout(TICK);
    }
}
