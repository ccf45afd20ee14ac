//! The labeled utterances of a domain as rows: hashed counts, and means of word vectors.

use std::collections::HashSet;
use std::path::Path;

use landmark_data::feature_hashing::{HashedRow, NgramHash};
use landmark_data::tokens::words;
use landmark_data::{LabelledDocuments, WordVectors, catalog};
use landmark_harness::study::StudyError;
use landmark_tasks::svm::SparseRows;
use ndarray::Array2;

use super::{Intent, Representation};

/// A domain in memory.
pub(super) struct Domain {
    pub(super) documents: LabelledDocuments,
    /// n × 2^bits.
    pub(super) counts: SparseRows,
    /// The same with the features of the first two words.
    pub(super) counts_plus: SparseRows,
    /// One n × d matrix for each set of word vectors, in the order of the representations.
    pub(super) means: Vec<Array2<f64>>,
    pub(super) train: Vec<usize>,
    pub(super) test: Vec<usize>,
}

impl Domain {
    /// `data/name`, or the name alone where a corpus is one domain.
    pub(super) fn name(&self) -> &str {
        self.documents.name()
    }
}

/// Reads the domains of all corpora; what the word vectors cover comes back in sentences.
pub(super) fn read(settings: &Intent, data: Option<&Path>) -> Result<(Vec<Domain>, Vec<String>), StudyError> {
    let mut documents = Vec::new();
    for corpus in &settings.corpora {
        documents.extend(catalog::load_intents(corpus, data)?);
    }
    documents.truncate(settings.domains.unwrap_or(usize::MAX));
    let (vectors, notes) = read_vectors(settings, &documents, data)?;
    let (hash, hash_plus) = (settings.hash(0).check()?, settings.hash(2).check()?);
    let domain = |documents: LabelledDocuments| {
        let name = documents.name().to_owned();
        let split = documents.given_split().ok_or_else(|| format!("the domain `{name}` has no split of its own"))?;
        let texts = documents.texts();
        Ok(Domain {
            counts: counts(texts, &hash)?,
            counts_plus: counts(texts, &hash_plus)?,
            means: vectors.iter().map(|vectors| means(texts, vectors)).collect(),
            train: split.train,
            test: split.test,
            documents,
        })
    };
    Ok((documents.into_iter().map(domain).collect::<Result<_, StudyError>>()?, notes))
}

fn read_vectors(
    settings: &Intent,
    documents: &[LabelledDocuments],
    data: Option<&Path>,
) -> Result<(Vec<WordVectors>, Vec<String>), StudyError> {
    let vocabulary: HashSet<String> =
        documents.iter().flat_map(|domain| domain.texts()).flat_map(|text| words(text)).collect();
    let (mut sets, mut notes) = (Vec::new(), Vec::new());
    for representation in &settings.representations {
        if let Representation::Vectors(name) = representation {
            let vectors = catalog::load_word_vectors(name, data, &|word| vocabulary.contains(word))?;
            let (known, all) = (vectors.len(), vocabulary.len());
            notes
                .push(format!("The word vectors `{name}` know {known} of the {all} distinct words of the utterances."));
            sets.push(vectors);
        }
    }
    Ok((sets, notes))
}

/// Hashed counts of every text.
pub(super) fn counts(texts: &[String], hash: &NgramHash) -> Result<SparseRows, StudyError> {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut row = HashedRow::default();
    for text in texts {
        hash.hash(text, &mut row);
        columns.extend_from_slice(row.columns());
        values.extend_from_slice(row.values());
        starts.push(values.len());
    }
    Ok(SparseRows::new(hash.columns(), starts, columns, values)?)
}

/// The mean vector of the known words of every text; 0 where none is known.
fn means(texts: &[String], vectors: &WordVectors) -> Array2<f64> {
    let mut means = Array2::zeros((texts.len(), vectors.dimension()));
    for (text, mut mean) in texts.iter().zip(means.rows_mut()) {
        let mut known = 0.0;
        for vector in words(text).iter().filter_map(|word| vectors.vector(word)) {
            mean.iter_mut().zip(vector).for_each(|(mean, &value)| *mean += f64::from(value));
            known += 1.0;
        }
        if known > 0.0 {
            mean /= known;
        }
    }
    means
}
