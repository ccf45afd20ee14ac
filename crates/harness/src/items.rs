//! Items of the user's own, from a file: an id and a text each, perhaps with further columns.
//!
//! Whatever is wrong is named by file and row. Memory: the ids and texts themselves.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::config::{ConfigPath, EmptyTexts, TextsConfig, TextsFormat};
pub use crate::table_file::TableError;
use crate::table_file::{Table, TableFile};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnItems {
    /// Ids, distinct.
    pub ids: Vec<String>,
    /// Texts, none of them blank.
    pub texts: Vec<String>,
    /// Cells of further columns, one list a column.
    pub more: Vec<Vec<String>>,
    /// Blank lines that were left out.
    pub blank: usize,
    /// Rows without a text that were left out.
    pub empty: usize,
    /// Items of the file that a limit left out; `None` if the file was not read to its end.
    pub beyond: Option<usize>,
    /// Items of the first of two lists, which come first; ids then begin with [`LEFT`] or [`RIGHT`].
    pub left: Option<usize>,
}

/// Begins the ids of the first of two lists.
pub const LEFT: &str = "left/";
/// Begins those of the second.
pub const RIGHT: &str = "right/";

/// Why items could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ItemsError {
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("`{}` has the id `{id}` in row {first} and again in row {again}; ids must be distinct, remove one of them", path.display())]
    Repeated { path: PathBuf, id: String, first: usize, again: usize },
    #[error("`{}` has {seen} items, but wanted are at least {wanted}", path.display())]
    TooFew { path: PathBuf, seen: usize, wanted: usize },
    /// A path that starts at a folder which nothing names.
    #[error("`{0}` starts at the folder of the corpora, which nothing names: give `--data DIR`, or set LANDMARK_DATA")]
    NoDataFolder(String),
}

/// File of items, and its columns that are read.
#[derive(Debug, Clone)]
pub struct ItemFile<'a> {
    pub table: TableFile<'a>,
    /// The column of the ids, or the number of the row.
    pub id: Option<&'a str>,
    pub text: &'a str,
    pub more: &'a [&'a str],
    /// True where a row without a text is left out, and counted.
    pub drops_empty: bool,
}

impl OwnItems {
    /// The items of a configuration; `data` is the folder of the corpora.
    pub fn of(config: &TextsConfig, data: Option<&Path>) -> Result<Self, ItemsError> {
        Self::with(config, &[], data)
    }

    /// The same with further columns.
    pub fn with(config: &TextsConfig, more: &[&str], data: Option<&Path>) -> Result<Self, ItemsError> {
        if let Some(right) = &config.right {
            return Self::of_two(config, right, data);
        }
        let path = config.path.at(data).ok_or_else(|| ItemsError::NoDataFolder(config.path.written.clone()))?;
        let file = config.file(&path, more);
        let mut items = file.read_first(2, config.limit)?;
        if let Some(limit) = config.limit {
            items.beyond = items.beyond.map(|_| items.ids.len().saturating_sub(limit));
            items.ids.truncate(limit);
            items.texts.truncate(limit);
            items.more.iter_mut().for_each(|column| column.truncate(limit));
        }
        Ok(items)
    }

    /// The items of two files, those of the second behind those of the first.
    fn of_two(config: &TextsConfig, right: &ConfigPath, data: Option<&Path>) -> Result<Self, ItemsError> {
        let mut both = Self { beyond: Some(0), ..Self::default() };
        for (list, begins) in [(&config.path, LEFT), (right, RIGHT)] {
            let path = list.at(data).ok_or_else(|| ItemsError::NoDataFolder(list.written.clone()))?;
            let items = config.file(&path, &[]).read(1)?;
            both.left.get_or_insert(items.ids.len());
            both.ids.extend(items.ids.into_iter().map(|id| format!("{begins}{id}")));
            both.texts.extend(items.texts);
            both.blank += items.blank;
            both.empty += items.empty;
        }
        Ok(both)
    }
}

impl TextsConfig {
    /// A file of such items at this place.
    pub fn file<'a>(&'a self, path: &'a Path, more: &'a [&'a str]) -> ItemFile<'a> {
        let layout = self.format.or_else(|| TextsFormat::of(path)).unwrap_or(TextsFormat::Txt);
        self.laid_out(path, layout, more)
    }

    /// A file of further items, with the same columns in whatever layout its ending names.
    pub fn at_path<'a>(&'a self, path: &'a Path) -> ItemFile<'a> {
        self.laid_out(path, TextsFormat::of(path).unwrap_or(self.layout()), &[])
    }

    fn laid_out<'a>(&'a self, path: &'a Path, layout: TextsFormat, more: &'a [&'a str]) -> ItemFile<'a> {
        ItemFile {
            table: TableFile { path, layout, delimiter: self.delimiter },
            id: self.id.as_deref(),
            text: &self.text,
            more,
            drops_empty: self.empty_texts == EmptyTexts::Drop,
        }
    }
}

impl ItemFile<'_> {
    /// Reads at least `at_least` items.
    pub fn read(&self, at_least: usize) -> Result<OwnItems, ItemsError> {
        self.read_first(at_least, None)
    }

    /// The same, of a large file no more than `limit` items need.
    fn read_first(&self, at_least: usize, limit: Option<usize>) -> Result<OwnItems, ItemsError> {
        let mut rows = limit;
        loop {
            let items = self.of_rows(at_least, rows, limit)?;
            match (rows, limit) {
                // rows without a text are no items
                (Some(some), Some(limit)) if items.beyond.is_none() && items.ids.len() < limit => {
                    rows = Some(some.saturating_mul(4));
                }
                _ => return Ok(items),
            }
        }
    }

    fn of_rows(&self, at_least: usize, rows: Option<usize>, limit: Option<usize>) -> Result<OwnItems, ItemsError> {
        let has_names = self.table.layout != TextsFormat::Txt;
        // the files of a folder have names of their own
        let id = self.id.or((self.table.layout == TextsFormat::Folder).then_some("id")).filter(|_| has_names);
        let mut wanted = vec![self.text];
        wanted.extend(id);
        wanted.extend(self.more);
        let table = match rows {
            Some(rows) => self.table.read_first(&wanted, rows)?,
            None => self.table.read(&wanted)?,
        };
        let Table { rows, columns, blank, is_cut } = table;
        let mut columns = columns.into_iter();
        let (texts, ids) = (columns.next().unwrap_or_default(), id.and_then(|_| columns.next()));
        let further: Vec<Vec<Option<String>>> = columns.collect();
        let beyond = (!is_cut).then_some(0);
        let mut items = OwnItems { blank, beyond, more: vec![Vec::new(); further.len()], ..OwnItems::default() };
        let mut seen: HashMap<String, usize> = HashMap::with_capacity(rows.len());
        for (at, (row, text)) in rows.into_iter().zip(texts).enumerate() {
            if is_cut && limit == Some(items.ids.len()) {
                break;
            }
            let is_there = text.is_some();
            let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
                if self.drops_empty {
                    items.empty += 1;
                    continue;
                }
                let wanted = "remove the row, give it a text, or set `empty_texts: drop`";
                let column = self.text;
                let seen = if is_there { format!("`{column}` is blank") } else { format!("it has no `{column}`") };
                return Err(self.table.row(row, seen, wanted).into());
            };
            let id = match (&ids, id) {
                (Some(ids), Some(column)) => ids[at]
                    .clone()
                    .filter(|id| !id.is_empty())
                    .ok_or_else(|| self.table.row(row, format!("`{column}` is empty"), "give it a value"))?,
                _ => row.to_string(),
            };
            if let Some(&first) = seen.get(&id) {
                return Err(ItemsError::Repeated { path: self.table.path.to_owned(), id, first, again: row });
            }
            seen.insert(id.clone(), row);
            items.ids.push(id);
            items.texts.push(text);
            items.more.iter_mut().zip(&further).for_each(|(cells, column)| {
                cells.push(column[at].clone().unwrap_or_default());
            });
        }
        if items.texts.len() < at_least && !is_cut {
            let (path, seen) = (self.table.path.to_owned(), items.texts.len());
            return Err(ItemsError::TooFew { path, seen, wanted: at_least });
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use landmark_report::columns::{Column, write_parquet};

    use super::*;

    struct File(tempfile::TempDir, &'static str, bool);

    impl File {
        fn with(name: &'static str, bytes: &[u8]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), bytes).unwrap();
            Self(folder, name, false)
        }

        fn read(&self, id: Option<&str>) -> Result<OwnItems, String> {
            let path = self.0.path().join(self.1);
            let layout = TextsFormat::of(&path).unwrap();
            let table = TableFile { path: &path, layout, delimiter: None };
            let file = ItemFile { table, id, text: "text", more: &[], drops_empty: self.2 };
            file.read(2).map_err(|error| error.to_string())
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
            beyond: Some(0),
            ..OwnItems::default()
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
            ("x.tsv", b"key\ttext\na\tone\nb\t \n", "row 2: `text` is blank"),
            ("x.tsv", b"key\ttext\na\tone\n", "has 1 items, but wanted are at least 2"),
            ("x.tsv", b"key\ttext\na\tone\nb\t\xff\n", "row 2: bytes that are not UTF-8"),
            ("x.jsonl", b"{\"key\":1,\"text\":\"one\"}\nnonsense\n", "row 2: `nonsense` (expected"),
            ("x.jsonl", b"{\"key\":1,\"txt\":\"one\"}\n", "no column `text`; did you mean `txt`?"),
            ("x.jsonl", b"{\"text\":\"one\",\"key\":1}\n{\"key\":2}\n", "row 2: it has no `text`; remove the row"),
            ("x.tsv", b"", "is empty; expected a line with the names of the columns"),
            ("x.csv", b"\n", "is empty; expected a line with the names of the columns"),
            ("x.csv", b"key,text\na,\nb,two\n", "row 1: "),
            (
                "x.csv",
                b"key,text\na,\"one\n1\"\nb,\"two\nc,three\nd,four\n",
                "row 2: line 4 opens a quote that is never closed; close it",
            ),
            ("x.csv", b"key,\"text\na,one\nb,two\n", "row 0: line 1 opens a quote that is never closed"),
            ("x.parquet", b"not at all", "can't be read as Parquet"),
        ] {
            let message = File::with(name, bytes).read(Some("key")).unwrap_err();
            assert!(message.contains(wanted), "{name}: {message}");
        }
        let table = TableFile { path: Path::new("/nowhere.txt"), layout: TextsFormat::Txt, delimiter: None };
        let missing = ItemFile { table, id: None, text: "text", more: &[], drops_empty: false };
        assert!(missing.read(1).unwrap_err().to_string().contains("`/nowhere.txt` can't be read"));
    }

    #[test]
    fn spreadsheets_are_read_as_they_are_saved() {
        let wanted = OwnItems {
            ids: vec!["a".into(), "b".into()],
            texts: vec!["one; two".into(), "three".into()],
            beyond: Some(0),
            ..OwnItems::default()
        };
        for bytes in [
            &b"key;text\na;\"one; two\"\nb;three\n"[..],
            b"\xef\xbb\xbfkey;text\r\na;\"one; two\"\r\nb;three\r\n",
            b"key\ttext\na\tone; two\nb\tthree\n",
            b"\xef\xbb\xbftext|key\none; two|a\nthree|b\n",
        ] {
            assert_eq!(File::with("x.csv", bytes).read(Some("key")), Ok(wanted.clone()), "{}", bytes.escape_ascii());
        }
        let marked = File::with(
            "x.jsonl",
            b"\xef\xbb\xbf{\"key\":\"a\",\"text\":\"one; two\"}\n\n{\"key\":\"b\",\"text\":\"three\"}\n",
        );
        assert_eq!(marked.read(Some("key")), Ok(OwnItems { blank: 1, ..wanted }));
    }

    #[test]
    fn rows_without_a_text_are_left_out_and_counted_where_that_is_asked_for() {
        let mut file = File::with("x.csv", b"key,text\na,one\nb,\nc, \nd,two\n");
        assert!(file.read(Some("key")).unwrap_err().contains("row 2: `text` is blank"));
        file.2 = true;
        let items = file.read(None).unwrap();
        assert_eq!((items.ids, items.empty), (vec!["1".to_owned(), "4".to_owned()], 2));
    }

    #[test]
    fn every_file_of_a_folder_is_an_item() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("b.txt", "two\nlines\n"), ("a.txt", "one"), (".hidden", "no")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(TextsFormat::of(folder.path()), Some(TextsFormat::Folder));
        let table = TableFile { path: folder.path(), layout: TextsFormat::Folder, delimiter: None };
        let items = ItemFile { table, id: None, text: "text", more: &[], drops_empty: false }.read(2).unwrap();
        assert_eq!(items.ids, ["a.txt", "b.txt"]);
        assert_eq!(items.texts, ["one", "two\nlines"]);
    }
}
