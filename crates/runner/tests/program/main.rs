//! The program, its configurations, and the repository around it: one program, which links once.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as the tests do")]

mod cli;
mod config;
mod configuration;
mod house;
mod published;
mod schema;
