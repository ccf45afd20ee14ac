//! Experiments over one similarity matrix that no paper owns, and what others share: how errors are known, and their tables.

pub mod error_curve;
pub mod errors;
mod search;

pub use error_curve::ErrorCurve;
pub use search::QuerySearch;
