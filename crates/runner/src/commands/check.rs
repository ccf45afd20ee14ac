//! `landmark check`: every profile of every file, or the one that is named, without a run; it takes the flags of a run.

use std::path::{Path, PathBuf};

use landmark_harness::config::{Config, Overlays};
use landmark_store::TileStore;
use miette::{IntoDiagnostic, Report, Result};
use serde_json::json;

use crate::cli::{LogArgs, OverlayArgs, PlaceArgs};
use crate::exit::{Exit, UsageError};
use crate::output::{self, Answer};
use crate::registry;

/// Checks files and prints which are good.
pub(super) fn check(files: &[PathBuf], overlay: &OverlayArgs, places: &PlaceArgs, log: LogArgs) -> Result<Exit> {
    // a folder exists or will be made; an address may be wrong
    if let Some(address) = places.store.as_deref().filter(|store| store.contains("://")) {
        TileStore::open(address).map_err(|error| UsageError::new(error.to_string(), None))?;
    }
    let mut exit = Exit::Done;
    let mut checked = Vec::new();
    for file in files {
        match check_one(file, overlay, places.data().as_deref()) {
            Ok(profiles) if log.json => checked.push(json!({ "file": file, "good": true, "profiles": profiles })),
            Ok(profiles) if log.quiet => tracing::debug!("{} is good in {}", file.display(), profiles.join(", ")),
            Ok(profiles) => {
                output::print(&format!("{}: good in {}\n", file.display(), profiles.join(", "))).into_diagnostic()?;
            }
            Err(report) => {
                output::print_error(&report);
                checked.push(json!({ "file": file, "good": false, "error": report.to_string() }));
                exit = Exit::Usage;
            }
        }
    }
    if log.json {
        Answer::new("", json!({ "configurations": checked })).print(log).into_diagnostic()?;
    }
    Ok(exit)
}

/// Prints a configuration as it would run.
pub(super) fn resolved(file: &Path, overlay: &OverlayArgs) -> Result<Answer> {
    let config = Config::load(file, &overlay.overlays(), registry::registry())?;
    let reduced = match config.reduction() {
        Some(reduction) => format!("# reduced: {reduction}\n"),
        None => String::new(),
    };
    let hash = config.config_hash().into_diagnostic()?;
    let head = format!("# {}, profile `{}`, hash {}\n", file.display(), config.run.profile.name, hash.short());
    let text = format!("{head}{reduced}{}", config.to_yaml().into_diagnostic()?);
    let result = json!({
        "file": file, "profile": config.run.profile.name, "hash": hash.to_hex(), "reduced": config.reduction(),
        "configuration": serde_json::to_value(&config).into_diagnostic()?,
    });
    Ok(Answer::new(text, result))
}

/// Returns the error of the first profile that is wrong, with its name unless all of them are wrong.
fn check_one(file: &Path, overlay: &OverlayArgs, data: Option<&Path>) -> Result<Vec<String>, Report> {
    let profiles = match &overlay.profile {
        Some(profile) => vec![profile.clone()],
        None => Config::profiles(file)?,
    };
    let load = |profile: &String| {
        Config::load(file, &Overlays { profile: Some(profile.clone()), set: overlay.set.clone() }, registry::registry())
    };
    let (mut wrong, mut missing) = (Vec::new(), None);
    for profile in &profiles {
        match load(profile) {
            Ok(config) => missing = missing.or(config.missing_items(data)),
            Err(error) => wrong.push((profile, error)),
        }
    }
    // a configuration may be written before its items
    if let Some(items) = missing {
        output::note(&format!("warning: cannot find the items `{}` of `{}`", items.display(), file.display()));
    }
    let all_wrong = wrong.len() == profiles.len();
    if wrong.is_empty() {
        return Ok(profiles);
    }
    let (profile, error) = wrong.swap_remove(0);
    Err(if all_wrong { error } else { error.in_profile(profile) }.into())
}
