//! `runner validate`: every profile of every file, nothing run.

use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Report, Result};

use crate::config::{Config, Overlays};
use crate::exit::Exit;
use crate::output;
use crate::registry;

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

/// The first profile that is wrong speaks for the file, and is named unless all of them are wrong.
fn check(file: &Path) -> Result<Vec<String>, Report> {
    let profiles = Config::profiles(file)?;
    let load = |profile: &String| {
        Config::load(file, &Overlays { profile: Some(profile.clone()), set: Vec::new() }, registry::catalogue())
    };
    let mut wrong: Vec<_> = profiles.iter().filter_map(|profile| Some((profile, load(profile).err()?))).collect();
    let all_wrong = wrong.len() == profiles.len();
    if wrong.is_empty() {
        return Ok(profiles);
    }
    let (profile, error) = wrong.swap_remove(0);
    Err(if all_wrong { error } else { error.in_profile(profile) }.into())
}
