//! `run.json` of a published run: its facts, and the settings that its command laid over the configuration.

use std::path::Path;

use landmark_harness::provenance;
use miette::{IntoDiagnostic as _, Result, WrapErr as _};
use serde_json::Value as Json;

use crate::cli::OverlayArgs;

/// # Errors
/// A file that cannot be read, or is no JSON.
pub fn facts(results: &Path) -> Result<Json> {
    let path = results.join("run.json");
    let text =
        std::fs::read(&path).into_diagnostic().wrap_err_with(|| format!("`{}` cannot be read", path.display()))?;
    serde_json::from_slice(&text).into_diagnostic().wrap_err_with(|| format!("`{}` is no JSON", path.display()))
}

/// Profile and `--set` of the command that made a run.
pub fn overlay(facts: &Json) -> OverlayArgs {
    let overlays = provenance::overlays(facts);
    OverlayArgs { profile: overlays.profile, set: overlays.set }
}
