//! Keys and profiles by the names they had before, which are read and never written.

use landmark_yaml::{Node, Value, overlay};

/// Section, old key, key; the section `""` is the top of the file, and each of its profiles.
const KEYS: [(&str, &str, &str); 2] = [("", "search", "tuning"), ("budget", "entries", "calls")];

/// Old profile, profile.
const PROFILES: [(&str, &str); 1] = [("desk", "medium")];

pub(crate) fn of_profile(name: &str) -> &str {
    PROFILES.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

/// Every old key and profile of a file by its name of today.
pub(super) fn replace(root: &mut Node) {
    for (section, old, new) in KEYS {
        rename(root, section, old, new);
    }
    let Some(profiles) = root.get_mut("profiles") else { return };
    for (old, new) in PROFILES {
        rename(profiles, "", old, new);
    }
    if let Value::Map(profiles) = &mut profiles.value {
        for (_, profile) in profiles {
            for (section, old, new) in KEYS {
                rename(profile, section, old, new);
            }
        }
    }
}

fn rename(root: &mut Node, section: &str, old: &str, new: &str) {
    let node = if section.is_empty() { Some(root) } else { root.get_mut(section) };
    let Some(node) = node else { return };
    let Some((mut key, value)) = node.remove(old) else { return };
    key.text = new.to_owned();
    overlay::merge(node, &Node { place: value.place, value: Value::Map(vec![(key, value)]) });
}
