//! Text with a delimiter: Excel's first line, quotes, rows.

use super::open_quote::open_quote;

/// A text without Excel's first line `sep=;`, and the delimiter that it names.
pub(super) fn separated(text: &str) -> (&str, Option<char>) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let named = first.trim_end_matches(['\r', '"']).trim_start_matches('"').strip_prefix("sep=");
    match named.map(|named| (named.chars().count(), named.chars().next())) {
        Some((1, Some(delimiter))) if delimiter.is_ascii() => (rest, Some(delimiter)),
        _ => (text, None),
    }
}

/// The text of a TSV cell that a program put in quotes: one between quotes, in which every other quote is doubled, and which holds such a pair. A
/// cell that merely begins and ends with quotes is its own text, as in the files of GLUE.
pub(super) fn unquoted(cell: String) -> String {
    match cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) if inside.contains("\"\"") && !inside.replace("\"\"", "").contains('"') => {
            inside.replace("\"\"", "\"")
        }
        _ => cell,
    }
}

/// The rows of a TSV whose cells are in quotes where they need it: all names are quoted, or lines read without quoting are torn and with quoting
/// are not. `None` for any other file.
pub(super) fn quoted_rows(text: &str, width: usize) -> Option<Vec<Vec<String>>> {
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

pub(super) fn csv_reader(text: &str, delimiter: char) -> csv::Reader<&[u8]> {
    // a delimiter of the list, or one that was checked
    let delimiter = u8::try_from(delimiter).unwrap_or(b',');
    csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes())
}

pub(super) fn csv_head(text: &str, delimiter: char) -> Vec<String> {
    let mut reader = csv_reader(text, delimiter);
    reader.headers().map(|head| head.iter().map(str::to_owned).collect()).unwrap_or_default()
}
