//! Arguments of the commands on a user's own items.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::values::{at_least_one, calls, number};
use super::{OverlayArgs, PlaceArgs};

/// The configuration of `search`.
const INDEX: &str = "Configuration with `experiment: search` that was run, which built the index";
/// The configuration of `topk`, some of whose modes need no run.
const FACTORS_OR_CALLS: &str = "Configuration with `experiment: own_data`";
/// Its details.
const RUN_OR_NOT: &str = "Configuration with `experiment: own_data`. The modes `factors`, `rerank` and `index` use the factors of a finished run. \
    The others need no run; if there was one, they start from its scores.";

#[derive(Debug, Subcommand)]
pub enum UserDataCommand {
    /// Write a configuration for a file of yours
    Init {
        /// TXT, TSV, CSV, JSONL, Parquet, NPY or NPZ, or a folder of texts
        #[arg(value_hint = ValueHint::AnyPath, required_unless_present = "example")]
        file: Option<PathBuf>,
        /// Write an example with its data into this folder instead
        #[arg(long, value_enum, value_name = "NAME", conflicts_with = "file")]
        example: Option<ExampleName>,
        /// Score function; asked for in a terminal
        #[arg(long, value_enum)]
        score: Option<ScoreName>,
        /// Configuration to write; `NAME.yaml` by default
        #[arg(short, long, value_name = "FILE.yaml", value_hint = ValueHint::FilePath)]
        out: Option<PathBuf>,
        /// Column of the ids; detected by default
        #[arg(long, value_name = "COLUMN")]
        id: Option<String>,
        /// Column of the texts; detected by default
        #[arg(long, value_name = "COLUMN")]
        text: Option<String>,
        /// Column of the labels; detected by default
        #[arg(long, value_name = "COLUMN")]
        label: Option<String>,
        /// `--score program`: the program and its arguments, quoted as in a shell
        ///
        /// By default a program to start from is written.
        #[arg(long, value_name = "COMMAND")]
        command: Option<String>,
        /// Folder of a cross-encoder, or the model name of an endpoint
        #[arg(long)]
        model: Option<String>,
        /// URL of an endpoint
        #[arg(long)]
        url: Option<String>,
        /// Environment variable that holds the key of an endpoint
        #[arg(long, value_name = "VARIABLE", hide_short_help = true)]
        key: Option<String>,
        /// Number of landmarks; chosen by the number of items by default
        #[arg(long, value_name = "ITEMS", value_parser = at_least_one, hide_short_help = true)]
        landmarks: Option<usize>,
        /// Replace an existing configuration
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// List the nearest neighbors of every item
    ///
    /// With two lists (`dataset: { name: two_lists, ... }`), every item of the left list gets items of the right one. Only the mode `search` does that.
    #[command(mut_arg("config", |config| config.help(FACTORS_OR_CALLS).long_help(RUN_OR_NOT)))]
    Topk(TopkArgs),
    /// List the most similar pairs, or group near-duplicates
    ///
    /// Without `--rerank`, `--budget` or `--target-recall` the pairs are estimates of the factors. With two lists (`dataset: { name: two_lists, ... }`),
    /// `--at-least` and `--budget` list pairs across them, without a run.
    Mine(PairArgs),
    /// State the recall of candidates that another tool made
    ///
    /// Candidates are pairs (`--at-least`) or lists of neighbors (`-k`) of a blocking rule, an index or a join. A uniform sample of all pairs, or
    /// the whole rows of uniform items, are scored. No run is needed. The recall is below the printed bound with probability `--delta` at most.
    #[command(group = clap::ArgGroup::new("truth").required(true).args(["at_least", "k"]))]
    Audit {
        /// Configuration with `experiment: own_data`: items and score
        #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
        config: PathBuf,
        /// Candidates: TSV, CSV, JSONL or Parquet, the ids or texts of two items per row
        ///
        /// A list of neighbors has one row per neighbor, as in the tables of `landmark topk`.
        #[arg(value_name = "CANDIDATES", value_hint = ValueHint::FilePath)]
        candidates: PathBuf,
        /// Audit pairs: the minimum score of a true pair
        #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = number)]
        at_least: Option<f64>,
        /// Audit lists: the number of true neighbors of an item
        #[arg(short, long, value_name = "ITEMS", value_parser = at_least_one)]
        k: Option<usize>,
        /// Column of the first item; `first` or `id` by default
        #[arg(long, value_name = "COLUMN")]
        first: Option<String>,
        /// Column of the second item; `second` or that of `landmark topk` by default
        #[arg(long, value_name = "COLUMN")]
        second: Option<String>,
        /// Maximum number of calls; 4,000 pairs or the rows of 60 items by default
        #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u64).range(1..))]
        calls: Option<u64>,
        /// Probability that the recall is below its bound
        #[arg(long, value_name = "PROBABILITY", default_value_t = 0.1, value_parser = number)]
        delta: f64,
        /// Print the exact number of calls, without making any
        #[arg(short = 'n', long)]
        dry_run: bool,
        #[command(flatten)]
        overlay: OverlayArgs,
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// List the estimated scores of the pairs in a file
    Pairs {
        /// Configuration with `experiment: own_data` that was run
        #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
        config: PathBuf,
        /// Pairs: the ids or texts of two items per row
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Column of the first item; `first` by default
        ///
        /// A table of `landmark topk` is read as it is.
        #[arg(long, value_name = "COLUMN")]
        first: Option<String>,
        /// Column of the second item; `second` by default
        #[arg(long, value_name = "COLUMN")]
        second: Option<String>,
        /// Column of numbers to compare with; `score` by default if it exists
        #[arg(long, value_name = "COLUMN")]
        against: Option<String>,
        /// Evaluate the pairs, too
        #[arg(long, alias = "rescore")]
        evaluate: bool,
        /// Maximum number of new calls
        #[arg(long, value_name = "CALLS", value_parser = calls, allow_negative_numbers = true)]
        budget: Option<u64>,
        /// Output file: .tsv, .csv or .parquet; next to the results by default
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: Option<PathBuf>,
        #[command(flatten)]
        overlay: OverlayArgs,
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// Embed new items with the factors of a run
    ///
    /// Each new item is scored with the landmarks alone.
    Project {
        /// Configuration with `experiment: own_data` that was run
        #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
        config: PathBuf,
        /// New items: a file with the columns of the configuration's dataset
        #[arg(value_name = "ITEMS", value_hint = ValueHint::FilePath)]
        items: PathBuf,
        /// Embeddings of the new items (.npy), for the proxy `embedding_cosine`
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        embeddings: Option<PathBuf>,
        /// Neighbors of each new item
        #[arg(short, long, value_name = "ITEMS", default_value_t = 10, value_parser = at_least_one)]
        k: usize,
        #[command(flatten)]
        overlay: OverlayArgs,
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// List the best items for new queries
    #[command(mut_arg("config", |config| config.help(INDEX)))]
    Search {
        /// Queries: a file with the columns of the past queries
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        queries: PathBuf,
        /// Embeddings of the queries (.npy), for a proxy of embeddings
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        embeddings: Option<PathBuf>,
        /// Calls per query
        #[arg(long, value_name = "CALLS", default_value_t = 20, value_parser = at_least_one)]
        calls_per_query: usize,
        /// Items listed for each query
        #[arg(short, long, value_name = "ITEMS", default_value_t = 10, value_parser = at_least_one)]
        k: usize,
        /// Print the number of calls, without making any
        #[arg(short = 'n', long)]
        dry_run: bool,
        #[command(flatten)]
        run: FinishedRunArgs,
    },
    /// Cluster the items
    ///
    /// By k-means on the factors, or with `--pivots` around pivots by exact scores.
    Cluster {
        /// Number of clusters
        #[arg(long, value_name = "CLUSTERS", default_value_t = 10, value_parser = at_least_one, conflicts_with = "pivots")]
        clusters: usize,
        /// Cluster around pivots, by exact scores
        ///
        /// A pivot takes every item that is still free and at least `--at-least` similar to it (correlation clustering).
        #[arg(long, requires = "at_least")]
        pivots: bool,
        /// Minimum similarity of an item and its pivot
        #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = number, requires = "pivots")]
        at_least: Option<f64>,
        /// Maximum number of new calls
        #[arg(long, value_name = "CALLS", requires = "pivots")]
        budget: Option<u64>,
        #[command(flatten)]
        run: FinishedRunArgs,
    },
    /// Label all items from the labels of some
    ///
    /// Trains linear SVMs on the factors.
    Classify {
        /// File with an id and a label per row; rows without a label get one
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        labels: PathBuf,
        /// Column of the ids; as in the configuration by default
        #[arg(long, value_name = "COLUMN")]
        id: Option<String>,
        /// Column of the labels
        #[arg(long, value_name = "COLUMN", default_value = "label")]
        label: String,
        /// Column with `train` and `test`, to report the accuracy on the second
        #[arg(long, value_name = "COLUMN")]
        split: Option<String>,
        #[command(flatten)]
        run: FinishedRunArgs,
    },
    /// Write the vectors of the items for other programs
    Export {
        /// Format
        #[arg(long, value_enum, default_value = "npy")]
        to: ExportForm,
        #[command(flatten)]
        run: FinishedRunArgs,
    },
}

#[derive(Debug, Clone, Args)]
pub struct TopkArgs {
    /// Neighbors of each item
    #[arg(short, long, value_name = "ITEMS", default_value_t = 10, value_parser = at_least_one)]
    pub k: usize,
    /// Mode, as in the examples below; implied by the next three options
    #[arg(long, value_enum)]
    pub mode: Option<Mode>,
    /// Rerank this many candidates per item with exact scores
    #[arg(long, value_name = "ITEMS", value_parser = at_least_one)]
    pub rerank: Option<usize>,
    /// Search with this many calls per item
    ///
    /// Calls on the columns and pairs of a finished run are not counted again. In the mode `recall` it is the limit, audited items included;
    /// without it the search ends at 100 calls per item beyond the audit.
    #[arg(long, value_name = "CALLS", value_parser = at_least_one)]
    pub calls_per_item: Option<usize>,
    /// Search until the lists contain this share of the true neighbors
    ///
    /// The recall is judged by uniformly drawn items whose whole rows are evaluated. It is lower with probability `--delta` at most.
    #[arg(long, value_name = "RECALL", value_parser = number)]
    pub target_recall: Option<f64>,
    /// With `--target-recall`: probability of a lower recall; 0.1 by default
    #[arg(long, value_name = "PROBABILITY", value_parser = number)]
    pub delta: Option<f64>,
    /// Maximum number of new calls
    #[arg(long, value_name = "CALLS", value_parser = calls, allow_negative_numbers = true)]
    pub budget: Option<u64>,
    /// Print the number of calls, without making any
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Mode `search`: number of rounds; 4 by default
    #[arg(long, value_name = "ROUNDS", value_parser = at_least_one, hide_short_help = true)]
    pub rounds: Option<usize>,
    /// Mode `search`: evaluate these candidates first
    ///
    /// A .npy array of item numbers, one row per item in the order of the items, as FAISS returns it (-1 for none), or a table of pairs with the
    /// columns `first` and `second`.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub candidates: Option<PathBuf>,
    /// Modes `search` and `recall`: share of each round for the best pairs of the proxy; 0.2 by default
    #[arg(long, value_name = "SHARE", value_parser = number, hide_short_help = true)]
    pub proxy_share: Option<f64>,
    /// Mode `recall`: lower confidence bound
    #[arg(long, value_enum, hide_short_help = true)]
    pub bound: Option<StatedBound>,
    /// Mode `recall`: number of audited items
    ///
    /// By default twice the least number that can show the recall, and at least 24.
    #[arg(long, value_name = "ITEMS", value_parser = at_least_one, hide_short_help = true)]
    pub audit: Option<usize>,
    /// Mode `recall`: take candidates from the factors, and judge them by held-out landmark columns
    #[arg(long, conflicts_with_all = ["audit", "calls_per_item"], hide_short_help = true)]
    pub from_factors: bool,
    #[command(flatten)]
    pub run: FinishedRunArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Rank by estimated scores of a finished run, without a call (the default)
    Factors,
    /// Rank the best estimates again by exact scores (`--rerank`)
    Rerank,
    /// As `factors`, by an index of clusters, for millions of items
    Index,
    /// Score the pairs that a search chooses (`--calls-per-item`); the only mode for two lists
    Search,
    /// Search until a recall guarantee holds (`--target-recall`)
    Recall,
    /// Return the true neighbors; requires proxies that bound the score, such as those of word mover's distance
    Exact,
}

#[derive(Debug, Clone, Args)]
pub struct PairArgs {
    /// Number of pairs; 1,000 by default, all with `--at-least`
    #[arg(long, value_name = "PAIRS", value_parser = at_least_one, conflicts_with = "groups")]
    pub pairs: Option<usize>,
    /// Minimum similarity
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true, value_parser = number)]
    pub at_least: Option<f64>,
    /// Group the items that pairs of `--at-least` connect
    ///
    /// The first item of each group is marked to be kept.
    #[arg(long, requires = "at_least")]
    pub groups: bool,
    /// Score this many candidates per item exactly
    #[arg(long, value_name = "ITEMS", value_parser = at_least_one, conflicts_with = "target_recall")]
    pub rerank: Option<usize>,
    /// Score pairs until this share of all pairs of `--at-least` is found
    ///
    /// The recall is judged by a uniform sample of the other pairs. It is lower with probability `--delta` at most. Without `--budget` the
    /// calls have a limit, which `--dry-run` prints.
    #[arg(long, value_name = "RECALL", requires = "at_least", value_parser = number)]
    pub target_recall: Option<f64>,
    /// With `--target-recall`: probability of a lower recall
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.1, requires = "target_recall", value_parser = number)]
    pub delta: f64,
    /// Maximum number of new calls; alone, it starts a search
    ///
    /// The search spends the calls where the neighbors of each item are likely.
    #[arg(long, value_name = "CALLS", value_parser = calls, allow_negative_numbers = true)]
    pub budget: Option<u64>,
    /// Print the number of calls, without making any
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub run: FinishedRunArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// `items.npy`, and `queries.npy` if the matrix is indefinite: for an index by inner product (FAISS, usearch)
    Npy,
    /// `items.parquet`: id, text, vector (float64)
    Parquet,
    /// A folder that `SentenceTransformer(...)` loads, which maps the texts of the items to their vectors
    SentenceTransformers,
    /// `items.csv`: id, text, vector. Cells that begin with `=`, `+`, `-` or `@` get an apostrophe, so that none is a formula
    Spreadsheet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScoreName {
    /// A program of yours, in any language
    Program,
    /// A model that reads both texts at once
    CrossEncoder,
    /// Similarity of spellings, for names and records with typos
    String,
    /// Word mover's distance
    Wmd,
    /// A reranker behind an endpoint
    Rerank,
    /// A chat model as a judge
    Chat,
    /// The file is a matrix of scores
    Matrix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatedBound {
    /// Validated by simulation: spacings (Gaffke), Clopper-Pearson for `-k 1`
    Default,
    /// A theorem, for more calls: betting, Kullback-Leibler for `-k 1`
    Strict,
}

/// The finished run that a command reads, and where its answer goes.
#[derive(Debug, Clone, Args)]
pub struct FinishedRunArgs {
    /// Configuration with `experiment: own_data` that was run
    #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
    pub config: PathBuf,
    /// Output file: .tsv, .csv or .parquet; next to the results by default
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub overlay: OverlayArgs,
    #[command(flatten)]
    pub places: PlaceArgs,
}

/// Examples that the program carries.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ExampleName {
    /// 5,000 records of people: neighbors, factors and duplicates, without a download
    Quickstart,
}
