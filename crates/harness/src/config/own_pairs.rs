//! `dataset: { name: pairs, … }` — labeled pairs of the user's own: a file with two texts and people's judgment of them a row.

use landmark_yaml::{ConfigPath, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dataset::VectorsConfig;
use super::texts::{RowSplit, TextsFormat, check_format};

/// A file of labeled pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnPairsConfig {
    /// the file; `$LANDMARK_DATA/…` starts at the folder of the corpora
    #[schemars(example = &"pairs.tsv")]
    pub path: ConfigPath,
    /// `tsv`, `csv`, `jsonl` or `parquet`; none: by its ending
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TextsFormat>,
    /// the character between the columns of a CSV file, or `tab`; none: found out
    #[serde(default, deserialize_with = "super::texts::delimiter", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub delimiter: Option<char>,
    /// the column of the first text
    #[serde(default = "first")]
    pub first: String,
    /// the column of the second
    #[serde(default = "second")]
    pub second: String,
    /// the column of grades, in any scale; `score` unless there is a `label`
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<String>,
    /// the column of labels instead: two of them
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// the label of a yes; `1`, `true` and `yes` are known
    #[serde(skip_serializing_if = "Option::is_none")]
    yes: Option<String>,
    /// pairs to learn from: `{ train: 0.2 }`, `{ column: split }`, or `{ file: test.tsv }` to judge by
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<RowSplit>,
    /// word vectors, for `wmd`: a name, `{ path, format }` or `{ kind: ppmi_svd }`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorsConfig>,
}

/// People's judgment of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PairTarget<'a> {
    /// A grade, in any scale, in this column.
    Score(&'a str),
    /// Yes or no, in this column.
    Label {
        label: &'a str,
        /// The word for yes, if it is none of `1`, `true` and `yes`.
        yes: Option<&'a str>,
    },
}

fn first() -> String {
    "first".to_owned()
}

fn second() -> String {
    "second".to_owned()
}

impl OwnPairsConfig {
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let mut own: Self = section.part()?;
        check_format(section, "path", &own.path, own.format);
        if own.score.is_some() && own.label.is_some() {
            section.refuse("label", "`dataset.score` and `dataset.label` exclude each other: grades, or yes and no");
        }
        if own.yes.is_some() && own.label.is_none() {
            section.refuse("yes", "`dataset.yes` names the label of a yes, but there is no `label`");
        }
        if own.label.is_none() {
            own.score.get_or_insert_with(|| "score".to_owned());
        }
        Some(own)
    }

    /// People's judgment of a pair.
    pub fn target(&self) -> PairTarget<'_> {
        match &self.label {
            Some(label) => PairTarget::Label { label, yes: self.yes.as_deref() },
            None => PairTarget::Score(self.score.as_deref().unwrap_or("score")),
        }
    }
}
