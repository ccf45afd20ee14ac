//! The program behind `runner`: from a YAML file to tables and figures.
//!
//! The only crate that prints, reads YAML, draws, or knows an experiment's whole story.

mod advice;
pub mod catalogue;
pub mod cli;
pub mod commands;
pub mod config;
pub mod exit;
pub mod experiment;
pub mod experiments;
pub mod factors;
pub mod interrupt;
pub mod items;
pub mod job;
pub mod layout;
pub mod output;
pub mod plan;
pub mod progress;
pub mod provenance;
pub mod registry;
pub mod run;
pub mod run_source;
pub mod scale;
pub mod stage;
pub mod studies;
pub mod study;
pub mod sweep;
pub mod sweep_run;
pub mod till;
