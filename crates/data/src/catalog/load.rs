//! Items of the datasets of the catalog, by name. Each function fails as [`locate`] and the reader of its items do, and with
//! [`DataError::WrongKind`] for a dataset that holds others.

use std::path::{Path, PathBuf};

use super::{Dataset, Holds, find, locate};
use crate::documents::{Headers, LabelledDocuments};
use crate::error::DataError;
use crate::kelp::KelpExamples;
use crate::mentions::MentionCorpus;
use crate::pairs::{PairScale, SentencePairs};
use crate::splits::Part;
use crate::threads::Threads;
use crate::word_vectors::{VectorFiles, WordVectors};
use crate::{intents, texts};

use serde::{Deserialize, Serialize};

const NEWSGROUPS: &str = "20news";

/// Options of a dataset of documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DocumentOptions {
    /// Only the first k labels by name.
    pub first_classes: Option<usize>,
    /// Treatment of header lines; only newsgroup posts have any, and theirs give way to [`Headers::Subject`].
    pub headers: Option<Headers>,
    /// Largest number of documents, each label with its share; a reduced profile.
    pub limit: Option<usize>,
}

/// Loads labelled documents by the name of their dataset.
///
/// ```
/// use landmark_data::catalog::{self, DocumentOptions};
/// let sample = catalog::load_documents("embedded", None, &DocumentOptions::default(), 2022)?;
/// assert_eq!(sample.label_names().len(), 4);
/// # Ok::<(), landmark_data::DataError>(())
/// ```
///
/// # Errors
/// As [`locate`] and [`LabelledDocuments::read`]; [`DataError::WrongKind`] for a dataset of another kind,
/// [`DataError::Parameter`] for options that make no sense here.
pub fn load_documents(
    name: &str,
    data_dir: Option<&Path>,
    options: &DocumentOptions,
    seed: u64,
) -> Result<LabelledDocuments, DataError> {
    let dataset = find(name)?;
    let mut documents = match &dataset.holds {
        Holds::EmbeddedDocuments => crate::embedded::documents()?,
        Holds::Documents { format, columns } => {
            let paths = locate(name, data_dir)?;
            LabelledDocuments::read(name, &paths[0], *format, columns)?
        }
        Holds::Kelp { text } => load_kelp(name, data_dir)?.documents(text)?,
        other => return Err(wrong_kind(dataset, other, "labelled documents")),
    };
    if name == NEWSGROUPS {
        documents = documents.with_headers(options.headers.unwrap_or_default());
    } else if options.headers.is_some() {
        return Err(DataError::Parameter {
            parameter: "headers",
            seen: "given".into(),
            wanted: format!("no such key: the documents of `{name}` have no header lines, only `{NEWSGROUPS}` has"),
        });
    }
    if let Some(k) = options.first_classes {
        documents = documents.first_classes(k)?;
    }
    Ok(match options.limit {
        Some(limit) => documents.sample(limit, seed),
        None => documents,
    })
}

/// Loads examples with named representations by the name of their dataset; as documents, [`load_documents`] has them too.
pub fn load_kelp(name: &str, data_dir: Option<&Path>) -> Result<KelpExamples, DataError> {
    let dataset = find(name)?;
    let Holds::Kelp { .. } = dataset.holds else {
        return Err(wrong_kind(dataset, &dataset.holds, "examples with trees"));
    };
    let paths = locate(name, data_dir)?;
    let parts = [Some(Part::Train), Some(Part::Test)];
    let files: Vec<(&Path, Option<Part>)> = paths.iter().map(PathBuf::as_path).zip(parts).collect();
    KelpExamples::read(name, &files)
}

/// Loads question threads by the name of their dataset, one set a file, called as the file is without its extension; the
/// last is for testing. The embedded sample is two sets, `train` and `test`.
pub fn load_threads(name: &str, data_dir: Option<&Path>) -> Result<Vec<Threads>, DataError> {
    let dataset = find(name)?;
    match &dataset.holds {
        Holds::EmbeddedThreads => {
            let (train, test) = crate::embedded::threads()?.split_at(crate::embedded::TRAINING_THREADS);
            Ok(vec![train, test])
        }
        Holds::Threads => {
            let read = |path: &PathBuf| {
                let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
                Threads::read(file.split('.').next().unwrap_or_default(), path)
            };
            locate(name, data_dir)?.iter().map(read).collect()
        }
        _ => Err(wrong_kind(dataset, &dataset.holds, "question threads")),
    }
}

/// Loads the word vectors that `keep` asks for, by the name of their dataset.
pub fn load_word_vectors(
    name: &str,
    data_dir: Option<&Path>,
    keep: &dyn Fn(&str) -> bool,
) -> Result<WordVectors, DataError> {
    let dataset = find(name)?;
    let &Holds::WordVectors { format, ref member, fold_case } = &dataset.holds else {
        return Err(wrong_kind(dataset, &dataset.holds, "word vectors"));
    };
    let mut paths = locate(name, data_dir)?.into_iter();
    let path = paths.next().expect("every set of word vectors has a file");
    WordVectors::read(&VectorFiles { format, path, member: member.clone(), vocabulary: paths.next(), fold_case }, keep)
}

/// Loads documents with mentions by the name of their dataset.
///
/// ```
/// use landmark_data::{CorefPart, MentionKinds};
/// let news = landmark_data::catalog::load_mentions("news", None)?;
/// assert_eq!(news.topics(CorefPart::Test), ["storm", "merger"]);
/// assert!(news.counts(CorefPart::Test, MentionKinds::Events).mentions > 0);
/// # Ok::<(), landmark_data::DataError>(())
/// ```
pub fn load_mentions(name: &str, data_dir: Option<&Path>) -> Result<MentionCorpus, DataError> {
    let dataset = find(name)?;
    match &dataset.holds {
        Holds::EmbeddedMentions => crate::embedded::news(),
        Holds::Mentions => match &locate(name, data_dir)?[..] {
            [documents, mentions] => MentionCorpus::read(name, documents, mentions),
            _ => Err(wrong_kind(dataset, &dataset.holds, "a file of documents and one of mentions")),
        },
        _ => Err(wrong_kind(dataset, &dataset.holds, "documents with mentions")),
    }
}

/// Pairs to learn from and pairs to judge by.
#[derive(Debug, Clone, PartialEq)]
pub struct PairParts {
    pub train: SentencePairs,
    pub dev: SentencePairs,
    /// True where targets are grades rather than yes or no.
    pub are_graded: bool,
}

/// Loads labelled pairs by the name of their dataset.
pub fn load_pairs(name: &str, data_dir: Option<&Path>) -> Result<PairParts, DataError> {
    let dataset = find(name)?;
    match &dataset.holds {
        Holds::EmbeddedPairs => {
            let (train, dev) = crate::embedded::pairs()?;
            Ok(PairParts { train, dev, are_graded: true })
        }
        Holds::Pairs { columns } => {
            let paths = locate(name, data_dir)?;
            let read = |place: usize| SentencePairs::read(&paths[place], columns);
            Ok(PairParts { train: read(0)?, dev: read(1)?, are_graded: columns.scale == PairScale::Grade })
        }
        other => Err(wrong_kind(dataset, other, "labelled pairs of sentences")),
    }
}

/// Loads utterances with intents by the name of their dataset: one set of documents a domain, labelled by intent, with a split of its own.
///
/// ```
/// let domains = landmark_data::catalog::load_intents("utterances", None)?;
/// assert_eq!(domains.iter().map(|domain| domain.name()).collect::<Vec<_>>(), ["home", "travel"]);
/// # Ok::<(), landmark_data::DataError>(())
/// ```
pub fn load_intents(name: &str, data_dir: Option<&Path>) -> Result<Vec<LabelledDocuments>, DataError> {
    let dataset = find(name)?;
    match &dataset.holds {
        Holds::EmbeddedIntents => crate::embedded::utterances(),
        Holds::Intents { layout } => intents::read(name, &locate(name, data_dir)?, *layout),
        other => Err(wrong_kind(dataset, other, "utterances with intents")),
    }
}

/// Loads texts without labels, in the order of the files; `each` gets one after the other.
pub fn load_texts(name: &str, data_dir: Option<&Path>, each: &mut dyn FnMut(&str)) -> Result<(), DataError> {
    let dataset = find(name)?;
    let Holds::Texts { layouts } = &dataset.holds else {
        return Err(wrong_kind(dataset, &dataset.holds, "texts without labels"));
    };
    for (path, layout) in locate(name, data_dir)?.iter().zip(layouts) {
        texts::read(path, layout, each)?;
    }
    Ok(())
}

fn wrong_kind(dataset: &Dataset, holds: &Holds, wanted: &'static str) -> DataError {
    DataError::WrongKind { name: dataset.name.to_owned(), seen: holds.kind(), wanted }
}
