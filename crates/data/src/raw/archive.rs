//! Archives as sources publish them: `.zip`, `.tar.gz` and `.gz`, unpacked into memory.
//!
//! A member with an absolute path or with `..` is an error, links and other things that are no files are left out, and more
//! than a stated number of bytes is an error however small the archive is.

use std::io::{Cursor, Read};
use std::path::{Component, Path};

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use super::RawFiles;
use crate::error::DataError;
use crate::unpack::FREE;

/// Bytes that the members of one archive may have together: four times the largest of the catalog.
pub const LIMIT: u64 = 1 << 30;
/// Members that are looked at; the largest known archive has 40,000.
const MEMBERS: usize = 1 << 18;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unpack {
    /// Nothing: it is the raw file of this name.
    File(&'static str),
    Gzip(&'static str),
    Zip(Members),
    /// The members of a compressed tar archive.
    TarGz(Members),
}

/// Members of an archive: those below a folder (or of a name) wherever it lies, called by their path from there on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Members {
    /// Names of folders or files.
    pub below: &'static [&'static str],
    /// End of a member's name; empty for any.
    pub ending: &'static str,
}

impl Members {
    fn name_of(&self, path: &Path) -> Option<String> {
        let parts: Vec<&str> = path.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
        // what macOS puts beside every file
        if parts.contains(&"__MACOSX") || parts.last().is_some_and(|name| name.starts_with("._")) {
            return None;
        }
        let from = parts.iter().position(|part| self.below.contains(part))?;
        let name = parts[from..].join("/");
        name.ends_with(self.ending).then_some(name)
    }
}

impl Unpack {
    /// The raw files of a download.
    ///
    /// # Errors
    /// [`DataError::Archive`]: damaged, a path that leaves the archive, more than `limit` bytes, nothing of what is wanted.
    pub fn apply(self, download: Vec<u8>, limit: u64) -> Result<RawFiles, DataError> {
        match self {
            Self::File(name) => Ok(RawFiles::one(name, download)),
            Self::Gzip(name) => {
                let refuse = refusal(name);
                let mut room = Room { left: limit };
                Ok(RawFiles::one(name, room.read(&mut MultiGzDecoder::new(&download[..])).map_err(refuse)?))
            }
            Self::Zip(members) => zip(&download, members, limit),
            Self::TarGz(members) => tar_gz(&download, members, limit),
        }
    }
}

fn refusal(name: &str) -> impl Fn(String) -> DataError + Copy + '_ {
    move |what| DataError::Archive { path: name.into(), what }
}

struct Room {
    left: u64,
}

impl Room {
    fn read(&mut self, from: &mut dyn Read) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let read =
            from.take(self.left + 1).read_to_end(&mut bytes).map_err(|error| format!("it is damaged: {error}"))?;
        let read = read as u64;
        if read > self.left {
            return Err("it unpacks to more bytes than its limit".to_owned());
        }
        self.left -= read;
        Ok(bytes)
    }
}

fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn zip(download: &[u8], members: Members, limit: u64) -> Result<RawFiles, DataError> {
    let refuse = refusal("zip archive");
    let damaged = |error: zip::result::ZipError| refuse(format!("it is damaged: {error}"));
    let mut archive = ZipArchive::new(Cursor::new(download)).map_err(damaged)?;
    let (mut files, mut room) = (RawFiles::default(), Room { left: limit });
    if archive.len() > MEMBERS {
        return Err(refuse(format!("it has {} members, more than {MEMBERS}", archive.len())));
    }
    for k in 0..archive.len() {
        let mut member = archive.by_index(k).map_err(damaged)?;
        let path = member.name().replace('\\', "/");
        if !is_inside(Path::new(&path)) {
            return Err(refuse(format!("its member `{path}` leads outside")));
        }
        if let Some(name) = members.name_of(Path::new(&path)).filter(|_| member.is_file()) {
            files.insert(name, room.read(&mut member).map_err(refuse)?);
        }
    }
    not_empty(files, members)
}

fn tar_gz(download: &[u8], members: Members, limit: u64) -> Result<RawFiles, DataError> {
    let refuse = refusal("tar archive");
    let damaged = |error: std::io::Error| refuse(format!("it is damaged: {error}"));
    // headers and members that nobody wants are bytes, too
    let most = limit.saturating_mul(4).max(FREE);
    let mut archive = tar::Archive::new(MultiGzDecoder::new(download).take(most));
    let (mut files, mut room) = (RawFiles::default(), Room { left: limit });
    for (k, member) in archive.entries().map_err(damaged)?.enumerate() {
        let mut member = member.map_err(damaged)?;
        let path = member.path().map_err(damaged)?.into_owned();
        if k >= MEMBERS {
            return Err(refuse(format!("it has more than {MEMBERS} members")));
        }
        if !is_inside(&path) {
            return Err(refuse(format!("its member `{}` leads outside", path.display())));
        }
        if let Some(name) = members.name_of(&path).filter(|_| member.header().entry_type().is_file()) {
            files.insert(name, room.read(&mut member).map_err(refuse)?);
        }
    }
    not_empty(files, members)
}

fn not_empty(files: RawFiles, members: Members) -> Result<RawFiles, DataError> {
    if files.is_empty() {
        let what = format!("it holds nothing below `{}`", members.below.join("` or `"));
        return Err(DataError::Archive { path: "archive".into(), what });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const MEMBERS: Members = Members { below: &["a", "b"], ending: ".txt" };

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn tarred(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in members {
            let mut header = tar::Header::new_gnu();
            // `set_path` refuses what the test is about
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(bytes.len() as u64);
            header.set_cksum();
            builder.append(&header, *bytes).unwrap();
        }
        let mut link = tar::Header::new_gnu();
        link.set_entry_type(tar::EntryType::Symlink);
        link.set_size(0);
        builder.append_link(&mut link, "top/a/link.txt", "/etc/passwd").unwrap();
        packed(&builder.into_inner().unwrap())
    }

    fn message(unpacked: Result<RawFiles, DataError>) -> String {
        unpacked.unwrap_err().to_string()
    }

    #[test]
    fn members_are_called_from_their_folder_on() {
        let members: [(&str, &[u8]); 5] = [
            ("top/a/x.txt", b"1"),
            ("top/sub/b/y.txt", b"2"),
            ("top/a/z.xml", b"3"),
            ("top/c/x.txt", b"4"),
            ("__MACOSX/a/._x.txt", b"5"),
        ];
        let mut wanted = RawFiles::one("a/x.txt", b"1".to_vec());
        wanted.insert("b/y.txt", b"2".to_vec());
        assert_eq!(Unpack::Zip(MEMBERS).apply(zipped(&members), 9).unwrap(), wanted);
        assert_eq!(Unpack::TarGz(MEMBERS).apply(tarred(&members), 9).unwrap(), wanted);
        assert_eq!(Unpack::Gzip("f").apply(packed(b"text"), 9).unwrap(), RawFiles::one("f", b"text".to_vec()));
    }

    #[test]
    fn paths_that_lead_outside_are_refused() {
        for name in ["../a/x.txt", "/a/x.txt", "top/../../a/x.txt"] {
            let wanted = format!("its member `{name}` leads outside");
            assert!(message(Unpack::Zip(MEMBERS).apply(zipped(&[(name, b"1")]), 9)).contains(&wanted), "zip {name}");
            assert!(message(Unpack::TarGz(MEMBERS).apply(tarred(&[(name, b"1")]), 9)).contains(&wanted), "tar {name}");
        }
    }

    #[test]
    fn bombs_cut_archives_and_empty_ones_are_refused() {
        let big = vec![0_u8; 1000];
        let members: [(&str, &[u8]); 2] = [("a/x.txt", &big[..600]), ("a/y.txt", &big[..600])];
        let bomb = "it unpacks to more bytes than its limit";
        assert!(message(Unpack::Zip(MEMBERS).apply(zipped(&members), 1000)).contains(bomb));
        assert!(message(Unpack::TarGz(MEMBERS).apply(tarred(&members), 1000)).contains(bomb));
        assert!(message(Unpack::Gzip("f").apply(packed(&big), 999)).contains(bomb));
        assert!(Unpack::Gzip("f").apply(packed(&big), 1000).is_ok());
        for (unpack, whole) in [
            (Unpack::Zip(MEMBERS), zipped(&members)),
            (Unpack::TarGz(MEMBERS), tarred(&members)),
            (Unpack::Gzip("f"), packed(&big)),
        ] {
            let cut = whole[..whole.len() / 2].to_vec();
            assert!(message(unpack.apply(cut, 5000)).contains("it is damaged"), "{unpack:?}");
        }
        let other = zipped(&[("c/x.txt", b"1")]);
        assert!(message(Unpack::Zip(MEMBERS).apply(other, 9)).contains("it holds nothing below `a` or `b`"));
    }
}
