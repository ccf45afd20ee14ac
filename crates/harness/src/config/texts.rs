//! `dataset: { name: texts, … }` — items of the user's own: a file with an id and a text each.

use std::path::Path;

use landmark_yaml::{ConfigPath, Problem, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::split::SplitConfig;
use super::word_vectors::VectorsConfig;

/// A file of texts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextsConfig {
    /// the file; `$LANDMARK_DATA/…` starts at the folder of the corpora
    #[schemars(example = &"sentences.tsv")]
    pub path: ConfigPath,
    /// `txt` (a text a line), `tsv`, `csv`, `jsonl`, `parquet` or `folder` (a text a file); none: by its ending
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TextsFormat>,
    /// the column of the ids; none: the number of the row
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// the column of the texts
    #[serde(default = "column_of_texts")]
    pub text: String,
    /// The file of the second list, of two.
    #[serde(skip)]
    pub right: Option<ConfigPath>,
    /// Their labels, if they have any.
    #[serde(flatten, skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub labels: Option<LabelsConfig>,
    /// the character between the columns of a CSV file, or `tab`; none: found out
    #[serde(default, deserialize_with = "delimiter", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub delimiter: Option<char>,
    /// a row without a text: `error`, or `drop` it and count it
    #[serde(default, skip_serializing_if = "EmptyTexts::is_error")]
    #[schemars(extend("default" = "error"))]
    pub empty_texts: EmptyTexts,
    /// only this many items: the first, or a stratified sample if they have labels
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub limit: Option<usize>,
    /// word vectors, for `wmd`: a name, `{ path, format }` or `{ kind: ppmi_svd }`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorsConfig>,
}

/// Two files of texts, pairs across which alone exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoListsConfig {
    /// the file of the first list; each of its items gets a list of items of the second
    #[schemars(example = &"records.csv")]
    pub left: ConfigPath,
    /// the file of the second list
    #[schemars(example = &"catalog.csv")]
    pub right: ConfigPath,
    /// the format of both files, as of `texts`; none: by their endings
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TextsFormat>,
    /// the column of the ids in both files; none: the number of the row
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// the column of the texts in both files
    #[serde(default = "column_of_texts")]
    pub text: String,
    /// the character between the columns of a CSV file, or `tab`; none: found out
    #[serde(default, deserialize_with = "delimiter", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub delimiter: Option<char>,
    /// a row without a text: `error`, or `drop` it and count it
    #[serde(default, skip_serializing_if = "EmptyTexts::is_error")]
    #[schemars(extend("default" = "error"))]
    pub empty_texts: EmptyTexts,
    /// word vectors, for `wmd`: a name, `{ path, format }` or `{ kind: ppmi_svd }`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorsConfig>,
    /// Both lists as one, the second behind the first.
    #[serde(skip)]
    #[schemars(skip)]
    pub texts: TextsConfig,
}

impl TwoListsConfig {
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let lists: Self = section.part()?;
        check_format(section, "left", &lists.left, lists.format);
        check_format(section, "right", &lists.right, lists.format);
        let place = |path: &ConfigPath| path.resolved.canonicalize().unwrap_or_else(|_| path.resolved.clone());
        if place(&lists.left) == place(&lists.right) {
            let message =
                format!("`left` and `right` are the same file, `{}` (expected two lists)", lists.left.written);
            let problem = Problem::new(message).at(section.place_of("right"));
            section.problems().add(problem.help("for pairs within one list use `{ name: texts, path: … }`"));
        }
        let texts = TextsConfig {
            path: lists.left.clone(),
            right: Some(lists.right.clone()),
            format: lists.format,
            id: lists.id.clone(),
            text: lists.text.clone(),
            labels: None,
            delimiter: lists.delimiter,
            empty_texts: lists.empty_texts,
            limit: None,
            vectors: lists.vectors.clone(),
        };
        Some(Self { texts, ..lists })
    }
}

fn column_of_texts() -> String {
    "text".to_owned()
}

/// The keys by which texts have labels.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelKeys {
    /// the column of their labels, for `classification`
    label: Option<String>,
    /// with `label`: a random share to learn from (`{ train: 0.7 }` unless given), `{ column: split }` (`train` or `test`), or `{ file: test.tsv }` to judge by
    split: Option<RowSplit>,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowSplit {
    /// In each replicate a random share to learn from.
    Train(#[serde(deserialize_with = "super::split::share")] f64),
    /// A column that holds `train` or `test`.
    Column(String),
    /// A second file of the same columns, whose rows are judged.
    File(ConfigPath),
}

impl Default for RowSplit {
    fn default() -> Self {
        Self::Train(0.7)
    }
}

impl RowSplit {
    pub fn of_items(&self) -> SplitConfig {
        match self {
            Self::Train(share) => SplitConfig::Train(*share),
            Self::Column(_) | Self::File(_) => SplitConfig::Given,
        }
    }
}

/// Treatment of a row without a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmptyTexts {
    /// The file is refused.
    #[default]
    Error,
    /// It is left out, and counted.
    Drop,
}

impl EmptyTexts {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde hands over a reference
    fn is_error(&self) -> bool {
        *self == Self::Error
    }
}

/// Reads `delimiter: ";"` or `tab`.
pub(super) fn delimiter<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<char>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let mut characters = text.chars();
    match (text.as_str(), characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok(Some('\t')),
        (_, Some(one), None) if one.is_ascii() && one != '"' => Ok(Some(one)),
        _ => {
            let seen = serde::de::Unexpected::Str(&text);
            Err(serde::de::Error::invalid_value(seen, &"one character, or `tab`"))
        }
    }
}

/// Layout of a file of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// The name of a file without the ending that shows how it is packed.
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

/// The format of a file of rows is stated, or its ending shows it.
pub(super) fn check_format(section: &Section<'_>, key: &str, path: &ConfigPath, format: Option<TextsFormat>) {
    if format.is_none() && TextsFormat::of(&path.resolved).is_none() {
        let message = format!(
            "`{}` is `{}`, whose ending names no format: add `format: txt`, `tsv`, `csv`, `jsonl`, `parquet` or `folder`",
            section.path_of(key),
            path.written
        );
        section.refuse(key, message);
    }
}

impl TextsConfig {
    /// Reads its keys of a section, labels included.
    pub(super) fn labeled(section: &Section<'_>) -> Option<Self> {
        let (texts, keys) = (Self::read(section), section.part::<LabelKeys>());
        let (texts, LabelKeys { label, split }) = (texts?, keys?);
        if label.is_none() && split.is_some() {
            section.refuse("split", "`dataset.split` selects the labeled texts to learn from, but there is no `label`");
        }
        let labels = label.map(|column| LabelsConfig { column, split: split.unwrap_or_default() });
        Some(Self { labels, ..texts })
    }

    /// Reads its keys of a section, but for labels.
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
        let texts: Self = section.part()?;
        check_format(section, "path", &texts.path, texts.format);
        Some(texts)
    }

    /// The file, or both, as the configuration names them.
    pub fn files(&self) -> String {
        match &self.right {
            Some(right) => format!("{}` and `{}", self.path.written, right.written),
            None => self.path.written.clone(),
        }
    }

    pub fn layout(&self) -> TextsFormat {
        self.format.or_else(|| TextsFormat::of(&self.path.resolved)).unwrap_or(TextsFormat::Txt)
    }
}
