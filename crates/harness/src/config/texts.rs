//! `dataset: { name: texts, … }` — items of the user's own: a file with an id and a text each.

use std::path::Path;

use landmark_yaml::{Node, Problem, Problems, Section};
use serde::{Deserialize, Serialize};

use super::dataset::{SplitConfig, VectorsConfig};
use super::values::ConfigPath;

/// A file of texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextsConfig {
    /// The file.
    pub path: ConfigPath,
    /// Its layout; by the ending of its name where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TextsFormat>,
    /// The column of the ids; the number of the row, from 1, where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The column of the texts.
    pub text: String,
    /// Their labels, where they have any.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelsConfig>,
    /// What stands between the columns of a CSV file; found out where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// True where rows without a text are left out: `empty_texts: drop`.
    #[serde(rename = "empty_texts", serialize_with = "empty_texts", skip_serializing_if = "is_false")]
    pub drops_empty: bool,
    /// Only the first so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Word vectors, which `wmd` needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorsConfig>,
}

/// Labels of texts, in a column of their file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelsConfig {
    #[serde(rename = "label")]
    pub column: String,
    /// Which texts are learned from.
    pub split: RowSplit,
}

/// Which rows are learned from, and which are judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowSplit {
    /// In each replicate a random share to learn from.
    Train(f64),
    /// A column that says `train` or `test`.
    Column(String),
    /// A second file of the same columns, whose rows are judged.
    File(ConfigPath),
}

impl RowSplit {
    /// As a split of labelled items.
    pub fn of_items(&self) -> SplitConfig {
        match self {
            Self::Train(share) => SplitConfig::Train(*share),
            Self::Column(_) | Self::File(_) => SplitConfig::Given,
        }
    }

    /// Reads `{ train: 0.7 }`, `{ column: split }` or `{ file: test.tsv }`.
    pub(super) fn read(node: &Node, folder: &Path, problems: &Problems) -> Option<Self> {
        let section = Section::new(node, "dataset.split", problems)?;
        let train = section.checked("train", |&share: &f64| share > 0.0 && share < 1.0, "a share between 0 and 1");
        let column = section.optional("column").map(Self::Column);
        let file = section.node("file").and_then(|node| ConfigPath::read(node, "dataset.split.file", folder, problems));
        section.finish(&[]);
        let mut given = [train.map(Self::Train), column, file.map(Self::File)].into_iter().flatten();
        let (first, second) = (given.next(), given.next());
        if (first.is_none() || second.is_some()) && problems.is_empty() {
            let message =
                "`dataset.split` must be one of `{ train: 0.7 }`, `{ column: split }` and `{ file: test.tsv }`";
            problems.add(Problem::new(message).at(node.place));
        }
        first
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands over a reference
fn is_false(flag: &bool) -> bool {
    !flag
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands over a reference
fn empty_texts<S: serde::Serializer>(_: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("drop")
}

/// Treatment of a row without a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EmptyTexts {
    /// The file is refused.
    Error,
    /// It is left out, and counted.
    Drop,
}

/// Reads `delimiter: ";"` or `tab`.
pub(super) fn read_delimiter(section: &Section<'_>) -> Option<char> {
    let text: String = section.optional("delimiter")?;
    let mut characters = text.chars();
    match (text.as_str(), characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Some('\t'),
        (_, Some(one), None) if one.is_ascii() && one != '"' => Some(one),
        _ => {
            let message =
                format!("`{}` is `{text}`, but must be one character, or `tab`", section.path_of("delimiter"));
            section.refuse("delimiter", message);
            None
        }
    }
}

/// Layout of a file of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextsFormat {
    /// One text a line; blank lines are left out.
    Txt,
    /// A header line and tabs between columns, no quoting.
    Tsv,
    /// A header line and commas between columns; `"` quotes.
    Csv,
    /// One JSON object a line.
    Jsonl,
    Parquet,
    /// A folder: every file of it is a text, its name the id.
    Folder,
}

/// The name of a file without the ending that says how it is packed.
pub fn unpacked_name(name: &str) -> &str {
    [".gz", ".bz2", ".zip"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

impl TextsFormat {
    /// Layout by the ending of a name, that of a packed file (`.gz`, `.bz2`, `.zip`) left out; a folder is one of texts.
    pub fn of(path: &Path) -> Option<Self> {
        if path.is_dir() {
            return Some(Self::Folder);
        }
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        match unpacked_name(&name).rsplit_once('.')?.1 {
            "txt" => Some(Self::Txt),
            "tsv" => Some(Self::Tsv),
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// Reads `path:` and `format:` of a file of rows.
pub(super) fn read_file(section: &Section<'_>, folder: &Path) -> (Option<ConfigPath>, Option<TextsFormat>) {
    let problems = section.problems();
    let path = section.required_node("path");
    let path = path.and_then(|node| ConfigPath::read(node, &section.path_of("path"), folder, problems));
    let format: Option<TextsFormat> = section.optional("format");
    if let (None, Some(path)) = (format, &path)
        && TextsFormat::of(&path.resolved).is_none()
    {
        let message = format!(
            "`{}` is `{}`, whose ending says nothing: add `format: txt`, `tsv`, `csv`, `jsonl`, `parquet` or `folder`",
            section.path_of("path"),
            path.written
        );
        section.refuse("path", message);
    }
    (path, format)
}

impl TextsConfig {
    /// Reads its keys of a section.
    pub(super) fn read(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let problems = section.problems();
        let (path, format) = read_file(section, folder);
        let split = section.node("split").map(|node| RowSplit::read(node, folder, problems));
        let column: Option<String> = section.optional("label");
        if column.is_none() && split.is_some() {
            section
                .refuse("split", "`dataset.split` says which labelled texts are learned from, but there is no `label`");
        }
        let labels =
            column.map(|column| Some(LabelsConfig { column, split: split.unwrap_or(Some(RowSplit::Train(0.7)))? }));
        let drops_empty = section.or("empty_texts", EmptyTexts::Error) == EmptyTexts::Drop;
        let delimiter = read_delimiter(section);
        let vectors = section.node("vectors").map(|node| VectorsConfig::read(node, folder, problems));
        Some(Self {
            format,
            delimiter,
            drops_empty,
            labels: match labels {
                Some(labels) => Some(labels?),
                None => None,
            },
            id: section.optional("id"),
            text: section.or("text", "text".to_owned()),
            limit: section.checked("limit", |&limit: &usize| limit >= 2, "at least 2"),
            vectors: match vectors {
                Some(vectors) => Some(vectors?),
                None => None,
            },
            path: path?,
        })
    }

    /// The layout of the file.
    pub fn layout(&self) -> TextsFormat {
        self.format.or_else(|| TextsFormat::of(&self.path.resolved)).unwrap_or(TextsFormat::Txt)
    }
}
