//! Scores of any pairs of any items of one scorer: what a cache of a model reads and writes.
//!
//! ```text
//! <store>/lists/<scorer id>/<pool id>.pool    digests of the items of a pool, in the order of their numbers: it grows
//! <store>/<pool id>/                          its tiles, as those of any oracle
//! ```
//! A list of items is fixed; a pool takes items as they come. Each process that writes has a pool of its own, so that two of them never number items
//! differently. All of them read every list and every pool of the scorer, and a list that is scored takes over the pairs that it has in common with a pool.
//!
//! Cost: all scores of the scorer are read and held, about 40 bytes each; 16 bytes per item and a tile per flush are written.

use std::collections::{BTreeSet, HashMap};

use landmark_core::oracle::{Identity, Itemless, Symmetry};

use super::batch_sizer::LARGEST;
use super::carried::{LISTS, POOL, TAKEN};
use super::tile::{Digest, Entry, digest};
use super::{MANIFEST, Manifest, OracleLabel, StoreError, TileStore};

/// Items that a pool may have: its tiles must not depend on how many there are yet.
const CAPACITY: usize = u32::MAX as usize;

/// Scores of one scorer over any items, in memory and in a store.
pub struct ScorePool {
    store: TileStore,
    scorer: Itemless,
    label: OracleLabel,
    id: Identity,
    numbers: HashMap<Digest, u32>,
    scores: HashMap<(u32, u32), f64>,
    taken: BTreeSet<String>,
    own: HashMap<u32, u32>,
    digests: Vec<Digest>,
    waiting: Vec<Entry>,
    is_described: bool,
}

impl ScorePool {
    /// Reads every list and every pool of a scorer. `process` names the writer: no two that write at the same time may share it.
    pub fn open(store: TileStore, scorer: Itemless, label: OracleLabel, process: &[u8]) -> Result<Self, StoreError> {
        let scorer_id = scorer.identity.to_hex();
        let id = Identity::of(&[("pool", process), ("scorer", scorer_id.as_bytes())]);
        let mut pool = Self {
            store,
            scorer,
            label,
            id,
            numbers: HashMap::new(),
            scores: HashMap::new(),
            taken: BTreeSet::new(),
            own: HashMap::new(),
            digests: Vec::new(),
            waiting: Vec::new(),
            is_described: false,
        };
        pool.refresh()?;
        Ok(pool)
    }

    pub fn len(&self) -> usize {
        self.scores.len()
    }

    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    fn number(&mut self, digest: Digest) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(digest).or_insert(next)
    }

    fn key(&self, i: u32, j: u32) -> (u32, u32) {
        if self.scorer.symmetry == Symmetry::Symmetric { (i.min(j), i.max(j)) } else { (i, j) }
    }

    /// Score of two items by what the scorer sees of them, if it is there.
    pub fn get(&self, a: &[u8], b: &[u8]) -> Option<f64> {
        let (i, j) = (self.numbers.get(&digest(a))?, self.numbers.get(&digest(b))?);
        self.scores.get(&self.key(*i, *j)).copied()
    }

    /// Takes scores in; those that are there stay as they are. Answers how many are new. They are written by [`flush`](Self::flush).
    pub fn put<'a>(&mut self, scores: impl IntoIterator<Item = (&'a [u8], &'a [u8], f64)>) -> usize {
        let mut new = 0;
        for (a, b, value) in scores {
            let (a, b) = (digest(a), digest(b));
            let (i, j) = (self.number(a), self.number(b));
            let key = self.key(i, j);
            if self.scores.contains_key(&key) {
                continue;
            }
            self.scores.insert(key, value);
            let (row, col) = (self.own_number(i, a), self.own_number(j, b));
            self.waiting.push(Entry { row, col, value });
            new += 1;
        }
        new
    }

    fn own_number(&mut self, item: u32, digest: Digest) -> u32 {
        let next = u32::try_from(self.digests.len()).unwrap_or(u32::MAX);
        *self.own.entry(item).or_insert_with(|| {
            self.digests.push(digest);
            next
        })
    }

    /// Writes what was taken in.
    ///
    /// # Errors
    /// A store that cannot be written: nothing is lost, and the next call writes it.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let folder = self.id.to_hex();
        if !self.is_described {
            let manifest = Manifest::new(self.id, self.label.clone(), CAPACITY, self.scorer.symmetry);
            self.store.backend.create(&format!("{folder}/{MANIFEST}"), manifest.text()?)?;
            self.is_described = true;
        }
        // items first: whoever reads a tile knows its items
        let list = format!("{LISTS}/{}/{folder}{POOL}", self.scorer.identity.to_hex());
        self.store.backend.replace(&list, self.digests.concat())?;
        while !self.waiting.is_empty() {
            let first = self.waiting.len().min(LARGEST);
            let name = self.store.write_tile(self.id.as_bytes(), CAPACITY, &self.waiting[..first])?;
            self.taken.insert(format!("{folder}/{name}"));
            self.waiting.drain(..first);
        }
        Ok(())
    }

    /// Reads what others have written since; answers how many scores that adds.
    pub fn refresh(&mut self) -> Result<usize, StoreError> {
        let folder = format!("{LISTS}/{}", self.scorer.identity.to_hex());
        let (before, own) = (self.scores.len(), format!("{}{POOL}", self.id.to_hex()));
        for object in self.store.backend.list(&folder)?.objects {
            if object.name == own || object.name.ends_with(TAKEN) {
                continue;
            }
            let id = object.name.strip_suffix(POOL).unwrap_or(&object.name).to_owned();
            let path = format!("{folder}/{}", object.name);
            let mut entries: Vec<Entry> = Vec::new();
            let mut taken = std::mem::take(&mut self.taken);
            let visited = self.store.visit_new_entries(&id, &mut taken, |new| {
                entries.extend(new);
                Ok(())
            });
            self.taken = taken;
            visited?;
            if entries.is_empty() {
                continue;
            }
            // after the tiles: a pool writes its items first
            let Some(bytes) = self.store.backend.get(&path)? else { continue };
            let numbers: Vec<u32> = bytes.as_chunks().0.iter().map(|digest| self.number(*digest)).collect();
            for Entry { row, col, value } in entries {
                if let (Some(&i), Some(&j)) = (numbers.get(row as usize), numbers.get(col as usize)) {
                    let key = self.key(i, j);
                    self.scores.entry(key).or_insert(value);
                }
            }
        }
        Ok(self.scores.len() - before)
    }
}

impl Drop for ScorePool {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::warn!("{} scores could not be written: {error}", self.waiting.len());
        }
    }
}
