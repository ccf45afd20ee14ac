//! Errors of a dataset: every message names the file, the place, what was seen and what is wanted.

use std::path::{Path, PathBuf};

use crate::bound::TooLarge;

/// Why data could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    #[error("there is no dataset `{name}`; there are {known}")]
    UnknownDataset { name: String, known: String },
    #[error("the dataset `{name}` holds {seen}, {wanted} are wanted here")]
    WrongKind { name: String, seen: &'static str, wanted: &'static str },
    #[error(
        "the dataset `{dataset}` needs the file `{file}` and no data folder is known. Set the variable `{variable}` or \
         pass `--data DIR`. {how_to_get}"
    )]
    NoDataFolder { dataset: String, file: String, variable: &'static str, how_to_get: String },
    #[error(
        "the dataset `{dataset}` needs the file `{path}`, which does not exist. Put it there, or point the variable \
         `{variable}` (or `--data DIR`) at the folder that has it. {how_to_get}"
    )]
    MissingFile { dataset: String, path: PathBuf, how_to_get: String, variable: &'static str },
    #[error(
        "`{path}` has the sha256 {seen}, wanted is {wanted}. Restore the file, or use your own under a name of its own"
    )]
    WrongDigest { path: PathBuf, seen: String, wanted: String },
    #[error("cannot read `{path}`; check the path (one in a configuration starts at the folder of that file)")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot unpack `{path}`: {bound}", path = path.display())]
    TooLarge { path: PathBuf, bound: TooLarge },
    #[error("{path}:{line}: {seen}; wanted is {wanted}", path = path.display())]
    Malformed { path: PathBuf, line: usize, seen: String, wanted: String },
    #[error(
        "{path}:{line}: byte {byte} of the line is not UTF-8; wanted is UTF-8 text. Convert the file, for example with `iconv -f latin1 -t utf-8`",
        path = path.display()
    )]
    NotUtf8 { path: PathBuf, line: usize, byte: usize },
    #[error("`{path}` holds no {what}")]
    Empty { path: PathBuf, what: &'static str },
    #[error("`{path}` begins with {seen}; wanted is {wanted}")]
    BadHeader { path: PathBuf, seen: String, wanted: String },
    #[error("{path}:{line}: the vector of `{word}` has {seen} numbers; wanted are {wanted}", path = path.display())]
    WrongDimension { path: PathBuf, line: usize, word: String, seen: usize, wanted: usize },
    #[error("`{path}` is truncated at {at}: {seen} bytes are left, wanted are {wanted}. Fetch it again")]
    Truncated { path: PathBuf, at: String, seen: u64, wanted: u64 },
    #[error("`{path}`: component {component} of the vector of `{word}` is {value}; a word vector must be finite")]
    NotFiniteVector { path: PathBuf, word: String, component: usize, value: f32 },
    #[error("the vectors `{path}` need a vocabulary (one word a line, in the order of the rows); none was named")]
    MissingVocabulary { path: PathBuf },
    #[error("`{path}` has {seen} {what}; wanted are {wanted}, the number {reference}")]
    CountMismatch { path: PathBuf, what: &'static str, seen: usize, wanted: usize, reference: String },
    #[error("`{path}` holds {seen}; wanted is {wanted}")]
    UnsupportedArray { path: PathBuf, seen: String, wanted: &'static str },
    #[error("`{path}` holds a matrix of shape {rows} × {cols}; a similarity matrix must be square")]
    NotSquare { path: PathBuf, rows: usize, cols: usize },
    #[error("`{path}`: the entry (i = {i}, j = {j}) is {value}; {what} must be finite")]
    NotFiniteEntry { path: PathBuf, i: usize, j: usize, value: f64, what: &'static str },
    #[error("cannot compare `{key}` with `{response}`: {what}; score a response to the same documents")]
    CoreferenceFiles { key: PathBuf, response: PathBuf, what: String },
    #[error("cannot factor {what}")]
    Factorization {
        what: &'static str,
        #[source]
        source: landmark_core::linalg::LinalgError,
    },
    #[error("cannot write `{path}`; check the folder and the room on the disk")]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("`{path}`: {what}")]
    Archive { path: PathBuf, what: String },
    #[error("`{parameter}` is {seen}; wanted is {wanted}")]
    Parameter { parameter: &'static str, seen: String, wanted: String },
}

impl DataError {
    pub(crate) fn malformed(path: &Path, line: usize, seen: String, wanted: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_owned(), line, seen, wanted: wanted.into() }
    }

    /// Wraps an I/O failure with the file it concerns.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| match TooLarge::within(&source) {
            Some(bound) => Self::TooLarge { path: path.to_owned(), bound },
            None => Self::Io { path: path.to_owned(), source },
        }
    }
}

/// The beginning of a text, short enough for a message.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
