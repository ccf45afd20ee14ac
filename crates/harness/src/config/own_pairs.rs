//! `dataset: { name: pairs, … }` — labelled pairs of the user's own: a file with two texts and what people said of them a row.

use std::path::Path;

use landmark_yaml::Section;
use serde::Serialize;

use super::dataset::VectorsConfig;
use super::texts::{RowSplit, TextsFormat, read_delimiter, read_file};
use super::values::ConfigPath;

/// A file of labelled pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnPairsConfig {
    /// The file.
    pub path: ConfigPath,
    /// Its layout; by the ending of its name where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TextsFormat>,
    /// What stands between the columns of a CSV file; found out where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// The column of the first text.
    pub first: String,
    /// The column of the second.
    pub second: String,
    /// What people said of a pair.
    #[serde(flatten)]
    pub target: PairTarget,
    /// Pairs to learn from; none where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<RowSplit>,
    /// Word vectors, which `wmd` needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorsConfig>,
}

/// What people said of a pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PairTarget {
    /// A grade, in any scale.
    Score {
        /// The column.
        score: String,
    },
    /// Yes or no.
    Label {
        /// The column.
        label: String,
        /// The word for yes, where it is none of `1`, `true` and `yes`.
        #[serde(skip_serializing_if = "Option::is_none")]
        yes: Option<String>,
    },
}

impl OwnPairsConfig {
    /// Reads its keys of a section.
    pub(super) fn read(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let problems = section.problems();
        let (path, format) = read_file(section, folder);
        let (score, label, yes) = (section.optional("score"), section.optional("label"), section.optional("yes"));
        let target = match (score, label) {
            (Some(_), Some(_)) => {
                section
                    .refuse("label", "`dataset.score` and `dataset.label` exclude each other: grades, or yes and no");
                None
            }
            (None, Some(label)) => Some(PairTarget::Label { label, yes }),
            (score, None) => {
                if yes.is_some() {
                    section.refuse("yes", "`dataset.yes` names the label of a yes, but there is no `label`");
                }
                Some(PairTarget::Score { score: score.unwrap_or_else(|| "score".to_owned()) })
            }
        };
        let split = section.node("split").map(|node| RowSplit::read(node, folder, problems));
        let vectors = section.node("vectors").map(|node| VectorsConfig::read(node, folder, problems));
        let delimiter = read_delimiter(section);
        Some(Self {
            format,
            delimiter,
            first: section.or("first", "first".to_owned()),
            second: section.or("second", "second".to_owned()),
            target: target?,
            split: match split {
                Some(split) => Some(split?),
                None => None,
            },
            vectors: match vectors {
                Some(vectors) => Some(vectors?),
                None => None,
            },
            path: path?,
        })
    }
}
