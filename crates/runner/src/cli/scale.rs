//! Arguments of `runner plan | worker | status | merge`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};
use landmark_harness::scale::executor::Executor;

use super::{OverlayArgs, PlaceArgs};

/// One configuration on many machines.
#[derive(Debug, Subcommand)]
pub enum ScaleCommand {
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
        /// Do what a run with `--workers` hands out while it goes, instead of a plan: rounds of `topk`, pairs of `mine` and `dedupe`, scattered entries
        /// of `merge`; until that run is over
        #[arg(long, conflicts_with_all = ["tiles", "share"])]
        follow: bool,
        /// Seconds without anything to do after which `--follow` ends
        #[arg(long, value_name = "SECONDS", default_value_t = 3600, requires = "follow")]
        patience: u64,
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
        /// Hand out what is left, entries that are scattered by what the columns hold, to `runner worker --follow`
        #[arg(long)]
        workers: bool,
        /// Which configuration
        #[command(flatten)]
        scale: ScaleArgs,
    },
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
