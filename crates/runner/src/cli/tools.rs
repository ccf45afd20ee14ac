//! Arguments of the commands on corpora, models, predictions and stores.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// Fetching, checking and removing corpora.
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Download datasets from their public sources, convert them and check their sha256
    Fetch {
        /// Their names
        #[arg(required_unless_present_any = ["all", "paper"])]
        names: Vec<String>,
        /// All datasets
        #[arg(long)]
        all: bool,
        /// Those of a paper: `sms-nystrom`, `intent-sketch`, `structured-embeddings` or `tree-kernels`
        #[arg(long, value_name = "PAPER")]
        paper: Option<String>,
        /// Accept the licences, which are asked for otherwise
        #[arg(long)]
        accept_licences: bool,
    },
    /// Check the sha256 of every file that is there
    Verify {
        /// Only these datasets
        names: Vec<String>,
    },
    /// Print the folder of the corpora
    Where,
    /// Remove the files of datasets
    Rm {
        /// Their names
        #[arg(required = true)]
        names: Vec<String>,
    },
}

/// Fetching and checking models.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Download a model and check its sha256
    Fetch {
        /// Its name
        #[arg(default_value = "all-MiniLM-L6-v2")]
        name: String,
        /// Folder of the models; the variable LANDMARK_MODELS, or `models`, by default
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        models: Option<PathBuf>,
    },
    /// Show the files of a model, their sha256, and whether they fit each other
    Check {
        /// Its name, or a folder
        #[arg(default_value = "all-MiniLM-L6-v2")]
        name: String,
        /// Folder of the models; the variable LANDMARK_MODELS, or `models`, by default
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        models: Option<PathBuf>,
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
        /// Which store
        #[command(flatten)]
        store: StoreArgs,
        /// List the pairs that could not be scored, and why
        #[arg(long)]
        failures: bool,
    },
    /// Forget which pairs could not be scored, so that they are asked for again
    RetryFailures {
        /// Beginning of the identity of their oracle, as `ls` shows it; all oracles by default
        #[arg(long, value_name = "ID")]
        oracle: Option<String>,
        /// Which store
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Check every byte; ends with code 1 if a file can't be used
    Verify {
        /// Which store
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Remove files that can't be used and merge small ones; safe while others read and evaluate
    Gc {
        /// Which store
        #[command(flatten)]
        store: StoreArgs,
        /// Tell what would be done, and do nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
}

/// Which store, said either way.
#[derive(Debug, Clone, Args)]
pub struct StoreArgs {
    /// Folder or URL of the store; `store` by default
    #[arg(value_name = "STORE", value_hint = ValueHint::DirPath)]
    pub store: Option<String>,
    /// The same, as the commands that buy have it
    #[arg(long = "store", value_name = "URL", conflicts_with = "store", value_hint = ValueHint::DirPath)]
    pub named: Option<String>,
}
