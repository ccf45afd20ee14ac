//! Faults of a scoring program, each with what it did and the next step.

use std::io;

use landmark_core::oracle::OracleError;
use landmark_core::parameter::BadParameter;
use landmark_core::untrusted::{escaped, redacted};

/// Why a program could not score.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubprocessError {
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// Ids and texts differ in number.
    #[error("there are {ids} ids for {texts} texts; every item needs both")]
    Items {
        /// Number of ids.
        ids: usize,
        /// Number of texts.
        texts: usize,
    },
    /// The program does not exist or may not be run.
    #[error(
        "the program `{command}` cannot be started; check the path (it starts at the folder of the configuration) and that it is executable"
    )]
    Start {
        /// The command line.
        command: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// It ended or fell silent before its greeting.
    #[error("the program `{command}` {what} before it greeted; it must answer the first line with `{wanted}`{said}")]
    NoGreeting {
        /// The command line.
        command: String,
        /// Manner of its end, or the time for which it was silent.
        what: String,
        /// An example of a greeting.
        wanted: &'static str,
        /// The end of its standard error.
        said: String,
    },
    /// Its first line is no greeting of this version.
    #[error("the program `{command}` greeted with `{seen}` ({reason}); it must be like `{wanted}`{said}")]
    BadGreeting {
        /// The command line.
        command: String,
        /// Its first line.
        seen: String,
        /// Fault of that line.
        reason: String,
        /// An example of a greeting.
        wanted: &'static str,
        /// The end of its standard error.
        said: String,
    },
    /// Two of its processes, or one before and after a restart, are not the same scorer.
    #[error(
        "the program `{command}` greeted with `{first}` and, started again, with `{second}`; its greeting must not change within a run"
    )]
    Changed {
        /// The command line.
        command: String,
        /// The first greeting.
        first: String,
        /// The later one.
        second: String,
    },
    /// A line that is no answer.
    #[error(
        "the program `{command}` printed `{line}` where the scores of batch {batch} were expected ({reason}); standard output is for answers only, print anything else to standard error{said}"
    )]
    Garbage {
        /// The command line.
        command: String,
        /// The batch that waits.
        batch: u64,
        /// The beginning of the line.
        line: String,
        /// Complaint of the parser.
        reason: String,
        /// The end of its standard error.
        said: String,
    },
    /// The answer to another batch.
    #[error(
        "the program `{command}` answered batch {seen} where batch {wanted} was next; answer each batch once, in the order they come"
    )]
    Order {
        /// The command line.
        command: String,
        /// The batch it answered.
        seen: u64,
        /// The batch that waits.
        wanted: u64,
    },
    /// More or fewer scores than pairs.
    #[error(
        "the program `{command}` gave {seen} scores for the {wanted} pairs of batch {batch}; give one each, in their order"
    )]
    Count {
        /// The command line.
        command: String,
        /// The batch.
        batch: u64,
        /// Scores it gave.
        seen: usize,
        /// Pairs it was handed.
        wanted: usize,
    },
    /// NaN, an infinity or `null` in the place of a score.
    #[error(
        "the program `{command}` gave the pair {pair} NaN, an infinity or null, which no approximation can use; {next_step}. A pair that has no score is answered with `{{\"error\": \"why\"}}`"
    )]
    NoNumber {
        /// The command line.
        command: String,
        /// The ids of the items.
        pair: String,
        /// Advice on where to look.
        next_step: &'static str,
    },
    /// It says itself that it cannot score this pair.
    #[error("the program `{command}` cannot score the pair {pair}: {reason}; {next_step}")]
    Refused {
        /// The command line.
        command: String,
        /// The ids of the items.
        pair: String,
        /// Advice on where to look.
        next_step: &'static str,
        /// In its own words.
        reason: String,
    },
    /// Pairs that may fail do, and nothing else.
    #[error(
        "the program `{command}` has failed on {failed} pairs and scored none: that is the program, not the items. Try it on two texts by hand; the last complaint was: {last}"
    )]
    Hopeless {
        /// The command line.
        command: String,
        /// Pairs so far.
        failed: u64,
        /// Error of the pair that failed last.
        last: Box<SubprocessError>,
    },
    /// It ends or hangs on this pair, alone and in a fresh process.
    #[error("the program `{command}` {what} on the pair {pair}, alone in a fresh process; {next_step}{said}")]
    Poisoned {
        /// The command line.
        command: String,
        /// The ids of the items.
        pair: String,
        /// Advice on where to look.
        next_step: &'static str,
        /// Manner of its end, or the time for which it was silent.
        what: String,
        /// The end of its standard error.
        said: String,
    },
}

impl From<SubprocessError> for OracleError {
    fn from(error: SubprocessError) -> Self {
        Self::Failed { what: "a scoring program".to_owned(), source: Box::new(error) }
    }
}

/// The beginning of a line, for a message.
pub(super) fn excerpt(line: &[u8]) -> String {
    const SHOWN: usize = 120;
    // of a long line the beginning is enough to look through
    let text = escaped(&redacted(&String::from_utf8_lossy(&line[..line.len().min(16 * SHOWN)])));
    // a byte order mark and blanks without a width, which nobody would see
    let text =
        text.replace(['\u{feff}'], "\\u{feff}").replace(['\u{200b}'], "\\u{200b}").replace(['\u{2060}'], "\\u{2060}");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
