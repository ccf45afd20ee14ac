//! landmark-tasks: what a factored similarity matrix is used for, and its metrics.
//!
//! Everything here sees factors, Gram matrices or item pairs, never an oracle.

pub mod metrics;
