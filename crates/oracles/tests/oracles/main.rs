//! Oracles against other implementations, by enumeration, and with programs that misbehave: one program, which links once.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as the tests do")]

mod emd;
mod emd_documents;
#[cfg(unix)]
mod subprocess;
mod tree_kernels;
mod wme;
