//! Tiles that other runs, or this one before, have published: listed, read, checked, and taken into the entries at hand.

use std::time::Instant;

use landmark_core::oracle::Oracle;

use super::super::tile::{self, EXTENSION, Entry, Expected};
use super::super::{MANIFEST, StoreError};
use super::{Stored, WriteState, scratch_failed};

/// Tiles read at a time.
const TILES_AT_A_TIME: usize = 32;

impl<O: Oracle> Stored<O> {
    pub(super) fn look(&self, state: &mut WriteState) -> Result<usize, StoreError> {
        let start = Instant::now();
        let mut read = 0;
        // a tile may be merged into another between listing and reading: then the list is taken again
        while !self.read_new_tiles(state, &mut read)? {}
        state.looked = Some((Instant::now(), start.elapsed()));
        Ok(read)
    }

    /// Reads what is listed and not seen yet; answers false where a listed tile was gone.
    fn read_new_tiles(&self, state: &mut WriteState, read: &mut usize) -> Result<bool, StoreError> {
        let folder = state.manifest.identity.clone();
        let listing = self.store.backend.list(&folder)?;
        let is_described = listing.objects.iter().any(|object| object.name == MANIFEST);
        if state.is_described && !is_described {
            let file = self.store.backend.describe(&format!("{folder}/{MANIFEST}"));
            return Err(StoreError::Vanished { address: self.store.address().to_owned(), file });
        }
        state.is_described = is_described;
        state.writers.look(&listing);
        let is_tile = |name: &String| name.strip_suffix(EXTENSION).is_some_and(|stem| stem.ends_with('.'));
        let names = listing.objects.iter().map(|object| object.name.clone()).filter(is_tile);
        let concerns_us = |name: &String| self.part.as_deref().is_none_or(|part| tile::part_of(name) == Some(part));
        let new: Vec<String> = names.filter(concerns_us).filter(|name| !state.seen.contains(name)).collect();
        let mut complete = true;
        for names in new.chunks(TILES_AT_A_TIME) {
            for (name, entries) in names.iter().zip(self.read_tiles(&folder, names)?) {
                match entries {
                    Some(entries) => {
                        self.held_mut().insert(&entries).map_err(scratch_failed)?;
                        state.seen.insert(name.clone());
                        *read += 1;
                    }
                    None => complete = false,
                }
            }
        }
        self.read_new_failures(state, &listing)?;
        Ok(complete)
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
