//! Typed results of a command: the files that it wrote and the facts that it found, for answers in JSON.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value as Json};

/// Files and facts of one command. Clones share them, so that the options of a command can carry it to where a file is written.
#[derive(Debug, Clone, Default)]
pub struct CommandRecord(Arc<Mutex<Recorded>>);

/// Files in the order in which they were first written, and facts by name.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// Paths as the command was given them or made them.
    pub files: Vec<PathBuf>,
    pub facts: Map<String, Json>,
}

impl CommandRecord {
    /// Adds a file that was written; each path is listed once.
    pub fn file(&self, path: &Path) {
        let mut recorded = self.lock();
        if !recorded.files.iter().any(|known| known == path) {
            recorded.files.push(path.to_owned());
        }
    }

    /// Sets a fact. A value that JSON cannot hold becomes null.
    pub fn fact(&self, name: &str, value: impl Serialize) {
        let value = serde_json::to_value(value).unwrap_or(Json::Null);
        self.lock().facts.insert(name.to_owned(), value);
    }

    pub fn recorded(&self) -> Recorded {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        // a list is whole after every line that could panic
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
