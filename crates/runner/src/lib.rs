//! The program behind `runner`: from a YAML file to tables and figures.
//!
//! The only crate that prints, reads YAML, draws, or knows an experiment's whole story.

pub mod cli;
pub mod commands;
pub mod config;
pub mod exit;
pub mod output;
pub mod provenance;
pub mod registry;
pub mod report;
pub mod results;
pub mod suggest;
