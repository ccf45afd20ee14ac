//! What is being approximated: a similarity over the indices `0..n`, known only by asking.
//!
//! An [`Oracle`] is a function over pairs of indices. Everything else wraps one: counting and budget
//! (`Metered`), symmetrising (`Symmetrized`), `exp(−γd)` (`Kernelized`), remembering (`Remembered`),
//! and, in other crates, storing on disk. No approximator reaches an oracle around the meter.
//!
//! Cost model: an *entry* is one cell of the matrix; an *evaluation* is one call of the similarity function.
//! A symmetric oracle evaluates each unordered pair once, a symmetrised one evaluates both orders, and a
//! self-similarity that is known in advance costs nothing.

use std::fmt;

use ndarray::ArrayViewMut2;
use serde::{Deserialize, Serialize};

mod distinct;
mod precomputed;

pub use distinct::{DistinctPairs, evaluate_block};
pub use precomputed::Precomputed;

/// An ordered pair of item indices `(i, j)`: row, column.
pub type Pair = (usize, usize);

/// A similarity (or distance) function over the items `0..len()`.
///
/// Only [`evaluate`](Oracle::evaluate) must be written; [`block`](Oracle::block) has a default that asks for each
/// distinct pair once and is worth overriding only where a rectangle is cheaper than its pairs (a matrix product).
pub trait Oracle: Send + Sync {
    /// Number of items n; the matrix is n × n.
    fn len(&self) -> usize;

    /// Whether there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `f(i, j) = f(j, i)` by construction.
    fn symmetry(&self) -> Symmetry;

    /// A digest of everything that moves a score; two oracles with one identity are interchangeable.
    fn identity(&self) -> Identity;

    /// The self-similarity `f(i, i)` where it is the same for all items and known without a call
    /// (0 for a distance, 1 for `exp(−γd)`).
    fn known_diagonal(&self) -> Option<f64> {
        None
    }

    /// Calls of the underlying function that one off-diagonal pair costs (2 for a symmetrised asymmetric score).
    fn evaluations_per_pair(&self) -> u64 {
        1
    }

    /// Scores `out[k] = f(pairs[k])`, batch first: a caller hands over thousands of pairs at once.
    ///
    /// # Errors
    /// [`OracleError`] naming the pair, the budget or the failure behind it. `out` is then unspecified.
    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError>;

    /// Fills `out` (rows.len() × cols.len()) with `f(rows[a], cols[b])`, evaluating each distinct unordered pair once
    /// where the oracle is symmetric and skipping a known diagonal.
    ///
    /// # Errors
    /// As [`evaluate`](Oracle::evaluate).
    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        evaluate_block(self, rows, cols, out)
    }
}

/// Whether a score depends on the order of its pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Symmetry {
    /// `f(i, j) = f(j, i)`
    Symmetric,
    /// The order matters.
    Asymmetric,
}

/// What an accounting needs to know of an oracle: size, symmetry and the price of a pair. Pure data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OracleShape {
    /// Number of items n.
    pub len: usize,
    /// Whether each unordered pair is evaluated once.
    pub symmetry: Symmetry,
    /// Whether f(i, i) costs nothing.
    pub diagonal_known: bool,
    /// Function calls of one off-diagonal pair.
    pub evaluations_per_pair: u64,
}

impl OracleShape {
    /// Reads the shape off an oracle.
    pub fn of(oracle: &dyn Oracle) -> Self {
        Self {
            len: oracle.len(),
            symmetry: oracle.symmetry(),
            diagonal_known: oracle.known_diagonal().is_some(),
            evaluations_per_pair: oracle.evaluations_per_pair(),
        }
    }
}

/// blake3 digest of everything that moves a score: kind, version, parameters, weights, tokenizer, dtype, item texts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity([u8; 32]);

impl Identity {
    /// Digest of labelled parts; order and labels count, so `[("a", "b")]` and `[("ab", "")]` differ.
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

/// Why a score could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// NaN or an infinity: no approximator can use it, and it must not reach a store.
    #[error(
        "the oracle returned {value} for the pair (i = {i}, j = {j}); a similarity must be finite. Look at these two items, or fix the scorer"
    )]
    NotFinite {
        /// Row item.
        i: usize,
        /// Column item.
        j: usize,
        /// What came back.
        value: f64,
    },
    /// The hard budget would be passed by this request; nothing of it was evaluated.
    #[error(
        "the budget of {budget} evaluations is exhausted: {spent} spent and {requested} more were asked for. Raise `budget.entries`, or lower the ranks"
    )]
    BudgetExhausted {
        /// The limit.
        budget: u64,
        /// Evaluations made so far.
        spent: u64,
        /// Evaluations of the refused request.
        requested: u64,
    },
    /// The time limit has passed; nothing of this request was evaluated.
    #[error(
        "the time budget of {budget_seconds} s is exhausted after {spent} evaluations. Raise `budget.seconds`; what was bought is kept"
    )]
    TimeExhausted {
        /// The limit in seconds.
        budget_seconds: f64,
        /// Evaluations made so far.
        spent: u64,
    },
    /// An index beyond the items.
    #[error("index {index} is out of range for an oracle over {len} items")]
    OutOfRange {
        /// The index asked for.
        index: usize,
        /// Number of items.
        len: usize,
    },
    /// `evaluate` was handed buffers of two lengths.
    #[error("{op}: {pairs} pairs but room for {room} scores")]
    ShapeMismatch {
        /// The operation.
        op: &'static str,
        /// Pairs handed over.
        pairs: usize,
        /// Length of the output.
        room: usize,
    },
    /// Whatever the scorer itself says went wrong, with its own words kept as the source.
    #[error("the oracle failed on {what}")]
    Failed {
        /// What was being scored or stored.
        what: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// Refuses the first score that is not finite, naming its pair.
///
/// # Errors
/// [`OracleError::NotFinite`].
pub fn check_finite(pairs: &[Pair], scores: &[f64]) -> Result<(), OracleError> {
    match scores.iter().position(|score| !score.is_finite()) {
        None => Ok(()),
        Some(k) => Err(OracleError::NotFinite { i: pairs[k].0, j: pairs[k].1, value: scores[k] }),
    }
}
