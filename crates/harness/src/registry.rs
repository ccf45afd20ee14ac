//! Everything that a configuration can name, handed in from the top: nothing below the program knows the lists themselves.

use landmark_yaml::Entry;

use crate::config::gathering::GATHERING;
use crate::config::reading::Ingredients;
use crate::experiment::Experiment;
use crate::study::StudyEntry;

#[derive(Clone, Copy)]
pub struct Registry {
    pub ingredients: Ingredients,
    /// Experiments over one matrix; the first is what a file of an unknown experiment is read as, to find its other faults.
    pub experiments: &'static [&'static dyn Experiment],
    /// Experiments that read a section of their own.
    pub studies: &'static [StudyEntry],
}

impl Registry {
    /// The experiment over one matrix of this id.
    pub fn experiment(&self, id: &str) -> Option<&'static dyn Experiment> {
        self.experiments.iter().copied().find(|experiment| experiment.entry().entry.id == id)
    }

    pub fn study(&self, id: &str) -> Option<&'static StudyEntry> {
        self.studies.iter().find(|study| study.entry.id == id)
    }

    /// All that `experiment:` may name.
    pub fn experiment_entries(&self) -> Vec<Entry> {
        let over_matrices = self.experiments.iter().map(|experiment| experiment.entry().entry);
        over_matrices.chain([GATHERING]).chain(self.studies.iter().map(|study| study.entry)).collect()
    }
}
