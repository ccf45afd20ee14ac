//! Tasks end to end, and against other implementations: one program, which links once.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as the tests do")]

mod classification;
mod golden_coreference;
mod golden_ranking;
mod golden_stats;
mod kernel_svm;
mod linear_svm;
