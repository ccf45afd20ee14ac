//! Errors of a store, each with the file and the next step.

use std::io;

use landmark_core::oracle::OracleError;

/// Why a store, or one of its files, could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    #[error("`{address}` is not a store: {reason}")]
    Address { address: String, reason: String },
    #[error(
        "tile `{file}` is torn or edited: {reason}. `landmark store gc STORE` removes it; its entries are then evaluated again"
    )]
    Torn { file: String, reason: String },
    #[error(
        "tile `{file}` was renamed or replaced: its content is that of `{content}`. `landmark store gc STORE` removes it; its entries are then evaluated again"
    )]
    Renamed { file: String, content: String },
    #[error(
        "tile `{file}` belongs to another oracle: the identity is {seen}, but here it must be {wanted}. Move it back, or let `landmark store gc STORE` remove it"
    )]
    Foreign { file: String, seen: String, wanted: String },
    #[error(
        "`{file}` bears the identity of this oracle, but its scores are among {seen} items, not {wanted}. It is not removed unasked, because its scores took calls: \
         use another `--store`, or remove the file"
    )]
    ItemCount { file: String, seen: u64, wanted: usize },
    #[error(
        "the log of calls `{file}` cannot be used: {reason}. `landmark store gc STORE` removes it; what it held is then evaluated again"
    )]
    Log { file: String, reason: String },
    #[error(
        "`{file}` has format version {seen}, but this build reads version {wanted}; update the program or use another `--store`"
    )]
    Version { file: String, seen: u32, wanted: u32 },
    #[error(
        "`{file}` cannot be read as the description of an oracle: {reason}. Remove it; the next run writes it again"
    )]
    Manifest { file: String, reason: String },
    #[error(
        "`{file}` describes another oracle: {what} is {seen}, but here it must be {wanted}. Remove it; the next run writes it again, and the scores next to it stay"
    )]
    ForeignManifest { file: String, what: &'static str, seen: String, wanted: String },
    #[error(
        "the store cannot write `{file}`: it is read-only. Use another folder with `--store`, or change its permissions"
    )]
    ReadOnly {
        file: String,
        #[source]
        source: StorageCause,
    },
    #[error(
        "the store cannot write `{file}`: no space is left. What was published before is safe; free some space (`landmark store gc STORE` merges small tiles) or use another `--store`"
    )]
    Full {
        file: String,
        #[source]
        source: StorageCause,
    },
    #[error(
        "the store `{address}` has vanished: `{file}` was there and is not any more. Mount or restore it and run again; what it holds is not evaluated again"
    )]
    Vanished { address: String, file: String },
    #[error(
        "{error}. `{address}` keeps that it failed, and it is not asked again: `landmark store gc --failures` lets a run retry it, \
         `oracle.failed_pairs: {{ score: 0 }}` gives such pairs a score"
    )]
    FailedBefore { address: String, error: String },
    #[error("{len} items are too many for a tile store: its row and column ids have 32 bits")]
    TooManyItems { len: usize },
    #[error(
        "cannot {action}: the store was closed (expected one that is open). Attach the oracle to its store once more"
    )]
    Closed { action: &'static str },
    #[error(
        "cannot use `{address}` in this forked process: another thread of its parent was using it at the time of the fork (expected none). Fork before \
         or after a fit or search, or start processes with `spawn`"
    )]
    Forked { address: String },
    #[error(
        "the store failed to {action} `{file}`; check that it is reachable and run again, what was published is kept"
    )]
    Storage {
        action: &'static str,
        file: String,
        #[source]
        source: StorageCause,
    },
    #[error("the store cannot {action}")]
    System {
        action: &'static str,
        #[source]
        source: io::Error,
    },
}

impl StoreError {
    /// Sorts a failure of the storage by what its user can do about it.
    pub(super) fn storage(action: &'static str, file: String, error: object_store::Error) -> Self {
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let of_system = system_error(&error);
        let kind = of_system.map(io::Error::kind);
        // of a folder, what is above the operating system's own words repeats the file and these words; of a bucket it names the address
        let is_folder = matches!(error, object_store::Error::Generic { store: FOLDER, .. });
        let source: StorageCause = match of_system.and_then(io::Error::raw_os_error) {
            Some(code) if is_folder => Box::new(io::Error::from_raw_os_error(code)),
            _ => Box::new(error),
        };
        match kind {
            Some(StorageFull | QuotaExceeded) => Self::Full { file, source },
            Some(PermissionDenied | ReadOnlyFilesystem) if action != "read" => Self::ReadOnly { file, source },
            _ => Self::Storage { action, file, source },
        }
    }
}

/// Error of a storage: of a folder the operating system's own.
pub type StorageCause = Box<dyn std::error::Error + Send + Sync>;

/// Name of folders of this machine among the storages.
const FOLDER: &str = "LocalFileSystem";

/// The operating system's own error at the bottom of the chain.
fn system_error(error: &object_store::Error) -> Option<&io::Error> {
    let first: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(first), |cause| cause.source()).filter_map(|cause| cause.downcast_ref()).last()
}

impl From<StoreError> for OracleError {
    fn from(error: StoreError) -> Self {
        Self::Failed { what: "its tile store".to_owned(), source: Box::new(error) }
    }
}
