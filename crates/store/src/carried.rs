//! Scores of one scorer on several lists of items: a list that grew, or of which a sample was scored first, takes over what is kept of its pairs.
//!
//! ```text
//! <store>/lists/<scorer id>/<oracle id>          digests of the items of that oracle, 16 bytes each, in their order
//!                           <oracle id>.taken    the tiles of other lists that it has taken over, a line each
//! ```
//!
//! An oracle's folder is for one list of items, whose entries are numbered. The latest 16 lists of the same scorer are looked through for items that are in
//! both, and the scores of their pairs are taken over as entries of its own.
//!
//! Cost: 16 bytes an item and list; each tile of another list that shares items with this one is read once.

use std::collections::{BTreeSet, HashMap};

use landmark_core::oracle::{Identity, Oracle};

use super::stored::Stored;
use super::tile::Entry;
use super::{StoreError, TileStore};

/// The folder of all lists.
const LISTS: &str = "lists";
/// Bytes that stand for an item.
const DIGEST: usize = 16;
/// Lists that are looked through.
const MOST_LISTS: usize = 16;
/// Ending of the record of tiles that were taken over.
const TAKEN: &str = ".taken";

type Digest = [u8; DIGEST];

/// A scorer apart from its items, and the items by what it sees of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemList {
    scorer: Identity,
    digests: Vec<Digest>,
}

impl ItemList {
    /// `scorer` is a digest of everything that moves a score but the items; `seen` what it sees of each item, its text or its id, in their order.
    pub fn new<'a>(scorer: Identity, seen: impl IntoIterator<Item = &'a str>) -> Self {
        let digest = |seen: &str| -> Digest {
            let mut digest = [0; DIGEST];
            digest.copy_from_slice(&blake3::hash(seen.as_bytes()).as_bytes()[..DIGEST]);
            digest
        };
        Self { scorer, digests: seen.into_iter().map(digest).collect() }
    }

    /// Number of items n.
    pub fn len(&self) -> usize {
        self.digests.len()
    }

    /// True where there are no items.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }

    /// Places in this list of each item of another; several where it has the item more than once.
    fn places_of(&self, other: &[Digest]) -> Vec<Vec<u32>> {
        let mut places: HashMap<&Digest, Vec<u32>> = HashMap::new();
        for (place, digest) in (0..).zip(&self.digests) {
            places.entry(digest).or_default().push(place);
        }
        other.iter().map(|digest| places.get(digest).cloned().unwrap_or_default()).collect()
    }
}

impl TileStore {
    /// The lists of a scorer but that of `own`, the latest first: oracle id and digests.
    fn other_lists(&self, scorer: Identity, own: &str) -> Result<Vec<(String, Vec<Digest>)>, StoreError> {
        let folder = format!("{LISTS}/{}", scorer.to_hex());
        let mut listed = self.backend.list(&folder)?.objects;
        listed.retain(|object| object.name != own && !object.name.ends_with(TAKEN));
        listed.sort_by_key(|object| std::cmp::Reverse(object.modified));
        let mut lists = Vec::new();
        for object in listed.into_iter().take(MOST_LISTS) {
            let Some(bytes) = self.backend.get(&format!("{folder}/{}", object.name))? else { continue };
            lists.push((object.name, bytes.as_chunks().0.to_vec()));
        }
        Ok(lists)
    }

    /// Tiles of other lists that this one has taken over.
    fn taken(&self, list: &str) -> Result<BTreeSet<String>, StoreError> {
        let bytes = self.backend.get(&format!("{list}{TAKEN}"))?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
    }
}

impl<O: Oracle> Stored<O> {
    /// Takes over scores of other lists of the same scorer that this one lacks; answers how many. `keep` writes them, and the list, so that others take over
    /// from it; otherwise they are at hand here alone.
    ///
    /// # Errors
    /// A store that cannot be read. One that cannot be written is found when something is evaluated.
    ///
    /// # Panics
    /// When the list is of another length than the oracle's.
    pub fn carry_over(&self, list: &ItemList, keep: bool) -> Result<u64, StoreError> {
        assert_eq!(list.len(), self.shape().len, "items of an oracle and of its list");
        // a store that was begun so has stand-ins among the scores
        let has_stand_ins = self.inner().fallible().is_some() && !self.keeps_failures_apart();
        if has_stand_ins {
            return Ok(0);
        }
        let (store, own) = (self.store(), self.folder());
        let name = format!("{LISTS}/{}/{own}", list.scorer.to_hex());
        let mut taken = store.taken(&name)?;
        let (before, mut carried) = (taken.len(), 0);
        for (other, digests) in store.other_lists(list.scorer, &own)? {
            let places = list.places_of(&digests);
            if places.iter().filter(|places| !places.is_empty()).count() > 1 {
                let entries = store.new_entries_of(&other, &mut taken)?;
                carried += self.take_in(moved(&entries, &places), keep)?;
            }
        }
        let written = || {
            store.backend.create(&name, list.digests.concat())?;
            let lines: Vec<&str> = taken.iter().map(String::as_str).collect();
            if lines.len() > before {
                store.backend.replace(&(name.clone() + TAKEN), lines.join("\n").into())
            } else {
                Ok(())
            }
        };
        if keep && let Err(error) = written() {
            tracing::debug!("scores of this list of items will not serve another: {error}");
        }
        Ok(carried)
    }
}

/// Entries of another list under the places of their items here.
fn moved(entries: &[Entry], places: &[Vec<u32>]) -> Vec<Entry> {
    let none = Vec::new();
    let at = |item: u32| places.get(item as usize).unwrap_or(&none);
    let mut moved = Vec::new();
    for entry in entries {
        for &row in at(entry.row) {
            let cols = at(entry.col).iter().filter(|&&col| (row == col) == (entry.row == entry.col));
            moved.extend(cols.map(|&col| Entry { row, col, value: entry.value }));
        }
    }
    moved
}
