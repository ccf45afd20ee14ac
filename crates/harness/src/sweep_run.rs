//! A sweep over one matrix as the engine walks it.

use landmark_report::ResultRow;

use crate::experiment::Experiment;
use crate::facts::Facts;
use crate::job::{Job, JobError};
use crate::layout::About;
use crate::matrices::{Matrices, Matrix};
use crate::oracles::wmd::{Negligible, Skipped};
use crate::plan::Forecast;
use crate::problem::Problem;
use crate::program_check;
use crate::run_source::RunSource;
use crate::sweep::context::SweepContext;

/// An experiment and all that it reaches.
pub struct SweepRun<'a> {
    /// Experiment, which defines what is measured.
    pub experiment: &'static dyn Experiment,
    /// Context that it is measured in: the problem and its sweep.
    pub context: SweepContext<'a>,
}

impl RunSource for SweepRun<'_> {
    fn about(&self) -> About<'_> {
        let Problem { description, stamps, notes, facts, .. } = self.context.problem;
        About { description, stamps, notes, facts }
    }

    fn matrices(&self) -> Matrices<'_> {
        let metered = self.context.metered;
        Matrices([Some(metered), metered.other_order()].into_iter().flatten().map(Matrix::of).collect())
    }

    fn skipped(&self) -> Option<Skipped> {
        self.context.problem.words()?.negligible.as_ref().map(Negligible::skipped)
    }

    fn is_cut_short(&self) -> bool {
        self.context.is_cut_short.get()
    }

    fn checks(&self, forecast: &Forecast) -> Result<u64, JobError> {
        match forecast.entries.as_slice() {
            [entries] if forecast.are_named() => program_check::calls(&self.context, entries),
            _ => Ok(0),
        }
    }

    fn check(&self, forecast: &Forecast) -> Result<Vec<String>, JobError> {
        match forecast.entries.as_slice() {
            [entries] if forecast.are_named() => program_check::check(&self.context, entries),
            _ => Ok(Vec::new()),
        }
    }

    fn jobs(&self) -> Result<Vec<Job<'_>>, JobError> {
        self.experiment.jobs(&self.context)
    }

    fn is_kept(&self, job: &Job<'_>) -> bool {
        self.experiment.is_kept(&self.context, job)
    }

    fn facts(&self, rows: &[ResultRow]) -> Result<Facts, JobError> {
        let context = &self.context;
        let problem = context.problem;
        let mut facts = Facts {
            dataset: problem.dataset.clone(),
            items: problem.items(),
            caveats: problem.stamps.clone(),
            notes: problem.notes.clone(),
            calls_per_pair: context.metered.shape().evaluations_per_pair,
            is_given: !problem.is_priced,
            ..Facts::default()
        };
        self.experiment.note_facts(context, rows, &mut facts)?;
        Ok(facts)
    }
}
