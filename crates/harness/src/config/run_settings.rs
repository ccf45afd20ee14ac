//! The settings that every run has, whatever it measures: all of a configuration that studies and experiments read besides their own sections.

use std::path::PathBuf;

use landmark_report::Reference;
use landmark_yaml::Profile;
use serde::Serialize;

/// Name, seed, replicates, profile.
#[derive(Debug, Clone, Serialize)]
pub struct RunSettings {
    pub name: String,
    pub title: Option<String>,
    /// Folder of `experiments/` with the paper's numbers.
    pub paper: Option<String>,
    /// Repetitions with other landmarks, splits, draws.
    pub replicates: usize,
    /// Every random draw follows from it.
    pub seed: u64,
    /// The profile this is, and what it changed.
    #[serde(skip)]
    pub profile: Profile,
    /// Assignments laid over the file, as they were given, in order.
    #[serde(skip)]
    pub set: Vec<String>,
    /// Threads; all cores where absent.
    #[serde(skip)]
    pub threads: Option<usize>,
    /// Hours that it takes on two cores, where the configuration or its profile states them.
    #[serde(skip)]
    pub hours: Option<f64>,
    #[serde(skip)]
    pub file: PathBuf,
}

impl RunSettings {
    /// The paper's numbers, if the configuration names a paper that has some.
    pub fn reference(&self) -> Option<Reference> {
        Reference::find(self.paper.as_deref()?, &self.file).ok().flatten()
    }
}
