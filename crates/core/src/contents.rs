//! Items by their content: draws that stay where they are when a list grows, and items that are equal.
//!
//! A draw orders the items by a keyed hash of their content, the key being the random stream's. An item's place among the others then
//! depends on nothing but its content, so a list that gains, loses or reorders items keeps nearly all that was drawn (bottom-k sampling,
//! Cohen & Kaplan 2007). Over the seeds each subset of the distinct items is as likely as any other.
//!
//! The second of two equal items has another hash than the first, by its occurrence.

use std::collections::HashMap;

use rand::Rng as _;

use crate::stream::Rng;

mod pairs;
#[cfg(test)]
mod tests;

/// Bytes of an item's digest.
pub const DIGEST: usize = 16;

/// Contents of the items of a list, by digest. 40 bytes an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    digests: Vec<[u8; DIGEST]>,
    occurrence: Vec<u64>,
    first: Vec<usize>,
    distinct: usize,
}

#[derive(Debug, Clone, Copy)]
struct Hashes {
    order: u128,
    low: u64,
    high: u64,
}

impl Contents {
    /// Of a list whose items have these digests, in their order. Equal digests are equal items.
    pub fn new(digests: Vec<[u8; DIGEST]>) -> Self {
        let mut seen: HashMap<[u8; DIGEST], (usize, u64)> = HashMap::with_capacity(digests.len());
        let (mut occurrence, mut first) = (Vec::with_capacity(digests.len()), Vec::with_capacity(digests.len()));
        for (item, &digest) in digests.iter().enumerate() {
            let (earliest, count) = seen.entry(digest).or_insert((item, 0));
            first.push(*earliest);
            occurrence.push(*count);
            *count += 1;
        }
        let distinct = seen.len();
        Self { digests, occurrence, first, distinct }
    }

    /// Number of items n.
    pub fn len(&self) -> usize {
        self.digests.len()
    }

    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }

    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// The content of an item and which of its copies it is, in words that other lists share.
    pub fn name(&self, item: usize) -> String {
        let digest: String = self.digests[item].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{digest}-{}", self.occurrence[item])
    }

    pub fn has_copies(&self) -> bool {
        self.distinct < self.len()
    }

    pub fn first(&self, item: usize) -> usize {
        self.first[item]
    }

    /// All items in a random order: the first of equal ones before their copies, so that a prefix has copies only where it has all contents.
    pub fn order(&self, rng: &mut Rng) -> Vec<usize> {
        let hashes = self.hashes(rng);
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&item| (self.occurrence[item] > 0, hashes[item].order, item));
        order
    }

    /// `count` of the items `among`, or all of them, uniformly.
    pub fn draw_items(&self, among: &[usize], count: usize, rng: &mut Rng) -> Vec<usize> {
        let hashes = self.hashes(rng);
        let mut drawn = among.to_vec();
        drawn.sort_by_key(|&item| (hashes[item].order, item));
        drawn.truncate(count);
        drawn
    }

    fn hashes(&self, rng: &mut Rng) -> Vec<Hashes> {
        let key: [u8; 32] = rng.r#gen();
        let of = |(digest, occurrence): (&[u8; DIGEST], &u64)| {
            let mut bytes = [0; DIGEST + 8];
            bytes[..DIGEST].copy_from_slice(digest);
            bytes[DIGEST..].copy_from_slice(&occurrence.to_le_bytes());
            let hash = blake3::keyed_hash(&key, &bytes);
            let words = hash.as_bytes().as_chunks::<8>().0;
            let [first, second, low, high] = [0, 1, 2, 3].map(|place| u64::from_le_bytes(words[place]));
            Hashes { order: u128::from(first) << 64 | u128::from(second), low, high }
        };
        self.digests.iter().zip(&self.occurrence).map(of).collect()
    }
}
