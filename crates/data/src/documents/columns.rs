//! Roles of the columns (or JSON fields) of a file of documents.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The names of the columns; by default `label` and `text`, without ids and without a split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    pub label: Cow<'static, str>,
    pub text: Cow<'static, str>,
    /// The column with the id; without one the documents are numbered from 1.
    pub id: Option<Cow<'static, str>>,
    /// True where ids are distinct only within a label; they become `label/id`.
    pub id_within_label: bool,
    /// The column that says `train` or `test`.
    pub split: Option<Cow<'static, str>>,
}

impl Columns {
    /// `label` and `text`.
    pub(crate) const PLAIN: Self = Self {
        label: Cow::Borrowed("label"),
        text: Cow::Borrowed("text"),
        id: None,
        id_within_label: false,
        split: None,
    };
}

impl Columns {
    /// The columns that are read: label and text, then id and split where there are such.
    pub(super) fn wanted(&self) -> Vec<&str> {
        let more = [&self.id, &self.split].into_iter().flatten();
        [&self.label, &self.text].into_iter().chain(more).map(AsRef::as_ref).collect()
    }
}

impl Default for Columns {
    fn default() -> Self {
        Self::PLAIN
    }
}
