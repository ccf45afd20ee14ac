//! Documents among their word vectors, and under word mover's distance.

use std::path::Path;
use std::sync::Arc;

use landmark_data::catalog::{self, DocumentOptions};
use landmark_data::{Corpus, Coverage, DataError, LabelledDocuments, PpmiParams, VectorFiles, WordVectors, ppmi_svd};
use landmark_oracles::wmd::{EmptyDocuments as Empty, WordClouds};
use landmark_report::Caveat;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{Labels, LoadError};
use crate::config::dataset::{DatasetConfig, DocumentsConfig, Learned, VectorFile, VectorsConfig};
use crate::config::run_settings::RunSettings;

const SAMPLE: &str = "embedded";
/// Name of the files of the paper's word vectors.
const PAPER_VECTORS: &str = "GoogleNews-vectors-negative300";

/// Treatment of a document without a known word.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmptyDocuments {
    /// The run ends with its id.
    Error,
    /// It is left out, and counted in the report.
    Drop,
    /// It is this far from every other.
    Distance(f64),
}

pub struct PlacedDocuments {
    /// Names the random streams and the rows; `embedded` where the sample stands in.
    pub dataset: String,
    pub documents: LabelledDocuments,
    pub clouds: Arc<WordClouds>,
    pub vectors: String,
    pub stamps: Vec<Caveat>,
    /// Notes on what was dropped or filled, in sentences.
    pub notes: Vec<String>,
    pub facts: Json,
}

impl PlacedDocuments {
    pub fn labels(&self) -> Labels {
        Labels::of_documents(&self.documents)
    }

    /// Loads documents and vectors, and puts the ones among the others.
    pub fn load(
        run: &RunSettings,
        dataset: &DatasetConfig,
        items: &DocumentsConfig,
        empty: EmptyDocuments,
        data: Option<&Path>,
    ) -> Result<Self, LoadError> {
        let mut stamps = Vec::new();
        let mut notes = Vec::new();
        let (documents, name) = load(dataset, items, run.seed, data, &mut stamps)?;
        let total = documents.len();
        let corpus = Corpus::tokenize(&documents, &items.token_rules());
        let vectors = load_vectors(dataset.name, &items.vectors, run.seed, data, name, &corpus)?;
        let coverage = corpus.coverage(&vectors);
        let bags = corpus.bags(&vectors);
        if run.paper.is_some() && name != SAMPLE && !vectors.source().contains(PAPER_VECTORS) {
            stamps.push(Caveat {
                dataset: Some(name.to_owned()),
                text: format!("word vectors `{}` instead of the paper's word2vec of Google News", vectors.source()),
                breaks_comparison: true,
            });
        }

        let (bags, kept) = match empty {
            EmptyDocuments::Drop => bags.drop_empty(),
            EmptyDocuments::Error | EmptyDocuments::Distance(_) => (bags, (0..total).collect()),
        };
        let documents = if kept.len() < total { documents.subset(&kept) } else { documents };
        if kept.len() < total {
            notes.push(format!("{} of {total} documents have no known word and were left out", total - kept.len()));
        }
        let fill = match empty {
            EmptyDocuments::Distance(distance) => Empty::Fill(distance),
            EmptyDocuments::Error | EmptyDocuments::Drop => Empty::Error,
        };
        if let Some(note) = coverage_note(&coverage, vectors.source()) {
            notes.push(note);
        }
        let facts = json!({
            "documents": documents.identity().to_hex(),
            "vectors": vectors.identity().to_hex(),
            "vectors_source": vectors.source(),
            "coverage": coverage,
            "mean_distinct_words": corpus.mean_distinct_words(),
            "left_out": total - kept.len(),
        });
        Ok(Self {
            dataset: name.to_owned(),
            clouds: Arc::new(WordClouds::new(&bags, vectors.vectors(), fill)?),
            vectors: vectors.source().to_owned(),
            documents,
            stamps,
            notes,
            facts,
        })
    }
}

fn load<'a>(
    dataset: &'a DatasetConfig,
    items: &DocumentsConfig,
    seed: u64,
    data: Option<&Path>,
    stamps: &mut Vec<Caveat>,
) -> Result<(LabelledDocuments, &'a str), LoadError> {
    match catalog::load_documents(dataset.name, data, &items.options(), seed) {
        Ok(documents) => {
            if let Some(limit) = items.limit.filter(|_| documents.len() < catalog_size(dataset.name)) {
                stamps.push(Caveat {
                    dataset: Some(dataset.name.to_owned()),
                    text: format!("{} documents: `dataset.limit` is {limit}", documents.len()),
                    breaks_comparison: true,
                });
            }
            Ok((documents, dataset.name))
        }
        Err(error @ (DataError::MissingFile { .. } | DataError::NoDataFolder { .. })) if items.fallback.is_some() => {
            stamps.push(Caveat {
                dataset: None,
                text: format!("FELL BACK to the embedded sample, because {error}"),
                breaks_comparison: true,
            });
            let options = DocumentOptions { limit: items.limit, ..DocumentOptions::default() };
            Ok((catalog::load_documents(SAMPLE, None, &options, seed)?, SAMPLE))
        }
        Err(error) => Err(error.into()),
    }
}

/// Documents the papers have; a limit above that reduces nothing.
fn catalog_size(name: &str) -> usize {
    catalog::find(name)
        .ok()
        .and_then(|dataset| dataset.published.as_ref())
        .map_or(usize::MAX, |published| published.train + published.test)
}

pub(super) fn load_vectors(
    wanted_dataset: &str,
    wanted: &VectorsConfig,
    seed: u64,
    data: Option<&Path>,
    name: &str,
    corpus: &Corpus,
) -> Result<WordVectors, LoadError> {
    let keep = |word: &str| corpus.contains(word);
    let vectors = match wanted {
        // a run that fell back has no vectors either: they are learned from the sample
        _ if name == SAMPLE && wanted_dataset != SAMPLE => ppmi_svd(corpus, &PpmiParams::default(), seed)?,
        VectorsConfig::Named(set) => catalog::load_word_vectors(set, data, &keep)?,
        VectorsConfig::File(VectorFile { path, format, vocabulary }) => WordVectors::read(
            &VectorFiles {
                format: *format,
                path: path.resolved.clone(),
                member: None,
                vocabulary: vocabulary.as_ref().map(|path| path.resolved.clone()),
                fold_case: false,
            },
            &keep,
        )?,
        VectorsConfig::Learned(Learned::PpmiSvd(params)) => ppmi_svd(corpus, params, seed)?,
    };
    Ok(vectors)
}

pub(super) fn coverage_note(coverage: &Coverage, source: &str) -> Option<String> {
    (coverage.token_percent() < 100.0).then(|| {
        format!(
            "word vectors `{source}` know {:.1} % of the running words and {:.1} % of the distinct ones; the rest is dropped",
            coverage.token_percent(),
            coverage.type_percent()
        )
    })
}
