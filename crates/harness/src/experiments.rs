//! Experiments over one similarity matrix: what is measured, in which jobs, and which tables and figures it becomes.

mod classification;
mod coverage;
mod error_curve;
mod errors;
mod glue;
pub mod own_data;
mod ranked_search;
pub mod retrieval;
mod search;
mod spectrum;

pub use classification::Classification;
pub use coverage::Coverage;
pub use error_curve::ErrorCurve;
pub use glue::Glue;
pub use own_data::OwnData;
pub use retrieval::Retrieval;
pub use search::QuerySearch;
pub use spectrum::Spectrum;
