//! A Parquet file whose headers are not believed.
//!
//! Three things that the reader of `parquet` (60.1) does with a damaged file are no panics, so that [`contained`](landmark_data::contained) catches neither:
//!
//! - It skips what it does not know of a page's header, and skips nothing at the end of a file without noticing: a header that promises 2³¹ elements
//!   keeps it busy for an hour. A reader whose end is an error ends that.
//! - It makes room for as many words of a dictionary as the page's header promises, and a process without so much memory is ended. [`check_dictionaries`]
//!   looks first: a word takes a byte at least.
//! - It unpacks a page to whatever size its header promises, 2 GiB at most. [`ParquetSource`] looks at the header of each page first.

use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read};

use bytes::Bytes;
use landmark_data::unpack::TooLarge;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, FileReader, Length};

/// An open Parquet file, and the bytes that a page of it may unpack to.
pub(super) struct ParquetSource {
    pub(super) file: File,
    pub(super) bound: TooLarge,
}

/// Bytes of a page's header up to behind the two sizes of the page.
const SIZES: usize = 20;

impl Length for ParquetSource {
    fn len(&self) -> u64 {
        Length::len(&self.file)
    }
}

impl ChunkReader for ParquetSource {
    type T = ToTheEnd<BufReader<File>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut beginning = Vec::new();
        self.file.get_read(start)?.take(SIZES as u64).read_to_end(&mut beginning)?;
        if promised(&beginning).is_some_and(|bytes| bytes > self.bound.most) {
            return Err(ParquetError::External(Box::new(self.bound)));
        }
        self.file.get_read(start).map(ToTheEnd)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.file.get_bytes(start, length)
    }
}

/// Bytes that a page unpacks to, if these begin its header: three numbers, of which the first is one of the four kinds of page, and a further field.
fn promised(header: &[u8]) -> Option<u64> {
    let (kind, rest) = number(header)?;
    let (unpacked, rest) = number(rest)?;
    let (_, rest) = number(rest)?;
    // a checksum, or what the kind of page has
    let follows = rest.first().is_some_and(|field| matches!(field, 0x15 | 0x1c | 0x2c | 0x3c | 0x4c | 0x5c));
    ((0..=3).contains(&kind) && follows).then_some(unpacked.max(0).unsigned_abs())
}

/// A field of Thrift's compact protocol that follows another and is a 32-bit number.
fn number(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let digits = bytes.strip_prefix(&[0x15])?;
    let length = digits.iter().take(5).position(|byte| byte & 0x80 == 0)? + 1;
    let (digits, rest) = digits.split_at(length);
    let value = digits.iter().rev().fold(0_i64, |value, byte| value << 7 | i64::from(byte & 0x7f));
    Some((value >> 1 ^ -(value & 1), rest))
}

/// A reader that answers the end with an error.
pub(super) struct ToTheEnd<R>(R);

impl<R: Read> Read for ToTheEnd<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(into)? {
            0 if !into.is_empty() => Err(Error::new(ErrorKind::UnexpectedEof, "it ends within a header of a page")),
            read => Ok(read),
        }
    }
}

/// Looks whether the dictionaries of these columns hold what their headers promise. Reads the headers of all their pages, and dictionaries.
pub(super) fn check_dictionaries(file: &impl FileReader, columns: &[&str]) -> Result<()> {
    for number in 0..file.num_row_groups() {
        let group = file.get_row_group(number)?;
        for (place, column) in group.metadata().columns().iter().enumerate() {
            let path = column.column_path().parts();
            if path.first().is_some_and(|root| columns.contains(&root.as_str())) {
                check_pages(group.get_column_page_reader(place)?.as_mut(), &path.join("."))?;
            }
        }
    }
    Ok(())
}

fn check_pages(pages: &mut dyn PageReader, column: &str) -> Result<()> {
    while let Some(page) = pages.peek_next_page()? {
        if !page.is_dict {
            pages.skip_next_page()?;
        } else if let Some(Page::DictionaryPage { buf, num_values, .. }) = pages.get_next_page()?
            && num_values as usize > buf.len()
        {
            let room = buf.len();
            let message = format!(
                "a dictionary of the column `{column}` promises {num_values} words and has {room} bytes for them"
            );
            return Err(ParquetError::General(message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use landmark_report::columns::{Column, write_parquet};
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use crate::config::TextsFormat;
    use crate::table_file::TableFile;

    /// A file of 100 texts, and where its first page begins.
    fn example(folder: &Path) -> (PathBuf, usize) {
        let path = folder.join("items.parquet");
        let texts = (0..100).map(|item| Some(format!("text {item}")));
        write_parquet(fs::File::create(&path).unwrap(), [vec![Column::text("text", texts)]]).unwrap();
        let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
        let column = reader.metadata().row_group(0).column(0);
        let page = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        (path, usize::try_from(page).unwrap())
    }

    /// The error of reading where these bytes stand at a place of the file.
    fn refusal(path: &Path, place: usize, bytes: &[u8]) -> String {
        let mut file = fs::read(path).unwrap();
        file[place..place + bytes.len()].copy_from_slice(bytes);
        fs::write(path, file).unwrap();
        let table = TableFile { path, layout: TextsFormat::Parquet, delimiter: None };
        table.read(&["text"]).unwrap_err().to_string()
    }

    #[test]
    fn a_footer_that_promises_billions_of_columns_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("items.parquet");
        // version 1; the schema, a list of 2³¹ − 1 structures; and nothing more
        let footer = [0x15, 0x02, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07];
        fs::write(&path, [&b"PAR1"[..], &footer, &[9, 0, 0, 0], b"PAR1"].concat()).unwrap();
        let table = TableFile { path: &path, layout: TextsFormat::Parquet, delimiter: None };
        for error in [table.head().unwrap_err(), table.read(&["text"]).unwrap_err()] {
            assert!(error.to_string().contains("items.parquet"), "{error}");
        }
    }

    #[test]
    fn a_dictionary_that_promises_more_words_than_it_has_bytes_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (path, page) = example(folder.path());
        let bytes = fs::read(&path).unwrap();
        // the header of the dictionary is field 7; its first is the number of words, 2 · 100 as a number of two bytes
        let header = bytes[page..].windows(4).position(|bytes| bytes == [0x4c, 0x15, 0xc8, 0x01]).unwrap();
        let error = refusal(&path, page + header + 2, &[0xfe, 0x7f]);
        assert!(
            error.contains("items.parquet") && error.contains("column `text` promises 8191 words and has 1090 bytes"),
            "{error}"
        );
    }

    #[test]
    fn a_page_that_promises_to_unpack_to_two_gigabytes_is_an_error_before_there_is_room_for_them() {
        let folder = tempfile::tempdir().unwrap();
        let (path, page) = example(folder.path());
        let bytes = fs::read(&path).unwrap();
        assert!(super::promised(&bytes[page..]).is_some_and(|bytes| bytes < 10_000));
        // the kind of page, then its size of two bytes, to be one of five: what follows moves, so the page is no page any more
        let error = refusal(&path, page, &[0x15, 0x04, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0x02, 0x4c]);
        assert!(error.contains("items.parquet") && error.contains("64.0 MiB"), "{error}");
    }

    #[test]
    fn a_page_that_promises_billions_of_unknown_parts_is_an_error_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (path, page) = example(folder.path());
        let table = TableFile { path: &path, layout: TextsFormat::Parquet, delimiter: None };
        assert_eq!(table.read(&["text"]).unwrap().rows.len(), 100);
        // field 15, which no header has: a list of 2³¹ − 1 texts
        let error = refusal(&path, page, &[0xf9, 0xf8, 0xff, 0xff, 0xff, 0xff, 0x07]);
        assert!(error.contains("items.parquet") && error.contains("ends within a header"), "{error}");
    }
}
