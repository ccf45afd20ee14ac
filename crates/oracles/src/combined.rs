//! Kernels made of kernels: sums, normalization, Gaussians, and kernels over examples that share items.
//!
//! | kernel | formula |
//! |---|---|
//! | [`WeightedSum`] | Σ w_p k_p(x, y) |
//! | [`Normalized`] | k(x, y) / √(k(x, x) k(y, y)) |
//! | [`Rbf`] | exp(−γ (k(x, x) + k(y, y) − 2 k(x, y))) |
//! | [`OnItems`] | k(item of x, item of y) |
//! | [`SparseVectors`] | ⟨x, y⟩ of sparse vectors; dense ones are `EmbeddingProxy::dot` of the core |
//!
//! Sums of positive semi-definite kernels with weights ≥ 0, and everything else here, stay positive
//! semi-definite (Shawe-Taylor & Cristianini 2004, chapter 3). Each is an [`Oracle`]; one pair counts as one evaluation,
//! whatever it is made of. [`Normalized`] and [`Rbf`] evaluate the n self-similarities when they are made, so that a pair costs
//! one call. Room: a few numbers a pair of a call, nothing per pair beyond that.

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, check_finite, check_pairs};
use landmark_core::parameter::BadParameter;

mod diagonal;
mod pairs;
mod sparse;

pub use diagonal::{Normalized, Rbf};
pub use pairs::OnItems;
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
    Lengths { part: usize, len: usize, first: usize },
    #[error("example {example} names item {item}, but the kernel is over {len} items (0 to {})", .len.saturating_sub(1))]
    NoSuchItem { example: usize, item: usize, len: usize },
    #[error(
        "item {item} has the self-similarity {value}; a kernel's is 0 or above. Use a positive semi-definite one here"
    )]
    NegativeSelf { item: usize, value: f64 },
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

/// Σ w_p k_p(x, y).
pub struct WeightedSum {
    parts: Vec<(f64, BoxedOracle)>,
    len: usize,
}

impl WeightedSum {
    /// Of these kernels with these weights.
    ///
    /// # Errors
    /// No part, parts over different items, a weight that is not finite.
    pub fn new(parts: Vec<(f64, BoxedOracle)>) -> Result<Self, CombineError> {
        let len = common_len(parts.iter().map(|(_, part)| part))?;
        for &(weight, _) in &parts {
            parameter("weight", weight, weight.is_finite(), "a finite number")?;
        }
        Ok(Self { parts, len })
    }
}

impl Oracle for WeightedSum {
    fn shape(&self) -> OracleShape {
        OracleShape {
            known_diagonal: self.parts.iter().map(|(weight, part)| Some(weight * part.known_diagonal()?)).sum(),
            calls_at_once: self.parts.iter().map(|(_, part)| part.calls_at_once()).max().unwrap_or(1),
            ..OracleShape::new(self.len, symmetry_of(self.parts.iter().map(|(_, part)| part)))
        }
    }

    fn identity(&self) -> Identity {
        let parts: Vec<_> = self.parts.iter().map(|(w, part)| (w.to_le_bytes(), part.identity())).collect();
        let mut labelled: Vec<(&str, &[u8])> = vec![("kind", b"weighted_sum")];
        for (weight, identity) in &parts {
            labelled.extend([("weight", &weight[..]), ("part", identity.as_bytes())]);
        }
        Identity::of(&labelled)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len, pairs, out.len())?;
        out.fill(0.0);
        let mut scores = vec![0.0; pairs.len()];
        for (weight, part) in &self.parts {
            part.evaluate(pairs, &mut scores)?;
            check_finite(pairs, &scores)?;
            out.iter_mut().zip(&scores).for_each(|(out, score)| *out += weight * score);
        }
        Ok(())
    }
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
