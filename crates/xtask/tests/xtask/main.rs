//! What the tasks check of the repository itself: one program, which links once.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as the tests do")]

mod claims;
mod docs;
mod runs;
