//! Rows of named columns, of corpora of the catalog and of a user's files alike: values between tabs below one header line, without quoting (a
//! `"` is a plain character), or one JSON object a line.
//!
//! Lines that are blank hold no row. Memory: a line, and the cells that are asked for.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Json;

use crate::error::{DataError, excerpt};
use crate::lines::Lines;
use crate::unpack::{Text, open};

/// Layout of a file of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowFormat {
    /// Tab-separated with a header line.
    Tsv,
    /// One JSON object a line.
    Jsonl,
}

/// Line of a row, from 1, and its wanted cells: nothing where an object lacks one.
pub type Row = (usize, Vec<Option<String>>);

/// The wanted columns of the rows of one source.
pub struct Rows<R> {
    path: PathBuf,
    lines: Lines<R>,
    format: RowFormat,
    wanted: Vec<String>,
    /// Columns of the header, and the places of the wanted ones among them.
    width: usize,
    places: Vec<usize>,
    blank: usize,
}

impl Rows<Text> {
    /// Opens a plain or packed file.
    pub fn open(path: &Path, format: RowFormat, wanted: &[&str]) -> Result<Self, DataError> {
        Self::new(path, open(path)?, format, wanted)
    }
}

impl<R: BufRead> Rows<R> {
    /// Reads the header, if the layout has one; `path` is what errors name.
    ///
    /// # Errors
    /// No header line, or none with the wanted columns.
    pub fn new(path: &Path, reader: R, format: RowFormat, wanted: &[&str]) -> Result<Self, DataError> {
        let mut lines = Lines::new(path, reader);
        let (mut width, mut places) = (0, Vec::new());
        if format == RowFormat::Tsv {
            let Some((_, line)) = lines.next_line()? else {
                return Err(DataError::Empty { path: path.to_owned(), what: "header line" });
            };
            let head: Vec<&str> = line.split('\t').collect();
            let place = |column: &&str| {
                head.iter().position(|name| name == column).ok_or_else(|| DataError::BadHeader {
                    path: path.to_owned(),
                    seen: format!("the columns `{}`", excerpt(&head.join(" "))),
                    wanted: format!("a header line with a column `{column}`"),
                })
            };
            width = head.len();
            places = wanted.iter().map(place).collect::<Result<_, _>>()?;
        }
        let wanted = wanted.iter().map(|&column| column.to_owned()).collect();
        Ok(Self { path: path.to_owned(), lines, format, wanted, width, places, blank: 0 })
    }

    /// Lines so far that are blank.
    pub fn blank(&self) -> usize {
        self.blank
    }

    /// The next row, its cells in the order of the asking.
    ///
    /// # Errors
    /// [`DataError::Malformed`] with file and line: another number of columns than the header's, no JSON object, a field that is neither text nor number.
    pub fn next_row(&mut self) -> Result<Option<Row>, DataError> {
        while let Some((number, line)) = self.lines.next_line()? {
            let is_blank = match self.format {
                // a lone column may hold nothing
                RowFormat::Tsv => line.is_empty() && self.width > 1,
                RowFormat::Jsonl => line.trim().is_empty(),
            };
            if is_blank {
                self.blank += 1;
                continue;
            }
            let cells = match self.format {
                RowFormat::Tsv => between_tabs(line, self.width, &self.places),
                RowFormat::Jsonl => of_object(line, &self.wanted),
            };
            let malformed = |(seen, wanted): (String, &str)| DataError::malformed(&self.path, number, seen, wanted);
            return Ok(Some((number, cells.map_err(malformed)?)));
        }
        Ok(None)
    }

    /// The next row, which must have every wanted cell.
    pub fn next_full_row(&mut self) -> Result<Option<(usize, Vec<String>)>, DataError> {
        let Some((line, cells)) = self.next_row()? else { return Ok(None) };
        let full = cells.into_iter().zip(&self.wanted).map(|(cell, column)| {
            cell.ok_or_else(|| {
                DataError::malformed(&self.path, line, format!("no `{column}`"), "a text or a number there")
            })
        });
        Ok(Some((line, full.collect::<Result<_, _>>()?)))
    }
}

type Cells = Result<Vec<Option<String>>, (String, &'static str)>;

fn between_tabs(line: &str, width: usize, places: &[usize]) -> Cells {
    let cells: Vec<&str> = line.split('\t').collect();
    if cells.len() != width {
        let seen = format!("{} columns where the header has {width}", cells.len());
        return Err((seen, "one tab between two columns"));
    }
    Ok(places.iter().map(|&place| Some(cells[place].to_owned())).collect())
}

fn of_object(line: &str, wanted: &[String]) -> Cells {
    let refused = |why: &str| (format!("`{}` ({why})", excerpt(line)), "one JSON object a line");
    let parsed: Json = serde_json::from_str(line).map_err(|error| refused(&error.to_string()))?;
    let object = parsed.as_object().ok_or_else(|| refused("no object"))?;
    let cell = |column: &String| match object.get(column) {
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(Json::Number(number)) => Ok(Some(number.to_string())),
        Some(Json::Bool(flag)) => Ok(Some(flag.to_string())),
        Some(Json::Null) | None => Ok(None),
        Some(other) => Err((format!("the field `{column}` is {}", excerpt(&other.to_string())), "a text or a number")),
    };
    wanted.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, format: RowFormat, wanted: &[&str]) -> Result<Vec<Row>, String> {
        let mut rows = Rows::new(Path::new("x"), text.as_bytes(), format, wanted).map_err(|error| error.to_string())?;
        std::iter::from_fn(|| rows.next_row().transpose())
            .collect::<Result<_, _>>()
            .map_err(|error: DataError| error.to_string())
    }

    fn cells(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| (!text.is_empty()).then(|| (*text).to_owned())).collect()
    }

    #[test]
    fn wanted_columns_come_in_the_order_of_the_asking_from_both_layouts() {
        let wanted = vec![(2, cells(&["b", "\"1"])), (4, cells(&["d", "2"]))];
        assert_eq!(read("n\tx\ttext\n\"1\t-\tb\r\n\n2\t-\td\n", RowFormat::Tsv, &["text", "n"]).unwrap(), wanted);
        let lines = "\n{\"text\": \"b\", \"n\": \"\\\"1\", \"x\": []}\n \n{\"n\": 2, \"text\": \"d\"}\n";
        assert_eq!(read(lines, RowFormat::Jsonl, &["text", "n"]).unwrap(), wanted);
    }

    #[test]
    fn an_object_may_lack_a_cell_and_a_line_of_tabs_may_not() {
        let lacking = "{\"a\": true}\n{\"a\": null, \"b\": 1.5}\n";
        assert_eq!(
            read(lacking, RowFormat::Jsonl, &["a", "b"]).unwrap(),
            [(1, cells(&["true", ""])), (2, cells(&["", "1.5"]))]
        );
        let mut rows = Rows::new(Path::new("x"), lacking.as_bytes(), RowFormat::Jsonl, &["a", "b"]).unwrap();
        assert_eq!(rows.next_full_row().unwrap_err().to_string(), "x:1: no `b`; wanted is a text or a number there");
        assert_eq!(
            read("a\tb\n1\n", RowFormat::Tsv, &["a"]).unwrap_err(),
            "x:2: 1 columns where the header has 2; wanted is one tab between two columns"
        );
    }

    #[test]
    fn what_is_no_row_is_named_with_its_line() {
        for (line, words) in [
            ("[1, 2]", "x:2: `[1, 2]` (no object); wanted is one JSON object a line"),
            ("{\"a\": 1", "x:2: `{\"a\": 1` (EOF"),
            ("{\"a\": [1]}", "x:2: the field `a` is [1]; wanted is a text or a number"),
        ] {
            let error = read(&format!("{{\"a\": 0}}\n{line}\n"), RowFormat::Jsonl, &["a"]).unwrap_err();
            assert!(error.starts_with(words), "{error}");
        }
        assert_eq!(read("", RowFormat::Tsv, &["a"]).unwrap_err(), "`x` holds no header line");
        assert_eq!(
            read("b c\n", RowFormat::Tsv, &["a"]).unwrap_err(),
            "`x` begins with the columns `b c`; wanted is a header line with a column `a`"
        );
    }
}
