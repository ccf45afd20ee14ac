//! Which items to buy columns of.
//!
//! Landmark sets are nested: the set of size s is the first s of one order, so rank 50 is a prefix of rank 100 and a
//! rank sweep costs its largest rank.

use rand::seq::SliceRandom;

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
