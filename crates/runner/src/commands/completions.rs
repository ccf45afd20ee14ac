//! `landmark completions SHELL`.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::cli::Cli;

/// The script a shell sources.
pub(super) fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "landmark", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
