//! Kernels made of kernels: sums, products, normalisation, powers, Gaussians, and kernels over pairs of items.
//!
//! | kernel | formula |
//! |---|---|
//! | [`WeightedSum`] | Σ w_p k_p(x, y) |
//! | [`Product`] | Π k_p(x, y) |
//! | [`Normalised`] | k(x, y) / √(k(x, x) k(y, y)) |
//! | [`Polynomial`] | (a k(x, y) + c)^d |
//! | [`Rbf`] | exp(−γ (k(x, x) + k(y, y) − 2 k(x, y))) |
//! | [`OnItems`] | k(item of x, item of y) |
//! | [`SymmetricPairs`] | k(x₁, y₁) k(x₂, y₂) + k(x₁, y₂) k(x₂, y₁) |
//! | [`SparseVectors`] | ⟨x, y⟩ of sparse vectors; dense ones are `EmbeddingProxy::dot` of the core |
//!
//! Sums and products of positive semi-definite kernels with weights ≥ 0, and everything else here, stay positive
//! semi-definite (Shawe-Taylor & Cristianini 2004, chapter 3). Each is an [`Oracle`]; one pair counts as one evaluation,
//! whatever it is made of. [`Normalised`] and [`Rbf`] evaluate the n self-similarities when they are made, so that a pair costs
//! one call. Room: a few numbers a pair of a call, nothing per pair beyond that.

use landmark_core::oracle::{Oracle, OracleError, Pair, Symmetry};
use landmark_core::parameter::BadParameter;

mod arithmetic;
mod diagonal;
mod pairs;
mod sparse;

pub use arithmetic::{Polynomial, Product, WeightedSum};
pub use diagonal::{Normalised, Rbf};
pub use pairs::{OnItems, SymmetricPairs};
pub use sparse::SparseVectors;

/// A kernel that can be a part of another.
pub type BoxedOracle = Box<dyn Oracle>;

/// Why kernels can't be combined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CombineError {
    #[error("a combined kernel needs at least one part")]
    NoPart,
    #[error(
        "part {part} of a combined kernel is over {len} items, the first over {first}; build all over the same items"
    )]
    Lengths {
        /// Number of the part, from 0.
        part: usize,
        len: usize,
        first: usize,
    },
    #[error("example {example} names item {item}, but the kernel is over {len} items (0 to {})", .len.saturating_sub(1))]
    NoSuchItem {
        /// The example, from 0.
        example: usize,
        item: usize,
        len: usize,
    },
    #[error(
        "item {item} has the self-similarity {value}; a kernel's is 0 or above. Use a positive semi-definite one here"
    )]
    NegativeSelf { item: usize, value: f64 },
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

fn symmetry_of<'a>(parts: impl Iterator<Item = &'a BoxedOracle>) -> Symmetry {
    let mut parts = parts;
    if parts.all(|part| part.symmetry() == Symmetry::Symmetric) { Symmetry::Symmetric } else { Symmetry::Asymmetric }
}

/// At least one part, all over the same items; answers how many those are.
fn common_len<'a>(parts: impl Iterator<Item = &'a BoxedOracle>) -> Result<usize, CombineError> {
    let mut first = None;
    for (part, oracle) in parts.enumerate() {
        let len = oracle.len();
        if *first.get_or_insert(len) != len {
            return Err(CombineError::Lengths { part, len, first: first.unwrap_or(len) });
        }
    }
    first.ok_or(CombineError::NoPart)
}

/// k(i, i) of every item, known or evaluated.
fn self_similarities<O: Oracle + ?Sized>(oracle: &O) -> Result<Vec<f64>, CombineError> {
    let mut values = vec![0.0; oracle.len()];
    match oracle.known_diagonal() {
        Some(value) => values.fill(value),
        None => {
            let pairs: Vec<Pair> = (0..oracle.len()).map(|i| (i, i)).collect();
            oracle.evaluate(&pairs, &mut values)?;
        }
    }
    // a NaN is refused here too
    match values.iter().position(|&value| !(value >= 0.0 && value.is_finite())) {
        Some(item) => Err(CombineError::NegativeSelf { item, value: values[item] }),
        None => Ok(values),
    }
}

fn parameter(parameter: &'static str, value: f64, good: bool, wanted: &'static str) -> Result<(), CombineError> {
    if good { Ok(()) } else { Err(OracleError::from(BadParameter::new(parameter, value, wanted)).into()) }
}

#[cfg(test)]
mod tests;
