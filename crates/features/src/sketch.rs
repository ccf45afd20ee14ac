//! Matrix sketching: a stream of n rows of d numbers held in l rows, with a proven bound on what is lost.
//!
//! Frequent Directions keeps Y (at most l × d) of X (n × d) such that 0 ≼ XᵀX − YᵀY and ‖XᵀX − YᵀY‖₂ ≤ Σδ, δ being what each
//! shrink subtracts from the squared singular values; Σδ itself is at most 2‖X‖²_F / l in the form of the paper and
//! min over k < l of ‖X − X_k‖²_F / (l − k) in the buffered form. No row is held longer than until the next shrink, so memory
//! is that of the sketch and one buffer, whatever n.
//!
//! Liberty 2013, "Simple and deterministic matrix sketching", figure 1; the buffered form and the tail bound: Ghashami,
//! Liberty, Phillips & Woodruff 2016. What the rows are is the caller's business: the sketch carries an
//! [`Identity`](landmark_core::oracle::Identity) of its columns, and two sketches of different columns do not merge.

use landmark_core::linalg::LinalgError;
use landmark_core::parameter::BadParameter;

mod bound;
mod bytes;
mod frequent_directions;
mod parallel;
mod pending;
mod projection;
mod shrink;

pub use bound::ErrorBound;
pub use frequent_directions::{Form, FrequentDirections, FrequentDirectionsParams};
pub use landmark_core::oracle::Identity;
pub use parallel::{MergeTree, sketch_batches};
pub use projection::Projection;

/// Why a matrix could not be sketched. Rows of the stream and columns count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SketchError {
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    #[error("row {row} has {seen} columns, but the sketch has {wanted}")]
    Width { row: u64, seen: usize, wanted: usize },
    #[error("row {row}, column {column} is {value}, but must be finite (and below 1e150 in size)")]
    NotFinite {
        row: u64,
        column: usize,
        /// The value seen, in words: NaN is not equal to itself.
        value: String,
    },
    #[error("row {row} of the stream: {problem}")]
    SparseRow { row: u64, problem: &'static str },
    #[error("sketches with different {what} do not merge: {left} and {right}")]
    Merge { what: &'static str, left: String, right: String },
    #[error("{seen} is not a saved sketch (expected {wanted})")]
    Foreign { seen: String, wanted: String },
    #[error(
        "the saved sketch is truncated: it has {seen} bytes, but must have {wanted}. Start again without it, or restore it"
    )]
    Truncated { seen: u64, wanted: u64 },
    #[error("the saved sketch is damaged: its checksum does not match. Start again without it, or restore it")]
    Damaged,
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod tests;
