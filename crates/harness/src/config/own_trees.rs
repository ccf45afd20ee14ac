//! `dataset: { name: trees, … }` — trees of the user's own: a file with one in brackets a row, or CoNLL-U.

use std::path::Path;

use landmark_yaml::Section;
use serde::Serialize;

use super::texts::{RowSplit, TextsFormat, read_delimiter};
use super::values::ConfigPath;

/// A file of trees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnTreesConfig {
    /// The file; of CoNLL-U where it ends in `.conllu`.
    pub path: ConfigPath,
    /// Its layout; by the ending of its name where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TextsFormat>,
    /// What stands between the columns of a CSV file; found out where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// The column of the trees.
    pub tree: String,
    /// The column of the ids, or the comment of CoNLL-U; numbers where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The column of the labels, or the comment of CoNLL-U; one label for all where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Which are learned from.
    #[serde(rename = "split")]
    pub rows: RowSplit,
}

impl OwnTreesConfig {
    /// Reads its keys of a section.
    pub(super) fn read(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let problems = section.problems();
        let path = section.required_node("path");
        let path = path.and_then(|node| ConfigPath::read(node, &section.path_of("path"), folder, problems));
        let split = section.node("split").map(|node| RowSplit::read(node, folder, problems));
        Some(Self {
            format: section.optional("format"),
            delimiter: read_delimiter(section),
            tree: section.or("tree", "tree".to_owned()),
            id: section.optional("id"),
            label: section.optional("label"),
            rows: split.unwrap_or(Some(RowSplit::Train(0.7)))?,
            path: path?,
        })
    }

    /// True for CoNLL-U.
    pub fn is_conllu(&self) -> bool {
        super::texts::unpacked_name(&self.path.written).ends_with(".conllu")
    }
}
