//! Landmarks: the items whose columns are evaluated.
//!
//! Landmark sets are nested: the set of size s is the first s of one order, so rank 50 is a prefix of rank 100 and a
//! rank sweep costs its largest rank. Drawing uniformly ([`Landmarks::uniform`]) evaluates nothing and is hard to beat; a
//! [`LandmarkPolicy`] names the alternatives.

use std::collections::HashMap;

use rand::seq::SliceRandom;

use crate::contents::Contents;
use crate::linalg::LinalgError;
use crate::oracle::OracleError;
use crate::parameter::BadParameter;
use crate::stream::Rng;

mod leverage;
mod policy;
mod sequential;
#[cfg(test)]
mod tests;

pub use policy::{LandmarkPolicy, SelectionPlan};

/// A nested order of landmarks, and a second, independent one for the methods that draw twice (skeleton, StaCUR(d)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landmarks {
    len: usize,
    order: Vec<usize>,
    independent: Vec<usize>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LandmarkError {
    #[error("landmark {place} is item {item}, but there are {len} items, numbered from 0; remove it")]
    OutOfRange { place: usize, item: usize, len: usize },
    #[error("item {item} is landmark {first} and again landmark {second}; remove one of them")]
    Repeated { item: usize, first: usize, second: usize },
    #[error("{size} landmarks are impossible: {available} can be had; ask for at least 1 and at most that many")]
    Size { size: usize, available: usize },
    #[error(
        "landmark policy `{policy}` needs a symmetric score, and the order of a pair matters to this one: symmetrize it first"
    )]
    Asymmetric { policy: &'static str },
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    #[error(transparent)]
    Oracle(#[from] OracleError),
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

impl Landmarks {
    /// Uniform without replacement: two independent permutations of the n items. Evaluates nothing.
    pub fn uniform(len: usize, rng: &mut Rng) -> Self {
        let order = permutation(len, rng);
        let independent = permutation(len, rng);
        Self { len, order, independent }
    }

    /// Uniform by the contents of the items, so that a list which gains, loses or reorders items keeps nearly all of its landmarks. Equal items
    /// stand behind all different ones. Evaluates nothing.
    pub fn by_content(contents: &Contents, rng: &mut Rng) -> Self {
        let order = contents.order(rng);
        let independent = contents.order(rng);
        Self { len: contents.len(), order, independent }
    }

    /// [`by_content`](Self::by_content) where the contents of the items are known, and [`uniform`](Self::uniform), by place, where not.
    pub fn drawn(len: usize, contents: Option<&Contents>, rng: &mut Rng) -> Self {
        match contents {
            Some(contents) => Self::by_content(contents, rng),
            None => Self::uniform(len, rng),
        }
    }

    /// These, in this order; the independent order is a uniform permutation of all items.
    ///
    /// # Errors
    /// [`LandmarkError::OutOfRange`] and [`LandmarkError::Repeated`] for the first item in the list that is wrong,
    /// [`LandmarkError::Size`] for an empty list.
    pub fn given(len: usize, order: &[usize], rng: &mut Rng) -> Result<Self, LandmarkError> {
        check_order(len, order)?;
        if order.is_empty() {
            return Err(LandmarkError::Size { size: 0, available: len });
        }
        Ok(Self { len, order: order.to_vec(), independent: permutation(len, rng) })
    }

    /// Two orders, each of distinct items below `len`.
    pub fn new(len: usize, order: Vec<usize>, independent: Vec<usize>) -> Result<Self, LandmarkError> {
        check_order(len, &order)?;
        check_order(len, &independent)?;
        Ok(Self { len, order, independent })
    }

    /// Two orders as they are: distinct items below `len` each.
    pub(crate) fn from_orders(len: usize, order: Vec<usize>, independent: Vec<usize>) -> Self {
        Self { len, order, independent }
    }

    /// Number of items n that were drawn from.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn order(&self) -> &[usize] {
        &self.order
    }

    pub fn independent(&self) -> &[usize] {
        &self.independent
    }

    /// The landmarks of rank `size`.
    pub fn prefix(&self, size: usize) -> Result<&[usize], LandmarkError> {
        let landmarks = self.order.get(..size).filter(|landmarks| !landmarks.is_empty());
        landmarks.ok_or(LandmarkError::Size { size, available: self.order.len() })
    }
}

fn permutation(len: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.shuffle(rng);
    order
}

fn check_order(len: usize, order: &[usize]) -> Result<(), LandmarkError> {
    let mut place_of = HashMap::with_capacity(order.len());
    for (place, &item) in order.iter().enumerate() {
        if item >= len {
            return Err(LandmarkError::OutOfRange { place, item, len });
        }
        if let Some(first) = place_of.insert(item, place) {
            return Err(LandmarkError::Repeated { item, first, second: place });
        }
    }
    Ok(())
}
