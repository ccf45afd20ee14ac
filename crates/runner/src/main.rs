//! `runner`: one command from a YAML file to the paper's tables and figures.
fn main() {}
