//! Errors of results.

use std::path::PathBuf;

use super::files::FileError;

/// Error of results that are kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another run holds the lock.
    #[error("another run is writing to `{}`; wait for it to end, or give this configuration another `name`", .0.display())]
    Busy(PathBuf),
    /// A line that is not the last does not parse.
    #[error("`{}` line {line} is damaged ({source}); delete that line to compute its cell again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// Message of the parser.
        source: serde_json::Error,
    },
    /// A figure that is NaN or ∞.
    #[error("`{metric}` of `{method}` on `{dataset}` at {axes}, replicate {replicate}, is {value}, but must be finite")]
    NotFinite {
        /// Metric id.
        metric: String,
        /// Method name.
        method: String,
        /// Dataset id.
        dataset: String,
        /// Its places along the axes, in words.
        axes: String,
        replicate: u64,
        value: f64,
    },
    /// A result was asked for that no run has finished.
    #[error("cannot report `{}`: it has no `run.json` with `results.parquet` of a run. Run the configuration first", folder.display())]
    Unfinished {
        /// The results folder.
        folder: PathBuf,
    },
    /// Rows that cannot be written in this form.
    #[error("could not encode {what}: {source}")]
    Encode {
        /// Thing that was encoded.
        what: &'static str,
        /// Message of the encoder.
        source: serde_json::Error,
    },
    /// The Parquet library refused.
    #[error("could not encode `results.parquet`: {0}")]
    Parquet(String),
}
