//! Arguments of the commands on corpora, models, stores and predictions.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Download datasets, convert them and verify their sha256
    Fetch {
        /// Names of the datasets
        #[arg(value_name = "NAME", required_unless_present_any = ["all", "paper"])]
        names: Vec<String>,
        /// All datasets
        #[arg(long)]
        all: bool,
        /// The datasets of a paper
        ///
        /// `sms-nystrom`, `intent-sketch`, `structured-embeddings` or `tree-kernels`.
        #[arg(long, value_name = "PAPER")]
        paper: Option<String>,
        /// Accept the licenses without asking
        #[arg(long)]
        accept_licenses: bool,
    },
    /// Verify the sha256 of the files
    Verify {
        /// Only these datasets
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Download a model and verify its sha256
    Fetch {
        /// Name of the model
        #[arg(default_value = "all-MiniLM-L6-v2")]
        name: String,
        /// Folder of the models; $LANDMARK_MODELS or `models` by default
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        models: Option<PathBuf>,
    },
    /// Verify the files of a model and print their sha256
    Verify {
        /// Name of the model, or its folder
        #[arg(default_value = "all-MiniLM-L6-v2")]
        name: String,
        /// Folder of the models; $LANDMARK_MODELS or `models` by default
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        models: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct ScoreArgs {
    /// Task, which sets the format of the files
    #[arg(value_name = "TASK", value_enum)]
    pub task: ScoreTask,
    /// File with the correct answers, plain or gzip
    #[arg(value_name = "GOLD", value_hint = ValueHint::FilePath)]
    pub gold: PathBuf,
    /// File with the predictions, in the same format
    #[arg(value_name = "PREDICTIONS", value_hint = ValueHint::FilePath)]
    pub predictions: PathBuf,
    /// coref: count clusters of one mention, too
    #[arg(long)]
    pub keep_singletons: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScoreTask {
    /// Answer ranking, SemEval-2016 Task 3 (MAP, AvgRec, MRR, P, R, F1, Acc). Lines of `qid cid rank score true|false` with tabs
    Cqa,
    /// Coreference, CoNLL-2012 (MUC, B³, CEAFm, CEAFe, BLANC, LEA, CoNLL). Clusters in the last column
    Coref,
}

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// List the score functions whose scores are stored
    Ls {
        #[command(flatten)]
        store: StoreArgs,
        /// List the pairs that failed instead, with their errors
        #[arg(long)]
        failures: bool,
    },
    /// Verify every byte; exit with code 1 if a file is damaged
    Verify {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Remove damaged files and merge small ones
    ///
    /// It is safe while other processes read and write.
    Gc {
        #[command(flatten)]
        store: StoreArgs,
        /// Print what would be done, without doing it
        #[arg(short = 'n', long)]
        dry_run: bool,
        /// Forget the pairs that failed instead, so that a run retries them
        #[arg(long, conflicts_with = "dry_run")]
        failures: bool,
        /// With `--failures`: only of this score function, by its id in `ls`
        #[arg(long, value_name = "ID", requires = "failures")]
        oracle: Option<String>,
    },
}

#[derive(Debug, Clone, Args)]
pub struct StoreArgs {
    /// Folder or URL of the store; `store` by default
    #[arg(value_name = "STORE", value_hint = ValueHint::DirPath)]
    pub store: Option<String>,
    /// The same, spelled as for a run
    #[arg(long = "store", value_name = "URL", conflicts_with = "store", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub named: Option<String>,
}
