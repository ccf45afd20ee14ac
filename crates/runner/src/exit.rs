//! Exit code of the program: one number a script can rely on.

use std::process::ExitCode;

use landmark_harness::interrupt::INTERRUPTED;
pub use landmark_harness::invocation::UsageError;
use landmark_harness::run::Ended;

/// The exit codes of what ends by itself, as `--help` lists them; an interrupt ends the program with [`INTERRUPTED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All that was asked for is there.
    Done = 0,
    /// Something failed, or does not hold; what was bought is kept.
    Failed = 1,
    /// The command line, a configuration or a file that they name is wrong, or a run that is needed was not made; nothing was started.
    Usage = 2,
    /// A budget ended the run; the best so far is written.
    Budget = 3,
    /// Some jobs failed, the others are written (`--keep-going`).
    Partial = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<Ended> for Exit {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Done => Self::Done,
            Ended::BudgetExhausted => Self::Budget,
            Ended::SomeFailed(_) => Self::Partial,
        }
    }
}

/// Every exit code and its meaning.
pub const CODES: [(i32, &str); 6] = [
    (Exit::Done as i32, "done"),
    (
        Exit::Failed as i32,
        "failed, or a check that does not hold; what was bought is kept, and running again goes on from there",
    ),
    (
        Exit::Usage as i32,
        "the command line, a configuration or a file that they name is wrong, or a run that is needed was not made; nothing was started",
    ),
    (Exit::Budget as i32, "the budget is exhausted; the best so far is written"),
    (Exit::Partial as i32, "some jobs failed and the others are written (--keep-going)"),
    (INTERRUPTED, "interrupted (Ctrl-C, SIGTERM); what was bought is kept"),
];

/// The part of `--help` that explains the numbers.
pub fn help() -> String {
    let line = |(code, meaning): &(i32, &str)| format!("\n  {code:>3}  {meaning}");
    "Exit codes:".to_owned() + &CODES.iter().map(line).collect::<String>()
}
