//! The command line.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint};
use landmark_harness::config::Overlays;
use landmark_harness::share::Share;

mod files;
mod help;
mod user_data;
mod values;

pub use files::{DataCommand, ModelCommand, ScoreArgs, ScoreTask, StoreArgs, StoreCommand};
pub(crate) use help::FORMER;
pub use help::{GROUPS, PROGRAM};
pub use user_data::{
    ExampleName, ExportForm, FinishedRunArgs, Mode, PairArgs, ScoreName, StatedBound, TopkArgs, UserDataCommand,
};
use values::folder;

/// Approximate an expensive pairwise score from a small number of evaluated pairs
#[derive(Debug, Parser)]
#[command(
    name = PROGRAM,
    version = env!("LANDMARK_VERSION"),
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    override_usage = "landmark [OPTIONS] <CONFIG.yaml>\n       landmark <COMMAND>"
)]
pub struct Cli {
    #[command(flatten)]
    pub run: RunArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub log: LogArgs,
}

impl Cli {
    /// The parser, with its help in groups: a screen, or all of it.
    pub fn parser(is_long: bool) -> clap::Command {
        help::arrange(Self::command(), is_long)
    }

    /// Reads the arguments of this process, or ends it with a usage error.
    pub fn read() -> Self {
        let is_long = std::env::args_os().any(|word| word == "--help");
        let mut matches = Self::parser(is_long).get_matches();
        Self::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| error.exit())
    }
}

#[derive(Debug, Clone, Copy, Args)]
pub struct LogArgs {
    /// Log more: -v for what is done, -vv for every step
    #[arg(short, long, action = clap::ArgAction::Count, global = true, hide_short_help = true)]
    pub verbose: u8,
    /// Print errors and warnings only
    #[arg(short, long, global = true, conflicts_with = "verbose", hide_short_help = true)]
    pub quiet: bool,
    /// Print the answer as one line of JSON
    ///
    /// A run prints its `run.json`, a dry run its call estimate, any other command an object with `result`, `files` and `says`.
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Configuration to run
    #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub overlay: OverlayArgs,
    #[command(flatten)]
    pub places: PlaceArgs,
    /// Print the calls that each job would make, without making any
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Time this many calls to estimate the duration; needs `--dry-run`
    ///
    /// The scores are stored, so that the run reuses them.
    #[arg(long, value_name = "CALLS", requires = "dry_run", value_parser = clap::value_parser!(u64).range(1..))]
    pub sample: Option<u64>,
    /// Evaluate only share K of N of the planned calls (K from 0)
    ///
    /// Start one process per share, on any machine. Run without `--share` when all of them are finished.
    #[arg(long, value_name = "K/N", conflicts_with_all = ["dry_run", "force"])]
    pub share: Option<Share>,
    /// Repeat every job; stored scores are reused
    #[arg(long)]
    pub force: bool,
    /// Continue after a job that fails, and exit with code 4
    #[arg(long)]
    pub keep_going: bool,
    /// Download missing corpora and models without asking
    ///
    /// The environment variable LANDMARK_FETCH=1 does the same.
    #[arg(long)]
    pub fetch: bool,
    /// Accept the licenses of what is downloaded
    #[arg(long)]
    pub accept_licenses: bool,
    /// Number of threads; all cores by default
    #[arg(long, value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

#[derive(Debug, Clone, Default, Args)]
pub struct OverlayArgs {
    /// Profile: smoke, laptop (default), medium, paper, or one of the file
    ///
    /// `smoke` takes seconds, `laptop` minutes, `medium` hours, and `paper` is the published size. If the file does not define one of these four,
    /// that profile runs the file in full.
    #[arg(short, long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Change one value, such as `ranks=[50,100]`; repeatable
    ///
    /// Elements of a list are named by their id or number: `--set methods[sicur].ratio=3`.
    #[arg(short, long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl OverlayArgs {
    /// As the configuration takes them.
    pub fn overlays(&self) -> Overlays {
        Overlays { profile: self.profile.clone(), set: self.set.clone() }
    }
}

#[derive(Debug, Clone, Default, Args)]
pub struct PlaceArgs {
    /// Folder of the corpora; $LANDMARK_DATA by default
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = folder)]
    pub data: Option<PathBuf>,
    /// Folder or URL of the score store; `store` by default
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// Folder of the results; `runs` by default
    ///
    /// Other profiles than `laptop` have a folder of their own in it: `runs/PROFILE`.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub results: Option<PathBuf>,
}

impl PlaceArgs {
    /// `--data`, else the folder that LANDMARK_DATA names, else the cache folder if it exists.
    pub fn data(&self) -> Option<PathBuf> {
        landmark_fetch::Places::to_read(self.data.as_deref())
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a configuration; `landmark CONFIG.yaml` does the same
    Run(RunArgs),
    /// Render the tables and figures of a finished run again
    Report {
        /// Configuration
        #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
        config: PathBuf,
        #[command(flatten)]
        overlay: OverlayArgs,
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// List what a configuration can name, or explain one name
    List {
        /// A list such as `methods`, or a name such as `sicur`; all lists by default
        ///
        /// `schema` prints the JSON Schema of a configuration, for editors.
        #[arg(value_name = "NAME")]
        what: Option<String>,
    },
    /// Check configurations without running them
    Check {
        /// Configurations
        #[arg(required = true, value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
        /// Print the one configuration as it would run, defaults included
        #[arg(long)]
        print: bool,
        #[command(flatten)]
        overlay: OverlayArgs,
        #[command(flatten)]
        places: PlaceArgs,
    },
    #[command(flatten)]
    UserData(UserDataCommand),
    /// List the corpora; fetch or verify them
    #[command(args_conflicts_with_subcommands = true)]
    Data {
        /// Show only this dataset, in full
        name: Option<String>,
        /// Folder of the corpora; $LANDMARK_DATA or the cache folder by default
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, global = true)]
        data: Option<PathBuf>,
        #[command(subcommand)]
        command: Option<DataCommand>,
    },
    /// Fetch or verify a model
    #[command(subcommand, arg_required_else_help = true)]
    Model(ModelCommand),
    /// List, verify or clean up the score store
    #[command(subcommand, arg_required_else_help = true)]
    Store(StoreCommand),
    /// Score predictions as the official scorer of a task does
    Score(ScoreArgs),
    /// Print a completion script for a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}
