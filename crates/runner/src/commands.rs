//! The commands, and how the program starts and ends.

use std::path::Path;
use std::process::ExitCode;

use landmark_harness::interrupt;
use landmark_harness::run::RunError;
use landmark_yaml::{ConfigError, did_you_mean};
use miette::{IntoDiagnostic, Result};
use serde_json::json;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::{Cli, Command, FORMER, GROUPS, LogArgs, PROGRAM};
use crate::exit::{Exit, UsageError};
use crate::output::{self, Answer};

mod check;
mod data;
pub mod list;
mod model;
mod names;
pub mod published;
pub mod run;
mod score;
mod store;
mod topk;
mod user_data;

pub fn main() -> ExitCode {
    ended(|| {
        // `--json` and the like may come before the command
        const FLAGS: [&str; 6] = ["--json", "--quiet", "-q", "--verbose", "-v", "-vv"];
        let mut words = std::env::args_os().skip(1).skip_while(|word| FLAGS.iter().any(|flag| word == flag));
        if let Some(word) = words.next() {
            refuse_mistyped_command(Path::new(&word))?;
        }
        let cli = Cli::read();
        start_log(cli.log);
        dispatch(cli)
    })
}

/// Runs a program to its end: prints an error, stops what it started, and returns the exit code.
pub fn ended(program: impl FnOnce() -> Result<Exit>) -> ExitCode {
    interrupt::listen();
    interrupt::report_full_files();
    let ended = program();
    landmark_oracles::subprocess::end_all();
    match ended {
        Ok(exit) => exit.into(),
        Err(report) => {
            output::print_error(&report);
            let is_usage = report.downcast_ref::<ConfigError>().is_some()
                || report.downcast_ref::<UsageError>().is_some()
                || report.downcast_ref::<RunError>().is_some_and(RunError::is_before_start);
            let is_exhausted = report.downcast_ref::<RunError>().is_some_and(RunError::is_exhausted);
            match (is_usage, is_exhausted) {
                (true, _) => Exit::Usage,
                (false, true) => Exit::Budget,
                (false, false) => Exit::Failed,
            }
            .into()
        }
    }
}

fn dispatch(cli: Cli) -> Result<Exit> {
    let (answer, exit) = match cli.command {
        None => return run::run(&cli.run, cli.log),
        Some(Command::Run(arguments)) => return run::run(&arguments, cli.log),
        Some(Command::Report { config, overlay, places }) => {
            (run::report(&config, &overlay, &places, cli.log)?, Exit::Done)
        }
        Some(Command::UserData(command)) => user_data::user_data(command, cli.log)?,
        Some(Command::Model(command)) => model::model(&command, cli.log)?,
        Some(Command::Store(command)) => store::store(&command)?,
        Some(Command::Check { files, print, overlay, places }) => match (print, files.as_slice()) {
            (true, [file]) => (check::resolved(file, &overlay)?, Exit::Done),
            (true, _) => {
                let help = "name one configuration".to_owned();
                return Err(UsageError::new("cannot print several configurations at once", Some(help)).into());
            }
            (false, files) => return check::check(files, &overlay, &places, cli.log),
        },
        Some(Command::List { what }) => (list::list(what.as_deref())?, Exit::Done),
        Some(Command::Data { name, data, command: None }) => (data::data(name.as_deref(), data)?, Exit::Done),
        Some(Command::Data { data, command: Some(command), .. }) => data::command(&command, data.as_deref(), cli.log)?,
        Some(Command::Score(arguments)) => (score::score(&arguments)?, Exit::Done),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::parser(true), PROGRAM, &mut script);
            let script = String::from_utf8_lossy(&script).into_owned();
            let result = json!({ "shell": shell.to_string(), "script": &script });
            (Answer::new(script, result), Exit::Done)
        }
    };
    answer.print(cli.log).into_diagnostic()?;
    Ok(exit)
}

/// A bare word that is no file is a mistyped or a former command. The first one is looked at before clap, which takes it for a configuration
/// and refuses the next word.
fn refuse_mistyped_command(file: &Path) -> Result<()> {
    let Some(word) = file.to_str() else { return Ok(()) };
    let mut names = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
    let is_path = word.contains(['.', '/', '\\']) || file.exists();
    if word.starts_with('-') || is_path || names.clone().any(|name| name == word) {
        return Ok(());
    }
    let former = FORMER.iter().find(|(former, _)| *former == word);
    let help = match (former, did_you_mean(word, names.by_ref())) {
        (Some((_, now)), _) => format!("use {now}"),
        (None, Some(near)) => format!("did you mean the command `{near}`?"),
        (None, None) => "`landmark --help` lists the commands; a configuration ends in `.yaml`".to_owned(),
    };
    Err(UsageError::new(format!("unknown command `{word}`, and no file of that name"), Some(help)).into())
}

/// Levels, and levels of crates. A bare word must be a level or a crate of ours: a misspelled level would silence all else.
fn targets(wanted: &str) -> Option<Targets> {
    let parts: Vec<&str> = wanted.split(',').map(str::trim).collect();
    let is_known =
        |part: &&str| part.contains('=') || part.starts_with("landmark") || part.parse::<LevelFilter>().is_ok();
    parts.iter().all(is_known).then(|| parts.join(",").parse().ok()).flatten()
}

/// Log lines go to standard error; RUST_LOG wins over `-v`.
pub fn start_log(arguments: LogArgs) {
    let level = match (arguments.quiet, arguments.verbose) {
        (true, _) => LevelFilter::ERROR,
        (false, 0) => LevelFilter::WARN,
        (false, 1) => LevelFilter::INFO,
        (false, _) => LevelFilter::DEBUG,
    };
    let wanted = std::env::var("RUST_LOG").ok().filter(|wanted| !wanted.trim().is_empty());
    let read = wanted.as_deref().and_then(targets);
    let is_unreadable = wanted.is_some() && read.is_none();
    let filter = read.unwrap_or_else(|| Targets::new().with_default(level));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false).without_time();
    let lines = lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    // if the reader is gone, reporting that to it panics
    let lines = lines.log_internal_errors(false);
    if let Err(error) = tracing_subscriber::registry().with(lines).with(filter).try_init() {
        tracing::debug!("the log was started before: {error}");
    }
    if let (Some(wanted), true) = (wanted, is_unreadable) {
        tracing::warn!(
            "cannot read RUST_LOG `{wanted}`: expected a level such as `debug`, or `landmark_store=debug,warn`; it is ignored"
        );
    }
}
