//! Parts of a plan: evaluating without reading, and handing over what is there already.

use std::collections::HashSet;
use std::io;

use landmark_core::oracle::{Oracle, OracleError, Pair};

use super::{Stored, id, scratch_failed};
use crate::StoreError;
use crate::batch_sizer::LARGEST;
use crate::entry_request::EntryRequest;
use crate::tile::{self, Entry};

impl<O: Oracle> Stored<O> {
    /// Evaluates what of rows × cols is not there yet, without handing it out: no room for the block is needed.
    ///
    /// # Errors
    /// As [`Oracle::block`].
    pub fn stock(&self, rows: &[usize], cols: &[usize]) -> Result<(), OracleError> {
        let request = EntryRequest::Block { rows, cols };
        request.check(self.shape.len)?;
        self.evaluate_missing(request)
    }

    /// Publishes what is held of rows × cols again under the name of a part, so that whoever evaluates that part finds it; answers
    /// how many distinct entries these are.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn hand_over(&self, rows: &[usize], cols: &[usize], part: &str) -> Result<u64, StoreError> {
        let is_of = |items: &[usize]| items.iter().copied().collect::<HashSet<usize>>();
        let (row_items, col_items) = (is_of(rows), is_of(cols));
        self.hand_over_failures(part, |i, j| row_items.contains(&i) && col_items.contains(&j))?;
        let entries = self.held_of(rows, cols).map_err(scratch_failed)?;
        self.publish_as(Some(part), &entries)
    }

    /// The same of a list of pairs.
    ///
    /// # Errors
    /// As [`hand_over`](Self::hand_over).
    pub fn hand_over_pairs(&self, pairs: &[Pair], part: &str) -> Result<u64, StoreError> {
        let named: HashSet<&Pair> = pairs.iter().collect();
        self.hand_over_failures(part, |i, j| named.contains(&(i, j)))?;
        let (failed, mut entries) = (self.state().failures.keys(), Vec::new());
        for &(i, j) in pairs {
            let known = (i == j && self.shape.diagonal_known) || failed.contains(&self.held().key(i, j));
            if let Some(value) = self.held().get(i, j).map_err(scratch_failed)?.filter(|_| !known) {
                entries.push(Entry { row: id(i), col: id(j), value });
            }
        }
        self.publish_as(Some(part), &entries)
    }

    /// Publishes entries that are held as tiles of a part, or of none.
    pub(super) fn publish_as(&self, part: Option<&str>, entries: &[Entry]) -> Result<u64, StoreError> {
        let identity = self.identity;
        for entries in entries.chunks(LARGEST) {
            let (name, bytes) = tile::encode(identity.as_bytes(), self.shape.len, entries.to_vec());
            self.store.backend.create_content(&format!("{identity}/{}", tile::named(part, &name)), bytes)?;
        }
        Ok(entries.len() as u64)
    }

    /// Distinct entries of a block that are held, a known diagonal apart.
    fn held_of(&self, rows: &[usize], cols: &[usize]) -> io::Result<Vec<Entry>> {
        // no tile holds a stand-in
        let mut keys = self.state().failures.keys();
        let held = self.held();
        let mut scores = vec![0.0; rows.len()];
        let mut entries = Vec::new();
        for &j in cols {
            held.gather_column(rows, j, &mut scores)?;
            for (&i, &value) in rows.iter().zip(&scores) {
                let known = i == j && self.shape.diagonal_known;
                if value.is_finite() && !known && keys.insert(held.key(i, j)) {
                    entries.push(Entry { row: id(i), col: id(j), value });
                }
            }
        }
        Ok(entries)
    }
}
