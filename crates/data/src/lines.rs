//! Text files line by line, plain or gzip, with checked UTF-8 and line numbers.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::DataError;

/// The two bytes every gzip member opens with; the name of a file is not asked.
pub(crate) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Opens a file for reading, through gzip where its first bytes say so.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>, DataError> {
    let mut plain = BufReader::with_capacity(1 << 16, File::open(path).map_err(DataError::io(path))?);
    let compressed = plain.fill_buf().map_err(DataError::io(path))?.starts_with(&GZIP_MAGIC);
    Ok(if compressed {
        Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(plain)))
    } else {
        Box::new(plain)
    })
}

/// The most bytes that deflate makes of one.
const DEFLATE_RATIO: u64 = 1032;

/// Refuses a header that promises more than the file can hold, before room is made for it: `None` for more than can be counted.
///
/// # Errors
/// [`DataError::Truncated`] with both sizes.
pub(crate) fn check_promise(path: &Path, at: &str, promised: Option<u64>) -> Result<(), DataError> {
    let bytes = std::fs::metadata(path).map_err(DataError::io(path))?.len();
    let mut magic = [0; 2];
    let length = File::open(path).and_then(|mut file| file.read(&mut magic)).map_err(DataError::io(path))?;
    let most = if magic[..length] == GZIP_MAGIC { bytes.saturating_mul(DEFLATE_RATIO) } else { bytes };
    match promised {
        Some(promised) if promised <= most => Ok(()),
        _ => {
            let wanted = promised.unwrap_or(u64::MAX);
            Err(DataError::Truncated { path: path.to_owned(), at: at.to_owned(), seen: bytes, wanted })
        }
    }
}

/// The lines of one source, lent one at a time so that a large file costs one buffer.
pub(crate) struct Lines<R> {
    path: PathBuf,
    reader: R,
    number: usize,
    buffer: Vec<u8>,
}

impl Lines<Box<dyn BufRead>> {
    /// Opens a plain or gzip file.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        Ok(Self::new(path, open(path)?))
    }
}

impl<R: BufRead> Lines<R> {
    /// Reads from `reader`; `path` is what errors name.
    pub(crate) fn new(path: &Path, reader: R) -> Self {
        Self { path: path.to_owned(), reader, number: 0, buffer: Vec::new() }
    }

    /// The next line with its number from 1 and without its line end (LF or CR LF), or nothing at the end.
    pub(crate) fn next_line(&mut self) -> Result<Option<(usize, &str)>, DataError> {
        self.buffer.clear();
        if self.reader.read_until(b'\n', &mut self.buffer).map_err(DataError::io(&self.path))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line) {
            Ok(text) => Ok(Some((self.number, text))),
            Err(error) => {
                Err(DataError::NotUtf8 { path: self.path.clone(), line: self.number, byte: error.valid_up_to() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn all(path: &Path) -> Result<Vec<(usize, String)>, DataError> {
        let mut lines = Lines::open(path)?;
        let mut seen = Vec::new();
        while let Some((number, line)) = lines.next_line()? {
            seen.push((number, line.to_owned()));
        }
        Ok(seen)
    }

    #[test]
    fn a_gzip_file_reads_like_the_plain_one_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let text = "first\r\nsecond\n\nlast without an end";
        let (plain, packed) = (folder.path().join("plain.txt"), folder.path().join("packed.txt"));
        std::fs::write(&plain, text).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(File::create(&packed).unwrap(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap();
        let wanted = [(1, "first"), (2, "second"), (3, ""), (4, "last without an end")];
        assert_eq!(all(&plain).unwrap(), wanted.map(|(k, line)| (k, line.to_owned())));
        assert_eq!(all(&plain).unwrap(), all(&packed).unwrap());
    }

    #[test]
    fn invalid_utf8_is_named_with_its_line_and_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("latin1.txt");
        std::fs::write(&path, b"good\ncaf\xe9\n").unwrap();
        let message = all(&path).unwrap_err().to_string();
        assert!(message.contains("latin1.txt:2: byte 3 of the line is not UTF-8"), "{message}");
    }

    #[test]
    fn a_truncated_gzip_file_is_an_error_and_not_a_short_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(&b"a line of text\n".repeat(100)).unwrap();
        let bytes = encoder.finish().unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 40]).unwrap();
        assert!(matches!(all(&path), Err(DataError::Io { .. })));
    }
}
