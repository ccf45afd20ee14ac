//! Running a configuration, and drawing its report again.

use std::path::{Path, PathBuf};

use landmark_harness::config::Config;
use landmark_harness::invocation::Invocation;
use landmark_harness::provenance::Build;
use landmark_harness::run::{self, RunOptions};
use landmark_yaml::did_you_mean;
use miette::{IntoDiagnostic, Result};

use crate::catalogue;
use crate::cli::{LogArgs, OverlayArgs, PlaceArgs, RunArgs};
use crate::exit::{Exit, UsageError};

/// Runs a configuration, or tells what it would buy.
pub(super) fn run(arguments: &RunArgs, log: LogArgs) -> Result<Exit> {
    let Some(file) = arguments.config.as_deref() else {
        let help = "for example `runner configs/quickstart.yaml`; `runner --help` lists the commands";
        return Err(UsageError::new("there is no configuration to run", Some(help.to_owned())).into());
    };
    refuse_mistyped_command(file)?;
    let config = Config::load(file, &arguments.overlay.overlays(), catalogue::catalogue())?;
    let options = RunOptions {
        dry_run: arguments.dry_run,
        sample: arguments.sample,
        force: arguments.force,
        keep_going: arguments.keep_going,
        ..options(&arguments.overlay, &arguments.places, log)
    };
    start_threads(arguments.threads.map(usize::from).or(config.run.threads))?;
    Ok(run::run(&config, &options)?.into())
}

pub(super) fn options(overlay: &OverlayArgs, places: &PlaceArgs, log: LogArgs) -> RunOptions {
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
pub(super) fn invocation(file: &Path, overlay: &OverlayArgs, places: &PlaceArgs, log: LogArgs) -> Invocation {
    Invocation {
        file: file.to_owned(),
        overlays: overlay.overlays(),
        options: options(overlay, places, log),
        out: None,
        catalogue: catalogue::catalogue(),
    }
}

/// This program.
const BUILD: Build = Build {
    version: env!("CARGO_PKG_VERSION"),
    revision: env!("LANDMARK_REVISION"),
    rustc: env!("LANDMARK_RUSTC"),
    target: env!("LANDMARK_TARGET"),
    profile: env!("LANDMARK_BUILD_PROFILE"),
    linear_algebra: "faer",
    torch: cfg!(feature = "torch"),
};

/// Flags of what was laid over the file and of where things lie, as words of another command on the same configuration.
fn flags(overlay: &OverlayArgs, places: &PlaceArgs) -> Vec<String> {
    let folder = |folder: &Option<PathBuf>| folder.as_ref().map(|folder| folder.display().to_string());
    let places =
        [("--store", places.store.clone()), ("--data", folder(&places.data)), ("--results", folder(&places.results))];
    let places = places.into_iter().flat_map(|(name, place)| place.map(|place| [name.to_owned(), place]));
    overlay.overlays().words().into_iter().chain(places.flatten()).collect()
}

/// The command as it was typed, for the report; the program by its bare name, and without what moves no result.
fn command_line() -> String {
    const MOVES_NOTHING: [&str; 8] =
        ["--quiet", "-q", "--verbose", "-v", "-vv", "--force", "--keep-going", "--fail-fast"];
    let arguments = std::env::args().skip(1).filter(|word| !MOVES_NOTHING.contains(&word.as_str()));
    let arguments = arguments.map(|word| if word.contains(' ') { format!("'{word}'") } else { word });
    std::iter::once("runner".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Thousands of threads take minutes to start.
const MOST_THREADS: usize = 1024;

fn start_threads(wanted: Option<usize>) -> Result<()> {
    let Some(threads) = wanted else { return Ok(()) };
    if threads > MOST_THREADS {
        let message = format!("`threads` is {threads}, but must be at most {MOST_THREADS}");
        return Err(UsageError::new(message, Some("leave it out: all cores are used".to_owned())).into());
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().into_diagnostic()
}

/// Draws the tables and figures again.
pub(super) fn report(file: &Path, overlay: &OverlayArgs, places: &PlaceArgs, log: LogArgs) -> Result<Exit> {
    let config = Config::load(file, &overlay.overlays(), catalogue::catalogue())?;
    let folder = run::report_again(&config, &options(overlay, places, log))?;
    eprintln!("drawn again in `{}`", folder.display());
    Ok(Exit::Done)
}

/// A bare word that is no file is a mistyped command.
fn refuse_mistyped_command(file: &Path) -> Result<()> {
    use clap::CommandFactory;
    let Some(word) = file.to_str().filter(|word| !word.contains(['.', '/', '\\']) && !file.exists()) else {
        return Ok(());
    };
    let cli = crate::cli::Cli::command();
    let help = match did_you_mean(word, cli.get_subcommands().map(|command| command.get_name())) {
        Some(near) => format!("did you mean the command `{near}`?"),
        None => "`runner --help` lists the commands; a configuration ends in `.yaml`".to_owned(),
    };
    Err(UsageError::new(format!("`{word}` is neither a command nor a file"), Some(help)).into())
}
