//! `runner`: one command from a YAML file to the paper's tables and figures.

use std::process::ExitCode;

use landmark_core::huge_pages::HugePages;

/// Large pages for large matrices.
#[global_allocator]
static MEMORY: HugePages = HugePages;

fn main() -> ExitCode {
    runner::commands::main()
}
