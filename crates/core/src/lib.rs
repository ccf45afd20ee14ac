//! landmark-core: approximates a huge, expensive, possibly indefinite similarity matrix from a few of its columns.
//!
//! The crate knows no text, file, YAML, torch or thread-pool choice. Its only input is an [`Oracle`](oracle::Oracle).

pub mod approximate;
pub mod approximation;
pub mod balance;
pub mod conformance;
pub mod contents;
pub mod entries;
pub mod error;
pub mod error_estimate;
pub mod fit_report;
pub mod folds;
pub mod hubness;
pub mod landmarks;
pub mod linalg;
pub mod normal;
pub mod oracle;
pub mod parameter;
pub mod rank;
pub mod stats;
pub mod stream;
pub mod untrusted;
