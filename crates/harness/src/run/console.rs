//! Messages of a run, before and after.

use std::io::Write as _;
use std::path::Path;

use landmark_http::PriceEstimate;
use landmark_report::ResultRow;
use landmark_report::amounts::{bytes, count, counted, duration};

use super::closing;
use super::{BYTES_PER_ENTRY, Outcome, RunError, RunOptions};
use crate::command_line::command_line;
use crate::config::{Config, Subject};
use crate::job::ExtraCalls;
use crate::layout::About;
use crate::matrices::Matrices;
use crate::metered_store::Timed;
use crate::oracles::wmd::Skipped;
use crate::plan::Forecast;
use crate::provenance::Calls;
use crate::run_source::RunSource;

pub(super) fn print_subject(config: &Config, source: &dyn RunSource) {
    let About { description, stamps, notes, .. } = source.about();
    eprintln!("{} · {} · profile {}", config.run.name, config.subject.id(), config.run.profile.name);
    eprintln!("{description}");
    stamps.iter().for_each(|stamp| eprintln!("warning: {}", stamp.text));
    notes.iter().for_each(|note| eprintln!("note: {note}"));
}

/// One line on the calls that will be made.
pub(super) fn print_todo(matrices: &Matrices<'_>, forecast: &Forecast, jobs: usize, missing: u64) {
    let todo = format!("{} of {jobs} jobs to do", jobs - forecast.finished);
    if matrices.is_empty() {
        eprintln!("{todo}");
        return;
    }
    let planned = forecast.evaluations();
    if !matrices.are_priced() {
        eprintln!("{todo}; the matrix is given, no call is needed");
    } else if forecast.is_exact() && forecast.chosen() == 0 && matrices.are_open() {
        let stored = count(planned.saturating_sub(missing));
        eprintln!("{todo}: {} calls, {stored} of them stored", count(planned));
    } else {
        eprintln!("{todo}: up to {} calls, fewer if some scores are stored", count(missing));
    }
}

/// The whole forecast as a table, on standard output.
pub(super) fn print_dry_run(
    config: &Config,
    matrices: &Matrices<'_>,
    (forecast, checks): (&Forecast, impl Fn() -> Result<u64, RunError>),
    options: &RunOptions,
) -> Result<(), RunError> {
    let mut out = std::io::stdout().lock();
    if let Some(hours) = config.run.hours {
        let profile = &config.run.profile.name;
        let time = duration(3600.0 * hours);
        let _ = writeln!(out, "about {time} on two cores, as stated in the profile `{profile}`");
    }
    // nothing is evaluated: only the parts are listed
    if matrices.is_empty() {
        for group in forecast.groups() {
            let _ = writeln!(out, "{:<58} {:>11}", group.name, counted(group.jobs, "part"));
        }
        let _ = writeln!(
            out,
            "{} finished, {} to do; no call is needed",
            counted(forecast.finished as u64, "part"),
            forecast.jobs.len()
        );
        return Ok(());
    }
    let mut line = |text: String| {
        // a closed pipe (`| head`) ends the listing, not the run
        let _ = writeln!(out, "{text}");
    };
    line(format!("{:<58} {:>5} {:>14} {:>14} {:>14}", "", "jobs", "entries each", "calls alone", "calls added"));
    if options.verbose {
        for job in &forecast.jobs {
            line(row(&job.group, 1, job.cells, job.alone, job.added));
        }
    } else {
        for group in forecast.groups() {
            line(row(&group.name, group.jobs, group.cells, group.alone, group.added));
        }
    }
    let planned = forecast.evaluations();
    line(row("total", forecast.jobs.len() as u64, sum(forecast, |j| j.cells), sum(forecast, |j| j.alone), planned));
    if !matrices.are_priced() {
        line("the matrix is given, no call is needed".to_owned());
        return Ok(());
    }
    line("entries: cells of the matrix that a job reads; calls alone: if only this method ran;".to_owned());
    line("calls added: beyond the rows above. All as if no score were stored".to_owned());
    let timing = timing(matrices, forecast, options.sample)?;
    let missing = matrices.missing(forecast);
    let exact = if forecast.is_exact() { "exactly" } else { "at most" };
    line(format!("{} finished", counted(forecast.finished as u64, "job")));
    if planned == 0 && forecast.extra.calls == 0 {
        line(format!("planned {exact} 0 calls: nothing is left to evaluate"));
        return Ok(());
    }
    let new_calls = format!("{} new calls ({} in the store)", count(missing), bytes(missing * BYTES_PER_ENTRY));
    line(match forecast.is_exact() && forecast.chosen() == 0 && matrices.are_open() {
        true => {
            let stored = count(planned.saturating_sub(missing));
            format!("planned {exact} {} calls: {stored} are stored, {new_calls}", count(planned))
        }
        // the entries are known only during the run
        false => format!("planned {exact} {} calls: {new_calls}, fewer if some scores are stored", count(planned)),
    });
    share(config, forecast).into_iter().for_each(&mut line);
    if let Subject::Matrix(matrix, _) = &config.subject {
        if let Some(price) = matrix.budget.price(missing) {
            line(format!("they cost {price:.2}, at `budget.cost_per_entry` each"));
        }
        if let Some(limit) = matrix.budget.limit().filter(|&limit| limit < missing) {
            let samples = matrix.error_estimate.map_or(0, |estimate| estimate.samples);
            let one_landmark = matrices.most_for_one_landmark(samples);
            let end = match matrix.experiment.makes_factors() {
                // stored scores and equal items take fewer
                true if limit < one_landmark => format!(
                    "maybe too few for one landmark, which takes up to {} with the error estimate: raise `budget`, or lower `error_estimate`",
                    count(one_landmark)
                ),
                true => "the error estimate comes first, then the largest rank that fits".to_owned(),
                false => "the run ends there with the best result so far".to_owned(),
            };
            line(format!("the budget allows {} of them: {end}", count(limit)));
        }
    }
    let ExtraCalls { calls, pairs } = forecast.extra;
    if calls > 0 {
        line(format!("plus at most {} calls outside the matrix: {pairs}", count(calls)));
    }
    if let Some(PriceEstimate { money, interval: (lower, upper), requests }) = matrices.price_of(missing) {
        line(format!(
            "they cost {money:.4} at the endpoint (95 % interval {lower:.4} to {upper:.4}), by the tokens of {}",
            counted(requests, "request")
        ));
    }
    // after the sample: its pairs are asked for again
    let checks = checks()?;
    if checks > 0 {
        line(format!("plus {} to check the scorer (`oracle.checks`)", counted(checks, "call")));
    }
    line(match timing {
        Timing::None(why) => format!("estimated time: unknown, {why}"),
        Timing::Of(timed) => format!(
            "estimated time of the calls: {} ({} per call, measured on {} of this plan, whose scores are stored), without fits and figures",
            duration(timed.seconds_each() * missing as f64),
            duration(timed.seconds_each()),
            counted(timed.evaluations, "call")
        ),
    });
    Ok(())
}

/// The calls of a run next to those of all pairs; none for items and past queries, whose pairs nobody would all score.
fn share(config: &Config, forecast: &Forecast) -> Option<String> {
    let has_queries = matches!(&config.subject, Subject::Matrix(matrix, _) if matrix.queries().is_some());
    forecast.share().filter(|_| !has_queries)
}

fn row(name: &str, jobs: u64, cells: u64, alone: u64, added: u64) -> String {
    format!("{name:<58} {jobs:>5} {:>14} {:>14} {:>14}", count(cells), count(alone), count(added))
}

fn sum(forecast: &Forecast, of: impl Fn(&crate::plan::JobForecast) -> u64) -> u64 {
    forecast.jobs.iter().map(of).sum()
}

/// Time that a call takes, as far as a dry run knows it.
enum Timing {
    /// Nothing, and why.
    None(String),
    /// Time that some calls took.
    Of(Timed),
}

/// Times `sample` calls of the plan, where they are asked for and can be made.
fn timing(matrices: &Matrices<'_>, forecast: &Forecast, sample: Option<u64>) -> Result<Timing, RunError> {
    let Some(calls) = sample else {
        let is_untrained = !matrices.can_score() && matrices.are_open();
        let what = if is_untrained { "training steps" } else { "50 calls" };
        return Ok(Timing::None(format!("add `--sample 50` to time {what}")));
    };
    if !matrices.can_score() {
        let what = match matrices.are_open() {
            true => "because the model is not fine-tuned yet",
            false => "because the model is not trained yet",
        };
        return Ok(Timing::None(what.to_owned()));
    }
    let nothing = match forecast.are_named() {
        true => "because all scores are stored",
        false => "because the new calls are known only during the run",
    };
    Ok(matrices.time(forecast, calls)?.map_or(Timing::None(nothing.to_owned()), Timing::Of))
}

/// Money paid, and saved by reuse: what the reused scores would have cost at the same price.
fn money(config: &Config, matrices: &Matrices<'_>, calls: &Calls) -> Option<String> {
    // what an endpoint charged takes precedence over the price in the configuration
    let by_token = matrices.paid().zip(matrices.price_of(calls.reused).map(|estimate| estimate.money));
    let by_call = || match &config.subject {
        Subject::Matrix(matrix, _) => matrix.budget.price(calls.evaluated).zip(matrix.budget.price(calls.reused)),
        _ => None,
    };
    let (paid, saved) = by_token.or_else(by_call)?;
    Some(match calls.reused {
        0 => format!("{paid:.4} paid"),
        _ => format!("{paid:.4} paid, {saved:.4} saved by reuse"),
    })
}

/// Number of distances not solved, and what that may have moved.
pub(super) fn unsolved(evaluated: u64, skipped: &Skipped) -> String {
    let Skipped { solves, entry_bound, frobenius_bound } = skipped;
    format!(
        "{} of {} evaluated distances were not solved: no similarity is off by more than {entry_bound:e}, the matrix by at most \
         {frobenius_bound:.1e} in the Frobenius norm",
        count(*solves),
        count(evaluated)
    )
}

/// Outcome of a run in three lines on standard error, and the path of the report on standard output.
pub(super) fn print_outcome(
    config: &Config,
    matrices: &Matrices<'_>,
    rows: &[ResultRow],
    (calls, whole): (&Calls, &Forecast),
    outcome: &Outcome,
    options: &RunOptions,
) {
    let folder = super::results_folder(config, options);
    if let Some(skipped) = &calls.skipped {
        eprintln!("note: {}", unsolved(calls.evaluated, skipped));
    }
    if outcome.budget {
        eprintln!(
            "warning: the budget is exhausted, and what was finished is written; raise `budget` and run again to continue"
        );
    }
    eprintln!("{}", closing::outcome(config, rows).unwrap_or_else(|| counted(rows.len() as u64, "row") + "."));
    if !matrices.is_empty() {
        // of all that was planned, if the run did all of it
        let is_whole = whole.is_exact() && !outcome.budget && outcome.failed == 0;
        let share = share(config, whole).filter(|_| is_whole);
        eprintln!("{}", calls_line(config, matrices, calls, share, options));
    }
    if rows.is_empty() && outcome.budget {
        eprintln!("Next: raise `budget`, or lower `error_estimate` and `ranks`; then run again.");
    } else {
        eprintln!("{}", next_step(config, options));
    }
    // wherever the reader is
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    // a closed pipe ends the line, not the run
    let _ = writeln!(std::io::stdout().lock(), "{}", folder.join("report.html").display());
}

/// `900 new calls, 100 reused (1,000 of 124,750 pairs, 0.8 %); scores: /home/me/store`.
fn calls_line(
    config: &Config,
    matrices: &Matrices<'_>,
    calls: &Calls,
    share: Option<String>,
    options: &RunOptions,
) -> String {
    let mut line = match matrices.are_priced() {
        true => format!("{} new calls, {} reused", count(calls.evaluated), count(calls.reused)),
        false => "No call: the matrix is given".to_owned(),
    };
    let outside = matrices.evaluations_by_others();
    if outside > 0 {
        line += &format!(", {} new calls outside the matrix", count(outside));
    }
    if !matrices.are_priced() {
        return line + ".";
    }
    if let Some(share) = share {
        line += &format!(": {share}");
    }
    if let Some(money) = money(config, matrices, calls) {
        line += &format!("; {money}");
    }
    let address = super::store_address(config, options);
    let is_folder = !address.contains("://");
    let place = std::path::absolute(&address).ok().filter(|_| is_folder).map(|path| path.display().to_string());
    format!("{line}. Store: {}", place.unwrap_or(address))
}

fn next_step(config: &Config, options: &RunOptions) -> String {
    match &config.subject {
        Subject::Matrix(matrix, _) if matrix.experiment.makes_factors() => {
            let project = if matrix.dataset.texts().is_some() { "project, " } else { "" };
            let words =
                ["topk".to_owned(), config.run.file.display().to_string()].into_iter().chain(options.flags.clone());
            let command = command_line(Path::new("landmark"), &words.collect::<Vec<_>>());
            format!("Next: `{command}`; mine, cluster, classify, {project}export use the same factors.")
        }
        Subject::Matrix(matrix, _) if config.run.paper.is_none() && matrix.dataset.texts().is_some() => {
            "Next: run one method with `experiment: own_data`, which writes its factors.".to_owned()
        }
        _ => "Next: open the report.".to_owned(),
    }
}
