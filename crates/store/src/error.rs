//! Errors of a store, each with the file and the next step.

use std::io;

use landmark_core::oracle::OracleError;

/// Why a store, or one of its files, could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The address is neither a folder nor a URL that this build can reach.
    #[error("`{address}` is not a store: {reason}")]
    Address {
        /// Address that was given as the store.
        address: String,
        /// Fault of it, and what would be right.
        reason: String,
    },
    /// A tile is cut short, or its bytes do not add up to its checksum.
    #[error(
        "tile `{file}` is torn or edited: {reason}. `landmark store gc STORE` removes it; its entries are then evaluated again"
    )]
    Torn {
        /// The tile.
        file: String,
        /// Fault of the tile.
        reason: String,
    },
    /// The tile is whole, but its name is not that of its content.
    #[error(
        "tile `{file}` was renamed or replaced: its content is that of `{content}`. `landmark store gc STORE` removes it; its entries are then evaluated again"
    )]
    Renamed {
        /// The tile.
        file: String,
        /// The name its content calls for.
        content: String,
    },
    /// The tile was evaluated from another oracle.
    #[error(
        "tile `{file}` belongs to another oracle: the identity is {seen}, but here it must be {wanted}. Move it back, or let `landmark store gc STORE` remove it"
    )]
    Foreign {
        /// The tile.
        file: String,
        /// Identity in the file.
        seen: String,
        /// Identity of this oracle.
        wanted: String,
    },
    /// The tile, or the log of calls, is whole and bears the identity of the oracle, but was evaluated among another number of items.
    #[error(
        "`{file}` bears the identity of this oracle, but its scores are among {seen} items, not {wanted}. What was paid for is not removed unasked: \
         use another `--store`, or remove the file"
    )]
    ItemCount {
        /// The tile, or the log.
        file: String,
        /// Its number of items.
        seen: u64,
        /// Number of items of this oracle.
        wanted: usize,
    },
    /// The head of a log of calls cannot be read.
    #[error(
        "the log of calls `{file}` cannot be used: {reason}. `landmark store gc STORE` removes it; what it held is then evaluated again"
    )]
    Log {
        /// The log.
        file: String,
        /// Its fault.
        reason: String,
    },
    /// The tile, or the log of calls, has a layout that this version cannot read.
    #[error(
        "`{file}` has format version {seen}, but this build reads version {wanted}; update the program or use another `--store`"
    )]
    Version {
        /// The file.
        file: String,
        /// Its version.
        seen: u32,
        /// Ours.
        wanted: u32,
    },
    /// `oracle.json` is no description of an oracle.
    #[error(
        "`{file}` cannot be read as the description of an oracle: {reason}. Remove it; the next run writes it again"
    )]
    Manifest {
        /// The file.
        file: String,
        /// Fault of the description.
        reason: String,
    },
    /// `oracle.json` describes another oracle than that of its folder.
    #[error(
        "`{file}` describes another oracle: {what} is {seen}, but here it must be {wanted}. Remove it; the next run writes it again, and the scores beside it stay"
    )]
    ForeignManifest {
        /// The file.
        file: String,
        /// Name of the field that differs.
        what: &'static str,
        /// Its value in the file.
        seen: String,
        /// Its value for this oracle.
        wanted: String,
    },
    /// The store cannot be written to.
    #[error(
        "the store cannot write `{file}`: it is read-only. Use another folder with `--store`, or change its permissions"
    )]
    ReadOnly {
        /// File that was to be written.
        file: String,
        /// The cause.
        #[source]
        source: StorageCause,
    },
    /// No room is left.
    #[error(
        "the store cannot write `{file}`: no space is left. What was published before is safe; free some space (`landmark store gc STORE` merges small tiles) or use another `--store`"
    )]
    Full {
        /// File that was to be written.
        file: String,
        /// The cause.
        #[source]
        source: StorageCause,
    },
    /// A published file is gone.
    #[error(
        "the store `{address}` has vanished: `{file}` was there and is not any more. Mount or restore it and run again; what it holds is not evaluated again"
    )]
    Vanished {
        /// The store.
        address: String,
        /// File that is missing.
        file: String,
    },
    /// A pair that failed before, and has no stand-in.
    #[error(
        "{error}. `{address}` keeps that it failed, and it is not asked again: `landmark store gc --failures` lets a run retry it, \
         `oracle.failed_pairs: {{ score: 0 }}` gives such pairs a score"
    )]
    FailedBefore {
        /// The store.
        address: String,
        /// The scorer's complaint.
        error: String,
    },
    /// More items than a tile can number.
    #[error("{len} items are too many for a tile store: its row and column ids have 32 bits")]
    TooManyItems {
        /// Number of items.
        len: usize,
    },
    /// It was closed, and takes nothing in any more.
    #[error(
        "cannot {action}: the store was closed (expected one that is open). Attach the oracle to its store once more"
    )]
    Closed {
        /// Action that was asked for.
        action: &'static str,
    },
    /// A forked process whose parent was using the store on another thread at that moment.
    #[error(
        "cannot use `{address}` in this forked process: another thread of its parent was using it at the time of the fork (expected none). Fork before \
         or after a fit or search, or start processes with `spawn`"
    )]
    Forked {
        /// Address of the store.
        address: String,
    },
    /// Any other failure of the storage.
    #[error(
        "the store failed to {action} `{file}`; check that it is reachable and run again, what was published is kept"
    )]
    Storage {
        /// `read`, `write`, `list` or `remove`.
        action: &'static str,
        /// The object.
        file: String,
        /// The cause.
        #[source]
        source: StorageCause,
    },
    /// The operating system refused threads or scratch space.
    #[error("the store cannot {action}")]
    System {
        /// Action that was attempted.
        action: &'static str,
        /// The cause.
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
        // of a folder, what is above the operating system's own words repeats the file and these words; of a bucket it tells the address
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
