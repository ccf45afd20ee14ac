//! `oracle: { kind: wmd }` — word mover's distance between documents, seen through exp(−γ·d).

use std::sync::Arc;

use landmark_core::oracle::{Oracle, OracleError};
use landmark_oracles::wmd::{Wmd, WordClouds};
use landmark_yaml::{Entry, Keys, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::cross_encoder::Sentences;
use super::{Items, Opened, Opening, OracleSettings, OracleSpec, Words};
use crate::config::item_kind::ItemKind;
use crate::config::values::Tuned;
use crate::loaded::{EmptyDocuments, LoadError, Loaded, LoadedItems};

pub static WMD: OracleSpec = OracleSpec {
    entry: Entry {
        id: "wmd",
        summary: "exp(−γ · word mover's distance) between documents, exact optimal transport",
        keys: Keys::of::<WmdConfig>(),
        source: "Kusner et al. 2015; SMS-Nyström paper, §4.1",
    },
    reads: &[ItemKind::Documents],
    read,
};

/// exp(−γ·WMD).
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WmdConfig {
    /// γ: a number, or `search` to choose it by cross-validation
    pub gamma: Tuned,
    /// a document without a known word: `error`, `drop`, or `{ distance: d }`
    pub empty_documents: EmptyDocuments,
    /// ε: similarities that WCD or RWMD prove below it at every γ are not solved (`1e-6`), and counted
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub negligible: Option<f64>,
}

impl Default for WmdConfig {
    fn default() -> Self {
        Self { gamma: Tuned::Search, empty_documents: EmptyDocuments::Error, negligible: None }
    }
}

fn read(section: &Section<'_>) -> Option<Arc<dyn OracleSettings>> {
    let config: WmdConfig = section.part()?;
    if let EmptyDocuments::Distance(distance) = config.empty_documents
        && !(distance >= 0.0 && distance.is_finite())
    {
        let message = format!("`oracle.empty_documents` is the distance {distance}, but must be at least 0");
        section.refuse("empty_documents", message);
    }
    Some(Arc::new(config))
}

impl OracleSettings for WmdConfig {
    fn gamma(&self) -> Option<Tuned> {
        Some(self.gamma)
    }

    fn empty_documents(&self) -> EmptyDocuments {
        self.empty_documents
    }

    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, mut notes } = loaded;
        let cutoff = self.negligible.zip(opening.smallest_gamma);
        let solved = |clouds: Arc<WordClouds>| -> Result<(Arc<dyn Oracle>, Words), OracleError> {
            // from this distance on exp(−γ·d) is below ε at every γ of the configuration
            let Some((epsilon, distance)) = cutoff.map(|(epsilon, gamma)| (epsilon, -epsilon.ln() / gamma)) else {
                return Ok((Arc::new(Wmd::new(Arc::clone(&clouds))), Words { clouds, negligible: None }));
            };
            let wmd = Wmd::with_cutoff(Arc::clone(&clouds), distance)?;
            let negligible = Negligible { epsilon, distance, wmd: wmd.clone() };
            Ok((Arc::new(wmd), Words { clouds, negligible: Some(negligible) }))
        };
        let (raw, description, facts, items) = match items {
            LoadedItems::Documents(documents) => {
                let description = format!(
                    "WMD of {} `{dataset}` documents with vectors {}",
                    documents.clouds.len(),
                    documents.vectors
                );
                let labels = documents.labels();
                let (raw, words) = solved(documents.clouds)?;
                (raw, description, documents.facts, Items::Documents { words, labels })
            }
            LoadedItems::Texts(texts) => {
                let description = |vectors: &str| texts.description(&format!("under WMD with vectors {vectors}"));
                let Some(placed) = &texts.words else { return Err(LoadError::pair(dataset, WMD.entry.id)) };
                let (raw, words) = solved(Arc::clone(&placed.clouds))?;
                let facts = json!({ "items": texts.scored.identity().to_hex(), "vectors": placed.identity.to_hex() });
                let pairs = texts.pairs.as_ref().map(|pairs| Box::new(Sentences::of_texts(pairs, &raw, None)));
                let (scored, labels) = (Arc::clone(&texts.scored), texts.labels.clone());
                let items = Items::Texts { scored, words: Some(words), scorer: None, labels, pairs };
                (raw, description(&placed.vectors), facts, items)
            }
            LoadedItems::Questions(_) | LoadedItems::Pairs(_) | LoadedItems::Matrix(_) => {
                return Err(LoadError::pair(dataset, WMD.entry.id));
            }
        };
        if let Items::Documents { words, .. } | Items::Texts { words: Some(words), .. } = &items {
            notes.extend(words.negligible.as_ref().map(Negligible::note));
        }
        let as_given = Arc::clone(&raw);
        Ok(Opened { raw, as_given, item_list: None, description, is_priced: true, items, stamps, notes, facts })
    }
}

/// Cutoff of word mover's distance: distances are not solved where a bound proves their similarity negligible.
#[derive(Debug)]
pub struct Negligible {
    epsilon: f64,
    distance: f64,
    wmd: Wmd,
}

/// Number of distances not solved, and bounds on what that may have moved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Skipped {
    /// Pairs that a bound proved negligible.
    pub solves: u64,
    /// ε: no entry of K is off by more.
    pub entry_bound: f64,
    /// ε √(2 · solves): nor is K in the Frobenius norm, each pair standing for two entries.
    pub frobenius_bound: f64,
}

impl Negligible {
    /// Note to the reader before the first call.
    fn note(&self) -> String {
        let Self { epsilon, distance, .. } = self;
        format!(
            "distances that WCD or RWMD prove to be {distance:.4} or more are not solved, the bound stands for them: at every γ here \
             that moves a similarity by at most {epsilon:e}"
        )
    }

    /// Number of distances not solved so far, and bounds on what that may have moved.
    pub fn skipped(&self) -> Skipped {
        let solves = self.wmd.skipped();
        let frobenius_bound = self.epsilon * (2.0 * solves as f64).sqrt();
        Skipped { solves, entry_bound: self.epsilon, frobenius_bound }
    }
}
