//! Word vectors as word2vec writes them: a text line `V d`, then V times a word, a blank, d little-endian f32 and,
//! depending on the program, a line feed.
//!
//! A word that is not UTF-8 (the GoogleNews file has some) is read with replacement characters: it meets no token.

use std::io::{BufRead, Read};
use std::path::Path;

use super::{Gathered, Wanted, word2vec_header};
use crate::error::DataError;
use crate::unpack::{check_promise, open};

/// Longer than any header line or word; keeps a file of another kind from being read whole as one word.
const LONGEST_TEXT: u64 = 4096;

pub(super) fn read(path: &Path, wanted: &Wanted<'_>) -> Result<Gathered, DataError> {
    let mut reader = open(path)?;
    let header = text_until(path, &mut reader, b'\n')?;
    let (words, dimension) = word2vec_header(path, header.trim_end())?;
    check_promise(path, "word 1", (dimension as u64).checked_mul(4))?;
    let mut gathered = Gathered::new(dimension);
    let mut bytes = vec![0; 4 * dimension];
    for k in 0..words {
        let text = text_until(path, &mut reader, b' ')?;
        let truncated = |seen: u64, missing: u64| DataError::Truncated {
            path: path.to_owned(),
            at: format!("word {} of {words}", k + 1),
            seen,
            wanted: missing,
        };
        let Some(word) = text.strip_suffix(' ') else {
            return Err(truncated(text.len() as u64, bytes.len() as u64 + 2));
        };
        let word = word.trim_start_matches('\n');
        let length = read_up_to(&mut reader, &mut bytes).map_err(DataError::io(path))?;
        if length < bytes.len() {
            return Err(truncated(length as u64, bytes.len() as u64));
        }
        if let Some(slot) = gathered.slot(word, wanted) {
            let values = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            gathered.fill(slot, values);
        }
    }
    let rest = reader.fill_buf().map_err(DataError::io(path))?;
    if rest.iter().any(|byte| !byte.is_ascii_whitespace()) {
        return Err(DataError::CountMismatch {
            path: path.to_owned(),
            what: "or more words",
            seen: words + 1,
            wanted: words,
            reference: "in the header".into(),
        });
    }
    Ok(gathered)
}

/// Text up to and with `end`, or up to the end of the file.
fn text_until(path: &Path, reader: &mut dyn BufRead, end: u8) -> Result<String, DataError> {
    let mut bytes = Vec::new();
    reader.take(LONGEST_TEXT).read_until(end, &mut bytes).map_err(DataError::io(path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Fills `bytes` as far as the source goes and returns how far that was.
pub(super) fn read_up_to(reader: &mut dyn Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < bytes.len() {
        match reader.read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::super::{VectorFiles, VectorFormat, WordVectors};
    use super::*;

    fn encode(header: &str, words: &[(&str, &[f32])], line_feeds: bool) -> Vec<u8> {
        let mut bytes = header.as_bytes().to_vec();
        for (word, values) in words {
            bytes.extend(word.as_bytes());
            bytes.push(b' ');
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            bytes.extend(line_feeds.then_some(b'\n'));
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<WordVectors, DataError> {
        let (_folder, path) = crate::test_files::file("mine.bin", bytes);
        WordVectors::read(&VectorFiles::new(VectorFormat::Word2vecBinary, path), &|word| word != "skipped")
    }

    #[test]
    fn a_line_feed_between_words_makes_no_difference() {
        let words: [(&str, &[f32]); 3] = [("moon", &[1.0, 2.0]), ("skipped", &[0.0, 0.0]), ("soup", &[-3.0, 0.5])];
        let plain = decode(&encode("3 2\n", &words, false)).unwrap();
        assert_eq!(plain, decode(&encode("3 2\n", &words, true)).unwrap());
        assert_eq!(plain.words(), ["moon", "soup"]);
        assert_eq!(plain.vector("soup").unwrap().to_vec(), [-3.0, 0.5]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let words: [(&str, &[f32]); 2] = [("moon", &[1.0, 2.0]), ("soup", &[-3.0, f32::NAN])];
        let whole = encode("2 2\n", &words, false);
        for (bytes, wanted) in [
            (whole.clone(), "component 1 of the vector of `soup` is NaN"),
            (whole[..whole.len() - 3].to_vec(), "truncated at word 2 of 2: 5 bytes are left, wanted are 8"),
            (encode("3 2\n", &words, true), "truncated at word 3 of 3: 1 bytes are left"),
            (encode("1 2\n", &words, true), "has 2 or more words; wanted are 1, the number in the header"),
            (b"1 4000000000\nmoon ".to_vec(), "truncated at word 1: 18 bytes are left, wanted are 16000000000"),
            (b"moon 1 2\n".to_vec(), "begins with the line `moon 1 2`"),
            (b"\x00\x01\x02".repeat(5000), "wanted is the number of words and the dimension"),
        ] {
            let message = decode(&bytes).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
