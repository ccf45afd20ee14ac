//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use landmark_harness::config::Overlays;
use landmark_harness::share::Share;

use crate::exit;

mod own;
mod tools;

pub use own::{ExportForm, OwnArgs, OwnCommand, RecallArgs, ScoreName, ScoringArgs, StatedBound};
pub use tools::{DataCommand, ModelCommand, ScoreCommand, StoreArgs, StoreCommand};

/// Approximate an expensive similarity matrix from a few evaluated columns, and hold the result against the paper's
#[derive(Debug, Parser)]
#[command(
    name = "landmark",
    version = env!("LANDMARK_VERSION"),
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = exit::help(),
    override_usage = "landmark [OPTIONS] <CONFIG.yaml>\n       landmark <COMMAND>"
)]
pub struct Cli {
    /// What to do with a configuration; running it needs no command.
    #[command(flatten)]
    pub run: RunArgs,
    /// The command, where one is named.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How much is logged.
    #[command(flatten)]
    pub log: LogArgs,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("write a whole number".to_owned()),
    }
}

/// A folder that is there.
fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() {
        Ok(path)
    } else {
        Err(format!("there is no folder `{text}`; `landmark data` tells what belongs into it"))
    }
}

/// A folder with a `results.parquet`.
fn folder_of_results(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.join("results.parquet").is_file() {
        Ok(path)
    } else {
        Err(format!("there is no `results.parquet` in `{text}`; a run publishes it"))
    }
}

/// A number: neither NaN nor infinite.
fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err("it must be a finite number".to_owned()),
        Err(error) => Err(format!("{error}")),
    }
}

/// How much is logged.
#[derive(Debug, Clone, Copy, Args)]
pub struct LogArgs {
    /// Log more: -v what is done, -vv every step
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Print errors and warnings only; results are in their files
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print one line of JSON: a run prints its `run.json`, a dry run its call estimate, other commands `result`, `files` and `says`
    #[arg(long, global = true)]
    pub json: bool,
}

/// Running a configuration.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Configuration to run
    #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// What is laid over the file.
    #[command(flatten)]
    pub overlay: OverlayArgs,
    /// Where things lie.
    #[command(flatten)]
    pub places: PlaceArgs,
    /// Tell what would be bought, job by job; not one call is made
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Fetch corpora and models that are missing, without asking; LANDMARK_FETCH=1 does the same
    #[arg(long)]
    pub fetch: bool,
    /// Accept the licences of what is fetched
    #[arg(long)]
    pub accept_licences: bool,
    /// With `--dry-run`: call the similarity function N times to learn how long the run takes; the scores are kept
    #[arg(long, value_name = "N", requires = "dry_run", value_parser = clap::value_parser!(u64).range(1..))]
    pub sample: Option<u64>,
    /// Only evaluate share K of N of the planned calls (K from 0), one process per share; run without it afterwards
    #[arg(long, value_name = "K/N", conflicts_with_all = ["dry_run", "force"])]
    pub share: Option<Share>,
    /// Do every job again; bought entries are still reused
    #[arg(long)]
    pub force: bool,
    /// Go on with the other jobs when one fails, and end with code 4
    #[arg(long, overrides_with = "fail_fast")]
    pub keep_going: bool,
    /// Stop at the first job that fails (default)
    #[arg(long, overrides_with = "keep_going")]
    pub fail_fast: bool,
    /// Threads to compute with; all cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// What is laid over a file.
#[derive(Debug, Clone, Default, Args)]
pub struct OverlayArgs {
    /// Profile of the configuration: `smoke` (seconds), `laptop` (minutes, default), `medium` (hours), `paper` (as published), or its own; one of
    /// these four that the file does not define runs it in full
    #[arg(short, long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Change one value, e.g. `--set ranks=[50,100]` or `--set methods[sicur].ratio=3`; may be repeated
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl OverlayArgs {
    /// As the configuration takes them.
    pub fn overlays(&self) -> Overlays {
        Overlays { profile: self.profile.clone(), set: self.set.clone() }
    }
}

/// Where things lie.
#[derive(Debug, Clone, Default, Args)]
pub struct PlaceArgs {
    /// Folder of the corpora; the variable LANDMARK_DATA by default
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = folder)]
    pub data: Option<PathBuf>,
    /// Folder or URL that keeps bought entries; `store` by default
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// Folder of results; `results` by default, of other profiles than `laptop` `results/PROFILE`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub results: Option<PathBuf>,
}

impl PlaceArgs {
    /// `--data`, else what LANDMARK_DATA names, else the cache folder where there is one.
    pub fn data(&self) -> Option<PathBuf> {
        landmark_fetch::Places::to_read(self.data.as_deref())
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a configuration; `landmark CONFIG.yaml` does the same
    Run(RunArgs),
    /// List what a configuration can name: methods, oracles, proxies, landmarks, experiments, tasks, datasets
    List {
        /// One of the lists; all of them by default
        what: Option<String>,
        /// How to print it
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Explain a name of those lists, or print a configuration as it will run, defaults included
    Show {
        /// A name such as `sms_nystrom`, or a configuration
        #[arg(value_name = "NAME|CONFIG.yaml", value_hint = ValueHint::FilePath)]
        what: String,
        /// What is laid over the file.
        #[command(flatten)]
        overlay: OverlayArgs,
    },
    /// Check configurations in every profile, without running them
    Validate {
        /// Configurations
        #[arg(required = true, value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
        /// What is laid over each file; with `--profile`, only that one is checked.
        #[command(flatten)]
        overlay: OverlayArgs,
        /// Where things would lie: checked to be there, or to be an address.
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// Draw the tables and figures of a configuration again from its results
    Report {
        /// Configuration
        #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
        config: PathBuf,
        /// What is laid over the file.
        #[command(flatten)]
        overlay: OverlayArgs,
        /// Where things lie.
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// Check a published run: its provenance, its rows, its tables drawn again from them, and the smoke profile run twice; or compare two runs
    Verify {
        /// Folder of the run: `results/NAME`
        #[arg(value_name = "RESULTS", value_hint = ValueHint::DirPath, value_parser = folder_of_results)]
        published: PathBuf,
        /// Another run of the same configuration: print what differs, and by how much
        #[arg(long, value_name = "RESULTS", value_hint = ValueHint::DirPath, value_parser = folder_of_results)]
        against: Option<PathBuf>,
        /// Leave the run of the smoke profile out
        #[arg(long)]
        skip_smoke: bool,
        /// Where things lie.
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// Judge the claims of the papers by the published rows, and keep the READMEs that hold the verdicts up to date
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
    /// What one's own matrix is good for.
    #[command(flatten)]
    Own(OwnCommand),
    /// Show which corpora are there; fetch, check or remove them
    #[command(args_conflicts_with_subcommands = true)]
    Data {
        /// Only this dataset, in full
        name: Option<String>,
        /// Folder of the corpora; the variable LANDMARK_DATA, or the cache folder, by default
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, global = true)]
        data: Option<PathBuf>,
        /// What to do with them.
        #[command(subcommand)]
        command: Option<DataCommand>,
    },
    /// Fetch the encoders this project knows, or check a model
    #[command(subcommand, arg_required_else_help = true)]
    Model(ModelCommand),
    /// Score a file of predictions as the official scorer of its task does
    #[command(subcommand, arg_required_else_help = true)]
    Score(ScoreCommand),
    /// Look after the bought entries: list them (`ls`), check them (`verify`), clean up (`gc`)
    #[command(subcommand, arg_required_else_help = true)]
    Store(StoreCommand),
    /// Keep the generated tables and the JSON Schema in docs/ up to date
    Docs {
        /// The files that have the markers
        #[arg(default_values = ["docs/reference/methods.md", "docs/data.md", "docs/reference/configuration.md", "docs/reference/landmark.schema.json"], value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
        /// Fail if a table is out of date (default)
        #[arg(long, conflicts_with = "write")]
        check: bool,
        /// Write the tables
        #[arg(long)]
        write: bool,
    },
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, Args)]
pub struct FormatArgs {
    /// As a Markdown table
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading in a terminal.
    Text,
    /// A Markdown table.
    Markdown,
    /// JSON.
    Json,
}

impl FormatArgs {
    /// The form that is asked for.
    pub fn format(self, log: LogArgs) -> Format {
        match (self.markdown, log.json) {
            (true, _) => Format::Markdown,
            (false, true) => Format::Json,
            (false, false) => Format::Text,
        }
    }
}
