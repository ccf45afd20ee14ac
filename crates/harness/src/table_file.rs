//! Files of rows with named columns, as people have them: TSV, CSV under whatever delimiter, JSONL, Parquet, lines of text, a folder of texts;
//! plain or gzip.
//!
//! Read row by row, of Parquet only the columns that are asked for. Whatever is wrong is named by file and row; rows count from 1 and a header
//! line does not count. Memory: the cells that are asked for.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use landmark_data::{DataError, RowFormat, Rows, contained};
use landmark_yaml::did_you_mean;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;
use serde_json::Value as Json;

use crate::config::TextsFormat;
use open_quote::open_quote;
use parquet_source::{ParquetSource, check_dictionaries};

mod open_quote;
mod parquet_source;

/// The first two bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The byte order mark that spreadsheets write.
const MARK: char = '\u{feff}';
/// Delimiters of a CSV file, in the order they are tried.
const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// Why a file of rows could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file system refused.
    #[error("`{}` can't be read: {source}; a path in a configuration starts at its folder, one on the command line where you are", path.display())]
    Read {
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A table without a line.
    #[error("`{}` is empty; wanted is a row an item, below a line with the names of the columns", .0.display())]
    Empty(PathBuf),
    /// A column that is not there.
    #[error("`{}` has no column `{column}`; {help}", path.display())]
    Column {
        path: PathBuf,
        /// The column wanted.
        column: String,
        /// The columns there are, or the nearest.
        help: String,
    },
    /// A row that cannot be used.
    #[error("`{}` row {row}: {seen}; {wanted}", path.display())]
    Row {
        path: PathBuf,
        /// Number of the row, from 1; a header line does not count.
        row: usize,
        /// Fault that was found.
        seen: String,
        /// Remedy: what is wanted.
        wanted: Cow<'static, str>,
    },
    /// A file that is not of its layout.
    #[error("`{}` can't be read as {layout}: {reason}", path.display())]
    Layout {
        path: PathBuf,
        layout: &'static str,
        /// Message of the reader.
        reason: String,
    },
}

/// A file of rows, and how it is laid out.
#[derive(Debug, Clone, Copy)]
pub struct TableFile<'a> {
    /// The file, or the folder.
    pub path: &'a Path,
    pub layout: TextsFormat,
    /// What stands between the columns of a CSV file; found out where absent.
    pub delimiter: Option<char>,
}

/// Cells of the columns that were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Number of each row, from 1; of a TXT file that of its line.
    pub rows: Vec<usize>,
    /// One list a column, in the order they were asked for; `None` where a cell is missing.
    pub columns: Vec<Vec<Option<String>>>,
    /// Blank lines that were left out.
    pub blank: usize,
}

impl Table {
    fn of(columns: usize) -> Self {
        Self { rows: Vec::new(), columns: vec![Vec::new(); columns], blank: 0 }
    }

    fn push(&mut self, row: usize, cells: impl Iterator<Item = Option<String>>) {
        self.rows.push(row);
        self.columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
    }
}

impl TableFile<'_> {
    /// Names of the columns; of a file without names, of the column `text`.
    ///
    /// # Errors
    /// [`TableError`] with the file.
    pub fn head(&self) -> Result<Vec<String>, TableError> {
        match self.layout {
            TextsFormat::Txt => Ok(vec!["text".to_owned()]),
            TextsFormat::Folder => Ok(vec!["id".to_owned(), "text".to_owned()]),
            TextsFormat::Tsv => self.head_of(RowFormat::Tsv, &self.whole()?),
            TextsFormat::Jsonl => self.head_of(RowFormat::Jsonl, &self.whole()?),
            TextsFormat::Csv => {
                let text = self.whole()?;
                let (text, said) = separated(&text);
                let heads = self.delimiters(said).map(|delimiter| csv_head(text, delimiter));
                Ok(heads.max_by_key(Vec::len).unwrap_or_default())
            }
            TextsFormat::Parquet => {
                let open =
                    |file| contained(|| SerializedFileReader::new(file)).map_err(|said| self.damaged_parquet(&said));
                let reader = open(self.open_parquet()?)?.map_err(|error| self.parquet(error))?;
                let schema = reader.metadata().file_metadata().schema();
                Ok(schema.get_fields().iter().map(|field| field.name().to_owned()).collect())
            }
        }
    }

    /// The columns of these names. A TXT file has one, under any name.
    ///
    /// # Errors
    /// [`TableError`], with the file and the row.
    pub fn read(&self, wanted: &[&str]) -> Result<Table, TableError> {
        match self.layout {
            TextsFormat::Txt => self.read_lines(wanted.len()),
            TextsFormat::Folder => self.read_folder(wanted),
            TextsFormat::Tsv => self.read_rows(RowFormat::Tsv, wanted),
            TextsFormat::Jsonl => self.read_rows(RowFormat::Jsonl, wanted),
            TextsFormat::Csv => self.read_csv(wanted),
            // readers of Parquet are known to panic on files that are damaged
            TextsFormat::Parquet => {
                contained(|| self.read_parquet(wanted)).unwrap_or_else(|said| Err(self.damaged_parquet(&said)))
            }
        }
    }

    /// A fault of a row.
    pub fn row(&self, row: usize, seen: String, wanted: impl Into<Cow<'static, str>>) -> TableError {
        TableError::Row { path: self.path.to_owned(), row, seen, wanted: wanted.into() }
    }

    /// The whole text of a file that is no table.
    ///
    /// # Errors
    /// [`TableError`] with the file.
    pub fn lines(&self) -> Result<String, TableError> {
        self.whole()
    }

    fn failed(&self) -> impl Fn(std::io::Error) -> TableError + '_ {
        |source| TableError::Read { path: self.path.to_owned(), source }
    }

    fn open_plain(&self) -> Result<File, TableError> {
        File::open(self.path).map_err(self.failed())
    }

    fn open_parquet(&self) -> Result<ParquetSource, TableError> {
        self.open_plain().map(ParquetSource)
    }

    /// The whole text, without the mark at its beginning.
    fn whole(&self) -> Result<String, TableError> {
        let mut plain = BufReader::new(self.open_plain()?);
        let is_compressed = plain.fill_buf().map_err(self.failed())?.starts_with(&GZIP_MAGIC);
        let mut bytes = Vec::new();
        let read = if is_compressed {
            MultiGzDecoder::new(plain).read_to_end(&mut bytes)
        } else {
            plain.read_to_end(&mut bytes)
        };
        read.map_err(self.failed())?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            let is_wide = error.as_bytes().starts_with(&[0xff, 0xfe]) || error.as_bytes().starts_with(&[0xfe, 0xff]);
            let seen = if is_wide { "UTF-16, as spreadsheets write it" } else { "bytes that are not UTF-8" };
            let row = match self.layout {
                TextsFormat::Csv => {
                    // rows up to the byte, which may have lines of their own within quotes
                    let text = String::from_utf8_lossy(before) + "?";
                    let (text, said) = separated(&text);
                    let heads = self.delimiters(said).map(|delimiter| (csv_head(text, delimiter).len(), delimiter));
                    let delimiter = heads.max_by_key(|&(columns, _)| columns).map_or(DELIMITERS[0], |(_, one)| one);
                    csv_reader(text, delimiter).records().count()
                }
                _ => line.saturating_sub(self.lines_of_header()),
            };
            self.row(row, format!("{seen}, in line {line} of the file"), "save the file as UTF-8")
        })?;
        let text = text.strip_prefix(MARK).map(str::to_owned).unwrap_or(text);
        // line ends of old spreadsheets
        let has_old_ends = self.layout != TextsFormat::Folder && !text.contains('\n') && text.contains('\r');
        Ok(if has_old_ends { text.replace('\r', "\n") } else { text })
    }

    fn read_lines(&self, columns: usize) -> Result<Table, TableError> {
        let text = self.whole()?;
        let mut table = Table::of(columns);
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                table.blank += 1;
            } else {
                table.push(number + 1, (0..columns).map(|_| Some(line.trim().to_owned())));
            }
        }
        Ok(table)
    }

    /// Every file of a folder is a row, in the order of their names; its id is its name.
    fn read_folder(&self, wanted: &[&str]) -> Result<Table, TableError> {
        let entries = std::fs::read_dir(self.path).map_err(self.failed())?;
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in entries {
            let path = entry.map_err(self.failed())?.path();
            let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if path.is_file() && !is_hidden {
                files.push(path);
            }
        }
        files.sort();
        let mut table = Table::of(wanted.len());
        for (number, path) in files.iter().enumerate() {
            let text = TableFile { path, layout: TextsFormat::Txt, delimiter: None }.whole()?;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let cells = wanted.iter().map(|column| match *column {
                "id" => Ok(Some(name.clone())),
                "text" => Ok(Some(text.trim().to_owned())),
                other => Err(self.missing(other, ["id", "text"].into_iter())),
            });
            let cells: Vec<_> = cells.collect::<Result<_, _>>()?;
            table.push(number + 1, cells.into_iter());
        }
        Ok(table)
    }

    /// Rows between tabs or as objects, by the reader that the catalogue's corpora have.
    fn read_rows(&self, format: RowFormat, wanted: &[&str]) -> Result<Table, TableError> {
        let text = self.whole()?;
        if format == RowFormat::Tsv {
            self.check_filled(&text)?;
        }
        let head = self.head_of(format, &text)?;
        // names a near column; a file without an object has no rows
        if !head.is_empty() {
            self.places(&head.iter().map(String::as_str).collect::<Vec<_>>(), wanted)?;
        }
        if format == RowFormat::Tsv
            && let Some(rows) = quoted_rows(&text, head.len())
        {
            let places = self.places(&head.iter().map(String::as_str).collect::<Vec<_>>(), wanted)?;
            let mut table = Table::of(wanted.len());
            for (row, cells) in rows.iter().enumerate() {
                table.push(row + 1, places.iter().map(|&place| Some(cells[place].clone())));
            }
            return Ok(table);
        }
        let mut rows = Rows::new(self.path, text.as_bytes(), format, wanted).map_err(|error| self.malformed(error))?;
        let mut table = Table::of(wanted.len());
        while let Some((line, cells)) = rows.next_row().map_err(|error| self.malformed(error))? {
            let literal = format != RowFormat::Tsv;
            let cells = cells.into_iter().map(|cell| if literal { cell } else { cell.map(unquoted) });
            table.push(line - self.lines_of_header(), cells);
        }
        table.blank = rows.blank();
        Ok(table)
    }

    /// The columns of the header, or the keys of the first object.
    fn head_of(&self, format: RowFormat, text: &str) -> Result<Vec<String>, TableError> {
        if format == RowFormat::Tsv {
            let line = text.lines().next().unwrap_or_default();
            let cells = line.split('\t');
            // every name in quotes: so is every cell
            let is_quoted = cells.clone().all(|cell| cell.len() > 1 && cell.starts_with('"') && cell.ends_with('"'));
            return Ok(if is_quoted { csv_head(line, '\t') } else { cells.map(str::to_owned).collect() });
        }
        let Some((number, first)) = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty()) else {
            return Ok(Vec::new());
        };
        let object: Json = serde_json::from_str(first)
            .map_err(|error| self.row(number + 1, error.to_string(), "write one JSON object a line"))?;
        Ok(object.as_object().into_iter().flat_map(|map| map.keys().cloned()).collect())
    }

    /// Lines above the first row.
    fn lines_of_header(&self) -> usize {
        usize::from(matches!(self.layout, TextsFormat::Tsv | TextsFormat::Csv))
    }

    /// What the reader of rows says, by rows: a header line does not count.
    fn malformed(&self, error: DataError) -> TableError {
        match error {
            DataError::Malformed { line, seen, wanted, .. } => {
                self.row(line.saturating_sub(self.lines_of_header()), seen, format!("wanted is {wanted}"))
            }
            other => TableError::Layout { path: self.path.to_owned(), layout: "rows", reason: other.to_string() },
        }
    }

    /// The delimiters that the file may have, where its first line says one or not.
    fn delimiters(&self, said: Option<char>) -> impl Iterator<Item = char> + use<> {
        let given = self.delimiter.or(said);
        DELIMITERS.into_iter().filter(move |_| given.is_none()).chain(given)
    }

    /// Every column a text: an id like 007 stays as it is.
    fn read_csv(&self, wanted: &[&str]) -> Result<Table, TableError> {
        let text = self.whole()?;
        let (text, said) = separated(&text);
        self.check_filled(text)?;
        let has_all = |head: &[String]| wanted.iter().all(|name| head.iter().any(|column| column == name));
        let delimiter = self.delimiters(said).find(|&delimiter| has_all(&csv_head(text, delimiter)));
        self.check_quotes(text, delimiter.or(self.delimiter).unwrap_or(DELIMITERS[0]))?;
        let Some(delimiter) = delimiter else {
            let head = self.head()?;
            let lacking = wanted.iter().find(|name| !head.iter().any(|column| column == *name));
            return Err(self.missing(lacking.unwrap_or(&""), head.iter().map(String::as_str)));
        };
        let layout = |error: csv::Error| TableError::Layout {
            path: self.path.to_owned(),
            layout: "CSV",
            reason: error.to_string(),
        };
        let mut reader = csv_reader(text, delimiter);
        let head: Vec<String> = reader.headers().map_err(layout)?.iter().map(str::to_owned).collect();
        let places = self.places(&head.iter().map(String::as_str).collect::<Vec<_>>(), wanted)?;
        let mut table = Table::of(wanted.len());
        for (row, record) in reader.records().enumerate() {
            let record = record.map_err(layout)?;
            if record.len() != head.len() {
                let seen = format!("{} columns where the header has {}", record.len(), head.len());
                return Err(self.row(row + 1, seen, "quote cells that hold the delimiter, as in `\"a, b\"`"));
            }
            table.push(row + 1, places.iter().map(|&place| Some(record[place].to_owned())));
        }
        Ok(table)
    }

    /// Refuses a table without even a header line.
    fn check_filled(&self, text: &str) -> Result<(), TableError> {
        if text.trim().is_empty() { Err(TableError::Empty(self.path.to_owned())) } else { Ok(()) }
    }

    /// Refuses a text in which a quote is never closed: what follows would be one cell.
    fn check_quotes(&self, text: &str, delimiter: char) -> Result<(), TableError> {
        let Some(at) = open_quote(text, delimiter) else { return Ok(()) };
        let line = text[..at].matches('\n').count() + 1;
        // the cell that never ends is in the last row that the reader sees
        let row = csv_reader(text, delimiter).records().count();
        let seen = format!("line {line} opens a quote that is never closed");
        Err(self.row(row, seen, "close it; a text that begins with a quote is `\"\"\"like this\"`"))
    }

    fn damaged_parquet(&self, said: &str) -> TableError {
        let reason = format!("the file is damaged, its reader gave up: {said}");
        TableError::Layout { path: self.path.to_owned(), layout: "Parquet", reason }
    }

    fn parquet(&self, error: ParquetError) -> TableError {
        TableError::Layout { path: self.path.to_owned(), layout: "Parquet", reason: error.to_string() }
    }

    fn read_parquet(&self, wanted: &[&str]) -> Result<Table, TableError> {
        let layout = |error: ParquetError| self.parquet(error);
        let reader = SerializedFileReader::new(self.open_parquet()?).map_err(layout)?;
        let schema = reader.metadata().file_metadata().schema();
        let head: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
        let places = self.places(&head, wanted)?;
        // in the order of the file, and each once
        let read: Vec<usize> = (0..head.len()).filter(|place| places.contains(place)).collect();
        check_dictionaries(&reader, wanted).map_err(layout)?;
        let fields = read.iter().map(|&place| schema.get_fields()[place].clone()).collect();
        let projection = Type::group_type_builder(schema.name()).with_fields(fields).build().map_err(layout)?;
        let mut table = Table::of(wanted.len());
        for (row, cells) in reader.get_row_iter(Some(projection)).map_err(layout)?.enumerate() {
            let cells = cells.map_err(layout)?.into_columns();
            let cell = |name: &&str| match cells.iter().find(|(column, _)| column == name) {
                None | Some((_, Field::Null)) => Ok(None),
                Some((_, Field::Str(text))) => Ok(Some(text.clone())),
                Some((_, Field::Bytes(bytes))) => bytes.as_utf8().map(|text| Some(text.to_owned())).map_err(layout),
                Some((_, Field::Float(number))) => Ok(Some(format!("{number:?}"))),
                Some((_, Field::Double(number))) => Ok(Some(format!("{number:?}"))),
                Some((_, other)) => Ok(Some(other.to_string())),
            };
            let cells: Vec<_> = wanted.iter().map(cell).collect::<Result<_, _>>()?;
            table.push(row + 1, cells.into_iter());
        }
        Ok(table)
    }

    fn places(&self, head: &[&str], wanted: &[&str]) -> Result<Vec<usize>, TableError> {
        let place = |name: &&str| {
            let found = head.iter().position(|column| column == name);
            found.ok_or_else(|| self.missing(name, head.iter().copied()))
        };
        wanted.iter().map(place).collect()
    }

    fn missing<'n>(&self, column: &str, there: impl Iterator<Item = &'n str>) -> TableError {
        let there: Vec<&str> = there.collect();
        let help = match did_you_mean(column, there.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has: {}", there.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
        };
        TableError::Column { path: self.path.to_owned(), column: column.to_owned(), help }
    }
}

/// A text without Excel's first line `sep=;`, and the delimiter that it says.
fn separated(text: &str) -> (&str, Option<char>) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let said = first.trim_end_matches(['\r', '"']).trim_start_matches('"').strip_prefix("sep=");
    match said.map(|said| (said.chars().count(), said.chars().next())) {
        Some((1, Some(delimiter))) if delimiter.is_ascii() => (rest, Some(delimiter)),
        _ => (text, None),
    }
}

/// The text of a TSV cell that a program put in quotes: one between quotes, in which every other quote is doubled, and which holds such a pair. A
/// cell that merely begins and ends with quotes is its own text, as in the files of GLUE.
fn unquoted(cell: String) -> String {
    match cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) if inside.contains("\"\"") && !inside.replace("\"\"", "").contains('"') => {
            inside.replace("\"\"", "\"")
        }
        _ => cell,
    }
}

/// The rows of a TSV whose cells are in quotes where they need it: all names are quoted, or lines read without quoting are torn and with quoting
/// are not. `None` for any other file.
fn quoted_rows(text: &str, width: usize) -> Option<Vec<Vec<String>>> {
    let mut lines = text.lines();
    let is_quoted = |cell: &str| cell.len() > 1 && cell.starts_with('"') && cell.ends_with('"');
    let names_are_quoted = lines.next()?.split('\t').all(is_quoted);
    let is_torn = |line: &str| !line.is_empty() && line.split('\t').count() != width;
    if !(names_are_quoted || lines.any(is_torn) && text.contains('"')) {
        return None;
    }
    if open_quote(text, '\t').is_some() {
        return None;
    }
    let rows = csv_reader(text, '\t').into_records().map(|record| {
        let record = record.ok()?;
        (record.len() == width).then(|| record.iter().map(str::to_owned).collect())
    });
    rows.collect()
}

fn csv_reader(text: &str, delimiter: char) -> csv::Reader<&[u8]> {
    // a delimiter of the list, or one that was checked
    let delimiter = u8::try_from(delimiter).unwrap_or(b',');
    csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes())
}

fn csv_head(text: &str, delimiter: char) -> Vec<String> {
    let mut reader = csv_reader(text, delimiter);
    reader.headers().map(|head| head.iter().map(str::to_owned).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
