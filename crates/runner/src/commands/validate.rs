//! `runner validate`: every profile of every file, nothing run.

use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Report, Result};

use crate::config::{Config, ConfigError, Overlays};
use crate::exit::Exit;
use crate::output;

/// Checks files and says which are good.
pub(super) fn validate(files: &[PathBuf], quiet: bool) -> Result<Exit> {
    let mut exit = Exit::Done;
    for file in files {
        match check(file) {
            Ok(profiles) if quiet => tracing::debug!("{} is good in {}", file.display(), profiles.join(", ")),
            Ok(profiles) => {
                output::print(&format!("{}: good in {}\n", file.display(), profiles.join(", "))).into_diagnostic()?;
            }
            Err(report) => {
                output::print_error(&report);
                exit = Exit::Usage;
            }
        }
    }
    Ok(exit)
}

/// The first profile that is wrong speaks for the file; mistakes outside profiles show up in the first.
fn check(file: &Path) -> Result<Vec<String>, Report> {
    let profiles = Config::profiles(file)?;
    for profile in &profiles {
        let overlays = Overlays { profile: Some(profile.clone()), set: Vec::new() };
        Config::load(file, &overlays).map_err(|error: ConfigError| error.in_profile(profile))?;
    }
    Ok(profiles)
}
