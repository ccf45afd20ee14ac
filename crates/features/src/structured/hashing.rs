//! Hashing to bits: one bit a projection, 1 where A D₁HD₀ x ≥ 0. The part of differing bits estimates θ/π (paper, §2.1,
//! example 2), by exclusive or and population count of 64 bits at a time.
//!
//! Cost of a pair: m/64 words. Memory: m/8 bytes an item.

use std::f64::consts::PI;

use multiversion::multiversion;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::{SphericalKernel, StructuredError, StructuredFeatures, ValidStructuredFeatures};

/// Turns items into bits.
#[derive(Debug, Clone)]
pub struct SignHasher {
    features: StructuredFeatures,
}

/// Bits of many items, 64 a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashes {
    bits: usize,
    /// items × ⌈bits/64⌉; the last word is filled up with zeros.
    words: Array2<u64>,
}

impl SignHasher {
    /// For items of `cols` numbers; the kernel of the parameters has to be `sign`.
    ///
    /// # Errors
    /// Another kernel, or what [`ValidStructuredFeatures::draw`] refuses.
    pub fn draw(valid: &ValidStructuredFeatures, cols: usize) -> Result<Self, StructuredError> {
        let kernel = valid.params().kernel;
        if kernel != SphericalKernel::Sign {
            let wanted = "`sign`, whose features are bits";
            return Err(StructuredError::Parameter {
                owner: "sign_hasher",
                parameter: "kernel",
                value: kernel.id().to_owned(),
                wanted,
            });
        }
        Ok(Self { features: valid.draw(cols)? })
    }

    /// The bits of each item.
    ///
    /// # Errors
    /// Items of another length, NaN or infinities. A zero vector hashes to ones, as f(0) = 1.
    pub fn hash(&self, items: ArrayView2<'_, f64>) -> Result<Hashes, StructuredError> {
        let projections = self.features.projections(items)?;
        let bits = projections.ncols();
        let mut words = Array2::zeros((items.nrows(), bits.div_ceil(64)));
        projections.outer_iter().into_par_iter().zip(words.outer_iter_mut().into_par_iter()).for_each(
            |(projections, mut words)| {
                for (k, &t) in projections.iter().enumerate() {
                    words[k / 64] |= u64::from(t >= 0.0) << (k % 64);
                }
            },
        );
        Ok(Hashes { bits, words })
    }
}

impl Hashes {
    /// Number of items.
    pub fn len(&self) -> usize {
        self.words.nrows()
    }

    /// True where there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// m.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The words of all items: items × ⌈m/64⌉, bit k in word k/64 at place k mod 64.
    pub fn words(&self) -> ArrayView2<'_, u64> {
        self.words.view()
    }

    /// Differing bits of items i and j.
    ///
    /// # Panics
    /// When there is no such item.
    pub fn hamming(&self, i: usize, j: usize) -> u64 {
        match (self.words.row(i).as_slice(), self.words.row(j).as_slice()) {
            (Some(a), Some(b)) => differing_bits(a, b),
            _ => self.words.row(i).iter().zip(self.words.row(j)).map(|(a, b)| u64::from((a ^ b).count_ones())).sum(),
        }
    }

    /// Estimated angle of items i and j: π · differing part.
    ///
    /// # Panics
    /// When there is no such item.
    pub fn angle(&self, i: usize, j: usize) -> f64 {
        PI * self.hamming(i, j) as f64 / self.bits as f64
    }

    /// Differing bits of every item here with every item of `other`, rows in parallel.
    ///
    /// # Errors
    /// Hashes of another number of bits.
    pub fn hamming_block(&self, other: &Self) -> Result<Array2<u64>, StructuredError> {
        super::error::require_length("a hash", other.bits, self.bits)?;
        let mut block = Array2::zeros((self.len(), other.len()));
        let width = self.words.ncols();
        let (ours, theirs) = (self.words.as_standard_layout(), other.words.as_standard_layout());
        if let (Some(ours), Some(theirs), Some(block)) = (ours.as_slice(), theirs.as_slice(), block.as_slice_mut()) {
            block.par_chunks_mut(other.len().max(1)).zip(ours.par_chunks_exact(width)).for_each(|(out, word)| {
                differing_bits_of_rows(word, theirs, out);
            });
        }
        Ok(block)
    }
}

/// One item against many, `rows` holding theirs one after the other.
#[multiversion(targets("x86_64+avx2+popcnt"))]
fn differing_bits_of_rows(item: &[u64], rows: &[u64], out: &mut [u64]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(item.len())) {
        *out = differing_bits(item, row);
    }
}

#[inline(always)]
fn differing_bits(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(a, b)| u64::from((a ^ b).count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::structured::{Family, StructuredFeaturesParams};

    fn hasher(features: usize, cols: usize) -> SignHasher {
        let params = StructuredFeaturesParams {
            kernel: SphericalKernel::Sign,
            family: Family::Toeplitz,
            features,
            ..StructuredFeaturesParams::default()
        };
        SignHasher::draw(&params.check().unwrap(), cols).unwrap()
    }

    #[test]
    fn hamming_distance_is_that_of_the_sign_features_and_near_the_angle() {
        let items = array![[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.2, -3.0, 1.0]];
        let hasher = hasher(1000, 3);
        let (hashes, signs) = (hasher.hash(items.view()).unwrap(), hasher.features.features(items.view()).unwrap());
        assert_eq!((hashes.len(), hashes.bits(), hashes.words().dim()), (5, 1000, (5, 16)));
        let block = hashes.hamming_block(&hashes).unwrap();
        for i in 0..5 {
            for j in 0..5 {
                let differing = signs.row(i).iter().zip(signs.row(j)).filter(|(a, b)| a != b).count();
                assert_eq!(hashes.hamming(i, j), differing as u64);
                assert_eq!(block[[i, j]], differing as u64);
            }
        }
        // six standard errors of 1,000 coin throws
        assert!((hashes.angle(0, 1) - PI / 4.0).abs() < 6.0 * PI * (0.25 * 0.75 / 1000.0_f64).sqrt());
        assert_eq!(hashes.angle(0, 2), PI);
        assert_eq!(hashes.words()[[3, 0]], u64::MAX, "a zero vector is on the border, which counts as 1");
    }

    #[test]
    fn only_sign_features_are_bits_and_only_equal_lengths_compare() {
        let valid = StructuredFeaturesParams::default().check().unwrap();
        assert_eq!(
            SignHasher::draw(&valid, 3).unwrap_err().to_string(),
            "`sign_hasher`: `kernel` is gaussian, but must be `sign`, whose features are bits"
        );
        let hash = |features| hasher(features, 2).hash(array![[1.0, 2.0]].view()).unwrap();
        assert!(hash(64).hamming_block(&hash(65)).is_err());
        let empty = hasher(64, 2).hash(Array2::zeros((0, 2)).view()).unwrap();
        assert!(empty.is_empty());
        assert_eq!(hash(64).hamming_block(&empty).unwrap().dim(), (1, 0));
    }
}
