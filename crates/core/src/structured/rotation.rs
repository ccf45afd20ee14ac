//! The preprocessing D₁HD₀ of the paper (§2.3, step 1): random signs, the normalised Hadamard matrix, random signs.
//!
//! A random rotation of the N dimensions, N the power of two ≥ n: inner products are kept, mass is spread over all
//! coordinates, so that no item lies badly to the structure of A. Items are padded with zeros.
//!
//! Cost of a row: N log₂ N additions, 2N multiplications; 2N numbers.

use super::StructuredError;
use super::error::{require_length, require_some};
use super::gaussian::signs;
use super::transforms::{hadamard_on_one_thread, padded_length};
use crate::stream::Rng;

/// D₁HD₀ for items of n numbers.
#[derive(Debug, Clone)]
pub struct Rotation {
    cols: usize,
    /// D₀, the first n of N.
    before: Vec<f64>,
    /// D₁/√N.
    after: Vec<f64>,
}

impl Rotation {
    /// Random signs.
    ///
    /// # Errors
    /// n = 0.
    pub fn draw(cols: usize, rng: &mut Rng) -> Result<Self, StructuredError> {
        require_some("the number of columns (input dimensions)", cols)?;
        let n = padded_length(cols);
        let before = signs(rng, n);
        Self::from_signs(&before[..cols], &signs(rng, n))
    }

    /// Given D₀ (n signs) and D₁ (N signs).
    ///
    /// # Errors
    /// No sign, or a D₁ that does not have the next power of two.
    pub fn from_signs(before: &[f64], after: &[f64]) -> Result<Self, StructuredError> {
        require_some("the number of columns (input dimensions)", before.len())?;
        require_length("the second list of signs", after.len(), padded_length(before.len()))?;
        let factor = 1.0 / (after.len() as f64).sqrt();
        let after = after.iter().map(|sign| sign * factor).collect();
        Ok(Self { cols: before.len(), before: before.to_vec(), after })
    }

    /// n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// N.
    pub fn rows(&self) -> usize {
        self.after.len()
    }

    /// Numbers kept.
    pub fn stored(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// `out` (length N) = D₁HD₀ x (length n).
    ///
    /// # Panics
    /// When the lengths do not fit.
    pub fn apply_row(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!((x.len(), out.len()), (self.cols, self.rows()), "a rotation of an item that does not fit");
        let (head, tail) = out.split_at_mut(self.cols);
        head.iter_mut().zip(x).zip(&self.before).for_each(|((out, x), sign)| *out = x * sign);
        tail.fill(0.0);
        hadamard_on_one_thread(out);
        out.iter_mut().zip(&self.after).for_each(|(out, sign)| *out *= sign);
    }
}
