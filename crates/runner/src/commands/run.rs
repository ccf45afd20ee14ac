//! Running a configuration, and drawing its report again.

use std::path::Path;

use miette::{Result, miette};

use crate::cli::{LogArgs, OverlayArgs, PlaceArgs, RunArgs};
use crate::config::Config;
use crate::exit::{Exit, UsageError};
use crate::suggest::did_you_mean;

/// Runs a configuration, or tells what it would buy.
pub(super) fn run(arguments: &RunArgs, _log: LogArgs) -> Result<Exit> {
    let Some(file) = arguments.config.as_deref() else {
        let help = "for example `runner configs/quickstart.yaml`; `runner --help` lists the commands";
        return Err(UsageError::new("there is no configuration to run", Some(help.to_owned())).into());
    };
    refuse_mistyped_command(file)?;
    let config = Config::load(file, &arguments.overlay.overlays())?;
    Err(miette!("`{}` is good, but this build can't run it yet", config.name))
}

/// Draws the tables and figures again.
pub(super) fn report(file: &Path, overlay: &OverlayArgs, _places: &PlaceArgs, _log: LogArgs) -> Result<Exit> {
    let config = Config::load(file, &overlay.overlays())?;
    Err(miette!("`{}` is good, but this build can't draw it yet", config.name))
}

/// A bare word that is no file is a mistyped command.
fn refuse_mistyped_command(file: &Path) -> Result<()> {
    use clap::CommandFactory;
    let Some(word) = file.to_str().filter(|word| !word.contains(['.', '/', '\\']) && !file.exists()) else {
        return Ok(());
    };
    let cli = crate::cli::Cli::command();
    let help = match did_you_mean(word, cli.get_subcommands().map(|command| command.get_name())) {
        Some(near) => format!("did you mean the command `{near}`?"),
        None => "`runner --help` lists the commands; a configuration ends in `.yaml`".to_owned(),
    };
    Err(UsageError::new(format!("`{word}` is neither a command nor a file"), Some(help)).into())
}
