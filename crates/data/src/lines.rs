//! Text files line by line, plain or gzip, with checked UTF-8 and line numbers.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::Crc;
use flate2::read::{DeflateDecoder, MultiGzDecoder};
use zip::{CompressionMethod, ZipArchive};

use crate::error::DataError;

/// The two bytes every gzip member opens with; the name of a file is not asked.
pub(crate) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// What some editors write in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

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

/// Opens a member of a zip archive for reading, a buffer of it at a time, however large it is.
///
/// # Errors
/// [`DataError::Archive`]: no zip, no such member (with those there are), a compression other than deflate.
pub(crate) fn open_member(path: &Path, member: &str) -> Result<Box<dyn BufRead>, DataError> {
    let refuse = |what: String| DataError::Archive { path: path.to_owned(), what };
    let file = File::open(path).map_err(DataError::io(path))?;
    let mut archive = ZipArchive::new(BufReader::new(file))
        .map_err(|error| refuse(format!("it is no whole zip archive: {error}")))?;
    let Some(place) = archive.index_for_name(member) else {
        let names: Vec<String> = archive.file_names().map(|name| format!("`{name}`")).collect();
        return Err(refuse(format!("it holds no `{member}`, but {}", names.join(", "))));
    };
    let facts = archive.by_index_raw(place).map_err(|error| refuse(format!("`{member}`: {error}")))?;
    let (start, bytes, wanted) = (facts.data_start(), facts.compressed_size(), facts.crc32());
    let method = facts.compression();
    drop(facts);
    let mut packed = archive.into_inner();
    packed.seek(SeekFrom::Start(start)).map_err(DataError::io(path))?;
    let packed = packed.take(bytes);
    let inside: Box<dyn Read> = match method {
        CompressionMethod::Stored => Box::new(packed),
        CompressionMethod::Deflated => Box::new(DeflateDecoder::new(packed)),
        other => return Err(refuse(format!("`{member}` is packed by {other:?}; deflate can be read"))),
    };
    Ok(Box::new(BufReader::with_capacity(1 << 16, Checked { inside, crc: Crc::new(), wanted })))
}

/// Bytes of a member, held against its checksum where they end.
struct Checked {
    inside: Box<dyn Read>,
    crc: Crc,
    wanted: u32,
}

impl Read for Checked {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inside.read(into)?;
        self.crc.update(&into[..length]);
        if length == 0 && !into.is_empty() && self.crc.sum() != self.wanted {
            let what = format!("its checksum is {:08x}, wanted is {:08x}", self.crc.sum(), self.wanted);
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, what));
        }
        Ok(length)
    }
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
        if self.reader.read_until(b'\n', &mut self.buffer).map_err(DataError::io(&self.path))? == 0 {
            return Ok(None);
        }
        self.number += 1;
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

    fn zipped(members: &[(&str, &[u8], CompressionMethod)]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes, method) in members {
            let options = zip::write::SimpleFileOptions::default().compression_method(*method);
            writer.start_file(*name, options).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn a_member_of_an_archive_reads_like_the_file_and_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.zip");
        let text = b"a line of text\n".repeat(10_000);
        let members: [(&str, &[u8], _); 2] = [
            ("small.txt", b"first\nlast\n", CompressionMethod::Stored),
            ("large.txt", &text, CompressionMethod::Deflated),
        ];
        let whole = zipped(&members);
        std::fs::write(&path, &whole).unwrap();
        let read = |name: &str| {
            let mut bytes = Vec::new();
            open_member(&path, name).unwrap().read_to_end(&mut bytes).map(|_| bytes)
        };
        assert_eq!((read("small.txt").unwrap(), read("large.txt").unwrap()), (b"first\nlast\n".to_vec(), text));
        let error = open_member(&path, "other.txt").err().unwrap().to_string();
        assert!(error.contains("it holds no `other.txt`, but `small.txt`, `large.txt`"), "{error}");
        // one byte of the stored text
        let place = whole.windows(5).position(|bytes| bytes == b"first").unwrap();
        std::fs::write(&path, [&whole[..place], b"w", &whole[place + 1..]].concat()).unwrap();
        assert!(read("small.txt").unwrap_err().to_string().contains("its checksum is"));
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(open_member(&path, "small.txt").err().unwrap().to_string().contains("no whole zip archive"));
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
