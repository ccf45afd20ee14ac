//! Questions with their dependency trees.

use std::path::Path;

use landmark_data::catalog::{self, DocumentOptions};
use landmark_data::{KelpExamples, LabelledDocuments};
use landmark_oracles::combined::SparseVectors;
use landmark_report::Caveat;

use super::{Labels, LoadError, Loaded, LoadedItems, own_trees};
use crate::config::dataset::QuestionsConfig;
use crate::config::run_settings::RunSettings;

/// The representation that is a bag of words.
const BAG_OF_WORDS: &str = "bow";
const TEXT: &str = "quest";

pub struct Questions {
    /// Their representations, of all questions of the dataset.
    pub examples: KelpExamples,
    pub documents: LabelledDocuments,
}

pub(super) fn load(
    run: &RunSettings,
    name: &str,
    items: &QuestionsConfig,
    data: Option<&Path>,
) -> Result<Loaded, LoadError> {
    let (examples, documents) = match &items.own {
        Some(own) => {
            let examples = own_trees::read(name, own, data)?;
            let all = examples.documents(TEXT)?;
            let documents = items.limit.map_or_else(|| all.clone(), |limit| all.sample(limit, run.seed));
            (examples, documents)
        }
        None => {
            let options = DocumentOptions { limit: items.limit, ..DocumentOptions::default() };
            (catalog::load_kelp(name, data)?, catalog::load_documents(name, data, &options, run.seed)?)
        }
    };
    let mut stamps = Vec::new();
    if documents.len() < examples.len() {
        let text = format!("{} of {} questions: `dataset.limit`", documents.len(), examples.len());
        stamps.push(Caveat { dataset: Some(name.to_owned()), text, breaks_comparison: true });
    }
    let items = LoadedItems::Questions(Questions { examples, documents });
    Ok(Loaded { dataset: name.to_owned(), items, stamps, notes: Vec::new() })
}

impl Questions {
    pub fn labels(&self) -> Labels {
        Labels::of_documents(&self.documents)
    }

    /// Their words, counted.
    pub fn bags_of_words(&self) -> Result<SparseVectors, LoadError> {
        Ok(SparseVectors::new(self.examples.vectors(BAG_OF_WORDS, self.documents.ids())?.rows())?)
    }
}
