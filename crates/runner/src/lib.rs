//! The program behind `landmark`: the command line, its commands, what they print, and [`registry`], the one list of what a configuration
//! can name.

pub mod cli;
pub mod commands;
pub mod exit;
pub mod output;
pub mod registry;

/// The example of docs/reference/rust.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reference/rust.md")]
pub struct RustGuide;
