//! A collection: its members run one after the other, each as if alone, and are shown on one page.

use std::path::Path;

use landmark_report::{ReportInput, write_file};
use landmark_yaml::{ConfigError, DEFAULT_PROFILE, PROFILES, Problem, Sources};

use super::{Ended, ReportSection, RunError, RunOptions, report, results_folder, run_sections, section, with_causes};
use crate::config::{Collection, Config, Overlays, Shown, Subject};
use crate::provenance;
use crate::registry::Registry;

/// Runs every member; a failure stops the rest, unless the run continues after failures.
pub(super) fn run(
    config: &Config,
    collection: &Collection,
    options: &RunOptions,
) -> Result<(Ended, Vec<ReportSection>), RunError> {
    let mut ended = Ended::Done;
    let mut sections = Vec::new();
    for member in &collection.members {
        match run_sections(member, options) {
            Ok((outcome, of_member)) => {
                ended = worse(ended, outcome);
                sections.extend(of_member);
            }
            Err(error) if options.keep_going => {
                eprintln!("{} failed: {}", member.run.name, with_causes(&error));
                ended = worse(ended, Ended::SomeFailed(1));
            }
            Err(error) => return Err(error),
        }
    }
    if options.dry_run {
        return Ok((ended, sections));
    }
    let sections = show(config, collection, sections, &[], options)?;
    if !options.quiet {
        let page = results_folder(config, options).join("report.html");
        eprintln!("all {} of them on one page: open `{}`", collection.members.len(), page.display());
    }
    Ok((ended, sections))
}

/// Makes of each member the run whose results a page of them shows: in the profile of the page or, where it has none, in the largest of the smaller
/// ones that it has, under the `--set` of its command, which no collection knows of.
pub fn take_largest_runs(
    collection: &mut Collection,
    options: &RunOptions,
    registry: &Registry,
) -> Result<(), ConfigError> {
    for member in &mut collection.members {
        if !has_results(member, options)
            && let Some(smaller) = smaller_run(member, options, registry)?
        {
            *member = smaller;
        }
        if let Subject::Collection(inner) = &mut member.subject {
            take_largest_runs(inner, options, registry)?;
            continue;
        }
        let folder = report::rows_folder(member, options);
        let file = folder.join("run.json");
        if file.is_file() {
            let facts = provenance::kept(&folder).ok_or_else(|| torn(&file))?;
            *member = Config::load(&member.run.file, &provenance::overlays(&facts), registry)?;
        }
    }
    Ok(())
}

fn torn(facts: &Path) -> ConfigError {
    let name = facts.display().to_string();
    let problem = Problem::new(format!("`{name}` is no JSON, so under which settings its rows were made is not known"));
    let help = "fetch that file again, or run the configuration again";
    ConfigError::new(&name, &Sources::default(), vec![problem.help(help)])
}

/// A configuration in the largest profile below its own that it has results in, down to the default one.
fn smaller_run(member: &Config, options: &RunOptions, registry: &Registry) -> Result<Option<Config>, ConfigError> {
    let place = |name: &str| PROFILES.iter().position(|profile| *profile == name).unwrap_or(0);
    let below = PROFILES.get(place(DEFAULT_PROFILE)..place(&member.run.profile.name)).unwrap_or_default();
    for profile in below.iter().rev() {
        let overlays = Overlays { profile: Some((*profile).to_owned()), set: Vec::new() };
        let smaller = Config::load(&member.run.file, &overlays, registry)?;
        if has_results(&smaller, options) {
            return Ok(Some(smaller));
        }
    }
    Ok(None)
}

/// Draws every member that has results and the page again; the page names the others.
pub(super) fn report_again(
    config: &Config,
    collection: &Collection,
    options: &RunOptions,
) -> Result<Vec<ReportSection>, RunError> {
    let mut sections = Vec::new();
    let has_any = has_results(config, options);
    // where there is nothing at all, the first member reports it
    for member in collection.members.iter().filter(|member| !has_any || has_results(member, options)) {
        sections.extend(report::sections_again(member, options)?);
    }
    // collections in it may share members
    let mut missing = Vec::new();
    for member in without_results(config, options) {
        let words = format!("{}: `{}`", section::title(member), report::command_of(member));
        if !missing.contains(&words) {
            missing.push(words);
        }
    }
    show(config, collection, sections, &missing, &report::of_the_run(config, options))
}

fn has_results(config: &Config, options: &RunOptions) -> bool {
    match &config.subject {
        Subject::Collection(collection) => collection.members.iter().any(|member| has_results(member, options)),
        _ => report::is_there(&report::rows_folder(config, options)),
    }
}

/// Configurations of a collection, and of those in it, that have no results.
fn without_results<'a>(config: &'a Config, options: &RunOptions) -> Vec<&'a Config> {
    match &config.subject {
        Subject::Collection(collection) => {
            collection.members.iter().flat_map(|member| without_results(member, options)).collect()
        }
        _ if has_results(config, options) => Vec::new(),
        _ => vec![config],
    }
}

/// The outcome a caller must hear of: a failure before a budget before success.
fn worse(a: Ended, b: Ended) -> Ended {
    match (a, b) {
        (Ended::SomeFailed(some), Ended::SomeFailed(more)) => Ended::SomeFailed(some + more),
        (failed @ Ended::SomeFailed(_), _) | (_, failed @ Ended::SomeFailed(_)) => failed,
        (Ended::BudgetExhausted, _) | (_, Ended::BudgetExhausted) => Ended::BudgetExhausted,
        (Ended::Done, Ended::Done) => Ended::Done,
    }
}

fn show(
    config: &Config,
    collection: &Collection,
    mut sections: Vec<ReportSection>,
    missing: &[String],
    options: &RunOptions,
) -> Result<Vec<ReportSection>, RunError> {
    sections.iter_mut().for_each(|section| section.keep(&collection.only));
    let folder = results_folder(config, options);
    match collection.shown {
        Shown::Together => {
            let mut one = ReportSection::together(config, sections, options)?;
            one.add_notes(missing.iter().map(|member| format!("not run: {member}")));
            landmark_report::render(&one.input())?.write(&folder)?;
            Ok(vec![one])
        }
        Shown::InTurn => {
            let inputs: Vec<ReportInput<'_>> = sections.iter().map(ReportSection::input).collect();
            let at_hand = sections.iter().map(ReportSection::published).collect();
            let claims = section::claims(config, None, at_hand, options)?;
            let page = landmark_report::render_page(&section::title(config), &claims, missing, &inputs)?;
            write_file(&folder.join("report.html"), page.as_bytes())?;
            Ok(sections)
        }
    }
}
