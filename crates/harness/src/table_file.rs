//! Files of rows with named columns, as people have them: TSV, CSV under whatever delimiter, JSONL, Parquet, lines of text, a folder of texts;
//! plain or packed.
//!
//! Read row by row, of Parquet only the columns that are asked for. Whatever is wrong is named by file and row; rows count from 1 and a header
//! line does not count. Memory: the text, and the cells that are asked for; of a packed file no more than [`unpack`] allows, rows included.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use landmark_data::unpack::{self, Packing, TooLarge};
use landmark_data::{DataError, RowFormat, Rows, contained};
use landmark_yaml::did_you_mean;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;
use serde_json::Value as Json;

use crate::config::TextsFormat;
pub use error::TableError;
use open_quote::open_quote;
use parquet_source::{ParquetSource, check_dictionaries};
use separated::{csv_head, csv_reader, quoted_rows, separated, unquoted};

mod error;
mod open_quote;
mod parquet_source;
mod separated;

/// The byte order mark that spreadsheets write.
const MARK: char = '\u{feff}';
/// Delimiters of a CSV file, in the order they are tried.
const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// A file of rows, and how it is laid out.
#[derive(Debug, Clone, Copy)]
pub struct TableFile<'a> {
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
    /// True if further rows follow that were not read.
    pub is_cut: bool,
}

/// Bytes of text that are read at first where not all rows are wanted.
const PART: u64 = 4 << 20;
/// Bytes that a row takes in addition to the bytes of its cells, and those of a cell.
const ROW: u64 = 16;
const CELL: u64 = 48;

struct Filling<'a> {
    table: Table,
    path: &'a Path,
    /// Bytes that the rows of a packed file may take, and what is left of them.
    bound: Option<TooLarge>,
    left: u64,
}

impl Filling<'_> {
    /// Adds a row, if there is room for it.
    fn push(&mut self, row: usize, cells: impl Iterator<Item = Option<String>>) -> Result<(), TableError> {
        let mut bytes = ROW;
        self.table.rows.push(row);
        for (column, cell) in self.table.columns.iter_mut().zip(cells) {
            bytes += CELL + cell.as_ref().map_or(0, |cell| cell.len() as u64);
            column.push(cell);
        }
        match (self.left.checked_sub(bytes), self.bound) {
            (Some(left), _) => self.left = left,
            (None, Some(bound)) => return Err(TableError::TooLarge { path: self.path.to_owned(), bound }),
            (None, None) => {}
        }
        Ok(())
    }
}

impl TableFile<'_> {
    /// Names of the columns; of a file without names, of the column `text`.
    pub fn head(&self) -> Result<Vec<String>, TableError> {
        match self.layout {
            TextsFormat::Txt => Ok(vec!["text".to_owned()]),
            TextsFormat::Folder => Ok(vec!["id".to_owned(), "text".to_owned()]),
            TextsFormat::Tsv => self.head_of(RowFormat::Tsv, &self.beginning()?),
            TextsFormat::Jsonl => self.head_of(RowFormat::Jsonl, &self.beginning()?),
            TextsFormat::Csv => {
                let text = self.beginning()?;
                let (text, named) = separated(&text);
                let heads = self.delimiters(named).map(|delimiter| csv_head(text, delimiter));
                Ok(heads.max_by_key(Vec::len).unwrap_or_default())
            }
            TextsFormat::Parquet => {
                let open =
                    |file| contained(|| SerializedFileReader::new(file)).map_err(|panic| self.damaged_parquet(&panic));
                let reader = open(self.open_parquet()?)?.map_err(|error| self.parquet(error))?;
                let schema = reader.metadata().file_metadata().schema();
                Ok(schema.get_fields().iter().map(|field| field.name().to_owned()).collect())
            }
        }
    }

    /// The columns of these names. A TXT file has one, under any name.
    pub fn read(&self, wanted: &[&str]) -> Result<Table, TableError> {
        self.read_within(wanted, None)
    }

    /// The same of at least `rows` rows, and of no more than that needs: large files are read in part.
    pub fn read_first(&self, wanted: &[&str], rows: usize) -> Result<Table, TableError> {
        let mut most = PART;
        loop {
            let table = self.read_within(wanted, Some(most))?;
            if table.rows.len() >= rows || !table.is_cut {
                return Ok(table);
            }
            most = most.saturating_mul(4);
        }
    }

    /// Rows within `most` bytes of text, if a number is given.
    fn read_within(&self, wanted: &[&str], most: Option<u64>) -> Result<Table, TableError> {
        match self.layout {
            TextsFormat::Txt => self.read_lines(wanted.len(), most),
            TextsFormat::Folder => self.read_folder(wanted),
            TextsFormat::Tsv => self.read_rows(RowFormat::Tsv, wanted, most),
            TextsFormat::Jsonl => self.read_rows(RowFormat::Jsonl, wanted, most),
            TextsFormat::Csv => self.read_csv(wanted, most),
            // readers of Parquet are known to panic on files that are damaged
            TextsFormat::Parquet => {
                contained(|| self.read_parquet(wanted, most)).unwrap_or_else(|panic| Err(self.damaged_parquet(&panic)))
            }
        }
    }

    pub fn row(&self, row: usize, seen: String, wanted: impl Into<Cow<'static, str>>) -> TableError {
        TableError::Row { path: self.path.to_owned(), row, seen, wanted: wanted.into() }
    }

    /// The whole text of a file that is no table.
    pub fn lines(&self) -> Result<String, TableError> {
        self.whole()
    }

    fn failed(&self) -> impl Fn(std::io::Error) -> TableError + '_ {
        |source| match TooLarge::within(&source) {
            Some(bound) => self.too_large(bound),
            None => TableError::Read { path: self.path.to_owned(), source },
        }
    }

    fn too_large(&self, bound: TooLarge) -> TableError {
        TableError::TooLarge { path: self.path.to_owned(), bound }
    }

    /// Why a packed file was not opened.
    fn refused(&self, error: DataError) -> TableError {
        match error {
            DataError::Io { source, .. } => self.failed()(source),
            DataError::TooLarge { bound, .. } => self.too_large(bound),
            DataError::Archive { what, .. } => {
                TableError::Layout { path: self.path.to_owned(), layout: "a table", reason: what }
            }
            other => TableError::Layout { path: self.path.to_owned(), layout: "a table", reason: other.to_string() },
        }
    }

    /// Bytes of a packed file, and of none that is plain.
    fn packed(&self) -> Result<Option<u64>, TableError> {
        let is_packed = self.layout == TextsFormat::Parquet
            || Packing::of_file(self.path).map_err(|error| self.refused(error))?.is_packed();
        if !is_packed {
            return Ok(None);
        }
        Ok(Some(std::fs::metadata(self.path).map_err(self.failed())?.len()))
    }

    fn filling(&self, columns: usize) -> Result<Filling<'_>, TableError> {
        let bound = if self.layout == TextsFormat::Folder { None } else { self.packed()?.map(TooLarge::of) };
        let table = Table { columns: vec![Vec::new(); columns], ..Table::default() };
        Ok(Filling { table, path: self.path, bound, left: bound.map_or(u64::MAX, |bound| bound.most) })
    }

    fn open_parquet(&self) -> Result<ParquetSource, TableError> {
        let file = File::open(self.path).map_err(self.failed())?;
        let packed = file.metadata().map_err(self.failed())?.len();
        Ok(ParquetSource { file, bound: TooLarge::of(packed) })
    }

    /// The whole text, without the mark at its beginning.
    fn whole(&self) -> Result<String, TableError> {
        Ok(self.text(None)?.0)
    }

    /// The text as far as its first lines.
    fn beginning(&self) -> Result<String, TableError> {
        match self.text(Some(PART))? {
            (text, true) if text.is_empty() => self.whole(),
            (text, _) => Ok(text),
        }
    }

    /// The text, or its whole lines within `most` bytes; true if more follows.
    fn text(&self, most: Option<u64>) -> Result<(String, bool), TableError> {
        let mut reader = unpack::open(self.path).map_err(|error| self.refused(error))?;
        let mut bytes = Vec::new();
        (&mut reader).take(most.unwrap_or(u64::MAX)).read_to_end(&mut bytes).map_err(self.failed())?;
        let is_cut = most.is_some() && !reader.fill_buf().map_err(self.failed())?.is_empty();
        if is_cut {
            bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            let is_wide = error.as_bytes().starts_with(&[0xff, 0xfe]) || error.as_bytes().starts_with(&[0xfe, 0xff]);
            let seen = if is_wide { "UTF-16, as spreadsheets write it" } else { "bytes that are not UTF-8" };
            let row = match self.layout {
                TextsFormat::Csv => {
                    // rows up to the byte, which may have lines of their own within quotes
                    let text = String::from_utf8_lossy(before) + "?";
                    let (text, named) = separated(&text);
                    let heads = self.delimiters(named).map(|delimiter| (csv_head(text, delimiter).len(), delimiter));
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
        Ok((if has_old_ends { text.replace('\r', "\n") } else { text }, is_cut))
    }

    fn read_lines(&self, columns: usize, most: Option<u64>) -> Result<Table, TableError> {
        let (text, is_cut) = self.text(most)?;
        let mut filling = self.filling(columns)?;
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                filling.table.blank += 1;
            } else {
                filling.push(number + 1, (0..columns).map(|_| Some(line.trim().to_owned())))?;
            }
        }
        Ok(Table { is_cut, ..filling.table })
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
        let mut filling = self.filling(wanted.len())?;
        for (number, path) in files.iter().enumerate() {
            let text = TableFile { path, layout: TextsFormat::Txt, delimiter: None }.whole()?;
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let cells = wanted.iter().map(|column| match *column {
                "id" => Ok(Some(name.clone())),
                "text" => Ok(Some(text.trim().to_owned())),
                other => Err(self.missing(other, ["id", "text"].into_iter())),
            });
            let cells: Vec<_> = cells.collect::<Result<_, _>>()?;
            filling.push(number + 1, cells.into_iter())?;
        }
        Ok(filling.table)
    }

    /// Rows between tabs or as objects, by the reader that the catalog's corpora have.
    fn read_rows(&self, format: RowFormat, wanted: &[&str], most: Option<u64>) -> Result<Table, TableError> {
        let (text, is_cut) = self.text(most)?;
        // lines that follow may show that cells are quoted; a line that is not there yet is none
        if is_cut && (text.is_empty() || format == RowFormat::Tsv && text.contains('"')) {
            return self.read_rows(format, wanted, None);
        }
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
            let mut filling = self.filling(wanted.len())?;
            for (row, cells) in rows.iter().enumerate() {
                filling.push(row + 1, places.iter().map(|&place| Some(cells[place].clone())))?;
            }
            return Ok(filling.table);
        }
        let mut rows = Rows::new(self.path, text.as_bytes(), format, wanted).map_err(|error| self.malformed(error))?;
        let mut filling = self.filling(wanted.len())?;
        while let Some((line, cells)) = rows.next_row().map_err(|error| self.malformed(error))? {
            let literal = format != RowFormat::Tsv;
            let cells = cells.into_iter().map(|cell| if literal { cell } else { cell.map(unquoted) });
            filling.push(line - self.lines_of_header(), cells)?;
        }
        Ok(Table { blank: rows.blank(), is_cut, ..filling.table })
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

    /// Errors of the reader of rows, by rows: a header line does not count.
    fn malformed(&self, error: DataError) -> TableError {
        match error {
            DataError::Malformed { line, seen, wanted, .. } => {
                self.row(line.saturating_sub(self.lines_of_header()), seen, format!("wanted is {wanted}"))
            }
            other => TableError::Layout { path: self.path.to_owned(), layout: "rows", reason: other.to_string() },
        }
    }

    /// The delimiters that the file may have, where its first line names one or not.
    fn delimiters(&self, named: Option<char>) -> impl Iterator<Item = char> + use<> {
        let given = self.delimiter.or(named);
        DELIMITERS.into_iter().filter(move |_| given.is_none()).chain(given)
    }

    /// Every column a text: an id like 007 stays as it is.
    fn read_csv(&self, wanted: &[&str], most: Option<u64>) -> Result<Table, TableError> {
        let (text, is_cut) = self.text(most)?;
        if is_cut && text.is_empty() {
            return self.read_csv(wanted, None);
        }
        let (text, named) = separated(&text);
        self.check_filled(text)?;
        let has_all = |head: &[String]| wanted.iter().all(|name| head.iter().any(|column| column == name));
        let delimiter = self.delimiters(named).find(|&delimiter| has_all(&csv_head(text, delimiter)));
        if !is_cut {
            self.check_quotes(text, delimiter.or(self.delimiter).unwrap_or(DELIMITERS[0]))?;
        }
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
        let mut filling = self.filling(wanted.len())?;
        let mut records = reader.records().enumerate().peekable();
        while let Some((row, record)) = records.next() {
            if is_cut && records.peek().is_none() {
                // it may continue behind the cut
                break;
            }
            let record = record.map_err(layout)?;
            if record.len() != head.len() {
                let seen = format!("{} columns where the header has {}", record.len(), head.len());
                return Err(self.row(row + 1, seen, "quote cells that hold the delimiter, as in `\"a, b\"`"));
            }
            filling.push(row + 1, places.iter().map(|&place| Some(record[place].to_owned())))?;
        }
        Ok(Table { is_cut, ..filling.table })
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

    fn damaged_parquet(&self, panic: &str) -> TableError {
        let reason = format!("the file is damaged, its reader gave up: {panic}");
        TableError::Layout { path: self.path.to_owned(), layout: "Parquet", reason }
    }

    fn parquet(&self, error: ParquetError) -> TableError {
        TableError::Layout { path: self.path.to_owned(), layout: "Parquet", reason: error.to_string() }
    }

    fn read_parquet(&self, wanted: &[&str], most: Option<u64>) -> Result<Table, TableError> {
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
        let mut filling = self.filling(wanted.len())?;
        let enough = filling.left.saturating_sub(most.unwrap_or(u64::MAX));
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
            filling.push(row + 1, cells.into_iter())?;
            if most.is_some() && filling.left < enough {
                filling.table.is_cut = true;
                break;
            }
        }
        Ok(filling.table)
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

#[cfg(test)]
mod tests;
