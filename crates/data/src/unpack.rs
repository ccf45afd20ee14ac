//! Compressed files, unpacked within bounds: gzip, bzip2, and zip archives of one file.
//!
//! How a file is packed is detected by its first bytes, never by its name. A few megabytes may unpack to more than a machine has, so every reader of
//! the workspace reads packed bytes through [`Bounded`]: a file may unpack to [`RATIO`] times its size ([`FREE`] bytes in any case) and to [`MOST`] bytes.
//! [`raise`] sets another bound, which is the only one from then on. Memory: the buffers of the readers.

use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use bzip2::read::MultiBzDecoder;
use flate2::Crc;
use flate2::read::{DeflateDecoder, MultiGzDecoder};
use zip::{CompressionMethod, ZipArchive};

pub use crate::bound::{Bounded, FREE, KEY, MOST, RATIO, TooLarge, most, raise};
use crate::error::DataError;

/// Program that packed a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    Plain,
    Gzip,
    Bzip2,
    Zip,
}

impl Packing {
    /// By the first bytes of a file.
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, ..] => Self::Gzip,
            // a level, and the beginning of a block or of the end
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..] | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, ..] => {
                Self::Bzip2
            }
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            _ => Self::Plain,
        }
    }

    /// The same of a file.
    ///
    /// # Errors
    /// [`DataError::Io`]; [`DataError::Archive`] for a pipe or a device, which may wait for ever or never end, and cannot be read twice.
    pub fn of_file(path: &Path) -> Result<Self, DataError> {
        let kind = std::fs::metadata(path).map_err(DataError::io(path))?.file_type();
        if !kind.is_file() && !kind.is_dir() {
            let what = "it is a pipe or a device (expected a regular file); write what it gives to a file first";
            return Err(refusal(path)(what.to_owned()));
        }
        let mut file = File::open(path).map_err(DataError::io(path))?;
        let mut bytes = Vec::new();
        (&mut file).take(6).read_to_end(&mut bytes).map_err(DataError::io(path))?;
        Ok(Self::of(&bytes))
    }

    pub fn is_packed(self) -> bool {
        self != Self::Plain
    }
}

/// Bytes of text of a file.
pub type Text = Box<dyn BufRead + Send>;

/// Opens a file for reading, unpacked if its first bytes show that it is packed.
///
/// # Errors
/// [`DataError::Io`]; [`DataError::Archive`] for a zip archive of no file or of several.
pub fn open(path: &Path) -> Result<Text, DataError> {
    Ok(open_counted(path, |file| file)?.0)
}

/// The same through a reader of the packed bytes, with what the file is packed with.
pub fn open_counted<R: Read + Seek + Send + 'static>(
    path: &Path,
    counted: impl FnOnce(File) -> R,
) -> Result<(Text, Packing), DataError> {
    let packing = Packing::of_file(path)?;
    let file = File::open(path).map_err(DataError::io(path))?;
    let packed = file.metadata().map_err(DataError::io(path))?.len();
    let plain = BufReader::with_capacity(1 << 16, counted(file));
    let text: Text = match packing {
        Packing::Plain => Box::new(plain),
        Packing::Gzip => buffered(Bounded::new(MultiGzDecoder::new(plain), packed)),
        Packing::Bzip2 => buffered(Bounded::new(MultiBzDecoder::new(plain), packed)),
        Packing::Zip => {
            let mut archive = whole_archive(path, plain)?;
            let name = only_file(path, &archive)?;
            let place = archive.index_for_name(&name).unwrap_or_default();
            of_archive(path, &mut archive, place, &name)?.over(path, archive.into_inner(), packed)?
        }
    };
    Ok((text, packing))
}

fn buffered(inside: impl Read + Send + 'static) -> Text {
    Box::new(BufReader::with_capacity(1 << 16, inside))
}

/// Opens a member of a zip archive for reading, a buffer of it at a time, however large it is.
///
/// # Errors
/// [`DataError::Archive`]: no zip, no such member (with those there are), a compression other than deflate.
pub fn open_member(path: &Path, member: &str) -> Result<Text, DataError> {
    let file = File::open(path).map_err(DataError::io(path))?;
    let packed = file.metadata().map_err(DataError::io(path))?.len();
    let mut archive = whole_archive(path, BufReader::with_capacity(1 << 16, file))?;
    let Some(place) = archive.index_for_name(member) else {
        return Err(refusal(path)(format!("it holds no `{member}`, but {}", listed(archive.file_names()))));
    };
    of_archive(path, &mut archive, place, member)?.over(path, archive.into_inner(), packed)
}

fn refusal(path: &Path) -> impl Fn(String) -> DataError + Copy + '_ {
    move |what| DataError::Archive { path: path.to_owned(), what }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST_NAMES: usize = 10;
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(MOST_NAMES);
    let named: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &rest
}

fn whole_archive<R: Read + Seek>(path: &Path, file: R) -> Result<ZipArchive<R>, DataError> {
    ZipArchive::new(file).map_err(|error| refusal(path)(format!("it is no whole zip archive: {error}")))
}

/// The one file of an archive; what macOS adds does not count.
fn only_file<R: Read + Seek>(path: &Path, archive: &ZipArchive<R>) -> Result<String, DataError> {
    let is_file = |name: &&str| !name.ends_with('/') && !name.starts_with("__MACOSX/");
    let names: Vec<&str> = archive.file_names().filter(is_file).collect();
    match names[..] {
        [name] => Ok(name.to_owned()),
        [] => Err(refusal(path)("it is a zip archive without a file; expected is one file".to_owned())),
        _ => {
            let (count, names) = (names.len(), listed(names.into_iter()));
            let what =
                format!("it is a zip archive of {count} files ({names}); expected is one. Unpack it, and name one");
            Err(refusal(path)(what))
        }
    }
}

struct Place {
    start: u64,
    bytes: u64,
    checksum: u32,
    is_deflated: bool,
}

fn of_archive<R: Read + Seek>(
    path: &Path,
    archive: &mut ZipArchive<R>,
    place: usize,
    name: &str,
) -> Result<Place, DataError> {
    let refuse = refusal(path);
    let facts = archive.by_index_raw(place).map_err(|error| refuse(format!("`{name}`: {error}")))?;
    if facts.encrypted() {
        return Err(refuse(format!("`{name}` is encrypted; unpack it yourself")));
    }
    let is_deflated = match facts.compression() {
        CompressionMethod::Stored => false,
        CompressionMethod::Deflated => true,
        other => return Err(refuse(format!("`{name}` is packed by {other:?}; deflate can be read"))),
    };
    Ok(Place { start: facts.data_start(), bytes: facts.compressed_size(), checksum: facts.crc32(), is_deflated })
}

impl Place {
    fn over<R: Read + Seek + Send + 'static>(self, path: &Path, mut file: R, packed: u64) -> Result<Text, DataError> {
        file.seek(SeekFrom::Start(self.start)).map_err(DataError::io(path))?;
        let file = file.take(self.bytes);
        let inside: Box<dyn Read + Send> =
            if self.is_deflated { Box::new(DeflateDecoder::new(file)) } else { Box::new(file) };
        let checked = Checked { inside, crc: Crc::new(), wanted: self.checksum };
        Ok(buffered(Bounded::new(checked, packed)))
    }
}

/// Bytes of a member, compared with its checksum where they end.
struct Checked {
    inside: Box<dyn Read + Send>,
    crc: Crc,
    wanted: u32,
}

impl Read for Checked {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inside.read(into)?;
        self.crc.update(&into[..length]);
        if length == 0 && !into.is_empty() && self.crc.sum() != self.wanted {
            let what = format!("its checksum is {:08x}, wanted is {:08x}", self.crc.sum(), self.wanted);
            return Err(Error::new(ErrorKind::InvalidData, what));
        }
        Ok(length)
    }
}

/// Refuses a header that promises more than the file can hold, before room is made for it: `None` for more than can be counted.
///
/// # Errors
/// [`DataError::Truncated`] with both sizes; [`DataError::TooLarge`] of a packed file.
pub(crate) fn check_promise(path: &Path, at: &str, promised: Option<u64>) -> Result<(), DataError> {
    let bytes = std::fs::metadata(path).map_err(DataError::io(path))?.len();
    let wanted = promised.unwrap_or(u64::MAX);
    if Packing::of_file(path)?.is_packed() {
        let bound = TooLarge::of(bytes);
        return if wanted <= bound.most { Ok(()) } else { Err(DataError::TooLarge { path: path.to_owned(), bound }) };
    }
    if wanted <= bytes {
        return Ok(());
    }
    Err(DataError::Truncated { path: path.to_owned(), at: at.to_owned(), seen: bytes, wanted })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::test_files::gzipped;

    fn bzipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
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

    fn unpacked(path: &Path, packed: &[u8]) -> Result<Vec<u8>, DataError> {
        std::fs::write(path, packed).unwrap();
        let mut bytes = Vec::new();
        open(path)?.read_to_end(&mut bytes).map_err(DataError::io(path))?;
        Ok(bytes)
    }

    #[test]
    fn every_packing_reads_like_the_plain_file_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.txt");
        let text = b"a line of text\n".repeat(1000);
        let (head, tail) = text.split_at(500);
        let extra: [(&str, &[u8], _); 3] = [
            ("folder/", b"", CompressionMethod::Stored),
            ("folder/x.txt", &text, CompressionMethod::Deflated),
            ("__MACOSX/._x.txt", b"y", CompressionMethod::Stored),
        ];
        for packed in [
            text.clone(),
            gzipped(&text),
            [gzipped(head), gzipped(tail)].concat(),
            bzipped(&text),
            [bzipped(head), bzipped(tail)].concat(),
            zipped(&[("x.txt", &text, CompressionMethod::Stored)]),
            zipped(&extra),
        ] {
            assert!(unpacked(&path, &packed).unwrap() == text);
        }
        assert_eq!(unpacked(&path, &bzipped(b"")).unwrap(), b"");
        let two = zipped(&[("a", b"1", CompressionMethod::Stored), ("b", b"2", CompressionMethod::Stored)]);
        let message = unpacked(&path, &two).unwrap_err().to_string();
        assert!(message.contains("x.txt") && message.contains("of 2 files (`a`, `b`)"), "{message}");
    }

    #[test]
    fn what_unpacks_to_a_hundred_times_its_size_is_refused_with_file_and_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeros.gz");
        let zeros = vec![0; usize::try_from(FREE).unwrap() + 1];
        let (gz, bz) = (gzipped(&zeros), bzipped(&zeros));
        let zip = zipped(&[("x", &zeros, CompressionMethod::Deflated)]);
        for packed in [&gz, &bz, &zip] {
            std::fs::write(&path, packed).unwrap();
            let mut reader = open(&path).unwrap();
            let error = std::io::copy(&mut reader, &mut std::io::sink()).unwrap_err();
            let message = DataError::io(&path)(error).to_string();
            assert!(message.contains("zeros.gz") && message.contains("64.0 MiB") && message.contains(KEY), "{message}");
        }
        // one byte fewer is no fault
        assert_eq!(unpacked(&path, &gzipped(&zeros[1..])).unwrap().len(), zeros.len() - 1);
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
        assert!(error.contains("it holds no `other.txt`, but `large.txt`, `small.txt`"), "{error}");
        // one byte of the stored text
        let place = whole.windows(5).position(|bytes| bytes == b"first").unwrap();
        std::fs::write(&path, [&whole[..place], b"w", &whole[place + 1..]].concat()).unwrap();
        assert!(read("small.txt").unwrap_err().to_string().contains("its checksum is"));
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(open_member(&path, "small.txt").err().unwrap().to_string().contains("no whole zip archive"));
    }
}
