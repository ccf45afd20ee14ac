//! The program behind `runner`: from a YAML file to tables and figures.
//!
//! The only crate that prints, reads YAML, draws, or knows an experiment's whole story.

mod advice;
pub mod cli;
pub mod commands;
pub mod config;
pub mod exit;
pub mod experiments;
pub mod factors;
pub mod interrupt;
pub mod items;
pub mod output;
pub mod plan;
pub mod progress;
pub mod provenance;
pub mod registry;
pub mod report;
pub mod results;
pub mod run;
pub mod scale;
pub mod stage;
pub mod studies;
pub mod study;
pub mod suggest;
pub mod sweep;
pub mod till;
