//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use landmark_harness::config::Overlays;
use landmark_harness::scale::executor::Executor;

use crate::exit;

/// Approximate an expensive similarity matrix from a few bought columns, and hold the result against the paper's
#[derive(Debug, Parser)]
#[command(
    name = "runner",
    version = env!("LANDMARK_VERSION"),
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
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

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

/// A folder that is there.
fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() {
        Ok(path)
    } else {
        Err(format!("there is no folder `{text}`; `runner data` tells what belongs into it"))
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
    /// Tell what would be bought, cell by cell; not one call is made
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// With `--dry-run`: call the similarity function N times to learn how long the run takes; the scores are kept
    #[arg(long, value_name = "N", requires = "dry_run", value_parser = clap::value_parser!(u64).range(1..))]
    pub sample: Option<u64>,
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// What is laid over a file.
#[derive(Debug, Clone, Default, Args)]
pub struct OverlayArgs {
    /// Profile of the configuration: `smoke` (seconds), `laptop` (minutes, default), `desk` (hours), `paper` (as published), or its own
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
    /// Cut what a configuration buys, or the stream it sketches, into tiles for any number of workers that reach one store
    Plan {
        /// Who runs the workers; for Slurm and HyperQueue the files that submit them are written
        #[arg(long, value_enum, default_value_t = ExecutorName::Local)]
        executor: ExecutorName,
        /// Seconds that a tile should take, 120 by default; of a matrix it needs `--sample`, which tells how fast it goes
        #[arg(long, value_name = "SECONDS")]
        tile_seconds: Option<f64>,
        /// Entries of a tile, or bytes of a stream, instead of seconds; without it and `--sample`, a matrix is cut into a hundred tiles
        /// of at least 1,000 entries, and not one call is made
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        tile_size: Option<u64>,
        /// Call the similarity function N times to learn how long an entry takes; the scores are kept
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        sample: Option<u64>,
        /// Replace a plan that differs
        #[arg(long)]
        force: bool,
        /// Which configuration
        #[command(flatten)]
        scale: ScaleArgs,
    },
    /// Do tiles of a plan until all of them are done; may be started, killed and started again at will
    Worker {
        /// Only these tiles: `0-9,12`
        #[arg(long, value_name = "LIST", conflicts_with = "share")]
        tiles: Option<String>,
        /// Only the K-th of every N tiles, K from 0
        #[arg(long, value_name = "K/N")]
        share: Option<String>,
        /// Seconds without a sign of life after which another worker's tile is taken over; `cluster.lease`, or 60, by default
        #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
        lease: Option<u64>,
        /// Which configuration
        #[command(flatten)]
        scale: ScaleArgs,
    },
    /// Show how far the workers of a plan are
    Status {
        /// Which configuration
        #[command(flatten)]
        scale: ScaleArgs,
    },
    /// Run a configuration whose plan is done: factors, tables, figures, and not one call of the oracle; sketches are merged in a tree
    Merge {
        /// Which configuration
        #[command(flatten)]
        scale: ScaleArgs,
    },
    /// Embed new items with the factors of a configuration, from their scores with the landmarks alone
    Project {
        /// Configuration with `experiment: own_data`, run before
        #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
        config: PathBuf,
        /// The new items: a file with the columns of the configuration's dataset
        #[arg(value_name = "ITEMS", value_hint = ValueHint::FilePath)]
        items: PathBuf,
        /// Embeddings of the new items (`.npy`), where the method has the proxy `embedding_cosine`
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        embeddings: Option<PathBuf>,
        /// Neighbours listed for each new item, among the items of the configuration
        #[arg(short, long, default_value_t = 10, value_parser = at_least_one)]
        k: usize,
        /// What is laid over the file.
        #[command(flatten)]
        overlay: OverlayArgs,
        /// Where things lie.
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// List the best items for new queries, from the index of a configuration and a few calls a query
    Search {
        /// The queries: a file with the columns of the configuration's past queries
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        queries: PathBuf,
        /// Embeddings of the queries (`.npy`), where the proxy reads those of the items from a file
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        embeddings: Option<PathBuf>,
        /// Calls a query
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
        calls: usize,
        /// Items listed for each query
        #[arg(short, long, default_value_t = 10, value_parser = at_least_one)]
        k: usize,
        /// Say what it costs, and make no call
        #[arg(long)]
        dry_run: bool,
        /// Which index, and where the answer goes
        #[command(flatten)]
        own: OwnArgs,
    },
    /// List the most similar items of every item: from factors, exact scores for the best of them on demand; or from a given number of
    /// calls, without factors
    Topk {
        /// Neighbours of each item
        #[arg(short, long, default_value_t = 10, value_parser = at_least_one)]
        k: usize,
        /// Score so many of the best by the oracle itself, at least K, and rank them anew
        #[arg(long, value_name = "N", value_parser = at_least_one)]
        rescore: Option<usize>,
        /// Evaluations that `--rescore` or `--target-recall` may buy
        #[arg(long, value_name = "ENTRIES")]
        budget: Option<u64>,
        /// Evaluate until the lists hold this share of the true K nearest, as uniform audited items say; no factors are read
        #[arg(long, value_name = "SHARE", conflicts_with = "rescore", value_parser = number)]
        target_recall: Option<f64>,
        /// How that is known
        #[command(flatten)]
        recall: RecallArgs,
        /// Spend so many evaluations an item on finding its neighbours: columns, the proxies of the method, and rounds of the pairs that
        /// look best. No factors are read. With `--target-recall` at most so many, 100 by default
        #[arg(long, value_name = "B", value_parser = at_least_one, conflicts_with = "rescore")]
        calls_per_item: Option<usize>,
        /// Rounds of `--calls-per-item`
        #[arg(long, value_name = "R", default_value_t = 4, value_parser = at_least_one, requires = "calls_per_item", conflicts_with = "target_recall")]
        rounds: usize,
        /// Part of each round that goes to the best pairs of the proxy, from 0 to 1
        #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = number)]
        share: f64,
        /// Prove the neighbours by proxies that are bounds of the oracle (word mover's distance has two): recall 1, in as many evaluations
        /// as it takes
        #[arg(long, conflicts_with_all = ["rescore", "calls_per_item", "target_recall"])]
        exact: bool,
        /// With `--calls-per-item`, `--target-recall` or `--exact`: tell what it takes; not one call is made
        #[arg(short = 'n', long)]
        dry_run: bool,
        /// Which factors, and where the answer goes
        #[command(flatten)]
        own: OwnArgs,
    },
    /// List the most similar pairs of all, from factors; scored by the oracle, or with a stated recall, on demand
    Mine {
        /// How many pairs; 1,000 by default, all of them with `--target-recall`
        #[arg(long, value_name = "N", value_parser = at_least_one)]
        pairs: Option<usize>,
        /// None below this similarity
        #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = number)]
        at_least: Option<f64>,
        /// What may be asked of the oracle
        #[command(flatten)]
        scoring: ScoringArgs,
        /// Which factors, and where the answer goes
        #[command(flatten)]
        own: OwnArgs,
    },
    /// Group near-duplicates: items that pairs of at least a similarity connect
    Dedupe {
        /// Pairs from this similarity on connect their items
        #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = number)]
        at_least: f64,
        /// What may be asked of the oracle
        #[command(flatten)]
        scoring: ScoringArgs,
        /// Which factors, and where the answer goes
        #[command(flatten)]
        own: OwnArgs,
    },
    /// Cluster the items by k-means on their factors, or around pivots by the oracle itself
    Cluster {
        /// How many clusters
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one, conflicts_with = "pivots")]
        clusters: usize,
        /// Correlation clustering instead: a pivot takes every item still free that is at least `--at-least` similar to it
        #[arg(long, requires = "at_least")]
        pivots: bool,
        /// Similarity from which on items belong together
        #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = number, requires = "pivots")]
        at_least: Option<f64>,
        /// Evaluations that pivots may buy; those of landmarks are there
        #[arg(long, value_name = "ENTRIES", requires = "pivots")]
        budget: Option<u64>,
        /// Which factors, and where the answer goes
        #[command(flatten)]
        own: OwnArgs,
    },
    /// Label all items from the labels of some, by linear machines on their factors
    Classify {
        /// A file with an id and a label a row
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        labels: PathBuf,
        /// Its column of ids
        #[arg(long, value_name = "COLUMN", default_value = "id")]
        id: String,
        /// Its column of labels
        #[arg(long, value_name = "COLUMN", default_value = "label")]
        label: String,
        /// Its column that says which rows are `train` and which `test`: it learns from the first alone and reports the accuracy on the
        /// second
        #[arg(long, value_name = "COLUMN")]
        split: Option<String>,
        /// Which factors, and where the answer goes
        #[command(flatten)]
        own: OwnArgs,
    },
    /// Show which corpora are there, and how to get the others
    Data {
        /// Only this dataset, in full
        name: Option<String>,
        /// Folder of the corpora; the variable LANDMARK_DATA by default
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        data: Option<PathBuf>,
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

/// How the recall of neighbours is known.
#[derive(Debug, Clone, Args)]
pub struct RecallArgs {
    /// Probability with which the recall may be lower
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = number)]
    pub delta: f64,
    /// Lower bound: `default` (checked by simulation), `strict` (a theorem; takes more calls)
    #[arg(long, value_enum, default_value_t = StatedBound::Default, requires = "target_recall")]
    pub bound: StatedBound,
    /// Uniform items whose whole rows are evaluated to judge the lists; 30 by default, 45 for K below 5
    #[arg(long, value_name = "N", requires = "target_recall", value_parser = at_least_one)]
    pub audit: Option<usize>,
    /// Take candidates from the factors and judge them by held-out landmark columns, instead of searching in rounds
    #[arg(long, requires = "target_recall", conflicts_with_all = ["audit", "calls_per_item"])]
    pub from_factors: bool,
}

/// Kind of lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatedBound {
    /// Clopper-Pearson with a design effect.
    Default,
    /// A theorem: betting, Kullback-Leibler for K = 1.
    Strict,
}

/// What pairs may cost, and what is to be known of their recall.
#[derive(Debug, Clone, Copy, Args)]
pub struct ScoringArgs {
    /// Score the N nearest of each item by the oracle itself; pairs with a landmark are known
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "target_recall")]
    pub rescore: Option<usize>,
    /// Score as many pairs as it takes to find this share of all that reach `--at-least`
    #[arg(long, value_name = "SHARE", requires = "at_least", value_parser = number)]
    pub target_recall: Option<f64>,
    /// Probability with which that may fail
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, requires = "target_recall", value_parser = number)]
    pub delta: f64,
    /// Evaluations that may be bought
    #[arg(long, value_name = "ENTRIES")]
    pub budget: Option<u64>,
    /// Tell how many pairs would be scored, and score none
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Which configuration is planned, and where things lie.
#[derive(Debug, Clone, Args)]
pub struct ScaleArgs {
    /// Configuration of a sweep over a matrix, or of a `text_sketch`
    #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
    pub config: PathBuf,
    /// What is laid over the file.
    #[command(flatten)]
    pub overlay: OverlayArgs,
    /// Where things lie.
    #[command(flatten)]
    pub places: PlaceArgs,
}

/// Which factors a command reads, and where its answer goes.
#[derive(Debug, Clone, Args)]
pub struct OwnArgs {
    /// Configuration with `experiment: own_data` (`search` for an index), run before
    #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
    pub config: PathBuf,
    /// File for the answer: `.tsv`, `.csv` or `.parquet`; beside the results by default
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// What is laid over the file.
    #[command(flatten)]
    pub overlay: OverlayArgs,
    /// Where things lie.
    #[command(flatten)]
    pub places: PlaceArgs,
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
    /// Remove files that can't be used and merge small ones; safe while others read and buy
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

/// Executor of the workers, as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExecutorName {
    /// This machine: start `runner worker` as often as you like.
    Local,
    /// A job array of Slurm.
    Slurm,
    /// A job of HyperQueue.
    #[value(name = "hyperqueue")]
    HyperQueue,
}

impl From<ExecutorName> for Executor {
    fn from(name: ExecutorName) -> Self {
        match name {
            ExecutorName::Local => Self::Local,
            ExecutorName::Slurm => Self::Slurm,
            ExecutorName::HyperQueue => Self::HyperQueue,
        }
    }
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
