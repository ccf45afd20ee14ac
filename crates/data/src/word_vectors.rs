//! Words as points: d numbers a word, read from the usual files or [learned](ppmi_svd) from the given corpus.
//!
//! Vectors are held in f32 (as the files have them) and only for the words a corpus needs: 4·V·d bytes, so 20,000 words
//! of 300 numbers cost 24 MB whatever the size of the file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use landmark_core::oracle::Identity;
use landmark_core::rank::RankCmp;
use ndarray::{Array2, ArrayView1, ArrayView2};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::error::DataError;
use crate::unpack::Text;

mod binary;
mod npy;
mod ppmi;
mod text;

pub use ppmi::{PpmiParams, ppmi_svd};

/// Layout of a file of word vectors. Any may be packed with gzip or bzip2, or be the one file of a zip archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VectorFormat {
    /// A line `V d`, then V lines of a word and d numbers.
    Word2vecText,
    /// A line `V d`, then V times a word, a blank and d little-endian f32.
    Word2vecBinary,
    /// Lines of a word and d numbers, no header.
    GloveText,
    /// A NumPy matrix V × d of f16, f32 or f64, and a vocabulary of V lines next to it: a word, or a word, a tab and
    /// anything.
    Npy,
}

/// The files of one set of word vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorFiles {
    pub format: VectorFormat,
    pub path: PathBuf,
    /// The member that holds them, where `path` is a zip archive of text, as GloVe's are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The words of an [`Npy`](VectorFormat::Npy) matrix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<PathBuf>,
    /// True where the vector of `Paris` serves for `paris` if the file has no `paris`; the first such word does. For
    /// files that know some words only with a capital, since [tokens](crate::tokens) have none.
    #[serde(default)]
    pub fold_case: bool,
}

impl VectorFiles {
    pub fn new(format: VectorFormat, path: impl Into<PathBuf>) -> Self {
        Self { format, path: path.into(), member: None, vocabulary: None, fold_case: false }
    }

    /// A NumPy matrix and its vocabulary, case as it is.
    pub fn npy(path: impl Into<PathBuf>, vocabulary: impl Into<PathBuf>) -> Self {
        Self { vocabulary: Some(vocabulary.into()), ..Self::new(VectorFormat::Npy, path) }
    }

    fn open(&self) -> Result<Text, DataError> {
        match &self.member {
            Some(member) => crate::unpack::open_member(&self.path, member),
            None => crate::unpack::open(&self.path),
        }
    }

    fn name(&self) -> String {
        self.member.clone().unwrap_or_else(|| file_name(&self.path))
    }
}

/// Selection of the words of a file that are held, and the spelling they are held under.
struct Wanted<'a> {
    keep: &'a dyn Fn(&str) -> bool,
    fold_case: bool,
}

/// V words with a vector of d numbers each.
#[derive(Debug, Clone, PartialEq)]
pub struct WordVectors {
    words: Vec<String>,
    index: HashMap<String, u32>,
    vectors: Array2<f32>,
    source: String,
}

impl WordVectors {
    /// From words and their vectors (V × d); `source` describes where they come from.
    ///
    /// # Errors
    /// [`DataError::Parameter`] where words and rows differ in number, a word comes twice or a value is not finite.
    pub fn new(words: Vec<String>, vectors: Array2<f32>, source: &str) -> Result<Self, DataError> {
        let refuse =
            |seen: String, wanted: &str| DataError::Parameter { parameter: "vectors", seen, wanted: wanted.into() };
        if words.len() != vectors.nrows() {
            return Err(refuse(format!("{} words and {} rows", words.len(), vectors.nrows()), "a row for each word"));
        }
        if let Some(((row, _), value)) = vectors.indexed_iter().find(|(_, value)| !value.is_finite()) {
            return Err(refuse(format!("{value} for `{}`", words[row]), "finite numbers"));
        }
        let mut index = HashMap::with_capacity(words.len());
        for (row, word) in (0u32..).zip(&words) {
            if index.insert(word.clone(), row).is_some() {
                return Err(refuse(format!("two vectors for `{word}`"), "one vector for each word"));
            }
        }
        Ok(Self { words, index, vectors, source: source.to_owned() })
    }

    /// Reads the vectors of the words that `keep` asks for; of a word that comes twice, the first.
    ///
    /// ```no_run
    /// # use landmark_data::{WordVectors, VectorFiles, VectorFormat, corpus::Corpus};
    /// # fn example(corpus: &Corpus) -> Result<(), landmark_data::DataError> {
    /// let files = VectorFiles::new(VectorFormat::GloveText, "glove.6B.50d.txt");
    /// let vectors = WordVectors::read(&files, &|word| corpus.contains(word))?;
    /// println!("{}", corpus.coverage(&vectors));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`DataError`] for a bad header, a vector of another dimension (with its line), a truncated file, a value that is
    /// not finite (with its word), a missing vocabulary, or counts that disagree.
    pub fn read(files: &VectorFiles, keep: &dyn Fn(&str) -> bool) -> Result<Self, DataError> {
        let path = &files.path;
        let wanted = Wanted { keep, fold_case: files.fold_case };
        let gathered = match files.format {
            VectorFormat::Word2vecText => text::read(files, &wanted, true)?,
            VectorFormat::GloveText => text::read(files, &wanted, false)?,
            VectorFormat::Word2vecBinary => binary::read(path, &wanted)?,
            VectorFormat::Npy => match &files.vocabulary {
                Some(vocabulary) => npy::read(path, vocabulary, &wanted)?,
                None => return Err(DataError::MissingVocabulary { path: path.clone() }),
            },
        };
        gathered.check_finite(path)?;
        if let Some(left_out) = gathered.left_out() {
            tracing::warn!("`{}`: {left_out}", path.display());
        }
        Ok(gathered.finish(files.name()))
    }

    /// Number of words V.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Numbers per word d.
    pub fn dimension(&self) -> usize {
        self.vectors.ncols()
    }

    /// The words, in the order of the rows.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn index_of(&self, word: &str) -> Option<u32> {
        self.index.get(word).copied()
    }

    /// The vectors, V × d.
    pub fn vectors(&self) -> ArrayView2<'_, f32> {
        self.vectors.view()
    }

    pub fn vector(&self, word: &str) -> Option<ArrayView1<'_, f32>> {
        self.index_of(word).map(|row| self.vectors.row(row as usize))
    }

    /// Source of the vectors, in words: a file's name, or how they were learned.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// A digest of the words and their vectors as held; a corpus with other words holds others of the same file.
    pub fn identity(&self) -> Identity {
        let dimension = (self.dimension() as u64).to_le_bytes();
        let words = self.words.join("\n");
        let values: Vec<u8> = self.vectors.iter().flat_map(|value| value.to_le_bytes()).collect();
        Identity::of(&[
            ("kind", b"word vectors v1"),
            ("dimension", &dimension),
            ("words", words.as_bytes()),
            ("values", &values),
        ])
    }

    /// The k words nearest to `word` by cosine, nearest first, without the word itself; nothing for an unknown word.
    pub fn nearest(&self, word: &str, k: usize) -> Vec<(&str, f32)> {
        let Some(target) = self.vector(word) else { return Vec::new() };
        let cosine = |other: ArrayView1<'_, f32>| {
            let norms = (target.dot(&target) * other.dot(&other)).sqrt();
            if norms > 0.0 { target.dot(&other) / norms } else { 0.0 }
        };
        let mut scored: Vec<(&str, f32)> = self
            .words
            .iter()
            .zip(self.vectors.rows())
            .filter(|(other, _)| *other != word)
            .map(|(other, row)| (other.as_str(), cosine(row)))
            .collect();
        scored.sort_by(|a, b| b.1.rank_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        scored.truncate(k);
        scored
    }
}

/// The last part of a path: names of folders describe a machine more than data.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

struct Gathered {
    dimension: usize,
    words: Vec<String>,
    /// Row of a word, and whether the file spells it so.
    index: HashMap<String, (u32, bool)>,
    values: Vec<f32>,
    /// Vectors of words that have one already, and the first such word.
    repeated: (usize, Option<String>),
    /// Lines without a word in UTF-8.
    wordless: Vec<usize>,
    too_long: Vec<usize>,
}

struct Slot {
    word: String,
    exact: bool,
}

impl Gathered {
    fn new(dimension: usize) -> Self {
        let (words, index, values, repeated, wordless, too_long) = Default::default();
        Self { dimension, words, index, values, repeated, wordless, too_long }
    }

    /// Slot of the next vector of the file, if any: for a word asked for, and not there already in as good a spelling.
    fn slot(&mut self, word: &str, wanted: &Wanted<'_>) -> Option<Slot> {
        if (wanted.keep)(word) {
            if self.index.get(word).is_some_and(|&(_, exact)| exact) {
                self.repeated.0 += 1;
                self.repeated.1.get_or_insert_with(|| word.to_owned());
                return None;
            }
            return Some(Slot { word: word.to_owned(), exact: true });
        }
        let composed = (!is_nfc(word)).then(|| word.nfc().collect::<String>());
        if let Some(composed) = composed.filter(|composed| (wanted.keep)(composed)) {
            return (!self.index.contains_key(&composed)).then_some(Slot { word: composed, exact: false });
        }
        let lower = wanted.fold_case.then(|| word.to_lowercase()).filter(|lower| lower != word)?;
        ((wanted.keep)(&lower) && !self.index.contains_key(&lower)).then_some(Slot { word: lower, exact: false })
    }

    /// Fills a [slot](Self::slot) with its `dimension` values; an exact spelling takes the row of a folded one.
    fn fill(&mut self, slot: Slot, values: impl IntoIterator<Item = f32>) {
        if let Some((row, exact)) = self.index.get_mut(&slot.word) {
            *exact = slot.exact;
            let start = *row as usize * self.dimension;
            for (old, new) in self.values[start..].iter_mut().zip(values) {
                *old = new;
            }
            return;
        }
        let row = u32::try_from(self.words.len()).expect("fewer than 2^32 word vectors");
        self.index.insert(slot.word.clone(), (row, slot.exact));
        self.words.push(slot.word);
        self.values.extend(values);
    }

    fn left_out(&self) -> Option<String> {
        let of_lines = |lines: &[usize], which: &str| {
            let first = lines.first()?;
            Some(format!("{} lines {which} are left out, the first is line {first}", lines.len()))
        };
        let repeated = self.repeated.1.as_ref().map(|word| {
            format!("{} vectors of words that have one already are left out, the first is of `{word}`", self.repeated.0)
        });
        let parts = [
            of_lines(&self.wordless, "without a word in UTF-8"),
            of_lines(&self.too_long, &format!("with more than {} numbers", self.dimension)),
            repeated,
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn check_finite(&self, path: &Path) -> Result<(), DataError> {
        match self.values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(place) => Err(DataError::NotFiniteVector {
                path: path.to_owned(),
                word: self.words[place / self.dimension].clone(),
                component: place % self.dimension,
                value: self.values[place],
            }),
        }
    }

    fn finish(self, source: String) -> WordVectors {
        let vectors = Array2::from_shape_vec((self.words.len(), self.dimension), self.values)
            .expect("every new word comes with `dimension` values");
        let index = self.index.into_iter().map(|(word, (row, _))| (word, row)).collect();
        WordVectors { words: self.words, index, vectors, source }
    }
}

/// Numbers that a word may have: more are no dimension, and their product with a number of words is no number.
const MOST_NUMBERS: usize = u32::MAX as usize;

/// The `V d` line of the word2vec formats.
fn word2vec_header(path: &Path, line: &str) -> Result<(usize, usize), DataError> {
    let numbers: Vec<Option<usize>> = line.split_whitespace().map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [Some(words), Some(dimension)] if (1..=MOST_NUMBERS).contains(&dimension) => Ok((words, dimension)),
        _ => Err(DataError::BadHeader {
            path: path.to_owned(),
            seen: format!("the line `{}`", crate::error::excerpt(line)),
            wanted: "the number of words and the dimension, as in `3000000 300`".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::test_files::file;

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_dimension_that_no_word_can_have_is_refused() {
        for format in [VectorFormat::Word2vecText, VectorFormat::Word2vecBinary] {
            for header in ["0 9999999999999999999", "1 4294967296", "3 0"] {
                let (_folder, path) = file("vectors", format!("{header}\n"));
                let error = WordVectors::read(&VectorFiles::new(format, &path), &|_| true).unwrap_err().to_string();
                assert!(error.contains(header) && error.contains("the dimension"), "{error}");
            }
        }
    }

    #[test]
    fn neighbors_are_ordered_by_cosine() {
        let vectors = array![[1.0, 0.0], [2.0, 0.2], [0.0, 3.0], [0.0, 0.0]];
        let vectors = WordVectors::new(owned(&["moon", "star", "soup", "void"]), vectors, "by hand").unwrap();
        let near: Vec<&str> = vectors.nearest("moon", 2).into_iter().map(|(word, _)| word).collect();
        assert_eq!(near, ["star", "soup"]);
        assert!(vectors.nearest("sun", 2).is_empty());
    }

    #[test]
    fn words_and_rows_must_agree() {
        for (words, vectors, wanted) in [
            (owned(&["a"]), array![[1.0], [2.0]], "1 words and 2 rows"),
            (owned(&["a", "a"]), array![[1.0], [2.0]], "two vectors for `a`"),
            (owned(&["a", "b"]), array![[1.0], [f32::NAN]], "NaN for `b`"),
        ] {
            let message = WordVectors::new(words, vectors, "by hand").unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn the_identity_moves_with_words_and_values_and_not_with_the_source() {
        let of = |word: &str, value: f32, source: &str| {
            WordVectors::new(owned(&[word]), array![[value, 0.0]], source).unwrap().identity()
        };
        assert_eq!(of("a", 1.0, "here"), of("a", 1.0, "there"));
        assert_ne!(of("a", 1.0, "here"), of("b", 1.0, "here"));
        assert_ne!(of("a", 1.0, "here"), of("a", 2.0, "here"));
    }
}
