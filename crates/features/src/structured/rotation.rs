//! The preprocessing D₁HD₀ of the paper (§2.3, step 1): random signs, the normalized Hadamard matrix, random signs.
//!
//! A random rotation of the N dimensions, N the power of two ≥ n: inner products are kept, mass is spread over all
//! coordinates, so that no item lies badly to the structure of A. Items are padded with zeros.
//!
//! Cost of a row: N log₂ N additions, N multiplications; 2N bits.

use super::StructuredError;
use super::error::{require_length, require_some};
use super::signs::Signs;
use super::transforms::{hadamard, padded_length};
use landmark_core::stream::Rng;

/// D₁HD₀ for items of n numbers.
#[derive(Debug, Clone)]
pub struct Rotation {
    cols: usize,
    /// D₀, of which an item needs the first n of N.
    before: Signs,
    after: Signs,
}

impl Rotation {
    /// Random signs.
    pub fn draw(cols: usize, rng: &mut Rng) -> Result<Self, StructuredError> {
        require_some("the number of columns (input dimensions)", cols)?;
        let n = padded_length(cols);
        Ok(Self { cols, before: Signs::draw(rng, n), after: Signs::draw(rng, n) })
    }

    /// Given D₀ (n signs) and D₁ (N signs): −1 where a number is negative, else +1.
    ///
    /// # Errors
    /// No sign, or a D₁ that does not have the next power of two.
    pub fn from_signs(before: &[f64], after: &[f64]) -> Result<Self, StructuredError> {
        require_some("the number of columns (input dimensions)", before.len())?;
        require_length("the second list of signs", after.len(), padded_length(before.len()))?;
        Ok(Self {
            cols: before.len(),
            before: before.iter().copied().collect(),
            after: after.iter().copied().collect(),
        })
    }

    /// n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// N.
    pub fn rows(&self) -> usize {
        self.after.len()
    }

    pub fn bytes(&self) -> usize {
        self.before.bytes() + self.after.bytes()
    }

    /// `out` (length N) = D₁HD₀ x (length n).
    pub fn apply_row(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!((x.len(), out.len()), (self.cols, self.rows()), "a rotation of an item that does not fit");
        let (head, tail) = out.split_at_mut(self.cols);
        head.copy_from_slice(x);
        self.before.flip(head);
        tail.fill(0.0);
        hadamard(out);
        let factor = 1.0 / (out.len() as f64).sqrt();
        out.iter_mut().for_each(|value| *value *= factor);
        self.after.flip(out);
    }
}
