//! `landmark`: one command from a YAML file to the paper's tables and figures.

use std::process::ExitCode;

fn main() -> ExitCode {
    runner::commands::main()
}
