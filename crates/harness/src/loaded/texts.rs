//! Texts of the user's own.

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::Identity;
use landmark_data::{Corpus, TokenRules};
use landmark_oracles::subprocess::ScoredItems;
use landmark_oracles::wmd::{EmptyDocuments as Empty, WordClouds};

use super::{EmptyDocuments, LoadError, Loaded, LoadedItems, documents};
use crate::config::dataset::{Learned, TextsConfig, VectorsConfig};
use crate::config::run_settings::RunSettings;
use crate::items::OwnItems;

/// Texts of the user's own.
pub struct Texts {
    /// Ids and texts.
    pub scored: Arc<ScoredItems>,
    /// The file, as the configuration names it.
    file: String,
    /// Their words, where the oracle or a proxy compares them.
    pub words: Option<PlacedTexts>,
}

/// Texts among the vectors of their words.
pub struct PlacedTexts {
    /// The words of every text.
    pub clouds: Arc<WordClouds>,
    /// Source of the word vectors.
    pub vectors: String,
    /// The word vectors.
    pub identity: Identity,
}

pub(super) fn load(
    run: &RunSettings,
    dataset: &str,
    config: &TextsConfig,
    words: Option<EmptyDocuments>,
    data: Option<&Path>,
) -> Result<Loaded, LoadError> {
    let OwnItems { ids, texts, blank, .. } = OwnItems::of(config)?;
    let items = Arc::new(ScoredItems::new(ids, texts)?);
    let (texts, mut notes) = Texts::of(run, dataset, config, Arc::clone(&items), &items, words, data)?;
    if blank > 0 {
        notes.insert(0, format!("{blank} blank lines of `{}` were left out", config.path.written));
    }
    Ok(Loaded { dataset: dataset.to_owned(), items: LoadedItems::Texts(texts), stamps: Vec::new(), notes })
}

impl Texts {
    /// Puts texts among their word vectors where `words` says what becomes of one without; vectors that are learned are learned from `all`.
    ///
    /// # Errors
    /// Word vectors that cannot be read, a text without a known word.
    pub fn of(
        run: &RunSettings,
        dataset: &str,
        config: &TextsConfig,
        scored: Arc<ScoredItems>,
        all: &ScoredItems,
        words: Option<EmptyDocuments>,
        data: Option<&Path>,
    ) -> Result<(Self, Vec<String>), LoadError> {
        let file = config.path.written.clone();
        let (Some(wanted), Some(empty)) = (&config.vectors, words) else {
            return Ok((Self { scored, file, words: None }, Vec::new()));
        };
        let corpus = |items: &ScoredItems| Corpus::from_texts(items.ids(), items.texts(), &TokenRules::default());
        let placed = corpus(&scored);
        let learned_from = match wanted {
            VectorsConfig::Learned(Learned::PpmiSvd(_)) => &corpus(all),
            VectorsConfig::Named(_) | VectorsConfig::File { .. } => &placed,
        };
        let vectors = documents::load_vectors(dataset, wanted, run.seed, data, dataset, learned_from)?;
        let empty = match empty {
            EmptyDocuments::Distance(distance) => Empty::Fill(distance),
            // an item of the user's own is never dropped: its row would be missing from the factors
            EmptyDocuments::Error | EmptyDocuments::Drop => Empty::Error,
        };
        let clouds = Arc::new(WordClouds::new(&placed.bags(&vectors), vectors.vectors(), empty)?);
        let notes = documents::coverage_note(&placed.coverage(&vectors), vectors.source()).into_iter().collect();
        let words = PlacedTexts { clouds, vectors: vectors.source().to_owned(), identity: vectors.identity() };
        Ok((Self { scored, file, words: Some(words) }, notes))
    }

    /// The matrix in words, for the store's listing.
    pub fn description(&self, scored: &str) -> String {
        format!("{} texts of `{}` {scored}", self.scored.len(), self.file)
    }
}
