//! Arguments of the commands on one's own matrix.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::{OverlayArgs, PlaceArgs, at_least_one, number};

/// The configuration of `search`.
const INDEX: &str = "Configuration with `experiment: search`, run before: that makes the index";
/// The configuration of `topk`, of which some ways need no run.
const FACTORS_OR_CALLS: &str = "Configuration with `experiment: own_data`; run before, but for `--calls-per-item`, `--exact` and \
    `--target-recall` without `--from-factors`, which need no factors";

/// What one's own matrix is good for.
#[derive(Debug, Subcommand)]
pub enum OwnCommand {
    /// Write a configuration for a file of yours, say what it costs, and how to go on
    Init {
        /// TXT, TSV, CSV, JSONL, Parquet, NPY or NPZ, or a folder of texts
        #[arg(value_hint = ValueHint::AnyPath)]
        file: PathBuf,
        /// Score of two texts; asked for in a terminal
        #[arg(long, value_enum)]
        score: Option<ScoreName>,
        /// Configuration to write; `NAME.yaml` here by default
        #[arg(short, long, value_name = "FILE.yaml", value_hint = ValueHint::FilePath)]
        out: Option<PathBuf>,
        /// Column of the ids; found out by default
        #[arg(long, value_name = "COLUMN")]
        id: Option<String>,
        /// Column of the texts; found out by default
        #[arg(long, value_name = "COLUMN")]
        text: Option<String>,
        /// Column of the labels; found out by default
        #[arg(long, value_name = "COLUMN")]
        label: Option<String>,
        /// The program and its arguments, quoted as in a shell, for `--score program`; one to start from is written by default
        #[arg(long, value_name = "COMMAND")]
        command: Option<String>,
        /// Folder of a cross-encoder, or what an endpoint calls its model
        #[arg(long)]
        model: Option<String>,
        /// Address of an endpoint
        #[arg(long)]
        url: Option<String>,
        /// NAME of the environment variable that holds the key of an endpoint
        #[arg(long, value_name = "VARIABLE")]
        key: Option<String>,
        /// Columns to evaluate; by the number of items by default
        #[arg(long, value_name = "N", value_parser = at_least_one)]
        landmarks: Option<usize>,
        /// Replace a configuration that is there
        #[arg(long)]
        force: bool,
        /// Where things lie.
        #[command(flatten)]
        places: PlaceArgs,
    },
    /// List the approximated scores of the pairs of a file, and how well they agree with a column of it
    Pairs {
        /// Configuration with `experiment: own_data`, run before
        #[arg(value_name = "CONFIG.yaml", value_hint = ValueHint::FilePath)]
        config: PathBuf,
        /// The pairs: ids or texts of two items a row
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Column of the first item
        #[arg(long, value_name = "COLUMN", default_value = "first")]
        first: String,
        /// Column of the second
        #[arg(long, value_name = "COLUMN", default_value = "second")]
        second: String,
        /// Column of numbers to agree with; `score` by default, where it is there
        #[arg(long, value_name = "COLUMN")]
        against: Option<String>,
        /// Score the pairs by the oracle itself, too
        #[arg(long)]
        rescore: bool,
        /// Evaluations that `--rescore` may buy
        #[arg(long, value_name = "ENTRIES")]
        budget: Option<u64>,
        /// File for the answer: `.tsv`, `.csv` or `.parquet`; beside the results by default
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        out: Option<PathBuf>,
        /// What is laid over the file.
        #[command(flatten)]
        overlay: OverlayArgs,
        /// Where things lie.
        #[command(flatten)]
        places: PlaceArgs,
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
    #[command(mut_arg("config", |config| config.help(INDEX)))]
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
    /// calls
    #[command(mut_arg("config", |config| config.help(FACTORS_OR_CALLS)))]
    Topk {
        /// Neighbours of each item
        #[arg(short, long, default_value_t = 10, value_parser = at_least_one)]
        k: usize,
        /// Score so many of the best by the oracle itself, at least K, and rank them anew
        #[arg(long, value_name = "N", value_parser = at_least_one)]
        rescore: Option<usize>,
        /// Walk a graph of the items (HNSW) in place of all pairs of factors: for millions of items. How many of the exact lists' items it
        /// finds is measured and said
        #[arg(long, conflicts_with_all = ["calls_per_item", "target_recall", "exact", "dry_run"])]
        approximate: bool,
        /// Candidates that a search of `--approximate` keeps; more find more, and take longer
        #[arg(long, value_name = "EF", default_value_t = 100, value_parser = at_least_one, requires = "approximate")]
        ef: usize,
        /// Evaluations that `--rescore`, `--calls-per-item`, `--exact` or `--target-recall` may buy
        #[arg(long, value_name = "ENTRIES")]
        budget: Option<u64>,
        /// Evaluate until the lists hold this share of the true K nearest, as uniform audited items say
        #[arg(long, value_name = "SHARE", conflicts_with = "rescore", value_parser = number)]
        target_recall: Option<f64>,
        /// How that is known
        #[command(flatten)]
        recall: RecallArgs,
        /// Make this many calls per item to find its neighbors: proxies of the method and rounds of the pairs that look best
        ///
        /// If the configuration was run, its factors and their columns are known from the start, and these calls come on top of them. Without
        /// factors, some calls evaluate columns. With `--target-recall`, the calls include those of the audited rows; without this option, a search
        /// with a stated recall gives up at 100 calls per item beyond the audit
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
    /// List the most similar pairs of all: from factors, by a search at a number of calls, or with a stated recall
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
        /// A file with an id and a label a row; a row without a label is to be labelled
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        labels: PathBuf,
        /// Its column of ids; that of the configuration's items by default
        #[arg(long, value_name = "COLUMN")]
        id: Option<String>,
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
    /// Write the vectors of the items as float32 for other programs: FAISS, usearch, anything that reads Arrow, sentence-transformers
    Export {
        /// Form
        #[arg(long, value_enum, default_value = "npy")]
        to: ExportForm,
        /// Which factors, and the folder of the answer (`export` beside the results by default)
        #[command(flatten)]
        own: OwnArgs,
    },
}

/// A form that others read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// `items.npy`, and `queries.npy` to ask with where the matrix is indefinite: an index by inner product
    Npy,
    /// `items.arrow` (IPC file): id, text, vector
    Arrow,
    /// A folder that `SentenceTransformer(…)` loads: it gives the texts of the items their vectors
    SentenceTransformers,
    /// `items.csv`: id, text, vector; cells that begin with `=`, `+`, `-` or `@` get an apostrophe, so that none is a formula
    Spreadsheet,
}

/// Kind of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScoreName {
    /// A program of yours, in any language.
    Program,
    /// A model that reads both texts at once.
    CrossEncoder,
    /// Word mover's distance; needs nothing.
    Wmd,
    /// A reranker behind an endpoint.
    Rerank,
    /// A chat model as judge.
    Chat,
    /// The file is a matrix of scores.
    Matrix,
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
    /// Audit this many uniform items, whose whole rows are evaluated; by default twice the least that can show the recall, and at least 24
    #[arg(long, value_name = "N", requires = "target_recall", value_parser = at_least_one)]
    pub audit: Option<usize>,
    /// Take candidates from the factors and judge them by held-out landmark columns, instead of searching in rounds
    #[arg(long, requires = "target_recall", conflicts_with_all = ["audit", "calls_per_item"])]
    pub from_factors: bool,
}

/// Kind of lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatedBound {
    /// Spacings (Gaffke), Clopper-Pearson for K = 1
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
    /// Score pairs until this share of all that reach `--at-least` is found, as an audit of a random sample says
    #[arg(long, value_name = "SHARE", requires = "at_least", value_parser = number)]
    pub target_recall: Option<f64>,
    /// Probability with which that may fail
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, requires = "target_recall", value_parser = number)]
    pub delta: f64,
    /// Make at most this many calls; alone, they search for pairs where each item's neighbors are likely
    #[arg(long, value_name = "CALLS")]
    pub budget: Option<u64>,
    /// Tell how many pairs would be scored, and score none
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

/// Which factors a command reads, and where its answer goes.
#[derive(Debug, Clone, Args)]
pub struct OwnArgs {
    /// Configuration with `experiment: own_data`, run before
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
