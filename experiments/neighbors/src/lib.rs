//! Experiments of this project: how many true nearest neighbors a number of calls finds, and how often a stated recall holds.

pub mod coverage;
pub mod retrieval;

pub use coverage::Coverage;
pub use retrieval::Retrieval;
