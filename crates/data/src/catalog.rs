//! The datasets this project knows: which files, how big, under which sha256 and license, from where.
//!
//! Corpora are never part of the project. They lie in a folder of the user's, named by `--data` or by the variable
//! [`DATA_VARIABLE`]; a caller hands the folder in. A file counts only if its sha256 is the catalog's.
//!
//! To add a dataset: its files in `catalog/files.json` and one entry in `catalog/datasets.json`; a new kind of item adds a variant to [`Holds`] and its loader.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize};

use crate::documents::Columns;
use crate::error::DataError;
use crate::intents::IntentLayout;
use crate::pairs::PairColumns;
use crate::raw::{digest, recipes};
use crate::rows::RowFormat;
use crate::texts::TextLayout;
use crate::word_vectors::VectorFormat;

mod load;

pub use load::{
    DocumentOptions, PairParts, load_documents, load_intents, load_kelp, load_mentions, load_pairs, load_texts,
    load_threads, load_word_vectors,
};

/// The environment variable that names the data folder.
pub const DATA_VARIABLE: &str = "LANDMARK_DATA";

#[derive(Debug, Clone, Deserialize)]
pub struct Dataset {
    pub name: &'static str,
    pub title: &'static str,
    /// Kind of its items and their layout.
    pub holds: Holds,
    /// Its files below the data folder; none for what ships inside.
    #[serde(deserialize_with = "listed")]
    pub files: Vec<DataFile>,
    pub license: &'static str,
    /// Public source and the way to get it.
    pub how_to_get: &'static str,
    /// Known differences from the data of the papers.
    pub caveat: &'static str,
    pub published: Option<PublishedStatistics>,
}

impl Dataset {
    /// True where every file can be made from public sources.
    pub fn is_public(&self) -> bool {
        self.files.iter().all(|file| recipes::is_public(file.path))
    }

    fn next_step(&self) -> String {
        let command =
            if self.is_public() { format!("`landmark data fetch {}` gets it. ", self.name) } else { String::new() };
        format!("{command}Public source: {}", self.how_to_get)
    }
}

/// The kind of items and their layout.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// Documents with a label, in one file.
    Documents { format: RowFormat, columns: Columns },
    /// The sample that ships inside.
    EmbeddedDocuments,
    /// Examples with named representations (texts, vectors, trees): one file to train on, one to test on.
    Kelp { text: &'static str },
    /// Question threads: files to train on, then one to tune on and one to test on.
    Threads,
    /// The question threads that ship inside.
    EmbeddedThreads,
    /// Utterances with an intent each, by domain: a file to train on, one to test on, perhaps one that gives the domain of each intent.
    Intents { layout: IntentLayout },
    /// News documents and their mentions of events and entities: a file of each.
    Mentions,
    /// The news stories that ship inside.
    EmbeddedMentions,
    /// The sample of utterances that ships inside.
    EmbeddedIntents,
    /// Pairs of sentences with a grade or a label: a file to train on, one to judge by.
    Pairs { columns: PairColumns },
    /// The pairs that ship inside.
    EmbeddedPairs,
    /// Texts without labels.
    Texts { layouts: Vec<TextLayout> },
    /// Word vectors; the second file, where there is one, is the vocabulary.
    WordVectors {
        format: VectorFormat,
        member: Option<String>,
        /// True where words it has only with a capital serve for those without.
        fold_case: bool,
    },
}

impl Holds {
    fn kind(&self) -> &'static str {
        match self {
            Self::Documents { .. } | Self::EmbeddedDocuments => "labelled documents",
            Self::Kelp { .. } => "examples with trees",
            Self::Threads | Self::EmbeddedThreads => "question threads",
            Self::Intents { .. } | Self::EmbeddedIntents => "utterances with intents",
            Self::Mentions | Self::EmbeddedMentions => "documents with mentions",
            Self::Pairs { .. } | Self::EmbeddedPairs => "labelled pairs of sentences",
            Self::Texts { .. } => "texts without labels",
            Self::WordVectors { .. } => "word vectors",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataFile {
    /// Path below the data folder.
    pub path: &'static str,
    pub bytes: u64,
    /// Its sha256, 64 lower-case hexadecimal digits. Empty where nobody publishes one and no copy was available: then the first fetch
    /// [records](Self::recorded) what came.
    pub sha256: &'static str,
}

/// A line of a paper's table of datasets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PublishedStatistics {
    /// Table of the paper that states them.
    pub source: &'static str,
    pub classes: usize,
    pub train: usize,
    pub test: usize,
    pub bow_dimension: usize,
    /// Mean number of distinct words of a document.
    pub length: f64,
}

/// Size and sha256 of a file as listed.
#[derive(Deserialize)]
struct FileFacts {
    bytes: u64,
    sha256: &'static str,
}

static FILES: LazyLock<BTreeMap<&'static str, FileFacts>> =
    LazyLock::new(|| serde_json::from_str(include_str!("catalog/files.json")).expect("files.json lists files"));

static DATASETS: LazyLock<Vec<Dataset>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("catalog/datasets.json")).expect("datasets.json lists datasets")
});

/// Files of a dataset by their paths.
fn listed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<DataFile>, D::Error> {
    let paths = Vec::<String>::deserialize(deserializer)?;
    let file = |path: String| {
        let known = FILES.get_key_value(path.as_str());
        let (&path, &FileFacts { bytes, sha256 }) =
            known.ok_or_else(|| serde::de::Error::custom(format!("`{path}` is not among the files")))?;
        Ok(DataFile { path, bytes, sha256 })
    };
    paths.into_iter().map(file).collect()
}

/// Every dataset, documents first.
pub fn all() -> impl Iterator<Item = &'static Dataset> {
    DATASETS.iter()
}

/// The dataset of this name.
///
/// # Errors
/// [`DataError::UnknownDataset`] with the names there are.
pub fn find(name: &str) -> Result<&'static Dataset, DataError> {
    all().find(|dataset| dataset.name == name).ok_or_else(|| DataError::UnknownDataset {
        name: name.to_owned(),
        known: all().map(|dataset| format!("`{}`", dataset.name)).collect::<Vec<_>>().join(", "),
    })
}

/// Names of the word vectors in the catalog.
pub fn word_vectors() -> impl Iterator<Item = &'static str> {
    all().filter(|dataset| matches!(dataset.holds, Holds::WordVectors { .. })).map(|dataset| dataset.name)
}

/// True where the dataset of this name holds examples with trees.
pub fn has_trees(name: &str) -> bool {
    find(name).is_ok_and(|dataset| matches!(dataset.holds, Holds::Kelp { .. }))
}

/// True where the dataset of this name holds labelled pairs of sentences.
pub fn has_pairs(name: &str) -> bool {
    find(name).is_ok_and(|dataset| matches!(dataset.holds, Holds::Pairs { .. } | Holds::EmbeddedPairs))
}

/// The files of a dataset, each checked against its sha256.
///
/// # Errors
/// [`DataError::UnknownDataset`], [`DataError::NoDataFolder`], [`DataError::MissingFile`], [`DataError::WrongDigest`],
/// [`DataError::Io`].
pub fn locate(name: &str, data_dir: Option<&Path>) -> Result<Vec<PathBuf>, DataError> {
    let dataset = find(name)?;
    let mut paths = Vec::with_capacity(dataset.files.len());
    for file in &dataset.files {
        let Some(folder) = data_dir else {
            return Err(DataError::NoDataFolder {
                dataset: name.to_owned(),
                file: file.path.to_owned(),
                variable: DATA_VARIABLE,
                how_to_get: dataset.next_step(),
            });
        };
        let path = folder.join(file.path);
        match file.state(folder)? {
            FileState::Present => paths.push(path),
            FileState::Missing => {
                return Err(DataError::MissingFile {
                    dataset: name.to_owned(),
                    path,
                    how_to_get: dataset.next_step(),
                    variable: DATA_VARIABLE,
                });
            }
            FileState::Corrupt { sha256 } => {
                let recorded = || file.recorded(folder).unwrap_or_else(|| "not recorded, so fetch it again".to_owned());
                let wanted = if file.sha256.is_empty() { recorded() } else { file.sha256.to_owned() };
                return Err(DataError::WrongDigest { path, seen: sha256, wanted });
            }
        }
    }
    Ok(paths)
}

/// State of a file of the catalog, as found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// There, with the right sha256.
    Present,
    /// Not there, or no data folder is known.
    Missing,
    /// There, with another sha256.
    Corrupt { sha256: String },
}

/// A dataset and how each of its files was found, in the catalog's order.
#[derive(Debug, Clone)]
pub struct DatasetStatus {
    /// The catalog's entry.
    pub dataset: &'static Dataset,
    pub files: Vec<FileState>,
}

impl DatasetStatus {
    /// True where every file is there and right.
    pub fn is_ready(&self) -> bool {
        self.files.iter().all(|state| *state == FileState::Present)
    }

    /// The size of all files in bytes, there or not.
    pub fn bytes(&self) -> u64 {
        self.dataset.files.iter().map(|file| file.bytes).sum()
    }
}

/// Looks at every file of the catalog; reads them all to check their digests.
pub fn status(data_dir: Option<&Path>) -> Result<Vec<DatasetStatus>, DataError> {
    let state = |file: &DataFile| match data_dir {
        None => Ok(FileState::Missing),
        Some(folder) => file.state(folder),
    };
    all()
        .map(|dataset| Ok(DatasetStatus { dataset, files: dataset.files.iter().map(state).collect::<Result<_, _>>()? }))
        .collect()
}

impl DataFile {
    /// State of the file below a data folder: there where its sha256 is the catalog's, or where it is compressed by
    /// another program and its text has the sha256 of the recipe.
    pub fn state(&self, folder: &Path) -> Result<FileState, DataError> {
        let path = folder.join(self.path);
        if !path.exists() {
            return Ok(FileState::Missing);
        }
        let sha256 = sha256_of(&path)?;
        if self.sha256.is_empty() {
            let is_recorded = self.recorded(folder).is_some_and(|recorded| recorded == sha256);
            return Ok(if is_recorded { FileState::Present } else { FileState::Corrupt { sha256 } });
        }
        let is_text_right = |wanted: &str| crate::raw::text_sha256(&path).is_ok_and(|seen| seen == wanted);
        let is_right =
            sha256 == self.sha256 || recipes::of(self.path).is_some_and(|recipe| is_text_right(&recipe.text_sha256));
        Ok(if is_right { FileState::Present } else { FileState::Corrupt { sha256 } })
    }

    /// The sha256 that its first fetch into this folder has recorded.
    pub fn recorded(&self, folder: &Path) -> Option<String> {
        let line = std::fs::read_to_string(self.record_path(folder)).ok()?;
        line.split_whitespace().next().map(str::to_owned)
    }

    /// Place of that record, a line as `sha256sum` prints it: `<file>.sha256`.
    pub fn record_path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.sha256", self.path))
    }
}

/// The sha256 of a file, 64 lower-case hexadecimal digits: for catalogs and for the provenance of a user's data.
pub fn sha256_of(path: &Path) -> Result<String, DataError> {
    let file = std::fs::File::open(path).map_err(DataError::io(path))?;
    digest(BufReader::with_capacity(1 << 18, file)).map_err(DataError::io(path))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::documents::Headers;

    #[test]
    fn recipes_are_of_files_of_the_catalog_each_once() {
        let known: HashSet<&str> = all().flat_map(|dataset| &dataset.files).map(|file| file.path).collect();
        let mut seen = HashSet::new();
        for recipe in recipes::compared() {
            let file = recipe.file.as_str();
            assert!(known.contains(file) && seen.insert(file), "{file}");
        }
        let without: Vec<&str> = known.difference(&seen).copied().collect();
        // six that only a mirror has, three that are published as they are, two of which no copy was available
        assert_eq!(without.len(), 6 + 3 + 2, "{without:?}");
        assert_eq!(without.iter().filter(|file| !recipes::is_public(file)).count(), 6, "{without:?}");
        let unknown = all().flat_map(|dataset| &dataset.files).filter(|file| file.sha256.is_empty());
        for file in unknown {
            assert!(recipes::all_of(file.path).all(|recipe| recipe.text_sha256.is_empty()), "{}", file.path);
        }
    }

    #[test]
    fn a_file_that_is_compressed_otherwise_is_there_and_one_with_another_text_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = DataFile { path: "mine.gz", bytes: 0, sha256: "" };
        assert_eq!(file.state(folder.path()).unwrap(), FileState::Missing);
        let packed = |level| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
            std::io::Write::write_all(&mut encoder, &b"a line\n".repeat(1000)).unwrap();
            encoder.finish().unwrap()
        };
        let path = folder.path().join("mine.gz");
        std::fs::write(&path, packed(1)).unwrap();
        let fast = crate::raw::text_sha256(&path).unwrap();
        assert!(matches!(file.state(folder.path()).unwrap(), FileState::Corrupt { .. }));
        std::fs::write(&path, packed(9)).unwrap();
        assert_eq!(crate::raw::text_sha256(&path).unwrap(), fast);
        assert_eq!(fast, crate::raw::hex(&b"a line\n".repeat(1000)));
    }

    #[test]
    fn a_file_that_no_digest_is_known_of_is_right_as_it_was_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let file = DataFile { path: "mine.txt", bytes: 0, sha256: "" };
        std::fs::write(folder.path().join("mine.txt"), "abc").unwrap();
        assert!(matches!(file.state(folder.path()).unwrap(), FileState::Corrupt { .. }), "it is not recorded");
        let of_abc = sha256_of(&folder.path().join("mine.txt")).unwrap();
        std::fs::write(folder.path().join("mine.txt.sha256"), format!("{of_abc}  mine.txt\n")).unwrap();
        assert_eq!(file.state(folder.path()).unwrap(), FileState::Present);
        std::fs::write(folder.path().join("mine.txt"), "abd").unwrap();
        assert!(matches!(file.state(folder.path()).unwrap(), FileState::Corrupt { .. }));
    }

    #[test]
    fn names_are_distinct_and_digests_are_digests() {
        let mut names: Vec<&str> = all().map(|dataset| dataset.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        for file in all().flat_map(|dataset| &dataset.files) {
            let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
            assert!(matches!(file.sha256.len(), 0 | 64) && file.sha256.chars().all(is_hex), "{}", file.path);
        }
    }

    #[test]
    fn a_missing_dataset_names_file_variable_and_public_source() {
        let folder = tempfile::tempdir().unwrap();
        for (data_dir, wanted) in [(None, "no data folder is known"), (Some(folder.path()), "which does not exist")] {
            let message = locate("twitter", data_dir).unwrap_err().to_string();
            let command = "`landmark data fetch twitter` gets it";
            for part in [wanted, "twitter.tsv.gz", DATA_VARIABLE, command, "https://github.com/mkusner/wmd"] {
                assert!(message.contains(part), "{message}");
            }
        }
        // what nobody publishes can't be fetched
        let message = locate("self300", None).unwrap_err().to_string();
        assert!(message.contains("Public source: trained") && !message.contains("data fetch"), "{message}");
    }

    #[test]
    fn a_file_of_another_digest_is_refused_with_both() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("wmd")).unwrap();
        std::fs::write(folder.path().join("wmd/twitter.tsv.gz"), "abc").unwrap();
        let message = locate("twitter", Some(folder.path())).unwrap_err().to_string();
        // the published digest of "abc" (FIPS 180)
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(message.contains(of_abc) && message.contains(find("twitter").unwrap().files[0].sha256), "{message}");
        let status = status(Some(folder.path())).unwrap();
        let of = |name: &str| status.iter().find(|status| status.dataset.name == name).unwrap();
        assert_eq!(of("twitter").files, [FileState::Corrupt { sha256: of_abc.to_owned() }]);
        assert_eq!(of("classic").files, [FileState::Missing]);
        assert!(of("embedded").is_ready() && !of("twitter").is_ready());
    }

    #[test]
    fn names_and_kinds_that_do_not_fit_are_refused() {
        let options = DocumentOptions::default();
        let message = load_documents("twiter", None, &options, 1).unwrap_err().to_string();
        assert!(message.starts_with("there is no dataset `twiter`; there are `embedded`, `twitter`"), "{message}");
        let message = load_documents("gn300_8k", None, &options, 1).unwrap_err().to_string();
        assert_eq!(message, "the dataset `gn300_8k` holds word vectors, labelled documents are wanted here");
        let message = load_word_vectors("twitter", None, &|_| true).unwrap_err().to_string();
        assert_eq!(message, "the dataset `twitter` holds labelled documents, word vectors are wanted here");
        let options = DocumentOptions { headers: Some(Headers::Strip), ..options };
        let message = load_documents("embedded", None, &options, 1).unwrap_err().to_string();
        assert!(message.contains("only `20news` has"), "{message}");
    }
}
