//! landmark-features: features and sketches of rows of numbers, which need no matrix of pairs.
//!
//! [`structured`]: random features of spherical kernels from structured Gaussian matrices. [`sketch`]: a stream of rows held in a few, with a
//! proven bound on what is lost. Both draw from the named random streams of `landmark-core` and use its linear algebra.

pub mod sketch;
pub mod structured;
