//! `experiment: collection` — other configurations on one page.

use std::path::Path;

use landmark_yaml::{Problem, Profile, Section};

use super::gathering::Shown;
use super::{Config, Overlays};
use crate::registry::Registry;

/// Configurations that are run one after the other and shown on one page.
#[derive(Clone)]
pub struct Collection {
    /// Each in the profile of the collection.
    pub members: Vec<Config>,
    /// Their files as written: relative to that of the collection.
    pub files: Vec<String>,
    /// Layout of the members on the page.
    pub shown: Shown,
    /// Only tables and figures whose ids begin with one of these; all when empty.
    pub only: Vec<String>,
}

/// The configurations of a collection's members, each in the profile of the collection where it has it.
pub(super) fn read_members(
    files: &[String],
    section: &Section<'_>,
    profile: &Profile,
    file: &Path,
    registry: &Registry,
) -> Option<Vec<Config>> {
    let read = |member: &String| {
        let overlays = Overlays { profile: Some(profile.name.clone()), set: Vec::new() };
        let path = file.parent().unwrap_or(Path::new("")).join(member);
        match Config::load(&path, &overlays, registry) {
            Ok(member) => Some(member),
            Err(error) => {
                let first = error.each().next().map(ToString::to_string).unwrap_or_default();
                let message = format!("the member `{member}` is wrong: {first}");
                let help = format!("run `landmark check {}` to see where", path.display());
                let place = section.place_of("members");
                section.problems().add(Problem::new(message).at(place).help(help));
                None
            }
        }
    };
    files.iter().map(read).collect()
}
