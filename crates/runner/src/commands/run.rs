//! Running a configuration, and drawing its report again.

use std::path::{Path, PathBuf};

use landmark_core::untrusted::{is_obeyed, redacted};
use landmark_fetch::{Console, Places, Wish, on_need};
use landmark_harness::config::{Config, Subject};
use landmark_harness::invocation::Invocation;
use landmark_harness::needs::Needs;
use landmark_harness::plan::GroupForecast;
use landmark_harness::progress::Progress;
use landmark_harness::provenance::Build;
use landmark_harness::run::{self, Cost, RunOptions};
use miette::{IntoDiagnostic, Result};
use serde_json::{Value as Json, json};

use super::published;
use crate::cli::{LogArgs, OverlayArgs, PlaceArgs, RunArgs};
use crate::exit::{Exit, UsageError};
use crate::output::{self, Answer};
use crate::registry;

/// Runs a configuration, or prints its call estimate.
pub(crate) fn run(arguments: &RunArgs, log: LogArgs) -> Result<Exit> {
    let Some(file) = arguments.config.as_deref() else {
        let help = "for example `landmark configs/quickstart.yaml`; `landmark --help` lists the commands";
        return Err(UsageError::new("no configuration to run", Some(help.to_owned())).into());
    };
    super::refuse_mistyped_command(file)?;
    let config = Config::load(file, &arguments.overlay.overlays(), registry::registry())?;
    config.profile_warnings().iter().for_each(|warning| output::note(&format!("warning: {warning}")));
    fetch_what_is_missing(&config, arguments, log)?;
    let options = RunOptions {
        dry_run: arguments.dry_run,
        sample: arguments.sample,
        share: arguments.share,
        force: arguments.force,
        keep_going: arguments.keep_going,
        ..options(&arguments.overlay, &arguments.places, log)
    };
    start_threads(arguments.threads.map(usize::from).or(config.run.threads))?;
    if !log.json {
        return Ok(run::run(&config, &options)?.into());
    }
    let folder = std::path::absolute(run::results_folder(&config, &options)).into_diagnostic()?;
    if options.dry_run {
        output::print(&format!("{}\n", estimate(&run::cost(&config, &options)?))).into_diagnostic()?;
        return Ok(Exit::Done);
    }
    let ended = run::run(&config, &RunOptions { quiet: true, ..options })?;
    let facts =
        std::fs::read(folder.join("run.json")).ok().and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok());
    let line =
        json!({ "ended": format!("{ended:?}"), "folder": folder, "page": folder.join("report.html"), "run": facts });
    output::print(&format!("{line}\n")).into_diagnostic()?;
    Ok(ended.into())
}

/// The cost of a run in numbers: calls of the score, and of each method the entries of K that it reads.
fn estimate(cost: &Cost) -> Json {
    let group = |group: &GroupForecast| {
        json!({
            "name": group.name, "jobs": group.jobs, "entries_each": group.cells, "calls_each": group.alone, "calls_added": group.added,
        })
    };
    json!({
        "planned": cost.planned, "new_calls": cost.missing, "is_exact": cost.is_exact, "all": cost.all, "outside": cost.outside,
        "groups": cost.groups.iter().map(group).collect::<Json>(),
    })
}

/// Corpora and models that the configuration names and that are not there: by `--fetch`, or by a yes on a terminal.
fn fetch_what_is_missing(config: &Config, arguments: &RunArgs, log: LogArgs) -> Result<()> {
    let needs = Needs::of_config(config).into_diagnostic()?;
    let wish = Wish { fetch: arguments.fetch, accept_licenses: arguments.accept_licenses };
    let places = Places::look(arguments.places.data.as_deref());
    let mut console = Console::new(log.quiet);
    on_need(&needs.dataset_names(), &needs.models, &places, wish, &mut console).into_diagnostic()
}

pub fn options(overlay: &OverlayArgs, places: &PlaceArgs, log: LogArgs) -> RunOptions {
    RunOptions {
        flags: flags(overlay, places),
        data: places.data(),
        results: places.results.clone(),
        store: places.store.clone(),
        quiet: log.quiet,
        verbose: log.verbose > 0,
        command: command_line(),
        build: BUILD,
        ..RunOptions::default()
    }
}

/// A command on a configuration, as what is below takes it.
pub(crate) fn invocation(file: &Path, overlay: &OverlayArgs, places: &PlaceArgs, log: LogArgs) -> Invocation {
    Invocation {
        file: file.to_owned(),
        overlays: overlay.overlays(),
        options: options(overlay, places, log),
        out: None,
        registry: registry::registry(),
    }
}

const BUILD: Build = Build {
    version: env!("CARGO_PKG_VERSION"),
    revision: env!("LANDMARK_REVISION"),
    rustc: env!("LANDMARK_RUSTC"),
    target: env!("LANDMARK_TARGET"),
    profile: env!("LANDMARK_BUILD_PROFILE"),
    linear_algebra: "faer",
};

/// Flags of what was laid over the file and of where things lie, as words of another command on the same configuration.
fn flags(overlay: &OverlayArgs, places: &PlaceArgs) -> Vec<String> {
    let folder = |folder: &Option<PathBuf>| folder.as_ref().map(|folder| folder.display().to_string());
    let places =
        [("--store", places.store.clone()), ("--data", folder(&places.data)), ("--results", folder(&places.results))];
    let places = places.into_iter().flat_map(|(name, place)| place.map(|place| [name.to_owned(), place]));
    overlay.overlays().words().into_iter().chain(places.flatten()).collect()
}

/// The command as it was typed, for the report: quoted for a shell, the program by its bare name, without secrets and without what moves no result.
fn command_line() -> String {
    command_of(std::env::args().skip(1))
}

fn command_of(arguments: impl Iterator<Item = String>) -> String {
    const MOVES_NOTHING: [&str; 7] =
        ["--quiet", "--verbose", "--json", "--force", "--keep-going", "--fetch", "--accept-licenses"];
    let is_short = |word: &str| word.len() > 1 && word.starts_with('-') && word[1..].chars().all(|c| "qv".contains(c));
    let moves_nothing = |word: &String| MOVES_NOTHING.contains(&word.as_str()) || is_short(word);
    let mut is_value = false;
    // the number of threads moves no result, and is a word of its own or stands behind `=`
    let mut is_of_threads = |word: &String| {
        let is_number = std::mem::replace(&mut is_value, word == "--threads");
        is_number || word == "--threads" || word.starts_with("--threads=")
    };
    let arguments = arguments.skip_while(|word| word == "run").filter(|word| !moves_nothing(word));
    let arguments = arguments.filter(|word| !is_of_threads(word));
    let arguments = arguments.map(|word| for_a_shell(&redacted(&word)));
    std::iter::once("landmark".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it, in one line.
fn for_a_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%[]".contains(c);
    if word.chars().any(is_obeyed) {
        let shown = |c: char| match c {
            '\\' | '\'' => format!("\\{c}"),
            '\n' => "\\n".to_owned(),
            c if is_obeyed(c) => format!("\\U{:08x}", u32::from(c)),
            c => c.to_string(),
        };
        return format!("$'{}'", word.chars().map(shown).collect::<String>());
    }
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Thousands of threads take minutes to start.
const MOST_THREADS: usize = 1024;

fn start_threads(wanted: Option<usize>) -> Result<()> {
    let Some(threads) = wanted else { return Ok(()) };
    if threads > MOST_THREADS {
        let message = format!("`threads` is {threads}, but must be at most {MOST_THREADS}");
        return Err(UsageError::new(message, Some("remove `threads` to use all cores".to_owned())).into());
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().into_diagnostic()
}

/// Renders the tables and figures again.
pub(crate) fn report(file: &Path, overlay: &OverlayArgs, places: &PlaceArgs, log: LogArgs) -> Result<Answer> {
    let mut config = Config::load(file, &overlay.overlays(), registry::registry())?;
    let options = options(overlay, places, log);
    refuse_other_settings(&run::rows_folder(&config, &options), overlay)?;
    if let Subject::Collection(collection) = &mut config.subject {
        run::take_largest_runs(collection, &options, registry::registry())?;
    }
    if let Some(then) = config_of_the_run(&config, &run::rows_folder(&config, &options), overlay)? {
        config = then;
    }
    let busy = Progress::busy("rendering the report", log.quiet);
    let folder = run::report_again(&config, &options)?;
    drop(busy);
    let page = folder.join("report.html");
    let answer = Answer::new(format!("{}\n", page.display()), json!({ "folder": folder, "page": page }));
    Ok(answer.with_files(vec![page]))
}

/// Rows are of the settings of their run, and a report shows no others.
fn refuse_other_settings(folder: &Path, overlay: &OverlayArgs) -> Result<()> {
    if !folder.join("run.json").exists() {
        return Ok(());
    }
    let facts = published::facts(folder)?;
    let Some(command) = facts["command"].as_str() else { return Ok(()) };
    if published::overlay(&facts).set == overlay.set {
        return Ok(());
    }
    let message = format!("cannot render the results in `{}`: they were made with other settings", folder.display());
    // the program of older runs is `runner`
    let words = command.strip_prefix("landmark ").or_else(|| command.strip_prefix("runner ")).unwrap_or(command);
    let theirs = format!("landmark report {words}");
    Err(UsageError::new(
        message,
        Some(format!("`{theirs}` renders them; run the configuration for results with these settings")),
    )
    .into())
}

/// The configuration as it was when the rows were made, if it has changed since: what a report states is of the run. Warns of the change.
fn config_of_the_run(config: &Config, folder: &Path, overlay: &OverlayArgs) -> Result<Option<Config>> {
    if !folder.join("run.json").exists() {
        return Ok(None);
    }
    let (facts, now) = (published::facts(folder)?, config.config_hash().into_diagnostic()?.to_hex());
    if facts["config"]["hash"].as_str().is_none_or(|then| then == now) {
        return Ok(None);
    }
    let file = &config.run.file;
    output::note(&format!("warning: `{}` has changed since the run; run it again for new rows", file.display()));
    // a file with keys of before is read as it is today
    let text = facts["config"]["text"].as_str();
    Ok(text.and_then(|text| Config::parse(file, text, &overlay.overlays(), registry::registry()).ok()))
}

#[cfg(test)]
mod tests {
    use super::command_of;

    #[test]
    fn the_recorded_command_is_quoted_for_a_shell_and_is_one_line_without_secrets() {
        let words = [
            "run",
            "a b.yaml",
            "-qv",
            "--json",
            "--set=ranks=[1,2]",
            "--threads",
            "2",
            "--threads=8",
            "it's",
            "$(rm x)",
            "a\n```\u{1b}",
            "https://a.example/x?key=abc",
        ];
        let command = command_of(words.into_iter().map(str::to_owned));
        let wanted = r"landmark 'a b.yaml' --set=ranks=[1,2] 'it'\''s' '$(rm x)' $'a\n```\U0000001b' 'https://a.example/x?REDACTED'";
        assert_eq!(command, wanted);
    }
}
