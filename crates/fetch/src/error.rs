//! Errors of fetching: what was wanted, each place that was tried with its reason, and the next step.

use std::path::{Path, PathBuf};

use landmark_data::DataError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(
        "`{file}` of the dataset `{dataset}` can't be made from public sources: {how_to_get}. Where a mirror has it as \
         `data/{file}`, name that mirror by the variable `LANDMARK_MIRROR`"
    )]
    NoSource { dataset: String, file: String, how_to_get: String },
    #[error("`{what}` can't be fetched: {}", tried.join("; "))]
    Nowhere { what: String, tried: Vec<String> },
    #[error(
        "`{file}` was made from the right sources and has the sha256 {seen}, wanted is {wanted}; please report this"
    )]
    WrongResult { file: String, seen: String, wanted: String },
    #[error(
        "`{file}` has the sha256 {seen}, and had {recorded} when it was first fetched: its source has changed, or is another's. Remove \
         `{record}` to take it as it is now"
    )]
    Changed { file: String, seen: String, recorded: String, record: PathBuf },
    #[error("`{path}` is there and is not the catalog's (sha256 {seen}); move it away or remove it")]
    InTheWay { path: PathBuf, seen: String },
    #[error(
        "the licenses of {datasets} were not accepted; read them, and pass `--accept-licenses` or set `LANDMARK_ACCEPT_LICENSES=1`"
    )]
    License { datasets: String },
    #[error("cannot write `{path}`; check the folder and the room on the disk")]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot start a client: {what}")]
    Client { what: String },
}

impl FetchError {
    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Write { path: path.to_owned(), source }
    }
}
