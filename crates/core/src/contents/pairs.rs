//! Pairs of items by their content, without looking at all n²/2 of them.
//!
//! Of all pairs those are candidates whose items' hashes add up, modulo 2⁶⁴, to less than a threshold; they are found in the sorted hashes.
//! The candidates with the smallest hash of the pair are drawn. Up to a million pairs all are candidates. Above, the hashes of two items add
//! up to a uniform number, and those of two pairs to independent ones, so that every pair is as likely as any other, and so is every two of
//! them. Neither rule depends on places, and both thresholds move only as far as the number of pairs does.

use rand::Rng as _;

use super::{Contents, Hashes};
use crate::stream::Rng;

const FEWEST_CANDIDATES: usize = 1 << 20;
const CANDIDATES_EACH: usize = 16;

impl Contents {
    /// `count` distinct pairs of two of the items `among`, or all of them, uniformly, each in an order drawn by a coin. The smaller count is
    /// a prefix of the larger, up to 65,536. O(n log n + count), and a million pairs.
    pub fn draw_pairs(&self, among: &[usize], count: usize, rng: &mut Rng) -> Vec<(usize, usize)> {
        let (hashes, salt) = (self.hashes(rng), rng.r#gen::<u64>());
        let mut sorted: Vec<(u64, usize)> = among.iter().map(|&item| (hashes[item].low, item)).collect();
        sorted.sort_unstable();
        let u = among.len() as u128;
        let all = u * u.saturating_sub(1) / 2;
        let mut wanted = FEWEST_CANDIDATES.max(count.saturating_mul(CANDIDATES_EACH)) as u128;
        let mut found = loop {
            // sums below it are candidates; `None` for all of them
            let threshold = (wanted < all).then(|| u64::try_from((wanted << 64) / all).unwrap_or(u64::MAX));
            let found = candidates(&sorted, threshold, &hashes, salt);
            if threshold.is_none() || found.len() >= count {
                break found;
            }
            wanted *= 2;
        };
        if found.len() > count && count > 0 {
            found.select_nth_unstable(count - 1);
        }
        found.truncate(count);
        found.sort_unstable();
        found.into_iter().map(|(hash, i, j)| if hash & 1 == 0 { (i, j) } else { (j, i) }).collect()
    }
}

/// Pairs whose sum is below the threshold, each with its hash, the item with the smaller hash of the item first.
fn candidates(
    sorted: &[(u64, usize)],
    threshold: Option<u64>,
    hashes: &[Hashes],
    salt: u64,
) -> Vec<(u64, usize, usize)> {
    let mut found = Vec::new();
    let place = |value: u64| sorted.partition_point(|&(low, _)| low < value);
    for (at, &(low, item)) in sorted.iter().enumerate() {
        let mut take = |from: usize, to: usize| {
            for &(_, other) in sorted.get(from.max(at + 1)..to).unwrap_or_default() {
                found.push(hashed((hashes[item].high, item), (hashes[other].high, other), salt));
            }
        };
        let Some(threshold) = threshold else {
            take(0, sorted.len());
            continue;
        };
        // low + other < threshold, modulo 2⁶⁴
        let from = low.wrapping_neg();
        match from.checked_add(threshold) {
            Some(to) => take(place(from), place(to)),
            None => {
                take(0, place(from.wrapping_add(threshold)));
                take(place(from), sorted.len());
            }
        }
    }
    found
}

fn hashed(one: (u64, usize), other: (u64, usize), salt: u64) -> (u64, usize, usize) {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    let hash = mixed(mixed(first.0 ^ salt).wrapping_add(second.0));
    (hash, first.1, second.1)
}

/// The finalizer of MurmurHash3.
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ bits >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ bits >> 33
}
