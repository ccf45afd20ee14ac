//! A text file of any size, one text a line, with its place: what a sketch of a stream is fed from.
//!
//! Plain or packed. Empty lines and lines that are not UTF-8 are counted, and skipped or refused as asked. The place is the number
//! of bytes of text consumed, so that a stream can resume where it stopped; a plain file is entered there at once, a packed one is read up to
//! there. A plain file can also be cut into runs of whole lines ([`cuts`]) that several readers share. Memory: one line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::unpack::{Packing, open_counted};

/// Treatment of a line that holds no text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BadLine {
    /// Counted and passed over.
    #[default]
    Skip,
    /// An error that names file and line.
    Error,
}

/// Policy on lines that hold no text: passed over, or an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinePolicy {
    /// Lines without anything but white space.
    pub empty: BadLine,
    /// Lines whose bytes are not UTF-8.
    pub invalid_utf8: BadLine,
}

/// Position of a stream, and counts of what it has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamPlace {
    /// Bytes of text consumed, line ends included.
    pub bytes: u64,
    pub lines: u64,
    pub empty: u64,
    /// Of these, lines that are not UTF-8.
    pub invalid_utf8: u64,
}

impl StreamPlace {
    /// Lines that held a text.
    pub fn texts(&self) -> u64 {
        self.lines - self.empty - self.invalid_utf8
    }
}

/// A file read text by text.
///
/// ```no_run
/// use landmark_data::text_stream::{LinePolicy, TextStream};
/// let mut stream = TextStream::open("queries.txt".as_ref(), LinePolicy::default())?;
/// while let Some(text) = stream.next_text()? {
///     println!("{}", text.len());
/// }
/// println!("{} texts, {} lines skipped", stream.place().texts(), stream.place().empty);
/// # Ok::<(), landmark_data::DataError>(())
/// ```
pub struct TextStream {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    policy: LinePolicy,
    place: StreamPlace,
    /// The byte of text at which it ends, if not with the file.
    end: Option<u64>,
    first: u64,
    file_bytes: u64,
    consumed: Arc<AtomicU64>,
    line: Vec<u8>,
    text: String,
}

/// Counts what is read from the file itself, which for a packed file is not what comes out.
struct Counting {
    file: File,
    consumed: Arc<AtomicU64>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.consumed.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Seek for Counting {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

impl TextStream {
    /// From the beginning.
    pub fn open(path: &Path, policy: LinePolicy) -> Result<Self, DataError> {
        Self::open_at(path, policy, StreamPlace::default())
    }

    /// From where another reader of the same file stood.
    ///
    /// # Errors
    /// [`DataError::Io`]; [`DataError::Truncated`] where the file is shorter than that.
    pub fn open_at(path: &Path, policy: LinePolicy, place: StreamPlace) -> Result<Self, DataError> {
        let io = || DataError::io(path);
        let mut file = File::open(path).map_err(io())?;
        let file_bytes = file.metadata().map_err(io())?.len();
        let compressed = Packing::of_file(path)?.is_packed();
        let short = |seen: u64| DataError::Truncated {
            path: path.to_owned(),
            at: format!("line {}, where the saved sketch stands", place.lines),
            seen,
            wanted: place.bytes,
        };
        let start = if compressed { 0 } else { place.bytes };
        if start > file_bytes {
            return Err(short(file_bytes));
        }
        file.seek(SeekFrom::Start(start)).map_err(io())?;
        let consumed = Arc::new(AtomicU64::new(start));
        let counting = |file| Counting { file, consumed: Arc::clone(&consumed) };
        let mut reader: Box<dyn BufRead + Send> = if compressed {
            open_counted(path, counting)?.0
        } else {
            Box::new(BufReader::with_capacity(1 << 16, counting(file)))
        };
        if compressed {
            let passed = std::io::copy(&mut (&mut reader).take(place.bytes), &mut std::io::sink()).map_err(io())?;
            if passed < place.bytes {
                return Err(short(passed));
            }
        }
        let (line, text) = (Vec::new(), String::new());
        Ok(Self { path: path.to_owned(), reader, policy, place, end: None, first: 0, file_bytes, consumed, line, text })
    }

    /// The lines of a plain file between two of its [`cuts`]; its place counts bytes from the beginning of the file, and lines from `piece.start`.
    pub fn open_piece(path: &Path, policy: LinePolicy, piece: Range<u64>) -> Result<Self, DataError> {
        let start = StreamPlace { bytes: piece.start, ..StreamPlace::default() };
        let mut stream = Self::open_at(path, policy, start)?;
        (stream.first, stream.end) = (piece.start, Some(piece.end));
        Ok(stream)
    }

    /// The next line that holds a text, without its end, or nothing at the end of the file.
    ///
    /// # Errors
    /// [`DataError::Io`] (a gzip file that was cut short among them); a bad line where the policy refuses it.
    pub fn next_text(&mut self) -> Result<Option<&str>, DataError> {
        loop {
            if self.end.is_some_and(|end| self.place.bytes >= end) {
                return Ok(None);
            }
            self.line.clear();
            let read = self.reader.read_until(b'\n', &mut self.line).map_err(DataError::io(&self.path))?;
            if read == 0 {
                return Ok(None);
            }
            let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let path = || self.path.clone();
            let usable = match std::str::from_utf8(line) {
                Err(error) if self.policy.invalid_utf8 == BadLine::Error => {
                    let byte = error.valid_up_to();
                    return Err(DataError::NotUtf8 { path: path(), line: self.line_number()?, byte });
                }
                Err(_) => {
                    self.place.invalid_utf8 += 1;
                    false
                }
                Ok(text) if !text.trim().is_empty() => {
                    self.text.clear();
                    self.text.push_str(text);
                    true
                }
                Ok(_) if self.policy.empty == BadLine::Error => {
                    let (seen, wanted) = ("an empty line".to_owned(), "a text (or `empty: skip`)");
                    return Err(DataError::malformed(&path(), self.line_number()?, seen, wanted));
                }
                Ok(_) => {
                    self.place.empty += 1;
                    false
                }
            };
            self.place.bytes += read as u64;
            self.place.lines += 1;
            if usable {
                return Ok(Some(&self.text));
            }
        }
    }

    /// The number of the line that was read last, from 1 in the file: those before a piece are counted only when one must be named.
    fn line_number(&self) -> Result<usize, DataError> {
        let mut before = BufReader::new(File::open(&self.path).map_err(DataError::io(&self.path))?.take(self.first));
        let mut ends = 0;
        loop {
            let bytes = before.fill_buf().map_err(DataError::io(&self.path))?;
            if bytes.is_empty() {
                return Ok(ends + usize::try_from(self.place.lines + 1).unwrap_or(usize::MAX));
            }
            ends += bytes.iter().filter(|&&byte| byte == b'\n').count();
            let length = bytes.len();
            before.consume(length);
        }
    }

    pub fn place(&self) -> StreamPlace {
        self.place
    }

    /// Bytes of the file read so far and its size, both as it lies on disk: how far a run is.
    pub fn progress(&self) -> (u64, u64) {
        (self.consumed.load(Ordering::Relaxed), self.file_bytes)
    }
}

/// Cuts a plain file at the ends of lines into pieces of about `step` bytes, none of them empty: the byte ranges, in order.
///
/// # Errors
/// [`DataError::Io`]; [`DataError::Parameter`] for a packed file, which can only be read from its beginning, and for a step of 0.
pub fn cuts(path: &Path, step: u64) -> Result<Vec<Range<u64>>, DataError> {
    let io = || DataError::io(path);
    let refuse =
        |parameter, seen, wanted: &str| Err(DataError::Parameter { parameter, seen, wanted: wanted.to_owned() });
    if step == 0 {
        return refuse("step", "0".to_owned(), "at least a byte");
    }
    let mut file = BufReader::new(File::open(path).map_err(io())?);
    let bytes = file.get_ref().metadata().map_err(io())?.len();
    if Packing::of(file.fill_buf().map_err(io())?).is_packed() {
        let seen = format!("{}, which is packed and can be read from its beginning alone", path.display());
        return refuse("file", seen, "a plain file, to be read in pieces: unpack it");
    }
    let (mut pieces, mut start) = (Vec::new(), 0);
    while start < bytes {
        let mut end = start.saturating_add(step);
        if end < bytes {
            // the line that the cut falls into, or ends with, belongs to the left
            file.seek(SeekFrom::Start(end - 1)).map_err(io())?;
            end = end - 1 + file.skip_until(b'\n').map_err(io())? as u64;
        }
        pieces.push(start..end.min(bytes));
        start = end;
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::{file, gzipped};

    const TEXT: &[u8] = b"first\r\n\nse\xffcond\n  \t\nthird caf\xc3\xa9\nlast without an end";

    fn all(stream: &mut TextStream) -> Vec<String> {
        let mut texts = Vec::new();
        while let Some(text) = stream.next_text().unwrap() {
            texts.push(text.to_owned());
        }
        texts
    }

    fn files() -> (tempfile::TempDir, [PathBuf; 2]) {
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().join("plain.txt"), folder.path().join("packed.txt")];
        std::fs::write(&paths[0], TEXT).unwrap();
        std::fs::write(&paths[1], gzipped(TEXT)).unwrap();
        (folder, paths)
    }

    #[test]
    fn bad_lines_are_counted_and_skipped() {
        let (_folder, paths) = files();
        for path in &paths {
            let mut stream = TextStream::open(path, LinePolicy::default()).unwrap();
            assert_eq!(all(&mut stream), ["first", "third café", "last without an end"]);
            let bytes = TEXT.len() as u64;
            assert_eq!(stream.place(), StreamPlace { bytes, lines: 6, empty: 2, invalid_utf8: 1 });
            assert_eq!(stream.place().texts(), 3);
            assert_eq!(stream.progress().0, stream.progress().1);
        }
    }

    #[test]
    fn a_stream_continues_from_any_line_in_plain_and_gzip_files() {
        let (_folder, paths) = files();
        for path in &paths {
            for stop in 0..4 {
                let mut first = TextStream::open(path, LinePolicy::default()).unwrap();
                let mut texts: Vec<String> =
                    (0..stop).filter_map(|_| first.next_text().unwrap().map(str::to_owned)).collect();
                let mut second = TextStream::open_at(path, LinePolicy::default(), first.place()).unwrap();
                texts.extend(all(&mut second));
                assert_eq!(texts, ["first", "third café", "last without an end"]);
                assert_eq!(second.place().lines, 6);
            }
            let place = StreamPlace { bytes: 1000, lines: 99, ..StreamPlace::default() };
            let message = TextStream::open_at(path, LinePolicy::default(), place).err().unwrap().to_string();
            assert!(message.contains("truncated at line 99, where the saved sketch stands"), "{message}");
        }
    }

    #[test]
    fn bad_lines_are_errors_under_that_policy() {
        let (_folder, [path, _]) = files();
        let first_error = |policy| {
            let mut stream = TextStream::open(&path, policy).unwrap();
            loop {
                match stream.next_text() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("no error"),
                    Err(error) => return error.to_string(),
                }
            }
        };
        let message = first_error(LinePolicy { empty: BadLine::Error, ..LinePolicy::default() });
        assert!(message.ends_with("plain.txt:2: an empty line; wanted is a text (or `empty: skip`)"), "{message}");
        let message = first_error(LinePolicy { invalid_utf8: BadLine::Error, ..LinePolicy::default() });
        assert!(message.contains("plain.txt:3: byte 2 of the line is not UTF-8"), "{message}");
    }

    #[test]
    fn pieces_of_any_size_hold_every_line_once_and_name_lines_of_the_file() {
        let (_folder, [plain, packed]) = files();
        for step in 1..=TEXT.len() as u64 + 1 {
            let pieces = cuts(&plain, step).unwrap();
            assert_eq!((pieces[0].start, pieces.last().unwrap().end), (0, TEXT.len() as u64));
            assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start));
            let mut texts = Vec::new();
            let (mut lines, mut skipped) = (0, 0);
            for piece in pieces {
                let mut stream = TextStream::open_piece(&plain, LinePolicy::default(), piece.clone()).unwrap();
                texts.extend(all(&mut stream));
                let place = stream.place();
                assert_eq!(place.bytes, piece.end);
                lines += place.lines;
                skipped += place.empty + place.invalid_utf8;
            }
            assert_eq!(texts, ["first", "third café", "last without an end"]);
            assert_eq!((lines, skipped), (6, 3));
        }
        let policy = LinePolicy { empty: BadLine::Error, ..LinePolicy::default() };
        let fourth = cuts(&plain, 1).unwrap()[3].clone();
        let error = TextStream::open_piece(&plain, policy, fourth).unwrap().next_text().unwrap_err().to_string();
        assert!(error.contains("plain.txt:4: an empty line"), "{error}");
        let error = cuts(&packed, 10).unwrap_err().to_string();
        assert!(error.contains("packed.txt") && error.contains("unpack it"), "{error}");
        assert!(cuts(&plain, 0).is_err());
    }

    #[test]
    fn an_empty_file_is_an_empty_stream_and_a_missing_one_is_named() {
        let (folder, path) = file("empty.txt", b"");
        assert!(all(&mut TextStream::open(&path, LinePolicy::default()).unwrap()).is_empty());
        let missing = TextStream::open(&folder.path().join("missing.txt"), LinePolicy::default());
        assert!(missing.err().unwrap().to_string().contains("missing.txt"));
    }
}
