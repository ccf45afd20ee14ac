//! Exit code of the program: one number a script can rely on.

use std::process::ExitCode;

pub use landmark_harness::invocation::UsageError;
use landmark_harness::run::Ended;

/// The exit codes, as `--help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All that was asked for is there.
    Done = 0,
    /// Something failed; what was bought is kept.
    Failed = 1,
    /// The command line or a configuration is wrong; nothing was started.
    Usage = 2,
    /// A budget ended the run; the best so far is written.
    Budget = 3,
    /// Some cells failed, the others are written (`--keep-going`).
    Partial = 4,
    /// Ctrl-C or SIGTERM; what was bought is kept.
    Interrupted = 130,
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

/// The part of `--help` that explains the numbers.
pub const HELP: &str = "\
Exit codes:
    0  done
    1  failed; what was bought is kept, and running again goes on from there
    2  the command line or a configuration is wrong; nothing was started
    3  the budget is exhausted; the best so far is written
    4  some cells failed and the others are written (--keep-going)
  130  interrupted; what was bought is kept";
