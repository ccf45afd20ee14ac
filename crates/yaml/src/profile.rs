//! Profiles: named sections of a file that are laid over the rest of it.

use super::overlay;
use super::problem::{Problem, list};
use super::suggest::did_you_mean;
use super::tree::{Key, Node, Value};

/// The profile used where none is named.
pub const DEFAULT_PROFILE: &str = "laptop";
/// Profiles every configuration has; one that is not written lays nothing over the file.
pub const PROFILES: [&str; 4] = ["smoke", "laptop", "medium", "paper"];

/// A profile as it was laid over the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub name: String,
    /// Keys that it changed; empty for the paper's own settings.
    pub changed: Vec<Change>,
    /// Keys that later overlays changed besides.
    pub set: Vec<Change>,
    /// True where the file has it; one that is built in and nowhere written lays nothing over the file.
    pub is_written: bool,
}

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
pub fn lay_profile(root: &mut Node, wanted: Option<&str>) -> Result<Profile, Problem> {
    let profiles = root.remove("profiles");
    let wanted = wanted.unwrap_or(DEFAULT_PROFILE);
    let node = profiles.as_ref().map(|(_, node)| node);
    let is_written = node.and_then(|node| node.get(wanted)).is_some();
    let mut profile = Profile { name: wanted.to_owned(), changed: Vec::new(), set: Vec::new(), is_written };
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
            let near = did_you_mean(wanted, profile_names(node));
            let file = near.map_or("this file".to_owned(), |near| format!("did you mean `{near}`? This file"));
            let help = format!("{file} defines {}", what_there_is(node));
            let problem = Problem::new(format!("unknown profile `{wanted}`")).help(help);
            return Err(match profiles.as_ref() {
                Some((key, _)) => problem.at(key.place).label("its profiles"),
                None => problem,
            });
        }
    }
    Ok(profile)
}

/// Profiles that may be asked for, in words: those of the file, and those that are built in and lay nothing over it.
fn what_there_is(profiles: Option<&Node>) -> String {
    let (built_in, written): (Vec<&str>, Vec<&str>) =
        profile_names(profiles).into_iter().partition(|name| profiles.and_then(|node| node.get(name)).is_none());
    let written = if written.is_empty() { "no profile".to_owned() } else { list(&written) };
    match built_in[..] {
        [] => written,
        _ => format!("{written}; the built-in {} run it in full", list(&built_in)),
    }
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
        Value::List(items)
            if !items.is_empty() && items.iter().all(|item| !matches!(item.value, Value::Map(_) | Value::List(_))) =>
        {
            items.iter().map(in_a_line).collect::<Vec<_>>().join(", ")
        }
        Value::List(items) => short(node).unwrap_or_else(|| format!("a list of {}", items.len())),
        Value::Map(_) => short(node).unwrap_or_else(|| "a section".to_owned()),
        _ => node.to_yaml().trim_end().to_owned(),
    }
}

/// A list or a section in a line, for a message; `None` if it is long.
fn short(node: &Node) -> Option<String> {
    const LONGEST: usize = 80;
    let text = match &node.value {
        Value::List(items) => format!("[{}]", items.iter().map(short).collect::<Option<Vec<_>>>()?.join(", ")),
        Value::Map(entries) => {
            let entry = |(key, value): &(Key, Node)| short(value).map(|value| format!("{}: {value}", key.text));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Option<Vec<_>>>()?.join(", "))
        }
        _ => node.to_yaml().trim_end().to_owned(),
    };
    (text.len() <= LONGEST).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_profile_changes_is_written_out_where_it_fits_in_a_line() {
        let in_line = |text: &str| in_a_line(&crate::parse(text, 0).unwrap());
        assert_eq!(in_line("[0.1, 0.2]"), "0.1, 0.2");
        assert_eq!(in_line("[]"), "[]");
        assert_eq!(in_line("- { kind: wcd, degree: 2 }"), "[{ kind: wcd, degree: 2 }]");
        assert_eq!(in_line(&format!("- {{ path: {} }}", "x".repeat(90))), "a list of 1");
        assert_eq!(in_line(&format!("{{ path: {} }}", "x".repeat(90))), "a section");
    }

    #[test]
    fn a_profile_that_is_nowhere_written_differs_from_one_that_is() {
        let laid = |text: &str, wanted: &str| lay_profile(&mut crate::parse(text, 0).unwrap(), Some(wanted));
        let with = "seed: 7\nprofiles: { smoke: { seed: 8 }, laptop: }\n";
        let written = |text: &str, wanted: &str| laid(text, wanted).unwrap().is_written;
        assert!(written(with, "smoke") && written(with, "laptop") && !written(with, "paper"));
        assert!(!written("seed: 7\n", "smoke"));
        let refused = |text: &str, wanted: &str| format!("{:?}", laid(text, wanted).unwrap_err());
        let help = "did you mean `paper`? This file defines no profile; the built-in `smoke`, `laptop`, `medium`, `paper` run it in full";
        assert!(refused("seed: 7\n", "papr").contains(help), "{}", refused("seed: 7\n", "papr"));
        let help = "this file defines `smoke`, `laptop`; the built-in `medium`, `paper` run it in full";
        assert!(refused(with, "nothing").contains(help), "{}", refused(with, "nothing"));
    }

    #[test]
    fn what_is_set_after_a_profile_is_what_its_changes_say() {
        let text =
            "ranks: [1, 2]\nseed: 7\nprofiles: { small: { ranks: [1], seed: 8, oracle: { precision: bf16 } } }\n";
        let mut root = crate::parse(text, 0).unwrap();
        let mut profile = lay_profile(&mut root, Some("small")).unwrap();
        let changes = |profile: &Profile| {
            profile.changed.iter().map(|Change { key, to, .. }| format!("{key} {to}")).collect::<Vec<_>>()
        };
        assert_eq!(changes(&profile), ["ranks 1", "seed 8", "oracle.precision bf16"]);
        let (laid, later) =
            (root.clone(), crate::parse("seed: 7\noracle: { precision: f32 }\nreplicates: 2\n", 0).unwrap());
        overlay::merge(&mut root, &later);
        profile.settle(&laid, &root);
        assert_eq!(changes(&profile), ["ranks 1", "oracle.precision f32"]);
        let set: Vec<&str> = profile.set.iter().map(|change| change.key.as_str()).collect();
        assert_eq!(set, ["replicates"]);
    }
}
