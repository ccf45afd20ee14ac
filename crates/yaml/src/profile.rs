//! Profiles: named sections of a file that are laid over the rest of it.

use super::overlay;
use super::problem::{Problem, list};
use super::suggest::did_you_mean;
use super::tree::{Node, Value};

/// The profile used where none is named.
pub const DEFAULT_PROFILE: &str = "laptop";
/// Profiles every configuration has; one that is not written lays nothing over the file.
pub const PROFILES: [&str; 3] = ["smoke", "laptop", "paper"];

/// A profile as it was laid over the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Dotted keys that it changed; empty for the paper's own settings.
    pub changed: Vec<String>,
}

/// Names of the profiles of a file: the three that always exist, then its own.
pub fn profile_names(profiles: Option<&Node>) -> Vec<&str> {
    let mut names = PROFILES.to_vec();
    if let Some(Node { value: Value::Map(entries), .. }) = profiles {
        names.extend(entries.iter().map(|(key, _)| key.text.as_str()).filter(|name| !PROFILES.contains(name)));
    }
    names
}

/// Takes `profiles` out of the tree and lays the chosen one over the rest.
///
/// # Errors
/// A profile that the file lacks, is no section, or changes `name` or `profiles`.
pub fn lay_profile(root: &mut Node, wanted: Option<&str>) -> Result<Profile, Problem> {
    let profiles = root.remove("profiles");
    let wanted = wanted.unwrap_or(DEFAULT_PROFILE);
    let mut profile = Profile { name: wanted.to_owned(), changed: Vec::new() };
    let node = profiles.as_ref().map(|(_, node)| node);
    if let Some(node) = node
        && !matches!(node.value, Value::Map(_) | Value::Null)
    {
        let message = format!("`profiles` is {}, but must be a section of names", node.describe());
        return Err(Problem::new(message).at(node.place));
    }
    match node.and_then(|node| node.get(wanted)) {
        Some(over) if over.value == Value::Null => {}
        Some(over) => {
            let Value::Map(entries) = &over.value else {
                let message = format!("the profile `{wanted}` is {}, but must be a section of keys", over.describe());
                return Err(Problem::new(message).at(over.place));
            };
            if let Some((key, _)) = entries.iter().find(|(key, _)| key.text == "profiles" || key.text == "name") {
                let message = format!("a profile can't change `{}`", key.text);
                return Err(Problem::new(message).at(key.place));
            }
            leaves(over, "", &mut profile.changed);
            overlay::merge(root, over);
        }
        None if PROFILES.contains(&wanted) => {}
        None => {
            let names = profile_names(node);
            let problem = Problem::unknown("profile", wanted, names.iter().copied());
            let problem = problem.help(match did_you_mean(wanted, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? This file has: {}", list(&names)),
                None => format!("this file has: {}", list(&names)),
            });
            return Err(match profiles.as_ref() {
                Some((key, _)) => problem.at(key.place).label("its profiles"),
                None => problem,
            });
        }
    }
    Ok(profile)
}

/// Dotted keys of everything that is not a section.
fn leaves(node: &Node, path: &str, out: &mut Vec<String>) {
    match &node.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                let path = if path.is_empty() { key.text.clone() } else { format!("{path}.{}", key.text) };
                leaves(value, &path, out);
            }
        }
        _ => out.push(path.to_owned()),
    }
}
