//! Invocation of a command on one configuration, as the command line or another program makes it, and the mistakes that are found in it.

use std::path::PathBuf;

use landmark_yaml::ConfigError;

use crate::config::{Config, Overlays};
use crate::recorded::CommandRecord;
use crate::registry::Registry;
use crate::run::RunOptions;

/// A configuration, what is laid over it, where things lie, and where the answer goes.
#[derive(Clone)]
pub struct Invocation {
    pub file: PathBuf,
    /// What is laid over it.
    pub overlays: Overlays,
    /// Where things lie, and how much is printed.
    pub options: RunOptions,
    /// File of the answer; next to the results where absent.
    pub out: Option<PathBuf>,
    /// Everything that it can name.
    pub registry: &'static Registry,
}

impl Invocation {
    /// The same, with its files and facts in `record`.
    #[must_use]
    pub fn recorded_in(self, record: &CommandRecord) -> Self {
        Self { options: RunOptions { record: record.clone(), ..self.options }, ..self }
    }

    pub fn config(&self) -> Result<Config, ConfigError> {
        Config::load(&self.file, &self.overlays, self.registry)
    }
}

impl Overlays {
    /// The flags that lay this over a file, as words of a command.
    pub fn words(&self) -> Vec<String> {
        let profile = self.profile.iter().map(|profile| ("--profile", profile));
        let words = profile.chain(self.set.iter().map(|set| ("--set", set)));
        words.flat_map(|(name, value)| [name.to_owned(), value.clone()]).collect()
    }
}

/// A mistake in how a command was called, or in a file that it names, that is found after its words were read and before anything is scored.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("{message}")]
pub struct UsageError {
    message: String,
    #[help]
    help: Option<String>,
}

impl UsageError {
    /// With a message and what to do about it.
    pub fn new(message: impl Into<String>, help: Option<String>) -> Self {
        Self { message: message.into(), help }
    }

    /// Of a file that can't be read, or is not what it should be; the causes stand behind the message where it does not name them itself.
    pub fn of(error: impl std::error::Error) -> Self {
        let mut message = error.to_string();
        let causes = std::iter::successors(error.source(), |cause| cause.source());
        for cause in causes.map(ToString::to_string) {
            if !message.contains(&cause) {
                message += &format!(": {cause}");
            }
        }
        Self::new(message, None)
    }
}
