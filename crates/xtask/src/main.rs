//! `cargo xtask`: what developers of this repository do with it, and users do not.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Args, Parser, Subcommand, ValueHint};
use landmark_report::differences::differences;
use landmark_report::rows_from_parquet;
use miette::{IntoDiagnostic as _, Result};
use runner::cli::{LogArgs, PlaceArgs};
use runner::exit::Exit;
use runner::output::Answer;
use serde_json::json;

mod claims;
mod command_line;
mod docs;
mod verify;

/// Tasks of developers
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
    #[command(flatten)]
    log: LogArgs,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Compare the generated parts of the documentation with the program
    Docs {
        /// Folder of the repository
        #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
        root: PathBuf,
        /// Write what is out of date, instead of failing
        #[arg(long)]
        write: bool,
    },
    /// Judge the claims of the papers by the published rows
    Claims {
        /// Folder of the published results
        #[arg(long, value_name = "DIR", default_value = "results", value_hint = ValueHint::DirPath)]
        results: PathBuf,
        /// Fail if a README is out of date
        #[arg(long, conflicts_with = "write")]
        check: bool,
        /// Write the READMEs
        #[arg(long)]
        write: bool,
    },
    /// Check a published run: provenance, rows, tables, and its smoke profile run twice
    Verify {
        /// Folder of the run
        #[arg(value_name = "RESULTS", value_hint = ValueHint::DirPath)]
        published: PathBuf,
        /// Leave out the run of the smoke profile
        #[arg(long)]
        skip_smoke: bool,
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// Print by how much the figures of two runs of a configuration differ
    Compare {
        /// Folder of a run
        #[arg(value_name = "RESULTS", value_hint = ValueHint::DirPath)]
        one: PathBuf,
        /// Folder of another run
        #[arg(value_name = "RESULTS", value_hint = ValueHint::DirPath)]
        other: PathBuf,
    },
    /// Make published results of configurations at a revision (`scripts/publish`)
    Publish(PublishArgs),
}

#[derive(Debug, Args)]
struct PublishArgs {
    /// Arguments of `scripts/publish`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

fn main() -> ExitCode {
    let Cli { task, log } = Cli::parse();
    runner::commands::start_log(log);
    runner::commands::ended(|| dispatch(task, log))
}

fn dispatch(task: Task, log: LogArgs) -> Result<Exit> {
    let (answer, exit) = match task {
        Task::Docs { root, write } => (docs::docs(&root, write)?, Exit::Done),
        Task::Claims { results, check, write } => (claims::claims(&results, check, write)?, Exit::Done),
        Task::Verify { published, skip_smoke, places } => verify::verify(&published, skip_smoke, &places, log)?,
        Task::Compare { one, other } => compare(&one, &other)?,
        Task::Publish(PublishArgs { arguments }) => {
            let status = Command::new("scripts/publish").args(arguments).status().into_diagnostic()?;
            return Ok(if status.success() { Exit::Done } else { Exit::Failed });
        }
    };
    answer.print(log).into_diagnostic()?;
    Ok(exit)
}

/// Prints by how much they differ; they fail if they do.
fn compare(one: &Path, other: &Path) -> Result<(Answer, Exit)> {
    let rows = |folder: &Path| rows_from_parquet(&folder.join("results.parquet")).into_diagnostic();
    let (text, is_equal) = differences(&rows(one)?, &rows(other)?).into_diagnostic()?;
    let exit = if is_equal { Exit::Done } else { Exit::Failed };
    Ok((Answer::new(text, json!({ "equal": is_equal })), exit))
}
