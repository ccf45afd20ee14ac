//! Which items to buy columns of.
//!
//! Landmark sets are nested: the set of size s is the first s of one order, so rank 50 is a prefix of rank 100 and a
//! rank sweep costs its largest rank.

use rand::seq::SliceRandom;

use crate::approximate::ApproximateError;
use crate::oracle::OracleError;
use crate::stream::Rng;

/// A nested order of landmarks, and a second, independent one for the methods that draw twice (skeleton, StaCUR(d)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landmarks {
    len: usize,
    order: Vec<usize>,
    independent: Vec<usize>,
}

impl Landmarks {
    /// Uniform without replacement: two independent permutations of the n items. Buys nothing.
    pub fn uniform(len: usize, rng: &mut Rng) -> Self {
        let mut order: Vec<usize> = (0..len).collect();
        order.shuffle(rng);
        let mut independent: Vec<usize> = (0..len).collect();
        independent.shuffle(rng);
        Self { len, order, independent }
    }

    /// Two orders as they are: distinct items below `len` each.
    pub(crate) fn from_orders(len: usize, order: Vec<usize>, independent: Vec<usize>) -> Self {
        Self { len, order, independent }
    }

    /// The landmarks a user lists, most important first, and an independent order of all items. Buys nothing.
    ///
    /// # Errors
    /// An item that is not there, or is listed twice.
    pub fn given(len: usize, indices: &[usize], rng: &mut Rng) -> Result<Self, ApproximateError> {
        let mut is_listed = vec![false; len];
        for &index in indices {
            match is_listed.get_mut(index) {
                None => return Err(OracleError::OutOfRange { index, len }.into()),
                Some(listed) if *listed => return Err(ApproximateError::RepeatedLandmark { index }),
                Some(listed) => *listed = true,
            }
        }
        let mut independent: Vec<usize> = (0..len).collect();
        independent.shuffle(rng);
        Ok(Self { len, order: indices.to_vec(), independent })
    }

    /// Number of items n that were drawn from.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing to draw from.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The nested order, most important first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The independent order.
    pub fn independent(&self) -> &[usize] {
        &self.independent
    }
}
