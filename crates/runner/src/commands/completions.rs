//! `landmark completions SHELL`.

use clap_complete::{Shell, generate};

use crate::cli::{Cli, PROGRAM};

pub(super) fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    generate(shell, &mut Cli::parser(true), PROGRAM, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
