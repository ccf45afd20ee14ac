//! Texts as sparse rows of signed n-gram counts, hashed: no vocabulary, no first pass, d columns whatever the corpus.
//!
//! An n-gram is n consecutive [words](crate::tokens::words) of a text, n = 1 … `max_n`. Its hash is 64-bit FNV-1a (offset
//! cbf29ce484222325, prime 100000001b3, both hexadecimal) over a first byte 0 and the UTF-8 bytes of its words with the byte 1f between
//! two of them, then mixed by MurmurHash3's finalizer (x ^= x ≫ 33, x ·= ff51afd7ed558ccd, x ^= x ≫ 33, x ·= c4ceb9fe1a85ec53,
//! x ^= x ≫ 33). The upper `bits` bits are the column (d = 2^bits), the lowest bit the sign: 0 adds 1 there, 1 subtracts 1. With signs the
//! inner product of two rows is that of the counts in expectation (Weinberger et al. 2009, §2). This never changes: saved sketches
//! depend on it, and carry its [`identity`](NgramHash::identity).
//!
//! `first_words` adds features of position: the i-th word as such (first byte i), and the first two together (first byte ff); these are the
//! "features over the first two words" of the paper's SENT+.
//!
//! Cost: one pass over the words and a sort of at most 3 entries a word; memory of one row.

use landmark_core::oracle::Identity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::tokens::words;

/// Between two words of an n-gram: ASCII's unit separator, which no word contains.
const SEPARATOR: u8 = 0x1f;
/// First byte of the features of the first two words together.
const FIRST_PAIR: u8 = 0xff;

/// Parameters as a configuration gives them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NgramHashParams {
    /// d = 2^bits columns, 1 to 24.
    pub bits: u32,
    /// The longest n-gram in words, 1 to 3.
    pub max_n: usize,
    /// Number of words from the beginning that are also features of their place, 0 to 2.
    pub first_words: usize,
}

impl Default for NgramHashParams {
    fn default() -> Self {
        Self { bits: 16, max_n: 3, first_words: 0 }
    }
}

impl NgramHashParams {
    /// The hash.
    pub fn check(&self) -> Result<NgramHash, DataError> {
        let refuse = |parameter, seen: String, wanted: &str| {
            Err(DataError::Parameter { parameter, seen, wanted: wanted.to_owned() })
        };
        if !(1..=24).contains(&self.bits) {
            return refuse("bits", self.bits.to_string(), "1 to 24: there are 2^bits columns");
        }
        if !(1..=3).contains(&self.max_n) {
            return refuse("max_n", self.max_n.to_string(), "1, 2 or 3 words");
        }
        if self.first_words > 2 {
            return refuse("first_words", self.first_words.to_string(), "0, 1 or 2");
        }
        Ok(NgramHash { params: self.clone() })
    }
}

/// The checked hash.
///
/// ```
/// use landmark_data::feature_hashing::{HashedRow, NgramHashParams};
/// let hash = NgramHashParams { bits: 16, max_n: 2, first_words: 0 }.check()?;
/// let mut row = HashedRow::default();
/// hash.hash("set a timer", &mut row);
/// assert_eq!(row.columns().len(), 5); // set, a, timer, set a, a timer
/// assert!(row.values().iter().all(|value| value.abs() == 1.0));
/// # Ok::<(), landmark_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NgramHash {
    params: NgramHashParams,
}

/// One sparse row: ascending columns and their values, none of them 0. Reused from text to text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HashedRow {
    columns: Vec<u32>,
    values: Vec<f64>,
    hashes: Vec<u64>,
}

impl HashedRow {
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// True where the text had no n-gram, or all of them cancelled.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}

impl NgramHash {
    /// d = 2^bits.
    pub fn columns(&self) -> usize {
        1 << self.params.bits
    }

    pub fn params(&self) -> &NgramHashParams {
        &self.params
    }

    /// Identity of the columns: version and parameters. Sketches of rows with different identities do not merge.
    pub fn identity(&self) -> Identity {
        let NgramHashParams { bits, max_n, first_words } = self.params;
        Identity::of(&[
            ("kind", b"signed n-gram hash v1: fnv-1a 64, murmur3 finaliser, upper bits, sign in the lowest"),
            ("bits", &bits.to_le_bytes()),
            ("max_n", &(max_n as u64).to_le_bytes()),
            ("first_words", &(first_words as u64).to_le_bytes()),
        ])
    }

    /// Replaces `row` by the row of `text`.
    pub fn hash(&self, text: &str, row: &mut HashedRow) {
        let words = words(text);
        let NgramHashParams { max_n, first_words, .. } = self.params;
        row.hashes.clear();
        for first in 0..words.len() {
            let mut state = fnv_1a(FNV_OFFSET, &[0]);
            for (n, word) in words[first..].iter().take(max_n).enumerate() {
                if n > 0 {
                    state = fnv_1a(state, &[SEPARATOR]);
                }
                state = fnv_1a(state, word.as_bytes());
                row.hashes.push(mix(state));
            }
        }
        for (place, word) in (1u8..).zip(words.iter().take(first_words)) {
            row.hashes.push(mix(fnv_1a(fnv_1a(FNV_OFFSET, &[place]), word.as_bytes())));
        }
        if let ([first, second, ..], 2) = (words.as_slice(), first_words) {
            let state = fnv_1a(fnv_1a(FNV_OFFSET, &[FIRST_PAIR]), first.as_bytes());
            row.hashes.push(mix(fnv_1a(fnv_1a(state, &[SEPARATOR]), second.as_bytes())));
        }
        self.count(row);
    }

    /// Sorts hashes into columns and sums their signs.
    fn count(&self, row: &mut HashedRow) {
        row.columns.clear();
        row.values.clear();
        row.hashes.sort_unstable();
        let column = |hash: u64| (hash >> (64 - self.params.bits)) as u32; // at most 24 bits
        for of_column in row.hashes.chunk_by(|a, b| column(*a) == column(*b)) {
            let sum: f64 = of_column.iter().map(|hash| if hash & 1 == 0 { 1.0 } else { -1.0 }).sum();
            if sum != 0.0 {
                row.columns.push(column(of_column[0]));
                row.values.push(sum);
            }
        }
    }
}

pub(crate) const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// 64-bit FNV-1a from `state` on.
pub(crate) fn fnv_1a(state: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(state, |state, &byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// MurmurHash3's 64-bit finalizer: FNV alone leaves its upper bits nearly unmixed on short words.
pub(crate) fn mix(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(text: &str, bits: u32, max_n: usize, first_words: usize) -> HashedRow {
        let mut row = HashedRow::default();
        NgramHashParams { bits, max_n, first_words }.check().unwrap().hash(text, &mut row);
        row
    }

    #[test]
    fn the_hash_is_the_published_one() {
        // FNV's own test vectors (Noll), and MurmurHash3's fixed point 0 and avalanche of 1 (smhasher)
        assert_eq!(fnv_1a(FNV_OFFSET, b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(FNV_OFFSET, b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv_1a(FNV_OFFSET, b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!((mix(0), mix(1)), (0, 0xb456_bcfc_34c2_cb2c));
    }

    #[test]
    fn a_row_never_changes_between_versions() {
        // recorded from the first version: a change here breaks every saved sketch
        let row = hashed("Book a table, book a taxi", 10, 2, 0);
        let hash = |gram: &str| mix(fnv_1a(fnv_1a(FNV_OFFSET, &[0]), gram.as_bytes()));
        let mut wanted: Vec<(u32, f64)> =
            [("book", 2.0), ("a", 2.0), ("table", 1.0), ("taxi", 1.0), ("book\u{1f}a", 2.0), ("a\u{1f}table", 1.0)]
                .into_iter()
                .chain([("table\u{1f}book", 1.0), ("a\u{1f}taxi", 1.0)])
                .map(|(gram, count)| ((hash(gram) >> 54) as u32, if hash(gram) & 1 == 0 { count } else { -count }))
                .collect();
        wanted.sort_by_key(|&(column, _)| column);
        let seen: Vec<(u32, f64)> = row.columns().iter().copied().zip(row.values().iter().copied()).collect();
        assert_eq!(seen, wanted);
    }

    #[test]
    fn n_grams_are_counted_up_to_their_length_and_places_apart() {
        // 20 bits: these few grams do not collide
        assert_eq!(hashed("a b c d", 20, 1, 0).columns().len(), 4);
        assert_eq!(hashed("a b c d", 20, 2, 0).columns().len(), 7);
        assert_eq!(hashed("a b c d", 20, 3, 0).columns().len(), 9);
        assert_eq!(hashed("a b c d", 20, 3, 1).columns().len(), 10);
        assert_eq!(hashed("a b c d", 20, 3, 2).columns().len(), 12);
        assert_eq!(hashed("a", 20, 3, 2).columns().len(), 2);
        assert_eq!(hashed("go go go", 20, 1, 0).values()[0].abs(), 3.0);
        assert!(hashed(" ?! ", 20, 3, 2).is_empty());
    }

    #[test]
    fn inner_products_of_counts_survive_in_the_mean() {
        // two texts share 3 unigrams: over 2,000 relabelings the mean of the hashed product has standard error ≤ √(25/64)/√2000 = 0.014
        let mean: f64 = (0..2000)
            .map(|k| {
                let rename =
                    |text: &str| text.split(' ').map(|word| format!("{word}{k}")).collect::<Vec<_>>().join(" ");
                let (a, b) = (hashed(&rename("p q r s t"), 6, 1, 0), hashed(&rename("r s t u v"), 6, 1, 0));
                let value = |column: &u32| b.columns().iter().position(|c| c == column).map_or(0.0, |i| b.values()[i]);
                a.columns().iter().zip(a.values()).map(|(column, v)| v * value(column)).sum::<f64>()
            })
            .sum::<f64>()
            / 2000.0;
        assert!((mean - 3.0).abs() < 0.07, "{mean}"); // 5 standard errors
    }

    #[test]
    fn identities_move_with_every_parameter() {
        let of = |bits, max_n, first_words| NgramHashParams { bits, max_n, first_words }.check().unwrap().identity();
        let mut seen = vec![of(16, 3, 0), of(17, 3, 0), of(16, 2, 0), of(16, 3, 2)];
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 4);
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        let refused =
            |bits, max_n, first_words| NgramHashParams { bits, max_n, first_words }.check().unwrap_err().to_string();
        assert_eq!(refused(0, 3, 0), "`bits` is 0; wanted is 1 to 24: there are 2^bits columns");
        assert_eq!(refused(16, 4, 0), "`max_n` is 4; wanted is 1, 2 or 3 words");
        assert_eq!(refused(16, 3, 3), "`first_words` is 3; wanted is 0, 1 or 2");
    }
}
