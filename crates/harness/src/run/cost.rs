//! The cost of a run before its first call, for programs and for `landmark init`.

use super::{RunError, RunOptions, with_source};
use crate::config::Config;
use crate::plan::{Forecast, GroupForecast};

/// Evaluations that a run would make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    /// Evaluations of the whole run on an empty store.
    pub planned: u64,
    /// Those that the store lacks.
    pub missing: u64,
    /// True where these counts are exact, false where they are upper bounds.
    pub is_exact: bool,
    /// Evaluations that all of its matrices take.
    pub all: u64,
    /// The planned ones next to all: `45,900 of 124,750 pairs (37 %)`.
    pub share: Option<String>,
    /// Evaluations at most of pairs outside the matrices.
    pub outside: u64,
    /// Method by method and size by size.
    pub groups: Vec<GroupForecast>,
}

/// The cost of a configuration; not one call is made.
pub fn cost(config: &Config, options: &RunOptions) -> Result<Cost, RunError> {
    let options = RunOptions { dry_run: true, ..options.clone() };
    with_source(config, &options, |source| {
        let jobs = source.jobs().map_err(|error| RunError::Plan(Box::new(error)))?;
        let matrices = source.matrices();
        let forecast = Forecast::of(&jobs, matrices.entries(), |_| false);
        let missing = matrices.missing(&forecast);
        let is_exact = forecast.is_exact() && matrices.are_open();
        Ok(Cost {
            planned: forecast.evaluations(),
            missing,
            is_exact,
            all: forecast.all(),
            share: forecast.share(),
            outside: forecast.extra.calls,
            groups: forecast.groups(),
        })
    })
}
