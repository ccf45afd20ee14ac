//! Faults of a scoring program, each with what it did and the next step.

use std::io;

use landmark_core::oracle::OracleError;
use landmark_core::parameter::BadParameter;
use landmark_core::untrusted::{escaped, redacted};

/// Why a program could not score.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubprocessError {
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    #[error("there are {ids} ids for {texts} texts; every item needs both")]
    Items { ids: usize, texts: usize },
    #[error(
        "the program `{command}` cannot be started; check the path (it starts at the folder of the configuration) and that it is executable"
    )]
    Start {
        command: String,
        #[source]
        source: io::Error,
    },
    #[error("the program `{command}` {what} before it greeted; it must answer the first line with `{wanted}`{stderr}")]
    NoGreeting { command: String, what: String, wanted: &'static str, stderr: String },
    #[error("the program `{command}` greeted with `{seen}` ({reason}); it must be like `{wanted}`{stderr}")]
    BadGreeting { command: String, seen: String, reason: String, wanted: &'static str, stderr: String },
    #[error(
        "the program `{command}` greeted with `{first}` and, started again, with `{second}`; its greeting must not change within a run"
    )]
    Changed { command: String, first: String, second: String },
    #[error(
        "the program `{command}` printed `{line}` where the scores of batch {batch} were expected ({reason}); standard output is for answers only, print anything else to standard error{stderr}"
    )]
    Garbage { command: String, batch: u64, line: String, reason: String, stderr: String },
    #[error(
        "the program `{command}` answered batch {seen} where batch {wanted} was next; answer each batch once, in the order they come"
    )]
    Order { command: String, seen: u64, wanted: u64 },
    #[error(
        "the program `{command}` gave {seen} scores for the {wanted} pairs of batch {batch}; give one each, in their order"
    )]
    Count { command: String, batch: u64, seen: usize, wanted: usize },
    #[error(
        "the program `{command}` gave the pair {pair} NaN, an infinity or null, which no approximation can use; {next_step}. A pair that has no score is answered with `{{\"error\": \"why\"}}`"
    )]
    NoNumber { command: String, pair: String, next_step: &'static str },
    #[error("the program `{command}` cannot score the pair {pair}: {reason}; {next_step}")]
    Refused { command: String, pair: String, next_step: &'static str, reason: String },
    #[error(
        "the program `{command}` has failed on {failed} pairs and scored none: that is the program, not the items. Try it on two texts by hand; the last error was: {last}"
    )]
    AllFailed { command: String, failed: u64, last: Box<SubprocessError> },
    #[error("the program `{command}` {what} on the pair {pair}, alone in a fresh process; {next_step}{stderr}")]
    CrashingPair { command: String, pair: String, next_step: &'static str, what: String, stderr: String },
}

impl From<SubprocessError> for OracleError {
    fn from(error: SubprocessError) -> Self {
        Self::Failed { what: "a scoring program".to_owned(), source: Box::new(error) }
    }
}

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
