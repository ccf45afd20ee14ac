//! Scores of one scorer on several lists of items: a list that grew, or of which a sample was scored first, takes over what is kept of its pairs.
//!
//! ```text
//! <store>/lists/<scorer id>/<oracle id>          digests of the items of that oracle, 16 bytes each, in their order
//!                           <oracle id>.pool     the same of a pool, which grows
//!                           <oracle id>.taken    the tiles of other lists that it has taken over, a line each
//! ```
//!
//! An oracle's folder is for one list of items, whose entries are numbered. Of other lists of the same scorer the 16 that share the most items with this one
//! are looked through, and the scores of pairs that both have are taken over as entries of its own.
//!
//! Cost: all lists of the scorer are read, 16 bytes an item each; each tile of the 16 is read once.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use landmark_core::contents::Contents;
use landmark_core::oracle::{Itemless, Oracle, Symmetrization, Symmetrized};

use super::batch_sizer::LARGEST;
use super::stored::Stored;
use super::tile::{Digest, Entry, digest};
use super::{StoreError, TileStore};

pub(super) const LISTS: &str = "lists";
const MOST_LISTS: usize = 16;
/// Ending of the record of tiles that were taken over.
pub(super) const TAKEN: &str = ".taken";
/// Ending of the items of a [pool](super::ScorePool).
pub(super) const POOL: &str = ".pool";

/// A scorer apart from its items, and the items by what it sees of them. 16 bytes an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemList {
    scorer: Itemless,
    digests: Vec<Digest>,
}

impl ItemList {
    /// `seen` is what the scorer scores each item by, its text for one, in their order.
    pub fn new(scorer: Itemless, seen: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        Self { scorer, digests: seen.into_iter().map(|seen| digest(seen.as_ref())).collect() }
    }

    /// The same items under the score that is made of both orders of this one.
    pub fn symmetrized(&self, mode: Symmetrization) -> Self {
        let both = Symmetrized::new(self.scorer, mode);
        let scorer = Itemless { identity: both.identity(), symmetry: both.symmetry() };
        Self { scorer, digests: self.digests.clone() }
    }

    /// Contents of the items, by which landmarks are drawn and equal items are known.
    pub fn contents(&self) -> Contents {
        Contents::new(self.digests.clone())
    }

    /// Number of items n.
    pub fn len(&self) -> usize {
        self.digests.len()
    }

    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }
}

/// Places of each item of a list, in their order; several where the list has it more than once.
type Places = HashMap<Digest, Vec<u32>>;

fn places(digests: &[Digest]) -> Places {
    let mut places = Places::new();
    for (place, digest) in (0..).zip(digests) {
        places.entry(*digest).or_default().push(place);
    }
    places
}

struct Other {
    id: String,
    path: String,
    digests: Vec<Digest>,
    is_pool: bool,
}

impl TileStore {
    /// Lists of the same scorer that share pairs with that of `own`, those that share the most items first.
    fn kindred(&self, list: &ItemList, places: &Places, own: &str) -> Result<Vec<Other>, StoreError> {
        let folder = format!("{LISTS}/{}", list.scorer.identity.to_hex());
        let mut kindred = Vec::new();
        for object in self.backend.list(&folder)?.objects {
            if object.name == own || object.name.ends_with(TAKEN) {
                continue;
            }
            let Some(bytes) = self.backend.get(&format!("{folder}/{}", object.name))? else { continue };
            let digests = bytes.as_chunks().0.to_vec();
            let shared = digests.iter().filter(|digest| places.contains_key(*digest)).count();
            if shared > 1 {
                let path = format!("{folder}/{}", object.name);
                let (id, is_pool) = match object.name.strip_suffix(POOL) {
                    Some(id) => (id.to_owned(), true),
                    None => (object.name, false),
                };
                kindred.push((shared, Other { id, path, digests, is_pool }));
            }
        }
        // of equals in the order of their names, which is that of the listing
        kindred.sort_by_key(|(shared, _)| Reverse(*shared));
        // what a pool has stands in no list that did not take it over
        let (pools, lists): (Vec<_>, Vec<_>) =
            kindred.into_iter().map(|(_, other)| other).partition(|other| other.is_pool);
        Ok(lists.into_iter().take(MOST_LISTS).chain(pools).collect())
    }

    /// Forgets which tiles of other lists an oracle's list has taken over, so that it looks through them again.
    pub(super) fn forget_taken(&self, id: &str) -> Result<(), StoreError> {
        for scorer in self.backend.list(LISTS)?.folders {
            self.backend.remove(&format!("{LISTS}/{scorer}/{id}{TAKEN}"))?;
        }
        Ok(())
    }

    fn taken(&self, list: &str) -> Result<BTreeSet<String>, StoreError> {
        let bytes = self.backend.get(&format!("{list}{TAKEN}"))?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
    }
}

impl<O: Oracle> Stored<O> {
    /// Takes over scores of other lists of the same scorer that this one lacks; answers how many. `keep` writes them, and the list, so that others
    /// take over from it; otherwise, and where the store cannot be written, they are available here alone. Of equal items the first here takes the
    /// scores of the first there, the second those of the second, and one that is more those of the last.
    ///
    /// Cost: 16 bytes read an item of each list of the scorer, and each tile of the 16 lists that share the most items once; memory for one tile and
    /// the entries.
    ///
    /// # Panics
    /// When the list is of another length than the oracle's.
    pub fn carry_over(&self, list: &ItemList, keep: bool) -> Result<u64, StoreError> {
        assert_eq!(list.len(), self.shape.len, "items of an oracle and of its list");
        // a store that was begun so has stand-ins among the scores
        let has_stand_ins = self.inner().fallible().is_some() && !self.keeps_failures_apart();
        if has_stand_ins {
            return Ok(0);
        }
        let (store, own) = (&self.store, self.folder());
        let name = format!("{LISTS}/{}/{own}", list.scorer.identity.to_hex());
        let mut taken = store.taken(&name)?;
        let (before, mut carried) = (taken.len(), 0);
        let places = places(&list.digests);
        let (mut waiting, mut unkept) = (Vec::new(), None);
        for Other { id, path, digests, is_pool } in store.kindred(list, &places, &own)? {
            let (mut known, mut here) = (digests.len(), places_here(&digests, &places));
            store.visit_new_entries(&id, &mut taken, |entries| {
                // a pool may have grown since its items were read
                let beyond = entries.iter().any(|entry| entry.row.max(entry.col) as usize >= known);
                if is_pool
                    && beyond
                    && let Some(bytes) = store.backend.get(&path)?
                {
                    let digests = bytes.as_chunks().0.to_vec();
                    (known, here) = (digests.len(), places_here(&digests, &places));
                }
                let new = self.take_in(moved(&entries, &here))?;
                carried += new.len() as u64;
                if keep && unkept.is_none() {
                    waiting.extend(new);
                }
                if waiting.len() >= LARGEST {
                    unkept = self.keep_taken(std::mem::take(&mut waiting)).err();
                }
                Ok(())
            })?;
        }
        let write = || {
            self.keep_taken(waiting)?;
            store.backend.create(&name, list.digests.concat())?;
            let lines: Vec<&str> = taken.iter().map(String::as_str).collect();
            if lines.len() > before {
                store.backend.replace(&(name.clone() + TAKEN), lines.join("\n").into())
            } else {
                Ok(())
            }
        };
        if keep && let Some(error) = unkept.or_else(|| write().err()) {
            tracing::debug!("scores that this list takes over are not kept for it: {error}");
        }
        Ok(carried)
    }
}

/// Places here that take the scores of each item of another list: of equal items the k-th here takes those of the k-th there, and one that is more takes those
/// of the last.
fn places_here(other: &[Digest], here: &Places) -> Vec<Vec<u32>> {
    let mut takers = vec![Vec::new(); other.len()];
    for (digest, there) in places(other) {
        for (nth, &place) in here.get(&digest).into_iter().flatten().enumerate() {
            takers[there[nth.min(there.len() - 1)] as usize].push(place);
        }
    }
    takers
}

/// Entries of another list, the places here of whose items these are.
fn moved(entries: &[Entry], here: &[Vec<u32>]) -> Vec<Entry> {
    let at = |item: u32| here.get(item as usize).map_or(&[][..], Vec::as_slice);
    let mut moved = Vec::new();
    for entry in entries {
        for &row in at(entry.row) {
            let cols = at(entry.col).iter().filter(|&&col| (row == col) == (entry.row == entry.col));
            moved.extend(cols.map(|&col| Entry { row, col, value: entry.value }));
        }
    }
    moved
}
