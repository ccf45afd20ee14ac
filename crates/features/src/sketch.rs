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
pub use parallel::{MergeTree, merge_tree, sketch_batches, sketch_blocks};
pub use projection::Projection;

/// Why a matrix could not be sketched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SketchError {
    /// A parameter outside its range.
    #[error("`{parameter}` is {value}, but must be {wanted}")]
    Parameter {
        /// Parameter name as in the configuration.
        parameter: &'static str,
        /// The value seen.
        value: String,
        /// The range wanted.
        wanted: String,
    },
    /// A row of another width.
    #[error("row {row} has {seen} columns, but the sketch has {wanted}")]
    Width {
        /// The row in the stream, 0-based.
        row: u64,
        /// Its columns.
        seen: usize,
        /// The columns of the sketch.
        wanted: usize,
    },
    /// NaN, ∞, or a number whose square is beyond f64.
    #[error("row {row}, column {column} is {value}, but must be finite (and below 1e150 in size)")]
    NotFinite {
        /// The row in the stream, 0-based.
        row: u64,
        /// The column, 0-based.
        column: usize,
        /// The value seen, in words: NaN is not equal to itself.
        value: String,
    },
    /// A sparse row that is none.
    #[error("row {row} of the stream: {problem}")]
    SparseRow {
        /// The row in the stream, 0-based.
        row: u64,
        /// Defect of the row.
        problem: &'static str,
    },
    /// Two sketches that do not belong together.
    #[error("sketches with different {what} do not merge: {left} and {right}")]
    Merge {
        /// Name of the property that differs.
        what: &'static str,
        /// Here.
        left: String,
        /// There.
        right: String,
    },
    /// Bytes that are no saved sketch.
    #[error("{seen} is no saved sketch; wanted is {wanted}")]
    Foreign {
        /// Content seen, in words.
        seen: String,
        /// Content wanted, in words.
        wanted: String,
    },
    /// A saved sketch that ends too soon.
    #[error(
        "the saved sketch is truncated: it has {seen} bytes, wanted are {wanted}. Start again without it, or restore it"
    )]
    Truncated {
        /// Bytes that are there.
        seen: u64,
        /// Bytes that should be.
        wanted: u64,
    },
    /// A saved sketch whose bytes have changed.
    #[error("the saved sketch is damaged: its checksum does not match. Start again without it, or restore it")]
    Damaged,
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod tests;
