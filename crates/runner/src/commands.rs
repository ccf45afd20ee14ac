//! The commands, and how the program starts and ends.

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser};
use landmark_harness::interrupt;
use landmark_harness::run::RunError;
use landmark_yaml::{ConfigError, did_you_mean};
use miette::{IntoDiagnostic, Result};
use serde_json::json;
use tracing_subscriber::EnvFilter;

use crate::cli::{Cli, Command, LogArgs};
use crate::exit::{Exit, UsageError};
use crate::output::{self, Answer};

mod claims;
mod completions;
mod data;
mod docs;
mod list;
mod model;
mod own;
mod published;
mod run;
mod score;
mod show;
mod store;
mod validate;
mod verify;

/// The program.
pub fn main() -> ExitCode {
    if let Err(report) = std::env::args_os().nth(1).map_or(Ok(()), |word| refuse_mistyped_command(Path::new(&word))) {
        output::print_error(&report);
        return Exit::Usage.into();
    }
    let cli = Cli::parse();
    start_log(cli.log);
    interrupt::listen();
    interrupt::report_full_files();
    let ended = dispatch(cli);
    landmark_oracles::subprocess::end_all();
    match ended {
        Ok(exit) => exit.into(),
        Err(report) => {
            output::print_error(&report);
            let is_usage = report.downcast_ref::<ConfigError>().is_some()
                || report.downcast_ref::<UsageError>().is_some()
                || report.downcast_ref::<RunError>().is_some_and(RunError::is_before_start);
            if is_usage { Exit::Usage } else { Exit::Failed }.into()
        }
    }
}

fn dispatch(cli: Cli) -> Result<Exit> {
    let answer = match cli.command {
        None => return run::run(&cli.run, cli.log),
        Some(Command::Run(arguments)) => return run::run(&arguments, cli.log),
        Some(Command::Report { config, overlay, places }) => return run::report(&config, &overlay, &places, cli.log),
        Some(Command::Own(command)) => return own::own(command, cli.log),
        Some(Command::Model(command)) => return model::model(&command, cli.log),
        Some(Command::Store(command)) => return store::store(&command, cli.log),
        Some(Command::Docs { files, write, check: _ }) => return docs::docs(&files, write, cli.log),
        Some(Command::Claims { results, check, write }) => return claims::claims(&results, check, write, cli.log),
        Some(Command::Verify { published, against, skip_smoke, places }) => {
            return verify::verify(&published, against.as_deref(), skip_smoke, &places, cli.log);
        }
        Some(Command::Validate { files, overlay, places }) => {
            return validate::validate(&files, &overlay, &places, cli.log);
        }
        Some(Command::List { what, format }) => {
            // has a form of its own
            let text = list::list(what.as_deref(), format.format(cli.log))?;
            output::print(&text).into_diagnostic()?;
            return Ok(Exit::Done);
        }
        Some(Command::Show { what, overlay }) => show::show(&what, &overlay)?,
        Some(Command::Data { name, data, command: None }) => data::data(name.as_deref(), data)?,
        Some(Command::Data { data, command: Some(command), .. }) => {
            return data::command(&command, data.as_deref(), cli.log);
        }
        Some(Command::Score(command)) => score::score(&command)?,
        Some(Command::Completions { shell }) => {
            let script = completions::script(shell);
            let result = json!({ "shell": shell.to_string(), "script": &script });
            Answer::new(script, result)
        }
    };
    answer.print(cli.log).into_diagnostic()?;
    Ok(Exit::Done)
}

/// A bare word that is no file is a mistyped command. As the first one it is looked at before clap, which takes it for a configuration and
/// complains of the next word.
fn refuse_mistyped_command(file: &Path) -> Result<()> {
    let Some(word) = file.to_str() else { return Ok(()) };
    let program = Cli::command();
    let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).chain(["help"]).collect();
    let is_path = word.contains(['.', '/', '\\']) || file.exists();
    if word.starts_with('-') || is_path || names.contains(&word) {
        return Ok(());
    }
    let help = match did_you_mean(word, names) {
        Some(near) => format!("did you mean the command `{near}`?"),
        None => "`landmark --help` lists the commands; a configuration ends in `.yaml`".to_owned(),
    };
    Err(UsageError::new(format!("`{word}` is neither a command nor a file"), Some(help)).into())
}

/// Log lines go to standard error; RUST_LOG wins over `-v`.
fn start_log(arguments: LogArgs) {
    let level = match (arguments.quiet, arguments.verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "info",
        (false, _) => "debug",
    };
    // `hnsw_rs` logs how it makes the graph of `topk --approximate`, which is not what `-v` asks for
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(format!("{level},hnsw_rs=error")));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let subscriber = subscriber.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).without_time();
    // a line that nobody reads any more would be told to the same nobody, which panics
    let subscriber = subscriber.log_internal_errors(false);
    if let Err(error) = subscriber.try_init() {
        tracing::debug!("the log was started before: {error}");
    }
}
