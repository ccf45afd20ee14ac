//! landmark-tasks: what a factored similarity matrix is used for, and its metrics.
//!
//! Everything here sees factors, Gram matrices or item pairs, never an oracle.

pub mod classification;
pub mod coreference;
pub mod cross_validation;
mod error;
pub mod groups;
pub mod k_means;
pub mod kernel_svm;
pub mod linear_svm;
pub mod metrics;
pub mod neighbors;
pub mod ranking;
pub mod retrieval;
pub mod search;
pub mod sentence_features;
pub mod svm;

pub use error::TaskError;
