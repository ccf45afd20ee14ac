//! Housekeeping: what a store holds, whether it is sound, and putting it in order.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

use landmark_core::oracle::Symmetry;

use super::batch_sizer::LARGEST;
use super::call_log::{self, Logged, Subject, is_log};
use super::tile::{self, EXTENSION, Entry, Expected, HEADER, has_extension};
use super::{MANIFEST, Manifest, StoreError, TileStore, identity_of};

/// A tile below this many entries is merged with its like.
const SMALL: usize = LARGEST / 4;
/// Entries gathered before merged tiles are written: 64 MB.
const GATHERED: usize = 1 << 22;
/// Times that a folder is listed whose tiles go while they are read.
pub(super) const LOOKS: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The oracle's identity in hexadecimal, the name of its folder.
    pub identity: String,
    /// Registry id, empty where `oracle.json` is missing or unreadable.
    pub kind: String,
    pub description: String,
    /// Number of items n, where known.
    pub items: Option<usize>,
    pub tiles: usize,
    /// Entries in them; an entry that two runs evaluated at once counts twice.
    pub entries: u64,
    pub bytes: u64,
}

/// A file that cannot be used.
#[derive(Debug)]
pub struct Problem {
    pub file: String,
    pub error: StoreError,
    pub(super) name: String,
}

/// Findings of a check of every byte of a store.
#[derive(Debug, Default)]
pub struct Verified {
    pub tiles: usize,
    pub entries: u64,
    /// Entries in logs of calls and in no tile: of runs that are evaluating, or were killed.
    pub logged: u64,
    /// Files that cannot be used, by name.
    pub problems: Vec<Problem>,
}

/// Changes that putting a store in order made, or in a dry run would make.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Files removed because they could not be used, or left by a run that was killed while writing.
    pub removed: Vec<String>,
    /// Small tiles that were merged.
    pub merged: usize,
    /// Tiles that took their place.
    pub into: usize,
    /// Entries of runs that were killed, which got a tile.
    pub recovered: u64,
}

/// One oracle's folder as far as it can be understood.
struct Folder {
    id: String,
    identity: Option<[u8; 32]>,
    manifest: Option<Manifest>,
    problem: Option<Problem>,
    tiles: Vec<super::backend::Object>,
    logs: Vec<String>,
}

impl TileStore {
    /// Inventory of the store, by oracle. Reads `oracle.json` and the head of every tile.
    pub fn contents(&self) -> Result<Vec<Contents>, StoreError> {
        self.folders()?.into_iter().map(|folder| self.contents_of(folder)).collect()
    }

    fn contents_of(&self, folder: Folder) -> Result<Contents, StoreError> {
        let mut entries = 0;
        for object in &folder.tiles {
            let head = self.backend.get_head(&format!("{}/{}", folder.id, object.name), HEADER as u64)?;
            entries += head.and_then(|head| tile::announced(&head)).map_or(0, |(_, entries)| entries);
        }
        let (kind, description, items) = match folder.manifest {
            Some(manifest) => (manifest.label.kind, manifest.label.description, Some(manifest.items)),
            None => (String::new(), String::new(), None),
        };
        let bytes = folder.tiles.iter().map(|object| object.bytes).sum();
        Ok(Contents { identity: folder.id, kind, description, items, tiles: folder.tiles.len(), entries, bytes })
    }

    /// Reads every tile and checks its checksum, its name and whose it is.
    ///
    /// # Errors
    /// A store that cannot be read; a bad file is no error but a [`Problem`].
    pub fn verify(&self) -> Result<Verified, StoreError> {
        let mut verified = Verified::default();
        for mut folder in self.folders()? {
            self.check_items(&mut folder)?;
            verified.problems.extend(folder.problem.take());
            verified.problems.extend(self.bad_failures(&folder.id)?);
            let mut logged = HashSet::new();
            for name in &folder.logs {
                match self.read_log(&folder, name)? {
                    Ok(log) => {
                        logged.extend(log.iter().flat_map(|log| &log.entries).map(|entry| (entry.row, entry.col)))
                    }
                    Err(problem) => verified.problems.push(problem),
                }
            }
            for object in &folder.tiles {
                match self.read_tile(&folder, &object.name)? {
                    Ok(Some(entries)) => {
                        verified.tiles += 1;
                        verified.entries += entries.len() as u64;
                        // a log is removed after its tile is there: a kill may come between
                        entries.iter().for_each(|entry| _ = logged.remove(&(entry.row, entry.col)));
                    }
                    Ok(None) => {}
                    Err(problem) => verified.problems.push(problem),
                }
            }
            verified.logged += logged.len() as u64;
        }
        Ok(verified)
    }

    /// Removes files that cannot be used and what killed runs left, and merges small tiles into large ones. Safe while
    /// others read and evaluate: a sound tile is removed only after its entries stand in another. In a dry run nothing changes.
    ///
    /// # Errors
    /// A store that cannot be read or written; what was done so far is sound.
    pub fn clean(&self, dry_run: bool) -> Result<Cleaned, StoreError> {
        let mut cleaned = Cleaned::default();
        for mut folder in self.folders()? {
            self.check_items(&mut folder)?;
            let mut bad: Vec<Problem> =
                folder.problem.take().into_iter().chain(self.bad_failures(&folder.id)?).collect();
            // first, for a tile that was torn on its way may be among what a log gives back
            if self.recover(&folder, dry_run, &mut bad, &mut cleaned)? {
                folder.tiles = self.folder(folder.id.clone())?.tiles;
            }
            let mut small = Vec::new();
            for object in &folder.tiles {
                match self.read_tile(&folder, &object.name)? {
                    Ok(Some(entries)) if entries.len() < SMALL => small.push(object.name.clone()),
                    Ok(_) => {}
                    Err(problem) => bad.push(problem),
                }
            }
            let mut is_cut = false;
            // of another version or number of items: sound, and it took calls
            let stays =
                |problem: &Problem| matches!(problem.error, StoreError::Version { .. } | StoreError::ItemCount { .. });
            for problem in bad.into_iter().filter(|problem| !stays(problem)) {
                if !dry_run {
                    self.backend.remove(&problem.name)?;
                    is_cut = true;
                }
                cleaned.removed.push(problem.file);
            }
            if is_cut {
                // what it had from other lists is to be had from them again
                self.forget_taken(&folder.id)?;
            }
            self.merge(&folder, &small, dry_run, &mut cleaned)?;
            self.merge_failures(&folder.id, dry_run, &mut cleaned)?;
            self.remove_leftovers(&folder, dry_run, &mut cleaned)?;
        }
        Ok(cleaned)
    }

    /// Writes the entries of small tiles again, in few tiles, then removes the small ones.
    fn merge(&self, folder: &Folder, small: &[String], dry_run: bool, cleaned: &mut Cleaned) -> Result<(), StoreError> {
        let (Some(identity), Some(manifest)) = (&folder.identity, &folder.manifest) else { return Ok(()) };
        let symmetric = manifest.symmetry == Symmetry::Symmetric;
        let mut names = small.iter().peekable();
        while names.peek().is_some() {
            let mut group = Vec::new();
            // of two scores of one entry the first stands, as it does on reading
            let mut entries: HashMap<(u32, u32), Entry> = HashMap::new();
            while let Some(name) = names.next_if(|_| entries.len() < GATHERED) {
                if let Ok(Some(read)) = self.read_tile(folder, name)? {
                    for entry in read {
                        let flip = symmetric && entry.row < entry.col;
                        let key = if flip { (entry.col, entry.row) } else { (entry.row, entry.col) };
                        entries.entry(key).or_insert(entry);
                    }
                    group.push(name);
                }
            }
            let mut entries: Vec<Entry> = entries.into_values().collect();
            entries.sort_unstable_by_key(|entry| (entry.col, entry.row));
            let tiles = entries.len().div_ceil(LARGEST);
            if tiles >= group.len() {
                continue;
            }
            let mut written = Vec::new();
            for entries in entries.chunks(LARGEST).filter(|_| !dry_run) {
                written.push(self.write_tile(identity, manifest.items, entries)?);
            }
            for name in group.iter().filter(|name| !dry_run && !written.contains(name)) {
                self.backend.remove(&format!("{}/{name}", folder.id))?;
            }
            cleaned.merged += group.len();
            cleaned.into += tiles;
        }
        Ok(())
    }

    /// Holds the number of items of a description, which has no checksum, against the first sound tile or else the logs, and leaves out a description that they
    /// contradict.
    fn check_items(&self, folder: &mut Folder) -> Result<(), StoreError> {
        if folder.manifest.is_none() {
            return Ok(());
        }
        let tiles =
            folder.tiles.iter().map(|object| Ok(self.read_tile(folder, &object.name)?.map(|read| read.is_some())));
        let logs = folder.logs.iter().map(|name| Ok(self.read_log(folder, name)?.map(|_| false)));
        for is_sound in tiles.chain(logs) {
            match is_sound? {
                Ok(true) => break,
                Err(Problem { error: StoreError::ItemCount { file, seen, wanted }, .. }) => {
                    let name = format!("{}/{MANIFEST}", folder.id);
                    let error = StoreError::ForeignManifest {
                        file: self.backend.describe(&name),
                        what: "the number of items",
                        seen: wanted.to_string(),
                        wanted: format!("{seen}, as in `{file}`"),
                    };
                    folder.problem = Some(Problem { file: self.backend.describe(&name), error, name });
                    folder.manifest = None;
                    break;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Publishes the entries of logs that were left by runs that were killed, and removes these logs; answers whether there were any.
    fn recover(
        &self,
        folder: &Folder,
        dry_run: bool,
        bad: &mut Vec<Problem>,
        cleaned: &mut Cleaned,
    ) -> Result<bool, StoreError> {
        let (Some(identity), Some(manifest)) = (&folder.identity, &folder.manifest) else { return Ok(false) };
        let mut has_published = false;
        for name in &folder.logs {
            let logged = match self.read_log(folder, name)? {
                Ok(Some(logged)) if logged.is_abandoned() => logged,
                Ok(_) => continue,
                Err(problem) => {
                    bad.push(problem);
                    continue;
                }
            };
            cleaned.recovered += logged.entries.len() as u64;
            if dry_run {
                continue;
            }
            for entries in logged.entries.chunks(LARGEST) {
                self.write_tile(identity, manifest.items, entries)?;
            }
            logged.remove()?;
            has_published = true;
        }
        Ok(has_published)
    }

    /// Content of a log, `None` where it is gone, or what is wrong with it.
    fn read_log(&self, folder: &Folder, name: &str) -> Result<Result<Option<Logged>, Problem>, StoreError> {
        let (Some(root), Some(identity), Some(manifest)) = (self.backend.folder(), &folder.identity, &folder.manifest)
        else {
            return Ok(Ok(None));
        };
        let path = format!("{}/{name}", folder.id);
        match call_log::read(&root.join(&path), Subject { identity, len: manifest.items }) {
            Ok(logged) => Ok(Ok(logged)),
            Err(error @ (StoreError::Log { .. } | StoreError::Version { .. } | StoreError::ItemCount { .. })) => {
                Ok(Err(Problem { file: self.backend.describe(&path), error, name: path }))
            }
            Err(error) => Err(error),
        }
    }

    /// Removes half-written files of killed runs (`*.tile#1`, `*.log#1`, only in a folder of this machine).
    fn remove_leftovers(&self, folder: &Folder, dry_run: bool, cleaned: &mut Cleaned) -> Result<(), StoreError> {
        let Some(root) = self.backend.folder() else { return Ok(()) };
        let failed = |source| StoreError::System { action: "look for half-written files", source };
        for found in std::fs::read_dir(root.join(&folder.id)).map_err(failed)? {
            let found = found.map_err(failed)?;
            let name = found.file_name().to_string_lossy().into_owned();
            if !name.contains(".tile#") && !name.contains(".log#") {
                continue;
            }
            // one that is being written may get its name, or be removed, at any moment
            let Some(data) = unless_gone(found.metadata()).map_err(failed)? else { continue };
            let age = data.modified().map_err(failed)?.elapsed().unwrap_or_default().as_secs();
            if age <= 3600 {
                continue;
            }
            let removed = if dry_run { Ok(()) } else { std::fs::remove_file(found.path()) };
            if unless_gone(removed).map_err(failed)?.is_some() {
                cleaned.removed.push(found.path().display().to_string());
            }
        }
        Ok(())
    }

    fn folders(&self) -> Result<Vec<Folder>, StoreError> {
        let names = self.backend.list("")?.folders;
        // anything else in the same place is none of ours
        let ids = names.into_iter().filter(|name| identity_of(name).is_some());
        ids.map(|id| self.folder(id)).collect()
    }

    /// Hands over the scores of an oracle, tile by tile those of tiles that are not `taken` yet, and then are, and those in logs of calls; files that can't be used
    /// are left out.
    pub(super) fn visit_new_entries(
        &self,
        id: &str,
        taken: &mut BTreeSet<String>,
        mut visit: impl FnMut(Vec<Entry>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut folder = self.folder(id.to_owned())?;
        for _ in 0..LOOKS {
            let mut is_gone = false;
            for object in &folder.tiles {
                let name = format!("{id}/{}", object.name);
                if taken.contains(&name) {
                    continue;
                }
                match self.read_tile(&folder, &object.name)? {
                    Ok(Some(entries)) => {
                        visit(entries)?;
                        taken.insert(name);
                    }
                    Ok(None) => is_gone = true,
                    Err(_) => {}
                }
            }
            if !is_gone {
                break;
            }
            // small tiles were merged meanwhile: what is gone is in others now
            folder = self.folder(id.to_owned())?;
        }
        for name in &folder.logs {
            if let Ok(Some(log)) = self.read_log(&folder, name)? {
                visit(log.entries)?;
            }
        }
        Ok(())
    }

    fn folder(&self, id: String) -> Result<Folder, StoreError> {
        let (manifest, problem) = match self.manifest(&id) {
            Ok(manifest) => (manifest, None),
            Err(error @ (StoreError::Manifest { .. } | StoreError::ForeignManifest { .. })) => {
                let name = format!("{id}/{MANIFEST}");
                (None, Some(Problem { file: self.backend.describe(&name), error, name }))
            }
            Err(error) => return Err(error),
        };
        let objects = self.backend.list(&id)?.objects;
        let logs = objects.iter().map(|object| object.name.clone()).filter(|name| is_log(name)).collect();
        let tiles = objects.into_iter().filter(|object| has_extension(&object.name, EXTENSION)).collect();
        Ok(Folder { identity: identity_of(&id), id, manifest, problem, tiles, logs })
    }

    /// A tile's entries, `None` where it is gone, or what is wrong with it.
    fn read_tile(&self, folder: &Folder, name: &str) -> Result<Result<Option<Vec<Entry>>, Problem>, StoreError> {
        let path = format!("{}/{name}", folder.id);
        let Some(bytes) = self.backend.get(&path)? else { return Ok(Ok(None)) };
        let file = self.backend.describe(&path);
        let Some(identity) = &folder.identity else { return Ok(Ok(None)) };
        // without a description a tile can only be held against itself
        let announced = || tile::announced(&bytes).map_or(0, |(items, _)| usize::try_from(items).unwrap_or(0));
        let len = folder.manifest.as_ref().map_or_else(announced, |manifest| manifest.items);
        let decoded = tile::decode(Expected { identity, len, name, file: &file }, &bytes);
        Ok(decoded.map(Some).map_err(|error| Problem { file, error, name: path }))
    }
}

/// What was answered about a file, `None` where it is gone.
fn unless_gone<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        answer => answer.map(Some),
    }
}
