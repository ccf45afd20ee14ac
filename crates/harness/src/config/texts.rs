//! `dataset: { name: texts, … }` — items of the user's own: a file with an id and a text each.

use std::path::Path;

use landmark_yaml::Section;
use serde::{Deserialize, Serialize};

use super::dataset::VectorsConfig;
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
    /// Only the first so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Word vectors, which `wmd` needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<VectorsConfig>,
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
    /// Parquet.
    Parquet,
}

impl TextsFormat {
    /// Layout by the ending of a name.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "txt" => Some(Self::Txt),
            "tsv" => Some(Self::Tsv),
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

impl TextsConfig {
    /// Reads its keys of a section.
    pub(super) fn read(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let problems = section.problems();
        let path = section.required_node("path");
        let path = path.and_then(|node| ConfigPath::read(node, &section.path_of("path"), folder, problems));
        let format: Option<TextsFormat> = section.optional("format");
        if let (None, Some(path)) = (format, &path)
            && TextsFormat::of(&path.resolved).is_none()
        {
            let message = format!(
                "`{}` is `{}`, whose ending says nothing: add `format: txt`, `tsv`, `csv`, `jsonl` or `parquet`",
                section.path_of("path"),
                path.written
            );
            section.refuse("path", message);
        }
        let vectors = section.node("vectors").map(|node| VectorsConfig::read(node, folder, problems));
        Some(Self {
            format,
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
