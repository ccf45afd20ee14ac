//! Vectors of texts in a file that only grows, so that no text is asked for twice.
//!
//! ```text
//! 32 bytes  blake3 of the text
//!  4 bytes  d (u32)
//! 4d bytes  components (f32)
//!  8 bytes  blake3 of all before, its beginning
//! ```
//! All numbers little endian. A record that a killed run tore off is cut away before the next is written.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const CHECK: usize = 8;

pub(crate) type Digest = [u8; 32];

pub(crate) fn digest(text: &str) -> Digest {
    *blake3::hash(text.as_bytes()).as_bytes()
}

#[derive(Debug)]
pub(crate) struct VectorFile {
    path: PathBuf,
    sound: u64,
    vectors: HashMap<Digest, Vec<f32>>,
}

impl VectorFile {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let (mut rest, mut vectors) = (bytes.as_slice(), HashMap::new());
        while let Some((digest, vector, behind)) = record(rest) {
            vectors.insert(digest, vector);
            rest = behind;
        }
        Ok(Self { path: path.to_owned(), sound: (bytes.len() - rest.len()) as u64, vectors })
    }

    pub(crate) fn get(&self, digest: &Digest) -> Option<&[f32]> {
        self.vectors.get(digest).map(Vec::as_slice)
    }

    /// Writes vectors behind those that are there, and waits until they are safe.
    pub(crate) fn append(&mut self, new: Vec<(Digest, Vec<f32>)>) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut bytes = Vec::new();
        for (digest, vector) in &new {
            let start = bytes.len();
            bytes.extend(digest);
            bytes.extend(u32::try_from(vector.len()).unwrap_or(u32::MAX).to_le_bytes());
            bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes()));
            let check = blake3::hash(&bytes[start..]);
            bytes.extend(&check.as_bytes()[..CHECK]);
        }
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(&self.path)?;
        file.set_len(self.sound)?;
        io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
        file.write_all(&bytes)?;
        file.sync_data()?;
        self.sound += bytes.len() as u64;
        self.vectors.extend(new);
        Ok(())
    }
}

/// The first record, and what stands behind it; `None` where it is not whole.
fn record(bytes: &[u8]) -> Option<(Digest, Vec<f32>, &[u8])> {
    let (digest, rest) = bytes.split_first_chunk::<32>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?.checked_mul(4)?;
    let (components, rest) = rest.split_at_checked(length)?;
    let (check, behind) = rest.split_first_chunk::<CHECK>()?;
    let whole = &bytes[..36 + length];
    let vector = components.chunks_exact(4).map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect();
    (blake3::hash(whole).as_bytes()[..CHECK] == *check).then_some((*digest, vector, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_was_torn_is_cut_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/a.vectors");
        let mut file = VectorFile::read(&path).unwrap();
        let (one, two) = (digest("one"), digest("two"));
        file.append(vec![(one, vec![1.0, 2.0]), (two, vec![3.0])]).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let mut torn = VectorFile::read(&path).unwrap();
            let first = 32 + 4 + 8 + 8;
            assert_eq!(torn.get(&one), (cut >= first).then_some(&[1.0, 2.0][..]), "{cut}");
            assert_eq!(torn.get(&two), None, "{cut}");
            torn.append(vec![(two, vec![3.0])]).unwrap();
            assert_eq!(VectorFile::read(&path).unwrap().get(&two), Some(&[3.0][..]), "{cut}");
        }
    }
}
