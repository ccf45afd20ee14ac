//! Items of the user's own, from a file: an id and a text each.
//!
//! Read row by row, of Parquet only the columns that are asked for. Whatever is wrong is named by
//! file and row. Memory: the ids and texts themselves.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use landmark_yaml::did_you_mean;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;
use serde_json::Value as Json;

use crate::config::{TextsConfig, TextsFormat};

/// Items as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnItems {
    /// Ids, distinct.
    pub ids: Vec<String>,
    /// Texts, none of them blank.
    pub texts: Vec<String>,
    /// Blank lines of a TXT file that were left out.
    pub blank: usize,
}

/// Why items could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ItemsError {
    /// The file system refused.
    #[error("the items `{}` can't be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A column that is not there.
    #[error("`{}` has no column `{column}`; {help}", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The column wanted.
        column: String,
        /// The columns there are, or the nearest.
        help: String,
    },
    /// A row that cannot be used.
    #[error("`{}` row {row}: {seen}; {wanted}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Number of the row, from 1; a header line does not count.
        row: usize,
        /// Fault that was found.
        seen: String,
        /// Remedy: what is wanted.
        wanted: &'static str,
    },
    /// An id that was seen before.
    #[error("`{}` has the id `{id}` in row {first} and again in row {again}; ids must be distinct, remove one of them", path.display())]
    Repeated {
        /// The file.
        path: PathBuf,
        /// The id.
        id: String,
        /// The row that has it first.
        first: usize,
        /// The row that has it again.
        again: usize,
    },
    /// Fewer than two items.
    #[error("`{}` has {seen} items, but wanted are at least {wanted}", path.display())]
    TooFew {
        /// The file.
        path: PathBuf,
        /// Number of items that it has.
        seen: usize,
        /// Number of items that it must have.
        wanted: usize,
    },
    /// A file that is not of its layout.
    #[error("`{}` can't be read as {layout}: {reason}", path.display())]
    Layout {
        /// The file.
        path: PathBuf,
        /// The layout.
        layout: &'static str,
        /// Message of the reader.
        reason: String,
    },
}

/// File of items, and its columns that are read.
#[derive(Debug, Clone)]
pub struct ItemFile<'a> {
    /// The file.
    pub path: &'a Path,
    /// Its layout.
    pub layout: TextsFormat,
    /// The column of the ids, or the number of the row.
    pub id: Option<&'a str>,
    /// The column of the texts.
    pub text: &'a str,
}

impl OwnItems {
    /// The items of a configuration.
    ///
    /// # Errors
    /// [`ItemsError`], with the file and the row.
    pub fn of(config: &TextsConfig) -> Result<Self, ItemsError> {
        let mut items = ItemFile {
            path: &config.path.resolved,
            layout: config.layout(),
            id: config.id.as_deref(),
            text: &config.text,
        }
        .read(2)?;
        if let Some(limit) = config.limit {
            items.ids.truncate(limit);
            items.texts.truncate(limit);
        }
        Ok(items)
    }
}

impl ItemFile<'_> {
    /// Reads at least so many items.
    ///
    /// # Errors
    /// [`ItemsError`], with the file and the row.
    pub fn read(&self, at_least: usize) -> Result<OwnItems, ItemsError> {
        let mut items = match self.layout {
            TextsFormat::Txt => self.read_lines()?,
            TextsFormat::Tsv => self.read_tabs()?,
            TextsFormat::Jsonl => self.read_json()?,
            TextsFormat::Csv => self.read_csv()?,
            // readers of Parquet are known to panic on files that are damaged
            TextsFormat::Parquet => catch_unwind(AssertUnwindSafe(|| self.read_parquet()))
                .unwrap_or_else(|_| Err(self.layout_error("its reader gave up: the file is damaged".to_owned())))?,
        };
        if items.texts.len() < at_least {
            return Err(ItemsError::TooFew { path: self.path.to_owned(), seen: items.texts.len(), wanted: at_least });
        }
        if items.ids.is_empty() {
            items.ids = (1..=items.texts.len()).map(|row| row.to_string()).collect();
        }
        self.check(&items)?;
        Ok(items)
    }

    fn check(&self, items: &OwnItems) -> Result<(), ItemsError> {
        if let Some(blank) = items.texts.iter().position(|text| text.trim().is_empty()) {
            return Err(self.row(blank + 1, "the text is blank".to_owned(), "remove the row or give it a text"));
        }
        let mut rows: HashMap<&str, usize> = HashMap::with_capacity(items.ids.len());
        for (row, id) in items.ids.iter().enumerate() {
            if let Some(first) = rows.insert(id, row) {
                let (id, path) = (id.clone(), self.path.to_owned());
                return Err(ItemsError::Repeated { path, id, first: first + 1, again: row + 1 });
            }
        }
        Ok(())
    }

    fn row(&self, row: usize, seen: String, wanted: &'static str) -> ItemsError {
        ItemsError::Row { path: self.path.to_owned(), row, seen, wanted }
    }

    fn whole(&self) -> Result<String, ItemsError> {
        let bytes =
            std::fs::read(self.path).map_err(|source| ItemsError::Read { path: self.path.to_owned(), source })?;
        String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            self.row(line, "bytes that are not UTF-8".to_owned(), "save the file as UTF-8")
        })
    }

    fn read_lines(&self) -> Result<OwnItems, ItemsError> {
        let text = self.whole()?;
        let mut items = OwnItems::default();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                items.blank += 1;
                continue;
            }
            items.ids.push((number + 1).to_string());
            items.texts.push(line.trim().to_owned());
        }
        Ok(items)
    }

    fn read_tabs(&self) -> Result<OwnItems, ItemsError> {
        let text = self.whole()?;
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().unwrap_or_default().trim_start_matches('\u{feff}').split('\t').collect();
        let id = self.id.map(|name| self.place(&head, name)).transpose()?;
        let place = self.place(&head, self.text)?;
        let mut items = OwnItems::default();
        for (row, line) in lines.enumerate() {
            let cells: Vec<&str> = line.split('\t').collect();
            if cells.len() != head.len() {
                let seen = format!("{} columns where the header has {}", cells.len(), head.len());
                return Err(self.row(row + 1, seen, "separate columns by one tab each"));
            }
            items.ids.extend(id.map(|id| cells[id].to_owned()));
            items.texts.push(cells[place].to_owned());
        }
        Ok(items)
    }

    fn read_json(&self) -> Result<OwnItems, ItemsError> {
        let text = self.whole()?;
        let mut items = OwnItems::default();
        for (row, line) in text.lines().enumerate() {
            let object: Json = serde_json::from_str(line)
                .map_err(|error| self.row(row + 1, error.to_string(), "write one JSON object a line"))?;
            let value =
                |key: &str| match &object[key] {
                    Json::String(text) => Ok(text.clone()),
                    Json::Number(number) => Ok(number.to_string()),
                    Json::Null => Err(self
                        .missing(key, object.as_object().into_iter().flat_map(|map| map.keys().map(String::as_str)))),
                    other => Err(self.row(row + 1, format!("`{key}` is `{other}`"), "give it a text")),
                };
            if let Some(id) = self.id {
                items.ids.push(value(id)?);
            }
            items.texts.push(value(self.text)?);
        }
        Ok(items)
    }

    /// Every column a text: an id like 007 stays as it is.
    fn read_csv(&self) -> Result<OwnItems, ItemsError> {
        let layout = |error: csv::Error| self.layout_error(error.to_string());
        let mut reader = csv::Reader::from_reader(open(self.path)?);
        let head = reader.headers().map_err(layout)?.clone();
        let head: Vec<&str> = head.iter().collect();
        let id = self.id.map(|name| self.place(&head, name)).transpose()?;
        let place = self.place(&head, self.text)?;
        let mut items = OwnItems::default();
        for (row, record) in reader.records().enumerate() {
            let record = record.map_err(layout)?;
            let cell = |place: usize| match &record[place] {
                "" => Err(self.empty(row, head[place])),
                text => Ok(text.to_owned()),
            };
            if let Some(id) = id {
                items.ids.push(cell(id)?);
            }
            items.texts.push(cell(place)?);
        }
        Ok(items)
    }

    fn read_parquet(&self) -> Result<OwnItems, ItemsError> {
        let layout = |error: ParquetError| self.layout_error(error.to_string());
        let reader = SerializedFileReader::new(open(self.path)?).map_err(layout)?;
        let schema = reader.metadata().file_metadata().schema();
        let head: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
        let wanted: Vec<usize> =
            self.id.iter().chain([&self.text]).map(|name| self.place(&head, name)).collect::<Result<_, _>>()?;
        // in the order of the file, and each once
        let read: Vec<usize> = (0..head.len()).filter(|place| wanted.contains(place)).collect();
        let fields = read.iter().map(|&place| schema.get_fields()[place].clone()).collect();
        let projection = Type::group_type_builder(schema.name()).with_fields(fields).build().map_err(layout)?;
        let mut items = OwnItems::default();
        for (row, cells) in reader.get_row_iter(Some(projection)).map_err(layout)?.enumerate() {
            let cells = cells.map_err(layout)?.into_columns();
            let cell = |name: &str| match cells.iter().find(|(column, _)| column == name) {
                None | Some((_, Field::Null)) => Err(self.empty(row, name)),
                Some((_, Field::Str(text))) => Ok(text.clone()),
                Some((_, Field::Bytes(bytes))) => bytes.as_utf8().map(str::to_owned).map_err(layout),
                Some((_, Field::Float(number))) => Ok(format!("{number:?}")),
                Some((_, Field::Double(number))) => Ok(format!("{number:?}")),
                Some((_, other)) => Ok(other.to_string()),
            };
            if let Some(id) = self.id {
                items.ids.push(cell(id)?);
            }
            items.texts.push(cell(self.text)?);
        }
        Ok(items)
    }

    fn empty(&self, row: usize, column: &str) -> ItemsError {
        self.row(row + 1, format!("`{column}` is empty"), "give it a value")
    }

    fn place(&self, head: &[&str], name: &str) -> Result<usize, ItemsError> {
        head.iter().position(|column| *column == name).ok_or_else(|| self.missing(name, head.iter().copied()))
    }

    fn missing<'n>(&self, column: &str, there: impl Iterator<Item = &'n str>) -> ItemsError {
        let there: Vec<&str> = there.collect();
        let help = match did_you_mean(column, there.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has: {}", there.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
        };
        ItemsError::Column { path: self.path.to_owned(), column: column.to_owned(), help }
    }

    fn layout_error(&self, reason: String) -> ItemsError {
        let layout = if self.layout == TextsFormat::Csv { "CSV" } else { "Parquet" };
        ItemsError::Layout { path: self.path.to_owned(), layout, reason }
    }
}

fn open(path: &Path) -> Result<std::fs::File, ItemsError> {
    std::fs::File::open(path).map_err(|source| ItemsError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use landmark_report::columns::{Column, write_parquet};

    use super::*;

    struct File(tempfile::TempDir, &'static str);

    impl File {
        fn with(name: &'static str, bytes: &[u8]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), bytes).unwrap();
            Self(folder, name)
        }

        fn read(&self, id: Option<&str>) -> Result<OwnItems, String> {
            let path = self.0.path().join(self.1);
            let layout = TextsFormat::of(&path).unwrap();
            ItemFile { path: &path, layout, id, text: "text" }.read(2).map_err(|error| error.to_string())
        }
    }

    #[test]
    fn every_layout_gives_the_same_items() {
        let mut parquet = Vec::new();
        let (ids, texts) = ([Some("a"), Some("b")], [Some("one, two"), Some("\"three\"")]);
        let columns = vec![Column::text("key", ids), Column::count("other", [None, None]), Column::text("text", texts)];
        write_parquet(&mut parquet, [columns]).unwrap();
        let wanted = OwnItems {
            ids: vec!["a".into(), "b".into()],
            texts: vec!["one, two".into(), "\"three\"".into()],
            blank: 0,
        };
        for (name, bytes) in [
            ("x.tsv", b"key\ttext\na\tone, two\nb\t\"three\"\n".to_vec()),
            ("x.csv", b"text,key\n\"one, two\",a\n\"\"\"three\"\"\",b\n".to_vec()),
            (
                "x.jsonl",
                b"{\"key\":\"a\",\"text\":\"one, two\"}\n{\"text\":\"\\\"three\\\"\",\"key\":\"b\"}\n".to_vec(),
            ),
            ("x.parquet", parquet),
        ] {
            assert_eq!(File::with(name, &bytes).read(Some("key")), Ok(wanted.clone()), "{name}");
        }
        let lines = File::with("x.txt", b"one, two\n\n\"three\"\n").read(None).unwrap();
        assert_eq!((lines.ids, lines.texts, lines.blank), (vec!["1".into(), "3".into()], wanted.texts, 1));
    }

    #[test]
    fn an_id_keeps_its_zeros() {
        let items = File::with("x.csv", b"key,text\n007,a\n7,b\n").read(Some("key")).unwrap();
        assert_eq!(items.ids, ["007", "7"]);
    }

    #[test]
    fn what_is_wrong_is_named_by_file_and_row() {
        for (name, bytes, wanted) in [
            ("x.tsv", &b"key\ttext\na\tone\na\ttwo\n"[..], "the id `a` in row 1 and again in row 2"),
            ("x.tsv", b"key\ttexts\na\tone\n", "no column `text`; did you mean `texts`?"),
            ("x.tsv", b"key\ttext\na\tone\tmore\n", "row 1: 3 columns where the header has 2"),
            ("x.tsv", b"key\ttext\na\tone\nb\t \n", "row 2: the text is blank"),
            ("x.tsv", b"key\ttext\na\tone\n", "has 1 items, but wanted are at least 2"),
            ("x.tsv", b"key\ttext\na\tone\nb\t\xff\n", "row 3: bytes that are not UTF-8"),
            ("x.jsonl", b"{\"key\":1,\"text\":\"one\"}\nnonsense\n", "row 2: expected"),
            ("x.jsonl", b"{\"key\":1,\"txt\":\"one\"}\n", "no column `text`; did you mean `txt`?"),
            ("x.csv", b"key,text\na,\nb,two\n", "row 1: "),
            ("x.parquet", b"not at all", "can't be read as Parquet"),
        ] {
            let message = File::with(name, bytes).read(Some("key")).unwrap_err();
            assert!(message.contains(wanted), "{name}: {message}");
        }
        let missing = ItemFile { path: Path::new("/nowhere.txt"), layout: TextsFormat::Txt, id: None, text: "text" };
        assert!(missing.read(1).unwrap_err().to_string().contains("`/nowhere.txt` can't be read"));
    }
}
