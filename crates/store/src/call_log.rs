//! Log of calls: scores that are in no tile yet, appended to a file as they land, so that a killed process loses what was in flight and no more.
//!
//! ```text
//! offset    bytes  content
//!      0        8  "LMCALLS\n"
//!      8        4  version, 1
//!     12       32  identity of the oracle
//!     44        8  n, number of items
//!     52       16  blake3 of everything before, its first 16 bytes
//!      …           a record a batch: entries e (u64), e × (row u32, column u32, value f64), blake3 of these, its first 16 bytes
//! ```
//!
//! All numbers are little endian. A log is one process's own, which holds a lock on it while it lives; it is removed once its entries stand in a tile.
//! One that nobody holds was left by a process that was killed: whoever opens the store next publishes its entries and
//! removes it. One that is held is read and left alone. A record that is cut short or does not fit its checksum ends the log; what stands
//! before it counts. Where files cannot be locked there is no log. Cost: 16 bytes an entry, one write a batch.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::tile::{Entry, digest, f64_of, has_extension, u32_at, u64_at};

pub(super) const PREFIX: &str = "calls-";
const EXTENSION: &str = "log";
const MAGIC: [u8; 8] = *b"LMCALLS\n";
const VERSION: u32 = 1;
const CHECKSUM: usize = 16;
const HEADER: usize = 52 + CHECKSUM;
const ENTRY: usize = 16;

/// Moment from which a call is safe from a power cut. From a kill of the process it is safe as soon as its batch has landed, whichever is chosen,
/// where the store is a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncPolicy {
    /// When its batch has landed: one wait for the disk a batch. A store that is no folder gets a tile a batch. Right where calls cost money.
    Batch,
    /// When its tile is published, about a second later.
    #[default]
    Second,
}

/// Identity and number of items that a log belongs to.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) identity: &'a [u8; 32],
    pub(super) len: usize,
}

/// Log of this process, created with its first record.
pub(super) struct CallLog {
    /// Folder of the oracle, `None` where the store is no folder or files cannot be locked.
    folder: Option<PathBuf>,
    sync: SyncPolicy,
    open: Option<Open>,
}

struct Open {
    name: String,
    path: PathBuf,
    file: File,
    len: u64,
}

pub(super) struct Logged {
    pub(super) entries: Vec<Entry>,
    pub(super) rest: u64,
    abandoned: Option<(File, PathBuf)>,
}

impl CallLog {
    pub(super) fn new(folder: Option<PathBuf>, sync: SyncPolicy) -> Self {
        Self { folder, sync, open: None }
    }

    pub(super) fn is_possible(&self) -> bool {
        self.folder.is_some()
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.open.as_ref().map(|open| open.name.as_str())
    }

    /// Appends a batch, unless it is empty: an empty record would end the log. After an error the log is as it was before, and the batch must be
    /// published instead.
    pub(super) fn append(&mut self, subject: Subject<'_>, entries: &[Entry]) -> io::Result<()> {
        let Some(folder) = self.folder.clone().filter(|_| !entries.is_empty()) else { return Ok(()) };
        let sync = self.sync == SyncPolicy::Batch;
        let open = match &mut self.open {
            Some(open) => open,
            None => self.open.insert(Open::create(&folder, subject, sync)?),
        };
        open.append(&record(entries), sync)
    }

    /// No log from now on: files cannot be locked here, or not be written.
    pub(super) fn give_up(&mut self) {
        self.folder = None;
    }

    /// Removes it, for what it holds stands in tiles; a failure leaves a log that will be read to no harm.
    pub(super) fn remove(&mut self) {
        if let Some(open) = self.open.take()
            && let Err(error) = std::fs::remove_file(&open.path)
        {
            tracing::debug!("could not remove `{}`: {error}", open.path.display());
        }
    }
}

impl Open {
    /// A new log, locked before anybody can see it under its name.
    fn create(folder: &Path, subject: Subject<'_>, sync: bool) -> io::Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let mut taken = 0_u32;
        loop {
            let name = format!("{PREFIX}{now:032x}-{:x}-{taken:x}.{EXTENSION}", std::process::id());
            let path = folder.join(&name);
            // a name that a listing of the store leaves out
            let hidden = folder.join(format!("{name}#1"));
            let mut file = match OpenOptions::new().write(true).create_new(true).open(&hidden) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    taken += 1;
                    continue;
                }
                opened => opened?,
            };
            let written = file.try_lock().map_err(io::Error::from).and_then(|()| {
                file.write_all(&header(subject))?;
                std::fs::rename(&hidden, &path)?;
                // the name of a file is kept by its folder, where folders can be opened
                match File::open(folder) {
                    Ok(folder) if sync => folder.sync_all(),
                    _ => Ok(()),
                }
            });
            return match written {
                Ok(()) => Ok(Self { name, path, file, len: HEADER as u64 }),
                Err(error) => {
                    // whatever stands there is not to be taken for a log
                    let _ = std::fs::remove_file(&hidden);
                    Err(error)
                }
            };
        }
    }

    fn append(&mut self, record: &[u8], sync: bool) -> io::Result<()> {
        // where an earlier record failed, the file's own place is beyond the whole ones
        self.file.seek(SeekFrom::Start(self.len))?;
        let written = self.file.write_all(record).and_then(|()| if sync { self.file.sync_data() } else { Ok(()) });
        if let Err(error) = written {
            // what was written of it takes room that a tile may need
            self.file.set_len(self.len)?;
            return Err(error);
        }
        self.len += record.len() as u64;
        Ok(())
    }
}

impl Logged {
    /// True where its process is gone, so that its entries may be published by another.
    pub(super) fn is_abandoned(&self) -> bool {
        self.abandoned.is_some()
    }

    /// Removes a log that was left by a process that is gone; its entries stand in tiles.
    pub(super) fn remove(self) -> Result<(), StoreError> {
        // the lock is given back with the file, after it is gone
        let removed = self.abandoned.map_or(Ok(()), |(_locked, path)| std::fs::remove_file(path));
        removed.map_err(|source| StoreError::System { action: "remove a log of calls", source })
    }
}

pub(super) fn is_log(name: &str) -> bool {
    name.starts_with(PREFIX) && has_extension(name, EXTENSION)
}

/// Reads a log, and takes it over where nobody holds it; `None` where it is gone.
pub(super) fn read(path: &Path, subject: Subject<'_>) -> Result<Option<Logged>, StoreError> {
    let failed = |source| StoreError::System { action: "read a log of calls", source };
    if path.is_symlink() {
        return Err(failed(io::Error::other(format!(
            "`{}` is a link; a store holds files of its own",
            path.display()
        ))));
    }
    // a lock may want a file that is open for writing; in a store that is only read nothing can be taken over
    let (mut file, is_writable) = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => (file, true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) => match File::open(path) {
            Ok(file) => (file, false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        },
    };
    let is_abandoned = is_writable
        && match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => {
                tracing::debug!("`{}` cannot be locked, so it is left where it is: {error}", path.display());
                false
            }
        };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    // its owner may have published and removed it, or another have taken it over
    if !path.exists() {
        return Ok(None);
    }
    let (entries, rest) = decode(subject, &path.display().to_string(), &bytes)?;
    Ok(Some(Logged { entries, rest, abandoned: is_abandoned.then(|| (file, path.to_owned())) }))
}

/// Entries of a log up to the first record that is not whole, and the bytes from there on; a log that ends within its header is empty.
pub(super) fn decode(subject: Subject<'_>, file: &str, bytes: &[u8]) -> Result<(Vec<Entry>, u64), StoreError> {
    let bad = |reason: &str| StoreError::Log { file: file.to_owned(), reason: reason.to_owned() };
    if bytes.len() < HEADER {
        return Ok((Vec::new(), bytes.len() as u64));
    }
    let (head, checksum) = bytes[..HEADER].split_at(HEADER - CHECKSUM);
    if head[..MAGIC.len()] != MAGIC || digest(head) != checksum {
        return Err(bad("the checksum of its head does not fit"));
    }
    let version = u32_at(head, 8);
    if version != VERSION {
        return Err(StoreError::Version { file: file.to_owned(), seen: version, wanted: VERSION });
    }
    if head[12..44] != subject.identity[..] {
        return Err(bad("it belongs to another oracle"));
    }
    let len = u64_at(head, 44);
    if len != subject.len as u64 {
        return Err(StoreError::ItemCount { file: file.to_owned(), seen: len, wanted: subject.len });
    }
    let (mut entries, mut rest) = (Vec::new(), &bytes[HEADER..]);
    while let Some((found, after)) = first_record(rest, subject.len) {
        entries.extend(found);
        rest = after;
    }
    Ok((entries, rest.len() as u64))
}

/// The first record of `bytes` and what comes after it, if it is whole and its items are fewer than `len`.
fn first_record(bytes: &[u8], len: usize) -> Option<(Vec<Entry>, &[u8])> {
    let count = usize::try_from(u64_at(bytes.get(..8)?, 0)).ok()?;
    let end = count.checked_mul(ENTRY)?.checked_add(8)?;
    let (body, rest) = (bytes.get(..end)?, bytes.get(end..)?);
    let (checksum, after) = (rest.get(..CHECKSUM)?, &rest[CHECKSUM..]);
    if count == 0 || digest(body) != checksum {
        return None;
    }
    let entry = |bytes: &[u8]| Entry { row: u32_at(bytes, 0), col: u32_at(bytes, 4), value: f64_of(&bytes[8..]) };
    let entries: Vec<Entry> = body[8..].chunks_exact(ENTRY).map(entry).collect();
    let is_sound = |entry: &Entry| (entry.row.max(entry.col) as usize) < len && entry.value.is_finite();
    entries.iter().all(is_sound).then_some((entries, after))
}

/// A log of these bytes as records, each with the checksum that fits it, and the entries that they announce.
#[cfg(fuzzing)]
pub(super) fn sealed(subject: Subject<'_>, mut bytes: &[u8]) -> (Vec<u8>, usize) {
    let (mut log, mut entries) = (header(subject), 0);
    while let Some((&count, rest)) = bytes.split_first() {
        let count = usize::from(count % 8);
        let (cells, after) = rest.split_at(rest.len().min(count * ENTRY));
        let body = [&(count as u64).to_le_bytes(), cells].concat();
        log.extend(&body);
        log.extend(digest(&body));
        (entries, bytes) = (entries + count, after);
    }
    (log, entries)
}

fn header(subject: Subject<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(subject.identity);
    bytes.extend((subject.len as u64).to_le_bytes());
    let checksum = digest(&bytes);
    bytes.extend(checksum);
    bytes
}

fn record(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + ENTRY * entries.len() + CHECKSUM);
    bytes.extend((entries.len() as u64).to_le_bytes());
    for entry in entries {
        bytes.extend(entry.row.to_le_bytes());
        bytes.extend(entry.col.to_le_bytes());
        bytes.extend(entry.value.to_le_bytes());
    }
    let checksum = digest(&bytes);
    bytes.extend(checksum);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: Subject<'static> = Subject { identity: &[7; 32], len: 50 };

    fn batch(k: u32) -> Vec<Entry> {
        (0..=k).map(|i| Entry { row: i, col: k, value: f64::from(i) - 0.5 }).collect()
    }

    fn three(folder: &Path) -> (CallLog, PathBuf) {
        let mut log = CallLog::new(Some(folder.to_owned()), SyncPolicy::Batch);
        for k in 0..3 {
            log.append(SUBJECT, &batch(k)).unwrap();
        }
        let path = folder.join(log.name().unwrap());
        (log, path)
    }

    fn all() -> Vec<Entry> {
        (0..3).flat_map(batch).collect()
    }

    #[test]
    fn a_log_that_is_held_is_read_and_left_alone_and_one_that_is_not_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let (log, path) = three(folder.path());
        assert!(is_log(log.name().unwrap()) && is_log("calls-part.0f-1-0.log"), "of this version and of earlier ones");
        let held = read(&path, SUBJECT).unwrap().unwrap();
        assert_eq!((&held.entries, held.rest, held.is_abandoned()), (&all(), 0, false));
        held.remove().unwrap();
        assert!(path.exists());
        drop(log); // as a killed process lets go of it
        let left = read(&path, SUBJECT).unwrap().unwrap();
        assert!(left.is_abandoned() && left.entries == all());
        assert!(!read(&path, SUBJECT).unwrap().unwrap().is_abandoned(), "by one at a time");
        left.remove().unwrap();
        assert!(read(&path, SUBJECT).unwrap().is_none());
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
    }

    #[test]
    fn wherever_a_log_is_cut_its_whole_records_count() {
        let folder = tempfile::tempdir().unwrap();
        let (log, path) = three(folder.path());
        drop(log);
        let whole = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..3).map(|k| 24 + ENTRY * batch(k).len()).collect();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let logged = read(&path, SUBJECT).unwrap().unwrap();
            let mut end = HEADER;
            let complete = ends.iter().take_while(|&&record| {
                end += record;
                end <= cut
            });
            let expected: Vec<Entry> = (0..complete.count() as u32).flat_map(batch).collect();
            assert_eq!(logged.entries, expected, "cut at {cut} of {}", whole.len());
        }
    }

    #[test]
    fn a_record_after_one_that_failed_half_way_is_read() {
        for is_cut in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let (mut log, path) = three(folder.path());
            // as a full disk leaves it, where it could be cut and where not
            let open = log.open.as_mut().unwrap();
            open.file.write_all(&record(&batch(9))[..100]).unwrap();
            if is_cut {
                open.file.set_len(open.len).unwrap();
            }
            log.append(SUBJECT, &batch(3)).unwrap();
            log.append(SUBJECT, &batch(4)).unwrap();
            let logged = read(&path, SUBJECT).unwrap().unwrap();
            let expected: Vec<Entry> = (0..5).flat_map(batch).collect();
            assert_eq!((logged.entries, logged.rest), (expected, 0), "cut: {is_cut}");
        }
    }

    #[test]
    fn a_batch_without_scores_does_not_end_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, path) = three(folder.path());
        log.append(SUBJECT, &[]).unwrap();
        log.append(SUBJECT, &batch(3)).unwrap();
        let logged = read(&path, SUBJECT).unwrap().unwrap();
        assert_eq!((logged.entries, logged.rest), ((0..4).flat_map(batch).collect(), 0));
    }

    #[test]
    fn whichever_byte_of_a_log_is_changed_no_wrong_entry_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (log, path) = three(folder.path());
        drop(log);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut edited = whole.clone();
            edited[at] ^= 0x40;
            std::fs::write(&path, &edited).unwrap();
            match read(&path, SUBJECT) {
                Ok(logged) => {
                    let logged = logged.unwrap();
                    assert!(at >= HEADER && all().starts_with(&logged.entries) && logged.rest > 0, "byte {at}");
                }
                Err(error) => {
                    assert!(at < HEADER, "byte {at}: {error}");
                    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
                }
            }
        }
        let other = Subject { len: 51, ..SUBJECT };
        std::fs::write(&path, &whole).unwrap();
        assert!(matches!(read(&path, other).err().unwrap(), StoreError::ItemCount { seen: 50, wanted: 51, .. }));
        let other = Subject { identity: &[8; 32], ..SUBJECT };
        assert!(read(&path, other).err().unwrap().to_string().contains("another oracle"));
    }
}
