//! landmark-store: the entries of similarity matrices that were evaluated, in immutable, checksummed files that several runs and machines may share.
//!
//! ```text
//! <store>/<oracle id>/oracle.json        what the oracle is, for people
//!                     <blake3>.tile      stored entries, immutable, named by content
//!                     <blake3>.failures  pairs that cannot be scored, and why
//!                     calls-<id>.log     what landed since the last tile, in a store that is a folder; read after a kill
//! <store>/lists/<scorer id>/         the items of oracles: what is kept of one list serves another (`carried.rs`)
//! <store>/sketches/<id>/             documents of those who share work that is no score, such as sketches of shares of a stream
//! ```
//!
//! The folder is named by the oracle's identity, a digest of everything that moves a score, so scores of two models never
//! mix. A tile is created whole or not at all and never changed; one that is torn, edited or of another oracle is
//! refused by name and never read. The same files are cache (another method, rank, replicate or run reads what is there),
//! resume (a killed run loses what was in flight, about a second of evaluating where the store is no folder) and distribution (several machines, one store).
//! Two runs that ask for the same pair at the same time may both evaluate it; each keeps what it has, and both scores are equal.
//! Tiles of earlier versions may be called `<part>-<blake3>.tile`; they are tiles like any other.
//!
//! A store is a folder or any URL that `object_store` knows: `file://`, `memory://`, and with the features `s3`, `gcs`, `azure`
//! the clouds, with credentials from the environment.
//!
//! Cost: 8 bytes an entry on disk where columns are whole. In memory a column of which n/32 is there takes 8n bytes, up to
//! [`TileStore::with_memory`] (a third of the machine's unless set otherwise); what exceeds that goes to a scratch file, so a matrix that just fits
//! in memory needs no second copy of its columns. Evaluating adds about 0.1 µs an entry.

use std::sync::Arc;

use landmark_core::oracle::{Identity, Oracle, Symmetry};
use object_store::ObjectStore;
use serde::{Deserialize, Serialize};

mod backend;
mod batch_sizer;
mod call_log;
mod carried;
mod entry_cache;
mod entry_request;
mod error;
mod failures;
#[cfg(fuzzing)]
pub mod fuzzing;
mod maintenance;
mod memory;
mod per_process;
mod pool;
mod stored;
mod tile;

use backend::Backend;
use tile::Entry;

pub use call_log::SyncPolicy;
pub use carried::ItemList;
pub use error::{StorageCause, StoreError};
pub use failures::{OracleFailures, StoredFailure};
pub use maintenance::{Cleaned, Contents, Problem, Verified};
pub use memory::default_memory;
pub use per_process::PerProcess;
pub use pool::ScorePool;
pub use stored::{AfterClose, Stored};

const MANIFEST: &str = "oracle.json";
const MANIFEST_FORMAT: u32 = 1;

/// A place that keeps stored entries of any number of oracles. Cheap to clone.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use landmark_core::oracle::{AsymmetryPolicy, Oracle, Precomputed};
/// use landmark_store::{OracleLabel, TileStore};
/// use ndarray::array;
///
/// let folder = tempfile::tempdir()?;
/// let store = TileStore::open(&folder.path().display().to_string())?;
/// let oracle = Precomputed::new(array![[0.0, 2.0], [2.0, 0.0]], AsymmetryPolicy::Reject)?;
/// let stored = store.attach(oracle.clone(), OracleLabel::new("precomputed", "a 2 × 2 example"))?;
/// let mut scores = [0.0];
/// stored.evaluate(&[(0, 1)], &mut scores)?;
/// stored.flush()?;
///
/// // another run, or another machine, evaluates nothing
/// let again = store.attach(oracle, OracleLabel::new("precomputed", "a 2 × 2 example"))?;
/// again.evaluate(&[(1, 0)], &mut scores)?;
/// assert_eq!((scores[0], again.evaluated()), (2.0, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TileStore {
    backend: Arc<Backend>,
    memory: u64,
    sync: SyncPolicy,
}

/// Description of an oracle, for people who look into a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OracleLabel {
    /// Registry id: `wmd`, `cross_encoder`, …
    pub kind: String,
    /// One line: dataset, model, parameters.
    pub description: String,
}

impl OracleLabel {
    pub fn new(kind: impl Into<String>, description: impl Into<String>) -> Self {
        Self { kind: kind.into(), description: description.into() }
    }
}

/// `oracle.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    identity: String,
    #[serde(flatten)]
    label: OracleLabel,
    items: usize,
    symmetry: Symmetry,
}

impl TileStore {
    /// Reaches a store: a folder, which is created with the first entry, or a URL (`file:///…`, `s3://bucket/prefix`, `gs://…`, `az://…`).
    ///
    /// # Errors
    /// [`StoreError::Address`] where it is a file, no URL, or a kind of URL that this build lacks.
    pub fn open(address: &str) -> Result<Self, StoreError> {
        Self::open_through(address, |storage| storage)
    }

    /// The same through a wrapper of its storage, which may count, delay or refuse requests: what tests of faults hold on to.
    pub fn open_through(
        address: &str,
        wrap: impl FnOnce(Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore>,
    ) -> Result<Self, StoreError> {
        let backend = Arc::new(Backend::open(address, wrap)?);
        Ok(Self { backend, memory: default_memory(), sync: SyncPolicy::default() })
    }

    /// Lets each oracle attached from now on keep at most `bytes` of columns on the heap; further columns go to a scratch
    /// file. 0 is right where the matrix just fits in memory.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Self {
        Self { memory: bytes, ..self }
    }

    /// The moment from which calls of oracles attached from now on are safe from a power cut.
    #[must_use]
    pub fn with_sync(self, sync: SyncPolicy) -> Self {
        Self { sync, ..self }
    }

    pub fn address(&self) -> &str {
        self.backend.address()
    }

    /// Wraps an oracle so that every score of it is looked up here first and kept here after.
    ///
    /// Reads all tiles of this oracle: 8 bytes an entry, as fast as storage and blake3 go.
    ///
    /// # Errors
    /// The first tile that is torn, edited or foreign, by name; a store that cannot be read.
    pub fn attach<O: Oracle>(&self, oracle: O, label: OracleLabel) -> Result<Stored<O>, StoreError> {
        Stored::new(self.clone(), oracle, label)
    }

    /// A document next to the scores, if it is there.
    pub fn document(&self, folder: &str, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.backend.get(&format!("{folder}/{name}"))
    }

    pub fn document_address(&self, folder: &str, name: &str) -> String {
        self.backend.describe(&format!("{folder}/{name}"))
    }

    /// Writes a document as a whole, in place of one that is there.
    pub fn write_document(&self, folder: &str, name: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.backend.replace(&format!("{folder}/{name}"), bytes)
    }

    /// Names of the documents in a folder.
    pub fn documents(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.backend.list(folder)?.objects.into_iter().map(|object| object.name).collect())
    }

    /// Publishes entries of an oracle over `items` items as one tile; returns its name.
    fn write_tile(&self, identity: &[u8; 32], items: usize, entries: &[Entry]) -> Result<String, StoreError> {
        let (name, bytes) = tile::encode(identity, items, entries.to_vec());
        let folder = blake3::Hash::from_bytes(*identity).to_hex();
        self.backend.create_content(&format!("{folder}/{name}"), bytes)?;
        Ok(name)
    }

    /// Reads an oracle's description, if it is there.
    fn manifest(&self, id: &str) -> Result<Option<Manifest>, StoreError> {
        let name = format!("{id}/{MANIFEST}");
        let Some(bytes) = self.backend.get(&name)? else { return Ok(None) };
        let unreadable = |reason: String| StoreError::Manifest { file: self.backend.describe(&name), reason };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        if manifest.format != MANIFEST_FORMAT {
            return Err(unreadable(format!("format {} is not {MANIFEST_FORMAT}", manifest.format)));
        }
        if manifest.identity != id {
            return Err(StoreError::ForeignManifest {
                file: self.backend.describe(&name),
                what: "the identity",
                seen: manifest.identity,
                wanted: id.to_owned(),
            });
        }
        Ok(Some(manifest))
    }
}

impl Manifest {
    fn new(kept_as: Identity, label: OracleLabel, items: usize, symmetry: Symmetry) -> Self {
        Self { format: MANIFEST_FORMAT, identity: kept_as.to_hex(), label, items, symmetry }
    }

    fn text(&self) -> Result<Vec<u8>, StoreError> {
        serde_json::to_vec_pretty(self)
            .map_err(|error| StoreError::System { action: "describe the oracle", source: error.into() })
    }
}

fn identity_of(folder: &str) -> Option<[u8; 32]> {
    blake3::Hash::from_hex(folder).ok().map(|hash| *hash.as_bytes())
}
