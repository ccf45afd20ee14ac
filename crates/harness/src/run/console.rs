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

/// Title, items, warnings.
pub(super) fn print_subject(config: &Config, source: &dyn RunSource) {
    let About { description, stamps, notes, .. } = source.about();
    eprintln!("{} · {} · profile {}", config.run.name, config.subject.id(), config.run.profile.name);
    eprintln!("{description}");
    stamps.iter().for_each(|stamp| eprintln!("warning: {}", stamp.text));
    notes.iter().for_each(|note| eprintln!("note: {note}"));
}

/// One line on what will be bought.
pub(super) fn print_todo(matrices: &Matrices<'_>, forecast: &Forecast, jobs: usize, missing: u64) {
    let todo = format!("{} of {jobs} jobs to do", jobs - forecast.finished);
    if matrices.is_empty() {
        eprintln!("{todo}");
        return;
    }
    let planned = forecast.evaluations();
    if !matrices.are_priced() {
        eprintln!("{todo}; the matrix is given, nothing is bought");
    } else if forecast.is_exact() && forecast.chosen() == 0 && matrices.are_open() {
        let stored = count(planned.saturating_sub(missing));
        eprintln!("{todo}: {} evaluations, {stored} of them in the store, {} to buy", count(planned), count(missing));
    } else {
        eprintln!("{todo}: at most {} evaluations to buy, less what of it is in the store", count(missing));
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
        let _ = writeln!(out, "about {time} on two cores, as the profile `{profile}` states");
    }
    // nothing is evaluated: the parts are all there is to tell
    if matrices.is_empty() {
        for group in forecast.groups() {
            let _ = writeln!(out, "{:<58} {:>11}", group.name, counted(group.jobs, "part"));
        }
        let _ = writeln!(
            out,
            "{} finished, {} to do; nothing is bought",
            counted(forecast.finished as u64, "part"),
            forecast.jobs.len()
        );
        return Ok(());
    }
    let mut line = |text: String| {
        // a closed pipe (`| head`) ends the listing, not the run
        let _ = writeln!(out, "{text}");
    };
    line(format!("{:<58} {:>5} {:>14} {:>14} {:>14}", "", "jobs", "entries each", "calls each", "calls added"));
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
        line("the matrix is given: nothing is bought".to_owned());
        return Ok(());
    }
    line("entries of K that a job reads; calls of the score if it ran alone; calls beside those of the lines above; all of them as if the store were empty".to_owned());
    let timing = timing(matrices, forecast, options.sample)?;
    let missing = matrices.to_buy(forecast)?;
    let exact = if forecast.is_exact() { "exactly" } else { "at most" };
    line(format!("{} finished", counted(forecast.finished as u64, "job")));
    if planned == 0 && forecast.extra.calls == 0 {
        line(format!("planned {exact} 0 evaluations: nothing is left to be bought"));
        return Ok(());
    }
    let to_buy = format!("{} to buy ({} of the store)", count(missing), bytes(missing * BYTES_PER_ENTRY));
    line(match forecast.is_exact() && forecast.chosen() == 0 && matrices.are_open() {
        true => {
            let stored = count(planned.saturating_sub(missing));
            format!("planned {exact} {} evaluations: {stored} are in the store, {to_buy}", count(planned))
        }
        // which entries these are shows only on the way
        false => format!("planned {exact} {} evaluations: {to_buy}, less what of it is in the store", count(planned)),
    });
    share(config, forecast).into_iter().for_each(&mut line);
    if let Subject::Matrix(matrix, _) = &config.subject {
        if let Some(price) = matrix.budget.price(missing) {
            line(format!("they cost {price:.2}, at `budget.cost_per_entry` each"));
        }
        if let Some(limit) = matrix.budget.limit().filter(|&limit| limit < missing) {
            let end = match matrix.experiment.makes_factors() {
                true => "the factors are of the rank that these pay for, the error estimate first",
                false => "the run ends there, with the best so far",
            };
            line(format!("the budget pays for {} of them: {end}", count(limit)));
        }
    }
    let ExtraCalls { calls, pairs } = forecast.extra;
    if calls > 0 {
        line(format!("and at most {} evaluations outside the matrix: {pairs}", count(calls)));
    }
    if let Some(PriceEstimate { money, interval: (lower, upper), requests }) = matrices.price_of(missing) {
        line(format!(
            "they cost {money:.4} at the endpoint (95 % interval {lower:.4} to {upper:.4}), by the tokens of {}",
            counted(requests, "request")
        ));
    }
    // after the sample: what it has scored is asked again
    let checks = checks()?;
    if checks > 0 {
        line(format!("and {} that check the program (`oracle.checks`)", counted(checks, "evaluation")));
    }
    line(match timing {
        Timing::None(why) => why.to_owned(),
        Timing::Of(timed) => format!(
            "about {} of buying at {} each (timed by {} of this plan, whose scores are kept in the store)",
            duration(timed.seconds_each() * missing as f64),
            duration(timed.seconds_each()),
            counted(timed.evaluations, "call")
        ),
    });
    Ok(())
}

/// The evaluations of a run beside those of all pairs. Items and past queries are no pairs of all that anyone would score.
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
    None(&'static str),
    /// Time that some calls took.
    Of(Timed),
}

/// Times `sample` calls of the plan, where they are asked for and can be made.
fn timing(matrices: &Matrices<'_>, forecast: &Forecast, sample: Option<u64>) -> Result<Timing, RunError> {
    let Some(calls) = sample else {
        return Ok(Timing::None("no call was made; `--sample N` makes N of them to tell how long all take"));
    };
    if !matrices.can_score() {
        let what = match matrices.are_open() {
            true => "no call was timed: the model is still to be fine-tuned",
            false => "no call was timed: the model is still to be trained",
        };
        return Ok(Timing::None(what));
    }
    let nothing = match forecast.are_named() {
        true => "no call was timed: all entries are in the store",
        false => "no call was timed: which entries are asked for beyond those in the store shows only on the way",
    };
    Ok(matrices.time(forecast, calls)?.map_or(Timing::None(nothing), Timing::Of))
}

/// Money paid, apart from what the store saved: what was reused would have cost that at the same price.
fn money(config: &Config, matrices: &Matrices<'_>, calls: &Calls) -> Option<String> {
    // what an endpoint charged goes before what the configuration says of a call; one that was not asked says nothing of its price
    let by_token = matrices.paid().zip(matrices.price_of(calls.reused).map(|estimate| estimate.money));
    let by_call = || match &config.subject {
        Subject::Matrix(matrix, _) => matrix.budget.price(calls.bought).zip(matrix.budget.price(calls.reused)),
        _ => None,
    };
    let (paid, saved) = by_token.or_else(by_call)?;
    Some(match calls.reused {
        0 => format!("{paid:.4} paid"),
        _ => format!("{paid:.4} paid; what was reused would have cost {saved:.4} more"),
    })
}

/// Number of distances not solved, and what that may have moved.
pub(super) fn unsolved(bought: u64, skipped: &Skipped) -> String {
    let Skipped { solves, entry_bound, frobenius_bound } = skipped;
    format!(
        "{} of {} bought distances were not solved: no similarity is off by more than {entry_bound:e}, all of K by at most \
         {frobenius_bound:.1e} in the Frobenius norm",
        count(*solves),
        count(bought)
    )
}

/// Outcome of a run, and the place of its results.
pub(super) fn print_outcome(
    config: &Config,
    matrices: &Matrices<'_>,
    rows: &[ResultRow],
    (calls, whole): (&Calls, &Forecast),
    outcome: &Outcome,
    options: &RunOptions,
) {
    let folder = super::results_folder(config, options);
    if !matrices.is_empty() && matrices.are_priced() {
        // of all that was planned, where that is what the run took
        let is_whole = whole.is_exact() && !outcome.budget && outcome.failed == 0;
        let share = share(config, whole).filter(|_| is_whole).map_or_else(String::new, |share| format!(": {share}"));
        eprintln!("{} entries bought, {} reused{share}", count(calls.bought), count(calls.reused));
        money(config, matrices, calls).into_iter().for_each(|line| eprintln!("{line}"));
    }
    if let Some(skipped) = &calls.skipped {
        eprintln!("{}", unsolved(calls.bought, skipped));
    }
    let beside = matrices.evaluations_beside();
    if beside > 0 {
        eprintln!("{} evaluations outside the matrix bought", count(beside));
    }
    if let Ok(summary) = std::fs::read_to_string(folder.join("summary.md")) {
        let mut out = std::io::stdout().lock();
        let file = folder.join("summary.md");
        let _ = writeln!(out, "{}", closing::shortened(&summary, &file.display().to_string()).trim_end());
    }
    if outcome.budget {
        eprintln!("the budget is exhausted: what was finished is written; raise `budget` and run again to go on");
    }
    // wherever the reader is
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let page = folder.join("report.html");
    if !matrices.is_empty() && matrices.are_priced() {
        let address = super::store_address(config, options);
        let is_folder = !address.contains("://");
        let place = std::path::absolute(&address).ok().filter(|_| is_folder).map(|path| path.display().to_string());
        eprintln!("scores are kept in `{}`", place.unwrap_or(address));
    }
    eprintln!("{} rows in `{}`", count(rows.len() as u64), folder.display());
    let came_out = closing::outcome(config, rows).map_or_else(String::new, |sentence| sentence + " ");
    eprintln!("{came_out}{}", closing::next_step(config, &page.display().to_string()));
    if let Subject::Matrix(matrix, _) = &config.subject
        && matrix.experiment.makes_factors()
    {
        let project = if matrix.dataset.texts().is_some() { ", `project`" } else { "" };
        let words = ["topk".to_owned(), config.run.file.display().to_string()].into_iter().chain(options.flags.clone());
        let command = command_line(Path::new("landmark"), &words.collect::<Vec<_>>());
        eprintln!("use the factors: `{command}`, and so `mine`, `cluster`, `classify`{project} and `export`");
    }
}
