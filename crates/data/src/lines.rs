//! Text files line by line, plain or packed, with checked UTF-8 and line numbers.

use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::unpack::{self, Text};

/// Bytes of a line, its end included, that a reader makes room for.
const LONGEST: u64 = 64 << 20;

/// What some editors write in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of one source, lent one at a time so that a large file costs one buffer.
pub(crate) struct Lines<R> {
    path: PathBuf,
    reader: R,
    number: usize,
    buffer: Vec<u8>,
}

impl Lines<Text> {
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        Ok(Self::new(path, unpack::open(path)?))
    }
}

impl<R: BufRead> Lines<R> {
    /// Reads from `reader`; `path` is what errors name.
    pub(crate) fn new(path: &Path, reader: R) -> Self {
        Self { path: path.to_owned(), reader, number: 0, buffer: Vec::new() }
    }

    /// The next line with its number from 1 and without its line end (LF or CR LF) or a byte order mark, or nothing at the end.
    pub(crate) fn next_line(&mut self) -> Result<Option<(usize, &str)>, DataError> {
        let Some(length) = self.read_one()? else { return Ok(None) };
        match std::str::from_utf8(&self.buffer[..length]) {
            Ok(text) => Ok(Some((self.number, text))),
            Err(error) => {
                Err(DataError::NotUtf8 { path: self.path.clone(), line: self.number, byte: error.valid_up_to() })
            }
        }
    }

    /// As [`next_line`](Self::next_line), with U+FFFD where the bytes are not UTF-8.
    pub(crate) fn next_lossy(&mut self) -> Result<Option<(usize, Cow<'_, str>)>, DataError> {
        let Some(length) = self.read_one()? else { return Ok(None) };
        Ok(Some((self.number, String::from_utf8_lossy(&self.buffer[..length]))))
    }

    /// Reads a line into the buffer; its length without the line end.
    fn read_one(&mut self) -> Result<Option<usize>, DataError> {
        self.buffer.clear();
        let room = (&mut self.reader).take(LONGEST).read_until(b'\n', &mut self.buffer);
        let read = room.map_err(DataError::io(&self.path))?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if read as u64 == LONGEST && !self.buffer.ends_with(b"\n") {
            let (path, line) = (self.path.clone(), self.number);
            let (seen, wanted) = (format!("a line of {} MiB or more", LONGEST >> 20), "lines of text".to_owned());
            return Err(DataError::malformed(&path, line, seen, wanted));
        }
        // a mark of Windows' editors is no part of the first word
        if self.number == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line).len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::{file, gzipped};

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
        let text = "first\r\nsecond\n\nlast without an end";
        let ((_plain, plain), (_packed, packed)) =
            (file("plain.txt", text), file("packed.txt", gzipped(text.as_bytes())));
        let wanted = [(1, "first"), (2, "second"), (3, ""), (4, "last without an end")];
        assert_eq!(all(&plain).unwrap(), wanted.map(|(k, line)| (k, line.to_owned())));
        assert_eq!(all(&plain).unwrap(), all(&packed).unwrap());
    }

    #[test]
    fn invalid_utf8_is_named_with_its_line_and_byte() {
        let (_folder, path) = file("latin1.txt", b"good\ncaf\xe9\n");
        let message = all(&path).unwrap_err().to_string();
        assert!(message.contains("latin1.txt:2: byte 3 of the line is not UTF-8"), "{message}");
    }

    #[test]
    fn a_line_without_an_end_is_an_error_with_its_number() {
        let endless = std::io::Read::chain(&b"first\n"[..], std::io::repeat(b'x'));
        let mut lines = Lines::new(Path::new("endless.txt"), std::io::BufReader::new(endless));
        assert_eq!(lines.next_line().unwrap(), Some((1, "first")));
        let message = lines.next_line().unwrap_err().to_string();
        assert!(message.contains("endless.txt:2: a line of 64 MiB or more"), "{message}");
    }

    #[test]
    fn a_truncated_gzip_file_is_an_error_and_not_a_short_file() {
        let bytes = gzipped(&b"a line of text\n".repeat(100));
        let (_folder, path) = file("cut.gz", &bytes[..bytes.len() - 10]);
        assert!(matches!(all(&path), Err(DataError::Io { .. })));
    }
}
