//! Experiments of this project: how many true nearest neighbors a number of calls finds, and how often a stated recall holds.

#![allow(missing_docs, reason = "nobody outside of the workspace imports this crate")]

pub mod coverage;
pub mod retrieval;

pub use coverage::Coverage;
pub use retrieval::Retrieval;
