//! What the command line says beyond the configuration.

use std::path::PathBuf;

use crate::cli::{LogArgs, PlaceArgs};
use crate::config::Config;

/// How a configuration is run: what the command line says beyond the file.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Folder of the corpora.
    pub data: Option<PathBuf>,
    /// Folder or URL that keeps bought entries.
    pub store: String,
    /// Folder in which the configuration's own folder of results lies.
    pub results: PathBuf,
    /// Compute every cell again.
    pub force: bool,
    /// Go on when a cell fails.
    pub keep_going: bool,
    /// Print no progress.
    pub quiet: bool,
    /// Threads to compute with; all cores where absent.
    pub threads: Option<usize>,
}

impl RunOptions {
    /// The command line wins over the file, the file over the defaults.
    pub fn new(config: &Config, places: &PlaceArgs, log: LogArgs) -> Self {
        let results = places.results.clone().or_else(|| config.results.clone());
        let store = places.store.clone().or_else(|| config.store.clone());
        Self {
            data: places.data(),
            store: store.unwrap_or_else(|| ".landmark/store".to_owned()),
            results: results.unwrap_or_else(|| PathBuf::from("results")),
            force: false,
            keep_going: false,
            quiet: log.quiet,
            threads: config.threads,
        }
    }
}
