//! The keys of `experiment: collection`, apart from the configurations that it holds.

use landmark_yaml::{Entry, Keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Layout of the members of a collection on its page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// A section of the page for each.
    #[default]
    InTurn,
    /// One section: tables and figures of the same id hold the rows of all members.
    Together,
}

/// The keys of a collection.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CollectionKeys {
    /// their files, relative to this one
    #[schemars(example = ["member.yaml"], length(min = 1))]
    pub(super) members: Vec<String>,
    /// a section each (`in_turn`), or one with the rows of all (`together`)
    #[serde(default)]
    pub(super) shown: Shown,
    /// show only tables and figures whose ids begin with one of these
    #[serde(default)]
    pub(super) only: Vec<String>,
}

/// The experiment that gathers others.
pub const COLLECTION: &str = "collection";

pub static GATHERING: Entry = Entry {
    id: COLLECTION,
    summary: "other configurations, run one after the other and shown on one page",
    keys: Keys::of::<CollectionKeys>(),
    source: "this project",
};
