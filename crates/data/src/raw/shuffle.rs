//! The permutation that Python's `random.Random(seed).shuffle` makes: the splits of corpora that have none of their own were drawn by it.
//!
//! Mersenne Twister MT19937 (Matsumoto & Nishimura 1998), seeded by `init_by_array` as CPython does, and Fisher–Yates from the
//! end with draws below k of ⌈log₂(k + 1)⌉ bits that are repeated until they fit.

use rand_mt::Mt;

/// A number below `bound`, at least 1 and at most 2³².
fn below(twister: &mut Mt, bound: usize) -> usize {
    let bits = usize::BITS - bound.leading_zeros();
    loop {
        let drawn = (twister.next_u32() >> (32 - bits)) as usize;
        if drawn < bound {
            return drawn;
        }
    }
}

const SEED: u32 = 2019;

/// For each of n items whether it is to be trained on: ⌊0.7 n⌋ of them, the first of the shuffled ones.
pub(super) fn trains(n: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut twister = Mt::new_with_key([SEED]);
    for k in (1..n).rev() {
        order.swap(k, below(&mut twister, k + 1));
    }
    let mut trains = vec![false; n];
    for &item in &order[..n * 7 / 10] {
        trains[item] = true;
    }
    trains
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_split_is_that_of_python() {
        // order = list(range(20)); random.Random(2019).shuffle(order); sorted(order[:14])
        let chosen: Vec<usize> = trains(20).iter().enumerate().filter(|(_, trains)| **trains).map(|(k, _)| k).collect();
        assert_eq!(chosen, [0, 1, 2, 3, 6, 8, 9, 11, 12, 13, 14, 16, 17, 19]);
        assert_eq!(trains(3115).iter().filter(|&&trains| trains).count(), 2180);
        assert!(trains(0).is_empty());
    }
}
