//! Parameters of a scoring program, as a configuration gives them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use landmark_core::parameter::BadParameter;

use super::SubprocessError;

/// The program, and how it is treated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["command"]))]
pub struct SubprocessParams {
    /// The program and its arguments.
    #[schemars(example = ["python3", "score.py"])]
    pub command: Vec<String>,
    /// Number of its processes that run at a time; each answers batches of its own.
    pub processes: usize,
    /// Pairs in a batch, at most.
    pub batch: usize,
    /// Seconds that a batch may take before the program counts as hanging.
    pub timeout_seconds: f64,
    /// Seconds from the start of the program to its greeting: loading a model takes time.
    pub start_seconds: f64,
    /// Treatment of a pair that it cannot score.
    pub failed_pairs: FailedPairs,
    /// Environment variables to add to those of the run.
    pub environment: BTreeMap<String, String>,
    /// The folder it runs in; ours where absent.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

/// Treatment of a pair that the program refuses, or that ends it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailedPairs {
    /// The run ends and names it.
    #[default]
    Error,
    /// It gets this score, and is counted.
    Score(f64),
}

impl FailedPairs {
    pub fn stand_in(self) -> Option<f64> {
        if let Self::Score(score) = self { Some(score) } else { None }
    }
}

impl Default for SubprocessParams {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            processes: 1,
            batch: 256,
            timeout_seconds: 60.0,
            start_seconds: 300.0,
            failed_pairs: FailedPairs::Error,
            environment: BTreeMap::new(),
            folder: None,
        }
    }
}

impl SubprocessParams {
    /// The parameters, if a program can be run with them.
    pub fn check(self) -> Result<Self, SubprocessError> {
        let refuse = |parameter, value: String, wanted| Err(BadParameter::new(parameter, value, wanted).into());
        if self.command.first().is_none_or(String::is_empty) {
            let wanted = "a program and its arguments, like `[python3, score.py]`";
            return refuse("command", format!("{:?}", self.command), wanted);
        }
        for (parameter, number) in [("processes", self.processes), ("batch", self.batch)] {
            if number == 0 {
                return refuse(parameter, "0".to_owned(), "at least 1");
            }
        }
        for (parameter, seconds) in [("timeout_seconds", self.timeout_seconds), ("start_seconds", self.start_seconds)] {
            // Duration counts to 1.8e19 seconds
            if !(seconds > 0.0 && seconds <= 1e9) {
                return refuse(parameter, seconds.to_string(), "a number of seconds above 0");
            }
        }
        if let FailedPairs::Score(score) = self.failed_pairs
            && !score.is_finite()
        {
            return refuse("failed_pairs", score.to_string(), "`error`, or a finite score like `{ score: 0 }`");
        }
        Ok(self)
    }

    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout_seconds)
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.start_seconds)
    }

    pub(super) fn in_words(&self) -> String {
        self.command.join(" ")
    }
}
