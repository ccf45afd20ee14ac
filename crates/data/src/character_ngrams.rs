//! Texts as dense rows of hashed character n-grams, weighted by inverse document frequency: a cheap vector for names, titles and addresses.
//!
//! A text is lowercased, its whitespace becomes single blanks, and one blank stands before and after it. Each of its n-grams of characters counts once
//! at column hash mod d with sign ±1 (Weinberger et al. 2009), where the hash is 64-bit FNV-1a over the UTF-8 bytes, mixed by MurmurHash3's finalizer.
//! An n-gram that f of N texts contain weighs ln(1 + N/f). Rows have length 1; a text without an n-gram is a row of zeros.
//!
//! Cost: two passes over the texts; 8·N·d bytes.

use std::collections::HashMap;

use ndarray::Array2;

use crate::feature_hashing::{FNV_OFFSET, fnv_1a, mix};

/// One row of `dimension` numbers per text.
///
/// # Panics
/// If `n` or `dimension` is 0.
pub fn vectors(texts: &[String], n: usize, dimension: usize) -> Array2<f64> {
    assert!(n > 0 && dimension > 0, "n-grams of {n} characters in {dimension} columns");
    let grams: Vec<Vec<u64>> = texts.iter().map(|text| hashes(text, n)).collect();
    let mut frequency: HashMap<u64, u32> = HashMap::new();
    for &hash in grams.iter().flatten() {
        *frequency.entry(hash).or_default() += 1;
    }
    let mut rows = Array2::<f64>::zeros((texts.len(), dimension));
    for (mut row, grams) in rows.outer_iter_mut().zip(&grams) {
        for hash in grams {
            let weight = (1.0 + texts.len() as f64 / f64::from(frequency[hash])).ln();
            let column = (hash >> 1) % dimension as u64;
            row[column as usize] += if hash & 1 == 0 { weight } else { -weight };
        }
        let norm = row.dot(&row).sqrt();
        if norm > 0.0 {
            row /= norm;
        }
    }
    rows
}

/// Hashes of the distinct n-grams of a text, ascending.
fn hashes(text: &str, n: usize) -> Vec<u64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let padded: Vec<char> = format!(" {} ", words.join(" ").to_lowercase()).chars().collect();
    let mut hashes: Vec<u64> = padded.windows(n).map(hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

fn hash(gram: &[char]) -> u64 {
    let mut utf8 = [0; 4];
    mix(gram.iter().fold(FNV_OFFSET, |hash, character| fnv_1a(hash, character.encode_utf8(&mut utf8).as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosines(texts: &[&str], n: usize) -> Array2<f64> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let rows = vectors(&texts, n, 4096);
        rows.dot(&rows.t())
    }

    #[test]
    fn cosines_are_those_of_weighted_sets_of_ngrams() {
        // " ab ", " abc ", " xyz ": the bigrams are {" a", ab, "b "}, {" a", ab, bc, "c "}, {" x", xy, yz, "z "}
        let seen = cosines(&["ab", "abc", "xyz"], 2);
        let weight = |frequency: f64| (1.0 + 3.0 / frequency).ln();
        let (shared, own) = (weight(2.0), weight(1.0));
        let first = (2.0 * shared * shared + own * own).sqrt();
        let second = (2.0 * shared * shared + 2.0 * own * own).sqrt();
        assert!((seen[[0, 1]] - 2.0 * shared * shared / (first * second)).abs() < 1e-12);
        assert_eq!(seen[[0, 2]], 0.0);
        assert!((0..3).all(|i| (seen[[i, i]] - 1.0).abs() < 1e-12));
    }
}
