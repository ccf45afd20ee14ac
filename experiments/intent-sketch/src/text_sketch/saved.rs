//! A sketch of a stream in a file, with the place where the stream stood: what an interrupted run resumes from.
//!
//! `LMSTREAM`, the length of a JSON object in 8 bytes (little-endian), the object, its blake3, and the sketch as
//! [its own bytes](landmark_features::sketch::FrequentDirections::to_bytes). The file is written next to its place and renamed, so
//! that a crash leaves the old one.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use landmark_core::oracle::Identity;
use landmark_data::DataError;
use landmark_data::text_stream::StreamPlace;
use landmark_features::sketch::{FrequentDirections, SketchError};
use landmark_harness::study::StudyError;
use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 8] = b"LMSTREAM";
const CHECKSUM: usize = 32;

/// A saved sketch that cannot be resumed from.
#[derive(Debug, thiserror::Error)]
#[error("cannot continue from `{path}`; remove it to start the stream again")]
pub(super) struct SavedSketchError {
    path: PathBuf,
    source: SketchError,
}

/// A sketch and where its stream stands.
#[derive(Debug, Clone)]
pub(super) struct SavedStream {
    pub(super) sketch: FrequentDirections,
    /// Place to resume from.
    pub(super) place: StreamPlace,
    /// Number of bytes at the beginning of the stream's file that `fingerprint` was made of.
    pub(super) head_bytes: u64,
    /// Fingerprint of these bytes: whose sketch it is. The caller makes it and checks it.
    pub(super) fingerprint: String,
    /// Of how many pieces, sketched apart, it was merged; 1 for a stream read in one go.
    pub(super) pieces: u64,
}

/// The JSON object.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    place: StreamPlace,
    head_bytes: u64,
    fingerprint: String,
    /// Description of the columns, for people; the sketch's own bytes decide.
    features: String,
    #[serde(default = "one")]
    pieces: u64,
}

/// Number of pieces of a file that was written before there were pieces.
fn one() -> u64 {
    1
}

impl SavedStream {
    /// Writes the file, replacing what was there only when all of it is on disk.
    pub(super) fn save(&self, path: &Path) -> Result<(), DataError> {
        let partial = sibling(path);
        let write = || -> std::io::Result<()> {
            let mut file = File::create(&partial)?;
            file.write_all(&self.to_bytes())?;
            file.sync_all()?;
            std::fs::rename(&partial, path)
        };
        write().map_err(|source| DataError::Write { path: path.to_owned(), source })
    }

    /// The content of the file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let head = Head {
            place: self.place,
            head_bytes: self.head_bytes,
            fingerprint: self.fingerprint.clone(),
            features: self.sketch.features().to_hex(),
            pieces: self.pieces,
        };
        // strings and numbers are always written
        let head = serde_json::to_vec(&head).unwrap_or_default();
        let (length, checksum) = ((head.len() as u64).to_le_bytes(), blake3::hash(&head));
        [&MAGIC[..], &length, &head, checksum.as_bytes(), &self.sketch.to_bytes()].concat()
    }

    /// Reads the file; `features` is what its columns must be.
    pub(super) fn load(path: &Path, features: Identity) -> Result<Self, StudyError> {
        let bytes = std::fs::read(path).map_err(DataError::io(path))?;
        Ok(Self::from_bytes(&bytes, path, features)?)
    }

    /// Reads the content of such a file, from wherever it came; `path` names it in errors.
    pub(super) fn from_bytes(bytes: &[u8], path: &Path, features: Identity) -> Result<Self, SavedSketchError> {
        let wrong = |source: SketchError| SavedSketchError { path: path.to_owned(), source };
        let begins = &bytes[..bytes.len().min(MAGIC.len())];
        if begins != &MAGIC[..begins.len()] {
            let wanted = "the bytes `LMSTREAM` at the beginning".to_owned();
            return Err(wrong(SketchError::Foreign { seen: "a file of another kind".into(), wanted }));
        }
        let truncated = |wanted: u64| wrong(SketchError::Truncated { seen: bytes.len() as u64, wanted });
        let (length, rest) = bytes[MAGIC.len().min(bytes.len())..]
            .split_first_chunk()
            .ok_or_else(|| truncated((MAGIC.len() + 8 + CHECKSUM) as u64))?;
        let length = u64::from_le_bytes(*length);
        let needed = length.saturating_add((MAGIC.len() + 8 + CHECKSUM) as u64);
        let head =
            usize::try_from(length).ok().and_then(|length| rest.get(..length)).ok_or_else(|| truncated(needed))?;
        let rest = &rest[head.len()..];
        let checksum = rest.get(..CHECKSUM).ok_or_else(|| truncated(needed))?;
        if blake3::hash(head).as_bytes() != checksum {
            return Err(wrong(SketchError::Damaged));
        }
        let head: Head = serde_json::from_slice(head).map_err(|_| wrong(SketchError::Damaged))?;
        let sketch = FrequentDirections::from_bytes(&rest[CHECKSUM..]).map_err(wrong)?;
        if sketch.features() != features {
            let (left, right) = (sketch.features().short(), features.short());
            return Err(wrong(SketchError::Merge { what: "columns (another hash or vocabulary)", left, right }));
        }
        let Head { place, head_bytes, fingerprint, pieces, .. } = head;
        Ok(Self { sketch, place, head_bytes, fingerprint, pieces })
    }
}

/// `x.sketch` → `x.sketch.part`.
fn sibling(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}
