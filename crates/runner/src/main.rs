//! runner
#![allow(unreachable_pub)] // a program has no public surface: `pub` marks what a module offers to the others

mod report;
mod results;
fn main() {}
