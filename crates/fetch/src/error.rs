//! Errors of fetching: what was wanted, each place that was tried with its reason, and the next step.

use std::path::{Path, PathBuf};

use landmark_data::DataError;

/// Why something could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No such dataset, or a raw file that can't be converted.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file that nobody publishes in a form from which it can be made.
    #[error(
        "`{file}` of the dataset `{dataset}` can't be made from public sources: {how_to_get}. Where a mirror has it as \
         `data/{file}`, name that mirror by the variable `LANDMARK_MIRROR`"
    )]
    NoSource {
        dataset: String,
        file: String,
        /// Where its contents come from.
        how_to_get: String,
    },
    /// Every address failed.
    #[error("`{what}` can't be fetched: {}", tried.join("; "))]
    Nowhere {
        /// A raw source, a file or a model.
        what: String,
        /// Each address with its reason.
        tried: Vec<String>,
    },
    /// A conversion that did not give our file though its sources are right.
    #[error(
        "`{file}` was made from the right sources and has the sha256 {seen}, wanted is {wanted}; please report this"
    )]
    WrongResult {
        file: String,
        /// Sha256 of the text.
        seen: String,
        /// That of the recipe.
        wanted: String,
    },
    /// Another file than the first time, of one that no digest is published of.
    #[error(
        "`{file}` has the sha256 {seen}, and had {recorded} when it was first fetched: its source has changed, or is another's. Remove \
         `{record}` to take it as it is now"
    )]
    Changed {
        file: String,
        /// Sha256 of what came.
        seen: String,
        /// That of the first time.
        recorded: String,
        record: PathBuf,
    },
    /// A file of this name that is another: it may be the user's.
    #[error(
        "`{path}` is there and is not the catalog's (sha256 {seen}); move it away, or remove it by `landmark data rm`"
    )]
    InTheWay {
        path: PathBuf,
        /// Its sha256.
        seen: String,
    },
    /// Terms nobody agreed to.
    #[error(
        "the licences of {datasets} were not accepted; read them, and pass `--accept-licenses` or set `LANDMARK_ACCEPT_LICENSES=1`"
    )]
    Licence {
        /// Names in backticks.
        datasets: String,
    },
    /// The folder or the disk refused.
    #[error("cannot write `{path}`; check the folder and the room on the disk")]
    Write {
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The network can't be used at all.
    #[error("cannot start a client: {what}")]
    Client {
        /// Reason.
        what: String,
    },
}

impl FetchError {
    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Write { path: path.to_owned(), source }
    }
}
