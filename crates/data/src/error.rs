//! Errors of a dataset: every message names the file, the place, what was seen and what is wanted.

use std::path::{Path, PathBuf};

use crate::unpack::bound::TooLarge;

/// Why data could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// No catalog entry of this name.
    #[error("there is no dataset `{name}`; there are {known}")]
    UnknownDataset {
        /// The name asked for.
        name: String,
        /// The names there are, in backticks.
        known: String,
    },
    /// The catalog entry is of another kind than the caller needs.
    #[error("the dataset `{name}` holds {seen}, {wanted} are wanted here")]
    WrongKind {
        /// The dataset.
        name: String,
        /// Kind of items that it holds.
        seen: &'static str,
        /// Kind of items that the caller needs.
        wanted: &'static str,
    },
    /// Neither `--data` nor the variable names a folder.
    #[error(
        "the dataset `{dataset}` needs the file `{file}` and no data folder is known. Set the variable `{variable}` or \
         pass `--data DIR`. {how_to_get}"
    )]
    NoDataFolder {
        /// The dataset.
        dataset: String,
        /// Its first file.
        file: String,
        /// The variable's name.
        variable: &'static str,
        /// The command that fetches it, where there is one, and its public source.
        how_to_get: String,
    },
    /// A file of the catalog is not in the data folder.
    #[error(
        "the dataset `{dataset}` needs the file `{path}`, which does not exist. Put it there, or point the variable \
         `{variable}` (or `--data DIR`) at the folder that has it. {how_to_get}"
    )]
    MissingFile {
        /// The dataset.
        dataset: String,
        /// Path at which it was looked for.
        path: PathBuf,
        /// The command that fetches it, where there is one, and its public source.
        how_to_get: String,
        /// The variable's name.
        variable: &'static str,
    },
    /// A file is there and is not the one the catalog describes.
    #[error(
        "`{path}` has the sha256 {seen}, wanted is {wanted}. Restore the file, or use your own under a name of its own"
    )]
    WrongDigest {
        /// The file.
        path: PathBuf,
        /// Its sha256.
        seen: String,
        /// The catalog's.
        wanted: String,
    },
    /// The operating system refused.
    #[error("cannot read `{path}`; check the path (one in a configuration starts at the folder of that file)")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// A packed file that unpacks to more than it may.
    #[error("cannot unpack `{path}`: {bound}", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        bound: TooLarge,
    },
    /// A line that does not follow its format.
    #[error("{path}:{line}: {seen}; wanted is {wanted}", path = path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Content seen, in words.
        seen: String,
        /// Content wanted, in words.
        wanted: String,
    },
    /// A line whose bytes are no text.
    #[error(
        "{path}:{line}: byte {byte} of the line is not UTF-8; wanted is UTF-8 text. Convert the file, for example with `iconv -f latin1 -t utf-8`",
        path = path.display()
    )]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The first bad byte of that line, from 0.
        byte: usize,
    },
    /// A file that holds nothing.
    #[error("`{path}` holds no {what}")]
    Empty {
        /// The file.
        path: PathBuf,
        /// Of what there is none.
        what: &'static str,
    },
    /// The first line or bytes do not open the format.
    #[error("`{path}` begins with {seen}; wanted is {wanted}")]
    BadHeader {
        /// The file.
        path: PathBuf,
        /// Beginning seen, in words.
        seen: String,
        /// Beginning wanted, in words.
        wanted: String,
    },
    /// A word vector of another length than its fellows.
    #[error("{path}:{line}: the vector of `{word}` has {seen} numbers; wanted are {wanted}", path = path.display())]
    WrongDimension {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Whose vector.
        word: String,
        /// Its length.
        seen: usize,
        /// The dimension of the file.
        wanted: usize,
    },
    /// A file that ends too soon.
    #[error("`{path}` is truncated at {at}: {seen} bytes are left, wanted are {wanted}. Fetch it again")]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Word, row, line or matrix at which it is cut off.
        at: String,
        /// Bytes that are there.
        seen: u64,
        /// Bytes that should be.
        wanted: u64,
    },
    /// NaN or an infinity in a word vector.
    #[error("`{path}`: component {component} of the vector of `{word}` is {value}; a word vector must be finite")]
    NotFiniteVector {
        /// The file.
        path: PathBuf,
        /// Whose vector.
        word: String,
        /// Component of the vector, from 0.
        component: usize,
        /// Value of the component.
        value: f32,
    },
    /// A matrix of vectors without its words.
    #[error("the vectors `{path}` need a vocabulary (one word a line, in the order of the rows); none was named")]
    MissingVocabulary {
        /// The matrix.
        path: PathBuf,
    },
    /// Two sources that must agree in number do not.
    #[error("`{path}` has {seen} {what}; wanted are {wanted}, the number {reference}")]
    CountMismatch {
        /// The file that disagrees.
        path: PathBuf,
        /// Name of the items counted.
        what: &'static str,
        /// Number seen.
        seen: usize,
        /// Number wanted.
        wanted: usize,
        /// Source of the wanted number: "in the header", "of rows of `x.npy`".
        reference: String,
    },
    /// An array of numbers this crate does not read.
    #[error("`{path}` holds {seen}; wanted is {wanted}")]
    UnsupportedArray {
        /// The file.
        path: PathBuf,
        /// Its type or layout.
        seen: String,
        /// Type or layout that is read.
        wanted: &'static str,
    },
    /// A similarity matrix with two sizes.
    #[error("`{path}` holds a matrix of shape {rows} × {cols}; a similarity matrix must be square")]
    NotSquare {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
    },
    /// NaN or an infinity in a matrix.
    #[error("`{path}`: the entry (i = {i}, j = {j}) is {value}; {what} must be finite")]
    NotFiniteEntry {
        /// The file.
        path: PathBuf,
        /// Row, from 0.
        i: usize,
        /// Column, from 0.
        j: usize,
        /// Value of the entry.
        value: f64,
        /// Content of the matrix: `a similarity`, `an embedding`.
        what: &'static str,
    },
    /// A key and a response that are not of the same documents.
    #[error("cannot compare `{key}` with `{response}`: {what}; score a response to the same documents")]
    CoreferenceFiles {
        /// The truth.
        key: PathBuf,
        /// The answer.
        response: PathBuf,
        /// Disagreement of the two, in words.
        what: String,
    },
    /// A factorisation of learned vectors that did not end.
    #[error("cannot factor {what}")]
    Factorisation {
        /// Name of the matrix that was to be factored.
        what: &'static str,
        /// The cause.
        #[source]
        source: landmark_core::linalg::LinalgError,
    },
    /// A file that cannot be written.
    #[error("cannot write `{path}`; check the folder and the room on the disk")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// An archive or a raw file that is not what its source should have.
    #[error("`{path}`: {what}")]
    Archive {
        /// The archive, or the path inside.
        path: PathBuf,
        /// Fault, in words.
        what: String,
    },
    /// A parameter outside its range.
    #[error("`{parameter}` is {seen}; wanted is {wanted}")]
    Parameter {
        /// Its name.
        parameter: &'static str,
        /// Its value.
        seen: String,
        /// Its range, with the reason.
        wanted: String,
    },
}

impl DataError {
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
