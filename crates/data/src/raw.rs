//! Corpora in the form in which their sources publish them, and the conversions that make our files of it.
//!
//! ```text
//! addresses → download → unpack (zip, tar.gz, gz) → raw files, checked → conversion → our file, checked
//!             landmark-fetch      [`archive`]         [`RawFiles::digest`]  [`Conversion`]   catalog
//! ```
//!
//! [`recipes`] names for each file of the catalog what it is made from. Everything is deterministic: the same raw bytes give the
//! same text, whose sha256 is known. A compressed file may differ in its bytes where another program compressed it; its text does not.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use serde::{Deserialize, Serialize};
use serde_json::ser::Formatter;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::error::DataError;
use crate::unpack::Packing;

pub mod archive;
mod documents;
pub mod recipes;
mod tables;
mod xml;

/// Raw files by name, which is the path inside an archive for those that came in one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawFiles(BTreeMap<String, Vec<u8>>);

impl RawFiles {
    pub fn one(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self(BTreeMap::from([(name.into(), bytes)]))
    }

    /// Adds a file, or takes the place of the one of this name.
    pub fn insert(&mut self, name: impl Into<String>, bytes: Vec<u8>) {
        self.0.insert(name.into(), bytes);
    }

    /// Adds the files of another source.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sha256 of the only file; of several the sha256 of the lines `sha256  name`, by name, as `sha256sum` prints them.
    pub fn digest(&self) -> String {
        let mut files = self.0.iter();
        if let (Some((_, bytes)), None) = (files.next(), files.next()) {
            return hex(bytes);
        }
        let lines: String = self.0.iter().map(|(name, bytes)| format!("{}  {name}\n", hex(bytes))).collect();
        hex(lines.as_bytes())
    }

    /// Id of the only file as git names it: SHA-1 of `blob <bytes>`, a zero and the file.
    pub fn git_id(&self) -> Option<String> {
        let mut files = self.0.values();
        let (Some(bytes), None) = (files.next(), files.next()) else { return None };
        let digest = Sha1::new().chain_update(format!("blob {}\0", bytes.len())).chain_update(bytes).finalize();
        Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    fn get(&self, name: &str) -> Result<&[u8], DataError> {
        self.0.get(name).map(Vec::as_slice).ok_or_else(|| DataError::Archive {
            path: name.into(),
            what: "this raw file is missing among those of its sources".to_owned(),
        })
    }

    fn text(&self, name: &str) -> Result<&str, DataError> {
        utf8(name, self.get(name)?)
    }
}

/// Sha256 of bytes, 64 lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Sha256 of the text of a file, through gzip where it is compressed.
pub fn text_sha256(path: &Path) -> Result<String, DataError> {
    digest(crate::unpack::open(path)?).map_err(DataError::io(path))
}

/// Sha256 of all that comes of a reader.
pub(crate) fn digest(mut reader: impl BufRead) -> io::Result<String> {
    let mut hasher = Sha256::new();
    loop {
        let length = match reader.fill_buf()? {
            [] => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            bytes => {
                hasher.update(bytes);
                bytes.len()
            }
        };
        reader.consume(length);
    }
}

/// A conversion of raw files into the text of one of ours.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conversion {
    /// As it is: KeLP examples, maps of names, word vectors.
    Copy(String),
    /// A table of the STS benchmark: nine or seven columns, CR LF, no quoting.
    StsCsv(String),
    /// The STS benchmark in GLUE's own form: `index genre filename year old_index source1 source2 sentence1 sentence2 score`.
    GlueSts(String),
    /// GLUE's RTE as tab-separated values with quoting, labels 0 and 1.
    Rte(String),
    /// RTE in GLUE's own form: `index sentence1 sentence2 label`, no quoting, labels in words, and none in the test set.
    GlueRte(String),
    /// The Microsoft paraphrase corpus in the order of its files.
    Paraphrases {
        tables: Vec<String>,
        /// A table whose columns 2 and 3 give which pairs, in which order; all where there is none.
        order: Option<String>,
    },
    /// The Microsoft paraphrase corpus in the order of its file: pairs that GLUE's list names, or all others.
    GlueParaphrases { table: String, ids: String, is_named: bool },
    /// Tweets of the WMD paper: `"label"`, a tab, the words.
    Tweets(String),
    /// Yummly recipes: a JSON list of `id`, `cuisine`, `ingredients`.
    Recipes(String),
    /// Documents in folders `<split>/<label>/<id>`, as columns.
    Abstracts { below: String },
    /// Newsgroup posts in folders `20news-bydate-<split>/<label>/<id>`, as JSON lines.
    Posts,
    /// Reviews by domain: `<domain>/<sentiment>.review`.
    Reviews(Vec<String>),
    /// SMART collections, each a label and a file: `.I`, `.T`, `.W`.
    Smart(Vec<(String, String)>),
    /// CLINC150: a JSON object of lists, of which one part (`train`, `val` or `test`) is taken, then its out-of-scope one.
    Clinc { file: String, part: String },
    /// SNIPS: a JSON file an intent, called `<before><intent><after>`.
    Snips { before: String, after: String },
    /// ATIS: `BOS words EOS`, a tab, slots and the intent.
    Atis(String),
    /// Threads of SemEval-2016 Task 3, from XML.
    SemEval(String),
    /// Tokens of the documents of ECB+, from CAT XML.
    EcbDocuments,
    /// Mentions of ECB+ in validated sentences.
    EcbMentions,
    /// GloVe vectors as text, the files one after the other.
    Vectors(Vec<String>),
}

impl Conversion {
    /// The text of our file, uncompressed.
    ///
    /// # Errors
    /// [`DataError::Archive`] with the raw file that is missing or of another form, which none is that fits its digest.
    pub fn text(&self, raw: &RawFiles) -> Result<Vec<u8>, DataError> {
        match self {
            Self::Copy(name) => Ok(raw.get(name)?.to_vec()),
            Self::StsCsv(name) => tables::sts(name, raw.text(name)?),
            Self::GlueSts(name) => tables::glue_sts(name, raw.text(name)?),
            Self::Rte(name) => tables::rte(name, raw.text(name)?),
            Self::GlueRte(name) => tables::glue_rte(name, raw.text(name)?),
            Self::GlueParaphrases { table, ids, is_named } => tables::glue_paraphrases(raw, table, ids, *is_named),
            Self::Paraphrases { tables, order } => tables::paraphrases(raw, tables, order.as_deref()),
            Self::Tweets(name) => documents::tweets(name, raw.text(name)?),
            Self::Recipes(name) => documents::recipes(name, raw.get(name)?),
            Self::Abstracts { below } => documents::abstracts(raw, below),
            Self::Posts => documents::posts(raw),
            Self::Reviews(names) => documents::reviews(raw, names),
            Self::Smart(collections) => documents::smart(raw, collections),
            Self::Clinc { file, part } => tables::clinc(file, raw.get(file)?, part),
            Self::Snips { before, after } => tables::snips(raw, before, after),
            Self::Atis(name) => tables::atis(name, raw.text(name)?),
            Self::SemEval(name) => xml::threads(name, raw.text(name)?),
            Self::EcbDocuments => xml::documents(raw),
            Self::EcbMentions => xml::mentions(raw),
            Self::Vectors(names) => vectors(raw, names),
        }
    }

    /// Our file: the text, in one gzip member without a name or time where the path ends in `.gz` and the text is not
    /// compressed already.
    pub fn file(&self, path: &str, raw: &RawFiles) -> Result<Vec<u8>, DataError> {
        let text = self.text(raw)?;
        if !path.ends_with(".gz") || Packing::of(&text) == Packing::Gzip {
            return Ok(text);
        }
        let mut packed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
        packed.write_all(&text).and_then(|()| packed.finish()).map_err(DataError::io(Path::new(path)))
    }
}

/// Lines of a word and its numbers. Words that are no UTF-8 are left out: single quotation marks and dashes of another encoding.
fn vectors(raw: &RawFiles, names: &[String]) -> Result<Vec<u8>, DataError> {
    let mut text = String::new();
    for name in names {
        for line in raw.get(name)?.split(|&byte| byte == b'\n') {
            let Ok(line) = std::str::from_utf8(line.trim_ascii_end()) else { continue };
            if !line.is_empty() && !line.starts_with(' ') {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    Ok(text.into_bytes())
}

/// JSON lines as Python's `json.dumps(value, ensure_ascii=False)` writes them: a blank after every comma and colon.
fn json_lines<T: Serialize>(values: impl Iterator<Item = Result<T, DataError>>) -> Result<Vec<u8>, DataError> {
    struct WithBlanks;
    impl Formatter for WithBlanks {
        fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
            writer.write_all(if first { b"" } else { b", " })
        }

        fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
            self.begin_array_value(writer, first)
        }

        fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
            writer.write_all(b": ")
        }
    }
    let mut text = Vec::new();
    for value in values {
        let written = value?.serialize(&mut serde_json::Serializer::with_formatter(&mut text, WithBlanks));
        written.map_err(|error| unexpected("JSON lines", error.to_string()))?;
        text.push(b'\n');
    }
    Ok(text)
}

/// UTF-8, without a byte order mark.
fn utf8<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, DataError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let byte = before.iter().rev().take_while(|&&byte| byte != b'\n').count();
        DataError::NotUtf8 { path: name.into(), line, byte }
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Latin-1, in which every byte is a character.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// Words by one blank. White space is that of Unicode and the four separators of ASCII.
fn squeezed(text: &str) -> String {
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    text.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Lines that are not blank, without LF or CR LF.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

/// A raw file that is not of the form of its source: none that fits its digest.
fn unexpected(name: &str, what: String) -> DataError {
    DataError::Archive { path: name.into(), what: format!("unexpected content: {what}") }
}

/// Tab-separated values under a header. A cell holds no tab and no line end.
struct Table(String);

impl Table {
    fn new(header: &[&str]) -> Self {
        Self(header.join("\t") + "\n")
    }

    fn row(&mut self, cells: &[&str]) {
        for (k, cell) in cells.iter().enumerate() {
            if k > 0 {
                self.0.push('\t');
            }
            self.0.push_str(cell);
        }
        self.0.push('\n');
    }

    fn finish(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_several_files_is_that_of_their_list() {
        let mut files = RawFiles::one("b", b"2".to_vec());
        assert_eq!(files.digest(), "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35");
        files.insert("a", b"1".to_vec());
        // printf 1 > a; printf 2 > b; sha256sum a b | sha256sum
        assert_eq!(files.digest(), "68c2919f4305e50800082ab7f11eb17d96c7832f59154e97b1d373a5179a63ea");
    }

    #[test]
    fn vectors_of_files_follow_each_other_without_words_of_another_encoding() {
        let mut raw = RawFiles::one("x", b"the 1 -2\n\x96 3 4\n".to_vec());
        raw.insert("y", b"of 1e-3 .5".to_vec());
        let wanted = Conversion::Vectors(vec!["x".to_owned(), "y".to_owned()]);
        assert_eq!(wanted.text(&raw).unwrap(), b"the 1 -2\nof 1e-3 .5\n");
        let error = Conversion::Copy("z".to_owned()).text(&raw).unwrap_err().to_string();
        assert_eq!(error, "`z`: this raw file is missing among those of its sources");
    }

    #[test]
    fn lines_are_those_of_python() {
        let value = serde_json::json!({"a": [1, "é\"\n\u{1}"], "b": {}, "c": null});
        let text = json_lines([Ok(value)].into_iter()).unwrap();
        // json.dumps({"a": [1, "é\"\n\x01"], "b": {}, "c": None}, ensure_ascii=False)
        assert_eq!(String::from_utf8(text).unwrap(), "{\"a\": [1, \"é\\\"\\n\\u0001\"], \"b\": {}, \"c\": null}\n");
    }

    #[test]
    fn a_file_is_packed_by_its_name_and_never_twice() {
        let (raw, copy) = (RawFiles::one("x", b"text\n".to_vec()), Conversion::Copy("x".to_owned()));
        assert_eq!(copy.file("a.tsv", &raw).unwrap(), b"text\n");
        let packed = copy.file("a.tsv.gz", &raw).unwrap();
        assert_eq!(Packing::of(&packed), Packing::Gzip);
        assert_eq!(copy.file("a.tsv.gz", &RawFiles::one("x", packed.clone())).unwrap(), packed);
    }
}
