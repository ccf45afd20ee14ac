//! `landmark CONFIG --share K/N`: one share of the planned calls, evaluated into the store.
//!
//! Any engine that starts N processes does the whole (`docs/how-to/scale-out.md`). A share that is done twice, by two processes at once or after
//! a kill, changes nothing: what is in the store is not evaluated again.

use std::time::Instant;

use landmark_core::oracle::Oracle;
use landmark_report::amounts::{count, duration};

use super::{RunError, RunOptions, results_folder, store_address, with_sweep};
use crate::config::{Config, Subject};
use crate::experiment::Experiment;
use crate::plan::Forecast;
use crate::progress::Progress;
use crate::share::{Entries, Share};
use crate::study::StudyContext;
use crate::sweep::context::SweepContext;

/// Does a share, and prints what was done.
pub(super) fn run(config: &Config, options: &RunOptions, share: Share) -> Result<(), RunError> {
    let start = Instant::now();
    let done = match &config.subject {
        Subject::Matrix(matrix, experiment) => with_sweep(config, matrix, options, |context| {
            evaluate(*experiment, &context, share, options.quiet).map(Some)
        })?,
        Subject::Study(study) => {
            let (folder, store) = (results_folder(config, options), store_address(config, options));
            let context =
                StudyContext { run: &config.run, data: options.data.as_deref(), folder: &folder, store: &store };
            study.share(&context, share).map_err(|error| RunError::Plan(Box::new(error.into())))?
        }
        Subject::Collection(_) => None,
    };
    let done = done.ok_or_else(|| {
        let (name, id) = (&config.run.name, config.subject.id());
        refused(&format!("`{name}` is `experiment: {id}` (expected a matrix or a `text_sketch`). Leave `--share` out"))
    })?;
    if !options.quiet {
        eprintln!("share {share}: {done} in {}", duration(start.elapsed().as_secs_f64()));
    }
    Ok(())
}

fn refused(reason: &str) -> RunError {
    RunError::Plan(Box::new(format!("cannot share the calls: {reason}").as_str().into()))
}

/// Evaluates the entries of a share that the store lacks.
fn evaluate(
    experiment: &dyn Experiment,
    context: &SweepContext<'_>,
    share: Share,
    quiet: bool,
) -> Result<String, RunError> {
    let metered = context.metered;
    let Some(stored) = metered.stored() else {
        return Err(refused("the matrix is given, so there are none. Leave `--share` out"));
    };
    if !metered.can_score() {
        return Err(refused("the model is not trained yet. Start share 0 first, which trains it"));
    }
    let jobs = experiment.jobs(context).map_err(|error| RunError::Plan(Box::new(error)))?;
    if metered.other_order().is_some() && jobs.iter().any(|job| job.requests.len() > 1) {
        let reason = "`error_estimate` reads both orders of a pair, and a share holds one (expected `error_estimate: false`). Estimate the error in the run that follows";
        return Err(refused(reason));
    }
    let forecast = Forecast::of(&jobs, vec![metered.entries()], |_| false);
    if !forecast.are_named() {
        let reason = "they depend on scores or time (expected fixed `ranks`, `uniform` or `given` landmarks, no `target_error`, no `budget.seconds`). Leave `--share` out";
        return Err(refused(reason));
    }
    let set = &forecast.entries[0];
    // pairs that are chosen by what the columns hold are evaluated by the run itself
    let missing = metered.missing(set) - set.chosen_evaluations();
    if let Some(limit) = context.matrix.budget.limit().filter(|&limit| missing > limit) {
        let reason = format!("{missing} are missing, but `budget` allows {limit}. Raise it, or lower `ranks`");
        return Err(refused(&reason));
    }
    let progress = Progress::start(missing / share.of() as u64, "entries evaluated", quiet, metered.counter());
    for entries in share.entries_of(set, metered.shape()) {
        match entries {
            Entries::Block(rows, cols) => stored.stock(&rows, &cols)?,
            Entries::Pairs(pairs) => stored.evaluate(&pairs, &mut vec![0.0; pairs.len()])?,
        }
    }
    drop(progress);
    metered.flush()?;
    let left = metered.missing(set) - set.chosen_evaluations();
    Ok(format!("{} entries evaluated, {} of all shares left", count(stored.evaluated()), count(left)))
}
