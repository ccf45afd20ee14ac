//! `dataset: { name: trees, … }` — trees of the user's own: a file with one in brackets a row, or CoNLL-U.

use landmark_yaml::ConfigPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::texts::{RowSplit, TextsFormat};

/// A file of trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnTreesConfig {
    /// the file; of CoNLL-U if it ends in `.conllu`, with labels in comments: `# label = NUM`
    #[schemars(example = &"trees.tsv")]
    pub path: ConfigPath,
    /// `tsv`, `csv`, `jsonl` or `parquet`; none: by its ending
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TextsFormat>,
    /// the character between the columns of a CSV file, or `tab`; none: found out
    #[serde(default, deserialize_with = "super::texts::delimiter", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub delimiter: Option<char>,
    /// the column of the trees
    #[serde(default = "tree")]
    pub tree: String,
    /// the column, or comment, of the ids; none: the number of the row
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// the column, or comment, of the labels
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// a random share to learn from, `{ column: split }` (`train` or `test`), or `{ file: test.tsv }` to judge by
    #[serde(default, rename = "split")]
    pub rows: RowSplit,
}

fn tree() -> String {
    "tree".to_owned()
}

impl OwnTreesConfig {
    /// True for CoNLL-U.
    pub fn is_conllu(&self) -> bool {
        super::texts::unpacked_name(&self.path.written).ends_with(".conllu")
    }
}
