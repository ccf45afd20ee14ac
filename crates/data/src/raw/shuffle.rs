//! The permutation that Python's `random.Random(seed).shuffle` makes: the splits of corpora that have none of their own were drawn by it.
//!
//! Mersenne Twister MT19937 (Matsumoto & Nishimura 1998), seeded by `init_by_array` as CPython does, and Fisher–Yates from the
//! end with draws below k of ⌈log₂(k + 1)⌉ bits that are repeated until they fit.

const SIZE: usize = 624;
const SHIFT: usize = 397;

struct MersenneTwister {
    state: [u32; SIZE],
    next: usize,
}

impl MersenneTwister {
    /// `init_by_array` of the one word `seed`.
    fn new(seed: u32) -> Self {
        let mut state = [19_650_218_u32; SIZE];
        for k in 1..SIZE {
            state[k] = mixed(state[k - 1], 1_812_433_253).wrapping_add(low(k));
        }
        let mut k = 1;
        let mut step = |state: &mut [u32; SIZE], factor: u32, add: &dyn Fn(usize) -> u32| {
            state[k] = (state[k] ^ mixed(state[k - 1], factor)).wrapping_add(add(k));
            k += 1;
            if k == SIZE {
                state[0] = state[SIZE - 1];
                k = 1;
            }
        };
        for _ in 0..SIZE {
            step(&mut state, 1_664_525, &|_| seed);
        }
        for _ in 0..SIZE - 1 {
            step(&mut state, 1_566_083_941, &|k| 0_u32.wrapping_sub(low(k)));
        }
        state[0] = 0x8000_0000;
        Self { state, next: SIZE }
    }

    fn draw(&mut self) -> u32 {
        if self.next == SIZE {
            for k in 0..SIZE {
                let joined = (self.state[k] & 0x8000_0000) | (self.state[(k + 1) % SIZE] & 0x7fff_ffff);
                let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[k] = self.state[(k + SHIFT) % SIZE] ^ (joined >> 1) ^ odd;
            }
            self.next = 0;
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// A number below `bound`, at least 1 and at most 2³².
    fn below(&mut self, bound: usize) -> usize {
        let bits = usize::BITS - bound.leading_zeros();
        loop {
            let drawn = (self.draw() >> (32 - bits)) as usize;
            if drawn < bound {
                return drawn;
            }
        }
    }
}

fn mixed(word: u32, factor: u32) -> u32 {
    (word ^ (word >> 30)).wrapping_mul(factor)
}

/// An index of the state as a word; it is below 624.
fn low(k: usize) -> u32 {
    u32::try_from(k).unwrap_or(u32::MAX)
}

/// The seed of every split that is ours.
const SEED: u32 = 2019;

/// For each of n items whether it is to be trained on: ⌊0.7 n⌋ of them, the first of the shuffled ones.
pub(super) fn trains(n: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut twister = MersenneTwister::new(SEED);
    for k in (1..n).rev() {
        order.swap(k, twister.below(k + 1));
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
    fn the_draws_are_those_of_python() {
        // [random.Random(2019).getrandbits(32) for the first four], then the 1,000th
        let mut twister = MersenneTwister::new(2019);
        let first: Vec<u32> = (0..4).map(|_| twister.draw()).collect();
        assert_eq!(first, [3_574_711_592, 663_943_663, 3_388_424_520, 1_040_477_272]);
        assert_eq!((4..1000).map(|_| twister.draw()).last(), Some(3_238_272_830));
    }

    #[test]
    fn the_split_is_that_of_python() {
        // order = list(range(20)); random.Random(2019).shuffle(order); sorted(order[:14])
        let chosen: Vec<usize> = trains(20).iter().enumerate().filter(|(_, trains)| **trains).map(|(k, _)| k).collect();
        assert_eq!(chosen, [0, 1, 2, 3, 6, 8, 9, 11, 12, 13, 14, 16, 17, 19]);
        assert_eq!(trains(3115).iter().filter(|&&trains| trains).count(), 2180);
        assert!(trains(0).is_empty());
    }
}
