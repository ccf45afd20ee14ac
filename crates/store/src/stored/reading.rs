//! Tiles that other runs, or this one before, have published, and logs of calls that are in no tile: listed, read, checked, and taken into the entries
//! in memory.

use std::collections::HashMap;
use std::time::Instant;

use landmark_core::oracle::Oracle;

use super::super::batch_sizer::LARGEST;
use super::super::call_log::{self, Subject, is_log};
use super::super::maintenance::LOOKS;
use super::super::tile::{self, EXTENSION, Entry, Expected, has_extension};
use super::super::{MANIFEST, StoreError};
use super::{Stored, WriteState, scratch_failed};

const TILES_AT_A_TIME: usize = 32;

impl<O: Oracle> Stored<O> {
    pub(super) fn look(&self, state: &mut WriteState) -> Result<usize, StoreError> {
        let start = Instant::now();
        let (mut read, mut looks) = (0, HashMap::new());
        loop {
            // a tile may be merged into another between listing and reading: then the list is taken again
            let gone = self.read_new_tiles(state, &mut read)?;
            if gone.is_empty() {
                break;
            }
            for name in gone {
                let times = looks.entry(name.clone()).or_insert(0);
                *times += 1;
                if *times == LOOKS {
                    let file = self.store.backend.describe(&format!("{}/{name}", state.manifest.identity));
                    let source = format!("it was listed {LOOKS} times, and not there when it was to be read").into();
                    return Err(StoreError::Storage { action: "read", file, source });
                }
            }
        }
        state.looked = Some((Instant::now(), start.elapsed()));
        Ok(read)
    }

    /// Reads what is listed and not seen yet; answers the names of listed files that were gone.
    fn read_new_tiles(&self, state: &mut WriteState, read: &mut usize) -> Result<Vec<String>, StoreError> {
        let folder = state.manifest.identity.clone();
        let listing = self.store.backend.list(&folder)?;
        let is_described = listing.objects.iter().any(|object| object.name == MANIFEST);
        // a description that could not be read may have been cleaned away, and is written again; what was seen has not gone with it
        if state.is_described && listing.objects.is_empty() && !state.seen.is_empty() {
            let file = self.store.backend.describe(&format!("{folder}/{MANIFEST}"));
            return Err(StoreError::Vanished { address: self.store.address().to_owned(), file });
        }
        state.is_described = is_described;
        let (logs, names): (Vec<String>, Vec<String>) =
            listing.objects.iter().map(|object| object.name.clone()).partition(|name| is_log(name));
        let is_new = |name: &String| has_extension(name, EXTENSION) && !state.seen.contains(name);
        let new: Vec<String> = names.into_iter().filter(is_new).collect();
        let mut gone = Vec::new();
        for names in new.chunks(TILES_AT_A_TIME) {
            for (name, entries) in names.iter().zip(self.read_tiles(&folder, names)?) {
                match entries {
                    Some(entries) => {
                        self.held_mut().insert(&entries).map_err(scratch_failed)?;
                        state.seen.insert(name.clone());
                        *read += 1;
                    }
                    None => gone.push(name.clone()),
                }
            }
        }
        self.read_new_failures(state, &listing.objects)?;
        for name in logs.iter().filter(|name| state.log.name() != Some(name.as_str())) {
            if !self.read_log(&folder, name)? {
                gone.push(name.clone());
            }
        }
        Ok(gone)
    }

    /// Reads the log of another process, and publishes what it holds where that process is gone; answers false where it was gone itself.
    fn read_log(&self, folder: &str, name: &str) -> Result<bool, StoreError> {
        let Some(root) = self.store.backend.folder() else { return Ok(true) };
        let path = root.join(folder).join(name);
        let subject = Subject { identity: self.identity.as_bytes(), len: self.shape.len };
        let Some(mut logged) = call_log::read(&path, subject)? else { return Ok(false) };
        let entries = std::mem::take(&mut logged.entries);
        let is_new = |entry: &Entry| self.held().get(entry.row as usize, entry.col as usize).is_none();
        let new: Vec<Entry> = entries.iter().copied().filter(is_new).collect();
        self.held_mut().insert(&new).map_err(scratch_failed)?;
        if !logged.is_abandoned() {
            return Ok(true);
        }
        let (calls, file, rest) = (entries.len(), path.display(), logged.rest);
        tracing::info!(
            "{calls} calls of a run that was killed are kept, from `{file}`; {rest} bytes of it are no whole record"
        );
        // all of them: what is held may come from this very log while its process lived, and stand in no tile. A tile that was published before
        // the log could be removed has the same content, and so the same name. In a store that cannot be written the log stays, and is read again
        let write = |entries| self.store.write_tile(self.identity.as_bytes(), self.shape.len, entries).map(drop);
        let published = entries.chunks(LARGEST).try_for_each(write).and_then(|()| logged.remove());
        if let Err(error) = published {
            tracing::warn!("`{}` is read, but could not be turned into a tile: {error}", path.display());
        }
        Ok(true)
    }

    /// The entries of several tiles, read and checked at once; `None` for one that is gone.
    fn read_tiles(&self, folder: &str, names: &[String]) -> Result<Vec<Option<Vec<Entry>>>, StoreError> {
        let read = |name: &String| {
            let path = format!("{folder}/{name}");
            let Some(bytes) = self.store.backend.get(&path)? else { return Ok(None) };
            let file = self.store.backend.describe(&path);
            let identity = self.identity.as_bytes();
            tile::decode(Expected { identity, len: self.shape.len, name, file: &file }, &bytes).map(Some)
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = names.len().div_ceil(threads).max(1);
        // plain threads: waiting for a file must not hold up a thread pool
        std::thread::scope(|scope| {
            let workers: Vec<_> = names
                .chunks(share)
                .map(|names| scope.spawn(move || names.iter().map(read).collect::<Vec<_>>()))
                .collect();
            workers
                .into_iter()
                .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }
}
