//! Nearest items, pairs and answers to queries at a number of calls of an expensive score, and the recall that can be stated of them.
//!
//! [`nearest`]: the nearest of every item from exactly b calls an item. [`recall`]: bounds on the share of the true nearest, or of all pairs
//! above a similarity, that was found. [`search`]: an index of items that answers a new query with b calls.

pub mod nearest;
pub mod recall;
pub mod search;
mod universe;

pub use universe::{Universe, sample_of};
