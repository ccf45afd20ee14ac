//! Hash containers keyed by pairs of indices.
//!
//! The standard hasher guards against chosen keys, which indices are not, and costs several times the look-up itself;
//! this one multiplies and folds. Iteration order is never relied on.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::oracle::Pair;

pub type PairMap<V> = HashMap<Pair, V, BuildHasherDefault<PairHasher>>;

pub(crate) type PairSet = HashSet<Pair, BuildHasherDefault<PairHasher>>;

/// An odd number near 2⁶⁴ / the golden ratio: its multiples spread evenly.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes two indices.
#[derive(Debug, Default, Clone, Copy)]
pub struct PairHasher(u64);

impl Hasher for PairHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(32) ^ word).wrapping_mul(SPREAD);
    }

    fn write_usize(&mut self, index: usize) {
        self.write_u64(index as u64);
    }

    fn finish(&self) -> u64 {
        // the table takes its bucket from the low bits, which a product leaves poor
        self.0 ^ (self.0 >> 32)
    }
}
