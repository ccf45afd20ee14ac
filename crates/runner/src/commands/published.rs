//! `run.json` of a published run: its facts, and the settings that its command laid over the configuration.

use std::path::Path;

use miette::{IntoDiagnostic as _, Result, WrapErr as _};
use serde_json::Value as Json;

use crate::cli::OverlayArgs;

/// All of it.
pub(super) fn facts(results: &Path) -> Result<Json> {
    let path = results.join("run.json");
    let text =
        std::fs::read(&path).into_diagnostic().wrap_err_with(|| format!("`{}` can't be read", path.display()))?;
    serde_json::from_slice(&text).into_diagnostic().wrap_err_with(|| format!("`{}` is no JSON", path.display()))
}

/// Profile and `--set` of the command that made a run.
pub(super) fn overlay(facts: &Json) -> OverlayArgs {
    let command = facts["command"].as_str().unwrap_or_default();
    let words: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
    let after = |pair: &[&str]| (pair[0] == "--set" || pair[0] == "-s").then(|| pair[1].to_owned());
    OverlayArgs {
        profile: facts["config"]["profile"].as_str().map(str::to_owned),
        set: words.windows(2).filter_map(after).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_and_settings_are_read_from_the_command_that_made_a_run() {
        let facts = serde_json::json!({
            "command": "runner configs/a.yaml --profile paper --set ranks=[1] --set 'title=a b'",
            "config": { "profile": "paper" }
        });
        let overlay = overlay(&facts);
        assert_eq!(overlay.profile.as_deref(), Some("paper"));
        assert_eq!(overlay.set[0], "ranks=[1]");
    }
}
