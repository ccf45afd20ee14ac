//! Similarity over the indices `0..n`, known only by asking.
//!
//! An [`Oracle`] is a function over pairs of indices. Everything else wraps one: counting and budget ([`Metered`]),
//! symmetrizing ([`Symmetrized`]), `exp(−γd)` ([`Kernelized`]), remembering ([`Remembered`]), and, in other crates,
//! storing on disk. No approximator reaches an oracle around the meter.
//!
//! Cost model: an *entry* is one cell of the matrix; an *evaluation* is one call of the similarity function.
//! A symmetric oracle evaluates each unordered pair once, a symmetrized one evaluates both orders, and a
//! self-similarity that is known in advance costs nothing.
//!
//! A score is checked for NaN and infinities once, where it enters: by the first wrapper or reader above the function
//! itself, before anything could hide it: an infinite distance would otherwise become a finite kernel value, exp(−∞) = 0.
//! That is [`ask_pairs`] and [`ask_block`]; a wrapper that evaluates through them sets [`OracleShape::is_checked`], which
//! skips the second check.

use std::fmt;

use std::sync::Arc;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, CowArray, Ix2};
use serde::{Deserialize, Serialize};

use crate::parameter::BadParameter;

mod distinct;
mod distinct_items;
mod embedded;
mod fallible;
mod in_unit;
mod itemless;
mod kernelized;
mod metered;
mod one_order;
mod precomputed;
mod remembered;
mod symmetrized;
mod vector_kernel;

pub use distinct::{DistinctPairs, evaluate_block};
pub use distinct_items::{DistinctItems, among_distinct};
pub use embedded::EmbeddingProxy;
pub use fallible::{Attempt, FailedPair, Fallible, PairErrors, attempt_off_diagonal};
pub use in_unit::InUnit;
pub use itemless::Itemless;
pub use kernelized::{Kernel, Kernelized};
pub use metered::{Budget, Metered, Spent};
pub use one_order::{Coin, MeanOfOrders, OneOrder};
pub use precomputed::{AsymmetryPolicy, Precomputed, select_block, symmetry_tolerance};
pub use remembered::Remembered;
pub use symmetrized::{Symmetrization, Symmetrized};
pub use vector_kernel::{VectorFunction, VectorKernel};

/// An ordered pair of item indices `(i, j)`: row, column.
pub type Pair = (usize, usize);

/// A similarity (or distance) function over the items `0..len()`.
///
/// Only [`shape`](Oracle::shape), [`identity`](Oracle::identity) and [`evaluate`](Oracle::evaluate) must be written; [`block`](Oracle::block) has a default that asks for each
/// distinct pair once and is worth overriding only where a rectangle is cheaper than its pairs (a matrix product).
pub trait Oracle: Send + Sync {
    /// Size, symmetry and cost of a pair. A wrapper starts from the shape of what it wraps and changes what it changes.
    fn shape(&self) -> OracleShape;

    /// A digest of everything that moves a score; two oracles with one identity are interchangeable.
    fn identity(&self) -> Identity;

    /// Number of items n; the matrix is n × n. This and the next six read [`shape`](Oracle::shape) and are not overridden.
    fn len(&self) -> usize {
        self.shape().len
    }

    /// True if there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// See [`OracleShape::symmetry`].
    fn symmetry(&self) -> Symmetry {
        self.shape().symmetry
    }

    /// See [`OracleShape::known_diagonal`].
    fn known_diagonal(&self) -> Option<f64> {
        self.shape().known_diagonal
    }

    /// See [`OracleShape::evaluations_per_pair`].
    fn evaluations_per_pair(&self) -> u64 {
        self.shape().evaluations_per_pair
    }

    /// See [`OracleShape::calls_at_once`].
    fn calls_at_once(&self) -> usize {
        self.shape().calls_at_once
    }

    /// See [`OracleShape::is_checked`].
    fn is_checked(&self) -> bool {
        self.shape().is_checked
    }

    /// Vectors of the items, n × d, if scores are their inner products up to rounding: a kernel matrix is then applied through them.
    fn vectors(&self) -> Option<ArrayView2<'_, f64>> {
        None
    }

    /// Vectors that describe the items, n × d, however scores are made of them: items with similar ones have similar scores with others.
    fn features(&self) -> Option<CowArray<'_, f64, Ix2>> {
        self.vectors().map(CowArray::from)
    }

    /// Itself, where single pairs of it may fail.
    fn fallible(&self) -> Option<&dyn Fallible> {
        None
    }

    /// Scores `out[k] = f(pairs[k])`, batch first: a caller hands over thousands of pairs at once. A pair (i, i) must be
    /// answered without a call where the diagonal is known.
    ///
    /// # Errors
    /// [`OracleError`] naming the pair, the budget or the failure behind it. `out` is then unspecified.
    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError>;

    /// Fills `out` (rows.len() × cols.len()) with `f(rows[a], cols[b])`, evaluating each distinct unordered pair once
    /// where the oracle is symmetric and skipping a known diagonal.
    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        evaluate_block(self, rows, cols, out)
    }
}

macro_rules! forward_to_the_pointee {
    ($($pointer:ty),+) => {$(
        impl<O: Oracle + ?Sized> Oracle for $pointer {
            fn shape(&self) -> OracleShape {
                (**self).shape()
            }

            fn identity(&self) -> Identity {
                (**self).identity()
            }

            fn vectors(&self) -> Option<ArrayView2<'_, f64>> {
                (**self).vectors()
            }

            fn features(&self) -> Option<CowArray<'_, f64, Ix2>> {
                (**self).features()
            }

            fn fallible(&self) -> Option<&dyn Fallible> {
                (**self).fallible()
            }

            fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
                (**self).evaluate(pairs, out)
            }

            fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
                (**self).block(rows, cols, out)
            }
        }
    )+};
}
forward_to_the_pointee!(&O, Arc<O>, Box<O>);

/// Evaluates `f(rows[a], cols[b])` as a new rows.len() × cols.len() matrix, every score checked.
///
/// # Errors
/// An index out of range, a score that is not finite, or whatever the oracle answers.
pub fn block_of<O: Oracle + ?Sized>(oracle: &O, rows: &[usize], cols: &[usize]) -> Result<Array2<f64>, OracleError> {
    check_indices(oracle.len(), rows, cols)?;
    let mut block = Array2::zeros((rows.len(), cols.len()));
    ask_block(oracle, rows, cols, block.view_mut())?;
    Ok(block)
}

/// Calls of a chunk when `calls` are cut for `lanes` lanes into chunks of at most `largest`: as few as possible, as equal as
/// possible, and a whole number of them for every lane where there are enough calls.
///
/// ```
/// use landmark_core::oracle::even_chunk;
/// assert_eq!(even_chunk(140, 2, 256), 70); // one chunk of 140 would leave a lane idle
/// assert_eq!(even_chunk(1100, 4, 256), 138); // two rounds
/// assert_eq!(even_chunk(3, 4, 256), 1);
/// ```
pub fn even_chunk(calls: usize, lanes: usize, largest: usize) -> usize {
    let rounds = calls.div_ceil(lanes.saturating_mul(largest).max(1)).max(1);
    calls.div_ceil(lanes.max(1) * rounds).max(1)
}

/// [`Oracle::evaluate`], its scores checked unless the oracle did so itself.
///
/// # Errors
/// Whatever the oracle answers, and [`OracleError::NotFinite`] for the first score that is not finite.
pub fn ask_pairs<O: Oracle + ?Sized>(oracle: &O, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
    oracle.evaluate(pairs, out)?;
    if oracle.is_checked() { Ok(()) } else { check_finite(pairs, out) }
}

/// [`Oracle::block`], its scores checked unless the oracle did so itself.
pub fn ask_block<O: Oracle + ?Sized>(
    oracle: &O,
    rows: &[usize],
    cols: &[usize],
    mut out: ArrayViewMut2<'_, f64>,
) -> Result<(), OracleError> {
    oracle.block(rows, cols, out.view_mut())?;
    if oracle.is_checked() { Ok(()) } else { check_finite_block(rows, cols, out.view()) }
}

/// Symmetry of a score in the order of its pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Symmetry {
    /// `f(i, j) = f(j, i)`
    Symmetric,
    Asymmetric,
}

/// Size and symmetry of an oracle, and what a pair costs. Pure data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OracleShape {
    /// Number of items n.
    pub len: usize,
    /// Symmetric if `f(i, j) = f(j, i)` by construction: each unordered pair is then evaluated once.
    pub symmetry: Symmetry,
    /// The self-similarity `f(i, i)` if it is the same for all items and known without a call (0 for a distance, 1 for `exp(−γd)`).
    pub known_diagonal: Option<f64>,
    /// Calls of the underlying function that one off-diagonal pair costs (2 for a symmetrized asymmetric score).
    pub evaluations_per_pair: u64,
    /// Number of calls evaluated concurrently, by threads, processes or machines; smaller requests leave some of them idle.
    /// If it is above 1, the oracle takes several requests at a time and fills the end of one with the beginning of the next.
    pub calls_at_once: usize,
    /// True if every score was already checked to be finite.
    pub is_checked: bool,
}

impl OracleShape {
    /// One call per pair, one at a time; no known diagonal, scores unchecked.
    pub fn new(len: usize, symmetry: Symmetry) -> Self {
        Self { len, symmetry, known_diagonal: None, evaluations_per_pair: 1, calls_at_once: 1, is_checked: false }
    }

    /// [`new`](Self::new) for a symmetric function.
    pub fn symmetric(len: usize) -> Self {
        Self::new(len, Symmetry::Symmetric)
    }

    /// Reads the shape off an oracle.
    pub fn of<O: Oracle + ?Sized>(oracle: &O) -> Self {
        oracle.shape()
    }

    /// True if f(i, i) costs nothing.
    pub fn diagonal_known(&self) -> bool {
        self.known_diagonal.is_some()
    }

    /// Function calls behind this many distinct off-diagonal pairs and diagonal entries.
    pub fn evaluations(&self, off_diagonal: u64, diagonal: u64) -> u64 {
        off_diagonal * self.evaluations_per_pair + if self.diagonal_known() { 0 } else { diagonal }
    }
}

const BYTES_TO_HASH: usize = 1 << 16;

/// blake3 digest of everything that moves a score: kind, version, parameters, weights, tokenizer, dtype, item texts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity([u8; 32]);

impl Identity {
    /// Digest of labeled parts; order and labels count, so `[("a", "b")]` and `[("ab", "")]` differ.
    pub fn of(parts: &[(&str, &[u8])]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for (label, bytes) in parts {
            hasher.update(&(label.len() as u64).to_le_bytes());
            hasher.update(label.as_bytes());
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// Digest of the numbers of a matrix, row by row, shape included; nothing is copied.
    pub fn of_values(values: ArrayView2<'_, f64>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(values.nrows() as u64).to_le_bytes());
        hasher.update(&(values.ncols() as u64).to_le_bytes());
        // many numbers at a time: the hash is fast on long inputs only
        let (mut numbers, mut bytes) = (values.iter(), vec![0; BYTES_TO_HASH]);
        while numbers.len() > 0 {
            let mut filled = 0;
            for (place, number) in bytes.chunks_exact_mut(8).zip(numbers.by_ref()) {
                place.copy_from_slice(&number.to_le_bytes());
                filled += 8;
            }
            hasher.update(&bytes[..filled]);
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// An identity that was written down as its raw bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The raw 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 lower-case hexadecimal digits.
    pub fn to_hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    /// The first 12 digits, for people.
    pub fn short(&self) -> String {
        self.to_hex()[..12].to_owned()
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.short())
    }
}

/// Reason why a score could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    #[error(
        "the oracle returned {value} for the pair (i = {i}, j = {j}); a similarity must be finite. Look at these two items, or fix the scorer"
    )]
    NotFinite { i: usize, j: usize, value: f64 },
    #[error(
        "the budget of {budget} evaluations is exhausted: {spent} spent and {requested} more were asked for. Raise the budget, or ask for less: a lower rank, a smaller error estimate"
    )]
    BudgetExhausted { budget: u64, spent: u64, requested: u64 },
    #[error(
        "the time budget of {budget_seconds} s is exhausted after {spent} evaluations. Raise it; what was evaluated is kept"
    )]
    TimeExhausted { budget_seconds: f64, spent: u64 },
    #[error(
        "the budget of {limit} is exhausted: {spent:.4} is spent, and the next request may cost {wanted:.4}. Raise it; what was evaluated is kept"
    )]
    MoneyExhausted { limit: f64, spent: f64, wanted: f64 },
    #[error("index {index} is out of range for an oracle over {len} items")]
    OutOfRange { index: usize, len: usize },
    #[error("{op}: {pairs} pairs but room for {room} scores")]
    ShapeMismatch { op: &'static str, pairs: usize, room: usize },
    #[error(
        "a similarity matrix must be square, but this one is {rows} × {cols}. Hand over one row and one column per item"
    )]
    NotSquare { rows: usize, cols: usize },
    #[error(
        "the matrix is not symmetric: entry (i = {i}, j = {j}) is {forward}, but (j, i) is {backward}. Make it symmetric, or average its two triangles"
    )]
    NotSymmetric { i: usize, j: usize, forward: f64, backward: f64 },
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    #[error("the oracle failed on {what}")]
    Failed {
        what: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl OracleError {
    /// True where a budget of calls, time or money is at its end: what was evaluated is kept.
    pub fn is_exhausted(&self) -> bool {
        matches!(self, Self::BudgetExhausted { .. } | Self::TimeExhausted { .. } | Self::MoneyExhausted { .. })
    }
}

/// Refuses the first score that is not finite, naming its pair.
pub fn check_finite(pairs: &[Pair], scores: &[f64]) -> Result<(), OracleError> {
    match scores.iter().position(|score| !score.is_finite()) {
        None => Ok(()),
        Some(k) => Err(OracleError::NotFinite { i: pairs[k].0, j: pairs[k].1, value: scores[k] }),
    }
}

/// Refuses the first score of a block, in reading order, that is not finite, naming its pair of items.
pub fn check_finite_block(rows: &[usize], cols: &[usize], block: ArrayView2<'_, f64>) -> Result<(), OracleError> {
    // one pass without bookkeeping over the good case, which is nearly every case
    if block.iter().all(|score| score.is_finite()) {
        return Ok(());
    }
    match block.indexed_iter().find(|(_, score)| !score.is_finite()) {
        None => Ok(()),
        Some(((a, b), &value)) => Err(OracleError::NotFinite { i: rows[a], j: cols[b], value }),
    }
}

/// Refuses the first index beyond `len` items.
pub fn check_indices(len: usize, rows: &[usize], cols: &[usize]) -> Result<(), OracleError> {
    match rows.iter().chain(cols).find(|&&index| index >= len) {
        None => Ok(()),
        Some(&index) => Err(OracleError::OutOfRange { index, len }),
    }
}

/// Refuses the first pair beyond `len` items, and an output of another length.
pub fn check_pairs(len: usize, pairs: &[Pair], room: usize) -> Result<(), OracleError> {
    if pairs.len() != room {
        return Err(OracleError::ShapeMismatch { op: "evaluate", pairs: pairs.len(), room });
    }
    match pairs.iter().flat_map(|&(i, j)| [i, j]).find(|&index| index >= len) {
        None => Ok(()),
        Some(index) => Err(OracleError::OutOfRange { index, len }),
    }
}

#[cfg(test)]
pub(crate) mod tests;
