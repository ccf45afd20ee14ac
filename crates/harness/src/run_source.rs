//! The subject of a run as the engine walks it: jobs, then the facts of its report.

use landmark_report::ResultRow;

use crate::facts::Facts;
use crate::job::{Job, JobError};
use crate::layout::About;
use crate::matrices::Matrices;
use crate::oracles::wmd::Skipped;
use crate::plan::Forecast;

pub trait RunSource {
    /// It in words and figures.
    fn about(&self) -> About<'_>;

    /// The matrices whose entries are evaluated, in the order that requests number them.
    fn matrices(&self) -> Matrices<'_>;

    /// Entries that the oracle did not solve, where it was configured not to.
    fn skipped(&self) -> Option<Skipped> {
        None
    }

    /// True where a budget ended a job early, whose best so far is a result.
    fn is_cut_short(&self) -> bool {
        false
    }

    /// Evaluations that check a program before what a forecast lacks is evaluated.
    fn checks(&self, _forecast: &Forecast) -> Result<u64, JobError> {
        Ok(0)
    }

    /// Makes these checks; warnings come back.
    fn check(&self, _forecast: &Forecast) -> Result<Vec<String>, JobError> {
        Ok(Vec::new())
    }

    /// The jobs, in the order they run.
    fn jobs(&self) -> Result<Vec<Job<'_>>, JobError>;

    /// True where what a finished job left next to its rows is still there.
    fn is_kept(&self, _job: &Job<'_>) -> bool {
        true
    }

    /// What a report needs in addition to configuration and rows, once the jobs are done.
    fn facts(&self, rows: &[ResultRow]) -> Result<Facts, JobError>;
}
