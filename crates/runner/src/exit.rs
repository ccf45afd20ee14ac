//! Exit code of the program: one number a script can rely on.

use std::process::ExitCode;

use landmark_harness::interrupt::INTERRUPTED;
pub use landmark_harness::invocation::UsageError;
use landmark_harness::run::Ended;

/// The exit codes of a program that ends by itself, as `--help` lists them; an interrupt ends it with [`INTERRUPTED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Budget = 3,
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

pub const CODES: [(i32, &str); 6] = [
    (Exit::Done as i32, "success"),
    (Exit::Failed as i32, "failed, or a check did not pass; scores are kept and a rerun resumes"),
    (Exit::Usage as i32, "invalid arguments, configuration or input file, or a missing run; nothing was started"),
    (Exit::Budget as i32, "the budget is exhausted; the best result so far is written"),
    (Exit::Partial as i32, "some jobs failed; the others are written (`--keep-going`)"),
    (INTERRUPTED, "interrupted (Ctrl-C, SIGTERM); scores are kept"),
];

/// The part of `--help` that explains the numbers.
pub fn help() -> String {
    let line = |(code, meaning): &(i32, &str)| format!("\n  {code:>3}  {meaning}");
    "Exit codes:".to_owned() + &CODES.iter().map(line).collect::<String>()
}
