//! Random signs, a bit each: the diagonal matrices D of rotations, Fastfood and HD₃HD₂HD₁.

use landmark_core::stream::Rng;
use rand::Rng as _;

/// +1 or −1, each with probability ½.
pub(super) fn sign(rng: &mut Rng) -> f64 {
    if rng.r#gen::<bool>() { 1.0 } else { -1.0 }
}

/// The sign bits of four numbers, by four bits: compilers make registers of these, but not of shifts by 0 to 63.
const MASKS: [[u64; 4]; 16] = {
    let mut masks = [[0; 4]; 16];
    let mut i = 0;
    while i < 64 {
        masks[i / 4][i % 4] = ((i as u64 / 4) >> (i % 4)) << 63;
        i += 1;
    }
    masks
};

#[derive(Debug, Clone)]
pub(super) struct Signs {
    len: usize,
    /// 64 signs each, the first in the lowest bit; 1 is −1.
    words: Vec<u64>,
}

impl Signs {
    /// `n` times +1 or −1, each with probability ½.
    pub(super) fn draw(rng: &mut Rng, n: usize) -> Self {
        (0..n).map(|_| sign(rng)).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.words.as_slice())
    }

    /// +1 or −1.
    pub(super) fn get(&self, i: usize) -> f64 {
        if self.words[i / 64] >> (i % 64) & 1 == 0 { 1.0 } else { -1.0 }
    }

    /// data ← D data, for the first numbers of the diagonal if `data` is shorter.
    pub(super) fn flip(&self, data: &mut [f64]) {
        for (chunk, &word) in data.chunks_mut(64).zip(&self.words) {
            let (fours, rest) = chunk.as_chunks_mut::<4>();
            let mut word = word;
            for four in fours {
                for (value, mask) in four.iter_mut().zip(MASKS[(word & 15) as usize]) {
                    *value = f64::from_bits(value.to_bits() ^ mask);
                }
                word >>= 4;
            }
            for (value, mask) in rest.iter_mut().zip(MASKS[(word & 15) as usize]) {
                *value = f64::from_bits(value.to_bits() ^ mask);
            }
        }
    }
}

/// −1 of negative numbers, else +1.
impl FromIterator<f64> for Signs {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        let (mut len, mut words) = (0, Vec::new());
        for number in numbers {
            if len % 64 == 0 {
                words.push(0);
            }
            words[len / 64] |= u64::from(number < 0.0) << (len % 64);
            len += 1;
        }
        Self { len, words }
    }
}
