//! Archives as sources publish them: `.zip`, `.tar.gz` and `.gz`, unpacked into memory. More than a stated number of bytes is an error
//! however small the archive is; nothing is written to the paths that it names.

use std::io::{Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use zip::ZipArchive;

use super::RawFiles;
use crate::error::DataError;
use crate::unpack::FREE;

/// Bytes that the members of one archive may have together: four times the largest of the catalog.
pub const LIMIT: u64 = 1 << 30;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unpack {
    /// Nothing: it is the raw file of this name.
    File(String),
    Gzip(String),
    Zip(Members),
    /// The members of a compressed tar archive.
    TarGz(Members),
}

/// Members of an archive: those below a folder (or of a name) wherever it lies, called by their path from there on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Members {
    /// Names of folders or files.
    pub below: Vec<String>,
    /// End of a member's name; empty for any.
    pub ending: String,
}

impl Members {
    fn name_of(&self, path: &Path) -> Option<String> {
        let parts: Vec<&str> = path.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
        // what macOS puts next to every file
        if parts.contains(&"__MACOSX") || parts.last().is_some_and(|name| name.starts_with("._")) {
            return None;
        }
        let from = parts.iter().position(|part| self.below.iter().any(|below| below == part))?;
        let name = parts[from..].join("/");
        name.ends_with(&self.ending).then_some(name)
    }
}

impl Unpack {
    /// The raw files of a download.
    ///
    /// # Errors
    /// [`DataError::Archive`]: damaged, more than `limit` bytes, nothing of what is wanted.
    pub fn apply(&self, download: Vec<u8>, limit: u64) -> Result<RawFiles, DataError> {
        let refuse = |what: String| DataError::Archive { path: "archive".into(), what };
        let damaged = |error: &dyn std::fmt::Display| refuse(format!("it is damaged: {error}"));
        let mut left = limit;
        let mut unpacked = |from: &mut dyn Read| {
            let mut bytes = Vec::new();
            let read = from.take(left + 1).read_to_end(&mut bytes).map_err(|error| damaged(&error))? as u64;
            left =
                left.checked_sub(read).ok_or_else(|| refuse("it unpacks to more bytes than its limit".to_owned()))?;
            Ok::<_, DataError>(bytes)
        };
        let mut files = RawFiles::default();
        let members = match self {
            Self::File(name) => return Ok(RawFiles::one(name, download)),
            Self::Gzip(name) => return Ok(RawFiles::one(name, unpacked(&mut MultiGzDecoder::new(&download[..]))?)),
            Self::Zip(members) => {
                let mut archive = ZipArchive::new(Cursor::new(&download)).map_err(|error| damaged(&error))?;
                for k in 0..archive.len() {
                    let mut member = archive.by_index(k).map_err(|error| damaged(&error))?;
                    let name = members.name_of(Path::new(&member.name().replace('\\', "/")));
                    if let Some(name) = name.filter(|_| member.is_file()) {
                        files.insert(name, unpacked(&mut member)?);
                    }
                }
                members
            }
            Self::TarGz(members) => {
                // headers and members that nobody wants are bytes, too
                let most = limit.saturating_mul(4).max(FREE);
                let mut archive = tar::Archive::new(MultiGzDecoder::new(&download[..]).take(most));
                for member in archive.entries().map_err(|error| damaged(&error))? {
                    let mut member = member.map_err(|error| damaged(&error))?;
                    let name = members.name_of(&member.path().map_err(|error| damaged(&error))?);
                    if let Some(name) = name.filter(|_| member.header().entry_type().is_file()) {
                        files.insert(name, unpacked(&mut member)?);
                    }
                }
                members
            }
        };
        if files.is_empty() {
            return Err(refuse(format!("it holds nothing below `{}`", members.below.join("` or `"))));
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::{gzipped, zipped};

    fn members() -> Members {
        Members { below: vec!["a".to_owned(), "b".to_owned()], ending: ".txt".to_owned() }
    }

    fn tarred(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in members {
            let mut header = tar::Header::new_gnu();
            header.set_path(name).unwrap();
            header.set_size(bytes.len() as u64);
            header.set_cksum();
            builder.append(&header, *bytes).unwrap();
        }
        let mut link = tar::Header::new_gnu();
        link.set_entry_type(tar::EntryType::Symlink);
        link.set_size(0);
        builder.append_link(&mut link, "top/a/link.txt", "/etc/passwd").unwrap();
        gzipped(&builder.into_inner().unwrap())
    }

    fn message(unpacked: Result<RawFiles, DataError>) -> String {
        unpacked.unwrap_err().to_string()
    }

    #[test]
    fn members_are_called_from_their_folder_on() {
        let inside: [(&str, &[u8]); 5] = [
            ("top/a/x.txt", b"1"),
            ("top/sub/b/y.txt", b"2"),
            ("top/a/z.xml", b"3"),
            ("top/c/x.txt", b"4"),
            ("__MACOSX/a/._x.txt", b"5"),
        ];
        let mut wanted = RawFiles::one("a/x.txt", b"1".to_vec());
        wanted.insert("b/y.txt", b"2".to_vec());
        assert_eq!(Unpack::Zip(members()).apply(zipped(&inside), 9).unwrap(), wanted);
        assert_eq!(Unpack::TarGz(members()).apply(tarred(&inside), 9).unwrap(), wanted);
        assert_eq!(
            Unpack::Gzip("f".to_owned()).apply(gzipped(b"text"), 9).unwrap(),
            RawFiles::one("f", b"text".to_vec())
        );
    }

    #[test]
    fn bombs_cut_archives_and_empty_ones_are_refused() {
        let big = vec![0_u8; 1000];
        let inside: [(&str, &[u8]); 2] = [("a/x.txt", &big[..600]), ("a/y.txt", &big[..600])];
        let bomb = "it unpacks to more bytes than its limit";
        assert!(message(Unpack::Zip(members()).apply(zipped(&inside), 1000)).contains(bomb));
        assert!(message(Unpack::TarGz(members()).apply(tarred(&inside), 1000)).contains(bomb));
        assert!(message(Unpack::Gzip("f".to_owned()).apply(gzipped(&big), 999)).contains(bomb));
        assert!(Unpack::Gzip("f".to_owned()).apply(gzipped(&big), 1000).is_ok());
        for (unpack, whole) in [
            (Unpack::Zip(members()), zipped(&inside)),
            (Unpack::TarGz(members()), tarred(&inside)),
            (Unpack::Gzip("f".to_owned()), gzipped(&big)),
        ] {
            let cut = whole[..whole.len() / 2].to_vec();
            assert!(message(unpack.apply(cut, 5000)).contains("it is damaged"), "{unpack:?}");
        }
        let other = zipped(&[("c/x.txt", b"1")]);
        assert!(message(Unpack::Zip(members()).apply(other, 9)).contains("it holds nothing below `a` or `b`"));
    }
}
