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
    let words = words(facts["command"].as_str().unwrap_or_default());
    let after = |pair: &[String]| (pair[0] == "--set" || pair[0] == "-s").then(|| pair[1].clone());
    OverlayArgs {
        profile: facts["config"]["profile"].as_str().map(str::to_owned),
        set: words.windows(2).filter_map(after).collect(),
    }
}

/// Words of a command as `run.json` has it: one with spaces stands between apostrophes.
fn words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for part in command.split(' ') {
        match words.last_mut().filter(|_| is_open) {
            Some(word) => {
                word.push(' ');
                word.push_str(part.strip_suffix('\'').unwrap_or(part));
                is_open = !part.ends_with('\'');
            }
            None => {
                let quoted = part.strip_prefix('\'');
                words.push(quoted.unwrap_or(part).to_owned());
                is_open = quoted.is_some();
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_and_settings_are_read_from_the_command_that_made_a_run() {
        let facts = serde_json::json!({
            "command": "runner configs/a.yaml --profile paper --set ranks=[1] --set 'title=a b c' -s title=it's",
            "config": { "profile": "paper" }
        });
        let overlay = overlay(&facts);
        assert_eq!(overlay.profile.as_deref(), Some("paper"));
        assert_eq!(overlay.set, ["ranks=[1]", "title=a b c", "title=it's"]);
    }
}
