//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use crate::config::Overlays;
use crate::exit;

/// Approximate an expensive similarity matrix from a few bought columns, and hold the result against the paper's
#[derive(Debug, Parser)]
#[command(
    name = "runner",
    version = env!("LANDMARK_VERSION"),
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = exit::HELP,
    override_usage = "runner [OPTIONS] <CONFIG.yaml>\n       runner <COMMAND>"
)]
pub struct Cli {
    /// What to do with a configuration; running it needs no command.
    #[command(flatten)]
    pub run: RunArgs,
    /// Anything else.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How much is logged.
    #[command(flatten)]
    pub log: LogArgs,
}

/// How much is logged.
#[derive(Debug, Clone, Copy, Args)]
pub struct LogArgs {
    /// Log more: -v what is done, -vv every step
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Print no progress, only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
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
    /// Tell what would be bought, cell by cell, and buy nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Compute every cell again; bought entries are still reused
    #[arg(long)]
    pub force: bool,
    /// Go on with the other cells when one fails, and end with code 4
    #[arg(long, overrides_with = "fail_fast")]
    pub keep_going: bool,
    /// Stop at the first cell that fails (default)
    #[arg(long, overrides_with = "keep_going")]
    pub fail_fast: bool,
    /// Threads to compute with; all cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

/// What is laid over a file.
#[derive(Debug, Clone, Default, Args)]
pub struct OverlayArgs {
    /// Profile of the configuration: `smoke` (seconds), `laptop` (minutes, default), `paper` (as published), or its own
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
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub data: Option<PathBuf>,
    /// Folder or URL that keeps bought entries; `store` by default
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// Folder of results; `results` by default
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub results: Option<PathBuf>,
}

impl PlaceArgs {
    /// `--data`, else what LANDMARK_DATA names.
    pub fn data(&self) -> Option<PathBuf> {
        let variable = || std::env::var_os(landmark_data::catalog::DATA_VARIABLE).filter(|value| !value.is_empty());
        self.data.clone().or_else(|| variable().map(PathBuf::from))
    }
}

/// Everything but running.
#[derive(Debug, Subcommand)]
pub enum Command {
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
    /// Show which corpora are there, and how to get the others
    Data {
        /// Only this dataset, in full
        name: Option<String>,
        /// Folder of the corpora; the variable LANDMARK_DATA by default
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        data: Option<PathBuf>,
    },
    /// Score a file of predictions as the official scorer of its task does
    #[command(subcommand, arg_required_else_help = true)]
    Score(ScoreCommand),
    /// Look after the bought entries: list, check, clean up
    #[command(subcommand, arg_required_else_help = true)]
    Store(StoreCommand),
    /// Keep the generated tables of the README up to date
    Docs {
        /// The file that has the markers
        #[arg(default_value = "README.md", value_hint = ValueHint::FilePath)]
        file: PathBuf,
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

/// Scoring predictions.
#[derive(Debug, Subcommand)]
pub enum ScoreCommand {
    /// Answer ranking, SemEval-2016 Task 3: MAP, AvgRec, MRR, P, R, F1, Acc
    Cqa {
        /// Gold: lines of `qid cid rank score true|false` with tabs, plain or gzip
        #[arg(value_name = "GOLD", value_hint = ValueHint::FilePath)]
        gold: PathBuf,
        /// Predictions in the same format
        #[arg(value_name = "PREDICTIONS", value_hint = ValueHint::FilePath)]
        predictions: PathBuf,
    },
    /// Coreference, CoNLL-2012: MUC, B³, CEAFm, CEAFe, BLANC, LEA and the CoNLL score
    Coref {
        /// Key: CoNLL-2012, clusters in the last column, plain or gzip
        #[arg(value_name = "KEY", value_hint = ValueHint::FilePath)]
        key: PathBuf,
        /// Response of the same documents in the same format
        #[arg(value_name = "RESPONSE", value_hint = ValueHint::FilePath)]
        response: PathBuf,
        /// Count clusters of one mention, too; without it both files lose them
        #[arg(long)]
        keep_singletons: bool,
    },
}

/// Looking after the bought entries.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// List the oracles whose entries are kept
    Ls {
        /// Folder or URL of the store; `store` by default
        store: Option<String>,
    },
    /// Check every byte; ends with code 1 if a file can't be used
    Verify {
        /// Folder or URL of the store; `store` by default
        store: Option<String>,
    },
    /// Remove files that can't be used and merge small ones; safe while others read and buy
    Gc {
        /// Folder or URL of the store; `store` by default
        store: Option<String>,
        /// Tell what would be done, and do nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, Args)]
#[group(multiple = false)]
pub struct FormatArgs {
    /// As a Markdown table
    #[arg(long)]
    pub markdown: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
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

impl From<FormatArgs> for Format {
    fn from(arguments: FormatArgs) -> Self {
        match arguments {
            FormatArgs { markdown: true, .. } => Self::Markdown,
            FormatArgs { json: true, .. } => Self::Json,
            FormatArgs { .. } => Self::Text,
        }
    }
}
