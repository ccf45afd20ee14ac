//! Profiles: named sections of a file that are laid over the rest of it.

use super::overlay;
use super::problem::{Problem, list};
use super::suggest::did_you_mean;
use super::tree::{Node, Value};

/// The profile used where none is named.
pub const DEFAULT_PROFILE: &str = "laptop";
/// Profiles every configuration has; one that is not written lays nothing over the file.
pub const PROFILES: [&str; 4] = ["smoke", "laptop", "desk", "paper"];

/// A profile as it was laid over the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Keys that it changed; empty for the paper's own settings.
    pub changed: Vec<Change>,
    /// Keys that later overlays changed besides.
    pub set: Vec<Change>,
}

/// A key that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its dotted path.
    pub key: String,
    /// Its value in the rest of the file, where it has one, in a line.
    pub from: Option<String>,
    /// Its value now, in a line.
    pub to: String,
}

impl Profile {
    /// Holds its changes against the tree as later overlays left it: one that was taken back is none, of the others the value is that of now, and
    /// what differs from the tree as the profile left it was `set`.
    pub fn settle(&mut self, laid: &Node, root: &Node) {
        self.set.clear();
        leaves(root, Some(laid), "", &mut self.set);
        self.set.retain(|change| self.changed.iter().all(|known| known.key != change.key));
        self.changed.retain_mut(|change| {
            if let Some(now) = change.key.split('.').try_fold(root, |node, key| node.get(key)) {
                change.to = in_a_line(now);
            }
            change.from.as_ref() != Some(&change.to)
        });
    }
}

/// Names of the profiles of a file: those that always exist, then its own.
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
    let mut profile = Profile { name: wanted.to_owned(), changed: Vec::new(), set: Vec::new() };
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
            leaves(over, Some(root), "", &mut profile.changed);
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

/// Everything in `over` that is not a section and differs from its value in `base`.
fn leaves(over: &Node, base: Option<&Node>, path: &str, out: &mut Vec<Change>) {
    match &over.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                let path = if path.is_empty() { key.text.clone() } else { format!("{path}.{}", key.text) };
                leaves(value, base.and_then(|base| base.get(&key.text)), &path, out);
            }
        }
        _ if base.is_some_and(|base| base.to_yaml() == over.to_yaml()) => {}
        _ => out.push(Change { key: path.to_owned(), from: base.map(in_a_line), to: in_a_line(over) }),
    }
}

/// A value in a line: `0.1, 0.2`; of what does not fit, how much it holds.
fn in_a_line(node: &Node) -> String {
    match &node.value {
        Value::List(items) if items.iter().all(|item| !matches!(item.value, Value::Map(_) | Value::List(_))) => {
            items.iter().map(in_a_line).collect::<Vec<_>>().join(", ")
        }
        Value::List(items) => format!("a list of {}", items.len()),
        Value::Map(_) => "a section".to_owned(),
        _ => node.to_yaml().trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_after_a_profile_is_what_its_changes_say() {
        let text =
            "ranks: [1, 2]\nseed: 7\nprofiles: { small: { ranks: [1], seed: 8, oracle: { precision: bf16 } } }\n";
        let mut root = crate::parse(text, 0).unwrap();
        let mut profile = lay_profile(&mut root, Some("small")).unwrap();
        let said = |profile: &Profile| {
            profile.changed.iter().map(|Change { key, to, .. }| format!("{key} {to}")).collect::<Vec<_>>()
        };
        assert_eq!(said(&profile), ["ranks 1", "seed 8", "oracle.precision bf16"]);
        let (laid, later) =
            (root.clone(), crate::parse("seed: 7\noracle: { precision: f32 }\nreplicates: 2\n", 0).unwrap());
        overlay::merge(&mut root, &later);
        profile.settle(&laid, &root);
        assert_eq!(said(&profile), ["ranks 1", "oracle.precision f32"]);
        let set: Vec<&str> = profile.set.iter().map(|change| change.key.as_str()).collect();
        assert_eq!(set, ["replicates"]);
    }
}
