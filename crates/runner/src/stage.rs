//! Setting the stage: from a checked configuration to items, a raw oracle, its proxies and labels.
//!
//! Nothing is bought here. The stack that buys is built by [`Till`](crate::till::Till) on top of [`Stage::raw`].

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::{Kernel, Kernelized, Oracle, OracleError};
use landmark_data::{DataError, Split};
use landmark_oracles::cross_encoder::Epoch;
use landmark_oracles::subprocess::{ScoredItems, Subprocess, SubprocessError};
use landmark_oracles::wmd::WordClouds;
use landmark_report::Caveat;
use serde_json::{Value as Json, json};

use crate::config::dataset::Items;
use crate::config::{MatrixSubject, Order, ProxyKind, RunSettings, SplitConfig};

mod documents;
mod matrix;
mod models;
mod negligible;
mod pairs;
mod proxies;
mod questions;
mod texts;

pub use documents::PlacedDocuments;
pub use negligible::{Negligible, Skipped};
pub use proxies::Proxies;
pub use texts::Joined;

/// Everything an experiment is about.
pub struct Stage {
    /// Names the random streams and the rows; `embedded` where the run fell back to the sample.
    pub dataset: String,
    /// Scores a pair, unmetered and unstored.
    pub raw: Arc<dyn Oracle>,
    /// What the oracle is, in words, for the store's listing.
    pub description: String,
    /// Whether an evaluation costs anything worth keeping: a matrix that is already there does not.
    pub is_priced: bool,
    /// Cheap relatives of the raw score.
    pub proxies: Proxies,
    /// The words of the items, where they are documents.
    pub clouds: Option<Arc<WordClouds>>,
    /// Which distances are not solved, where not all are.
    pub negligible: Option<Negligible>,
    /// Labels of the items, where there are any.
    pub labels: Option<Labels>,
    /// The user's own items, where that is what they are.
    pub own: Option<Arc<ScoredItems>>,
    /// The program that scores them, where there is one.
    pub program: Option<Arc<Subprocess>>,
    /// The labelled pairs, where the items are their sentences.
    pub sentences: Option<Sentences>,
    /// What a reader must be warned of.
    pub stamps: Vec<Caveat>,
    /// What was dropped, filled or replaced, in sentences.
    pub notes: Vec<String>,
    /// Hashes and counts for `run.json`.
    pub facts: Json,
}

/// A class for every item.
#[derive(Debug, Clone)]
pub struct Labels {
    /// Class of item i.
    pub of: Vec<usize>,
    /// Names of the classes.
    pub names: Vec<String>,
    /// The dataset's own split, where it has one.
    pub given_split: Option<Split>,
}

/// Labelled pairs among the items.
pub struct Sentences {
    /// The score of a pair as it is asked for; the stage's own may be symmetrised.
    pub as_given: Arc<dyn Oracle>,
    /// How both orders become one score.
    pub order: Order,
    /// The pairs.
    pub pairs: Vec<(usize, usize)>,
    /// What people said of each, between 0 and 1.
    pub targets: Vec<f64>,
    /// Whether that is a grade rather than yes or no.
    pub are_graded: bool,
    /// Pairs that were learned from, to choose the threshold of a yes on.
    pub calibration: Option<Calibration>,
    /// Whether a score is a label too.
    pub are_labels: bool,
    /// Whether the model is there; a dry run fine-tunes none.
    pub is_trained: bool,
    /// Pairs that the model learned from.
    pub train: usize,
    /// How that went.
    pub curve: Vec<Epoch>,
}

/// Labelled pairs of other items under the same score.
pub struct Calibration {
    /// The score, of both orders as the stage's own.
    pub oracle: Arc<dyn Oracle>,
    /// What it is, in words, for the store's listing.
    pub description: String,
    /// The pairs.
    pub pairs: Vec<(usize, usize)>,
    /// Yes or no.
    pub labels: Vec<bool>,
}

/// What setting the stage may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preparation {
    /// Whether a model may be fine-tuned.
    pub may_train: bool,
    /// Whether nothing is to be said of it.
    pub quiet: bool,
}

/// A model or the library that runs it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ModelFailure(Box<dyn std::error::Error + Send + Sync>);

#[cfg(feature = "torch")]
impl From<landmark_oracles::encoder::ModelError> for ModelFailure {
    fn from(error: landmark_oracles::encoder::ModelError) -> Self {
        Self(error.into())
    }
}

#[cfg(feature = "torch")]
impl From<landmark_oracles::torch::TorchError> for ModelFailure {
    fn from(error: landmark_oracles::torch::TorchError) -> Self {
        Self(error.into())
    }
}

/// Why the stage could not be set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// Loading failed.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The oracle could not be built.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// Documents could not be placed among the word vectors.
    #[error(transparent)]
    WordClouds(#[from] landmark_oracles::wmd::WordCloudError),
    /// Trees could not be numbered.
    #[error(transparent)]
    Forest(#[from] landmark_oracles::tree_kernel::ForestError),
    /// Labels could not be compared.
    #[error(transparent)]
    Similarity(#[from] landmark_oracles::tree_kernel::SimilarityError),
    /// Kernels could not be combined.
    #[error(transparent)]
    Combine(#[from] landmark_oracles::combined::CombineError),
    /// The user's items could not be read.
    #[error(transparent)]
    Items(#[from] crate::items::ItemsError),
    /// The user's program does not score.
    #[error(transparent)]
    Program(#[from] SubprocessError),
    /// A model.
    #[error(transparent)]
    Model(#[from] ModelFailure),
    /// This program was built without libtorch.
    #[error("models need libtorch, which this program was built without; build it with `--features torch`")]
    NoTorch,
    /// A proxy reads embeddings from a file, and there are none of the new items.
    #[error(
        "the factors were made with a proxy, whose scores with the new items are needed as well; hand over embeddings of the new items by the same model: `--embeddings new.npy`"
    )]
    NoNewEmbeddings,
    /// Embeddings of new items that do not go with those of the old ones.
    #[error("the embeddings of the new items are {} × {}, but must be {} × {}: one row a new item, of the model of the old ones", seen.0, seen.1, wanted.0, wanted.1)]
    NewEmbeddings {
        /// Rows and columns.
        seen: (usize, usize),
        /// Rows and columns wanted.
        wanted: (usize, usize),
    },
    /// An oracle that cannot score these items.
    #[error("`{oracle}` cannot score the items of `{dataset}`")]
    Pair {
        /// The dataset.
        dataset: String,
        /// The oracle.
        oracle: &'static str,
    },
    /// Items and something that goes with them differ in number.
    #[error("`{what}` has {seen} lines, but the dataset has {wanted} items")]
    Count {
        /// The file or key.
        what: String,
        /// How many it has.
        seen: usize,
        /// How many there are.
        wanted: usize,
    },
    /// The dataset has no split of its own.
    #[error("the dataset `{dataset}` has no split of its own; write `split: {{ train: 0.7 }}`")]
    NoSplit {
        /// Its id.
        dataset: String,
    },
}

impl Stage {
    /// Loads the data and builds the oracle and the proxies that the methods name.
    ///
    /// # Errors
    /// What is missing or malformed, named with the next step.
    pub fn set(
        run: &RunSettings,
        matrix: &MatrixSubject,
        data: Option<&Path>,
        preparation: Preparation,
    ) -> Result<Self, StageError> {
        match &matrix.dataset.items {
            Items::Documents(items) => documents::set(run, matrix, items, data),
            Items::Pairs(items) => pairs::set(run, matrix, items, data, preparation),
            Items::Questions(items) => questions::set(run, matrix, items, data),
            Items::Matrix(items) => matrix::set_given(matrix, items),
            Items::Random(items) => matrix::set_random(run, matrix, items),
            Items::Texts(items) => texts::set(run, matrix, items, data),
        }
    }

    /// Number of items n.
    pub fn items(&self) -> usize {
        self.raw.len()
    }

    /// The proxy of this kind as a similarity, seen through the same γ as the oracle.
    ///
    /// # Errors
    /// A γ that is no positive number.
    pub fn proxy(&self, kind: &ProxyKind, gamma: Option<f64>) -> Result<Option<Arc<dyn Oracle>>, OracleError> {
        let Some(proxy) = self.proxies.get(kind) else { return Ok(None) };
        let through = if kind.needs_documents() { gamma } else { None };
        similarity(proxy, through).map(Some)
    }

    /// Who trains and who tests in a replicate.
    ///
    /// # Errors
    /// A dataset without labels or without a split of its own.
    pub fn split(&self, split: Option<SplitConfig>, seed: u64, replicate: u64) -> Result<Split, StageError> {
        let given = self.labels.as_ref().and_then(|labels| labels.given_split.clone());
        match (split, given) {
            (Some(SplitConfig::Given), Some(split)) => Ok(split),
            (Some(SplitConfig::Given) | None, _) => Err(StageError::NoSplit { dataset: self.dataset.clone() }),
            (Some(SplitConfig::Train(share)), _) => {
                Ok(Split::random(self.items(), share, seed, &self.dataset, replicate)?)
            }
        }
    }
}

/// A raw score seen through exp(−γd), or as it is.
///
/// # Errors
/// A γ that is no positive number.
pub fn similarity(raw: Arc<dyn Oracle>, gamma: Option<f64>) -> Result<Arc<dyn Oracle>, OracleError> {
    match gamma {
        None => Ok(raw),
        Some(gamma) => Ok(Arc::new(Kernelized::new(raw, Kernel::Exponential { gamma })?)),
    }
}

/// Facts of a stage that every kind has.
fn facts(dataset: &str, n: usize, raw: &dyn Oracle, more: Json) -> Json {
    json!({ "dataset": dataset, "items": n, "oracle": raw.identity().to_hex(), "more": more })
}
