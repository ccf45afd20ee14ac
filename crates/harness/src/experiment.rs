//! An experiment over one similarity matrix: which jobs it is made of, and which tables and figures their rows become.
//!
//! Adding one: a file that implements [`Experiment`], and its line in the registry of the program.

use landmark_report::ResultRow;

use crate::config::matrix::{ExperimentEntry, MatrixSubject};
use crate::config::run_settings::RunSettings;
use crate::facts::Facts;
use crate::job::{Job, JobError};
use crate::layout::Layout;
use crate::sweep::context::SweepContext;

pub trait Experiment: Sync {
    /// Its line of the registry, and what it reads of a configuration.
    fn entry(&self) -> &'static ExperimentEntry;

    /// The jobs, in the order they run.
    fn jobs<'a>(&self, context: &'a SweepContext<'_>) -> Result<Vec<Job<'a>>, JobError>;

    /// True where the files that a finished job left next to its rows are still there.
    fn is_kept(&self, _context: &SweepContext<'_>, _job: &Job<'_>) -> bool {
        true
    }

    /// Adds what the layout needs in addition to the configuration and the rows, once the jobs are done.
    fn note_facts(&self, _context: &SweepContext<'_>, _rows: &[ResultRow], _facts: &mut Facts) -> Result<(), JobError> {
        Ok(())
    }

    /// The tables and figures that the rows become.
    fn layout(&self, run: &FinishedRun<'_>) -> Layout;
}

/// A finished run over one matrix, as its report sees it: no items, no oracle, no store.
#[derive(Clone, Copy)]
pub struct FinishedRun<'a> {
    /// Name, seed, replicates, profile.
    pub settings: &'a RunSettings,
    /// The part of the configuration about the matrix.
    pub matrix: &'a MatrixSubject,
    pub facts: &'a Facts,
    pub rows: &'a [ResultRow],
}
