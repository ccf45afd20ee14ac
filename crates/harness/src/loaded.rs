//! Items of a dataset as they are loaded, before an oracle scores them.

use std::path::Path;

use landmark_core::oracle::OracleError;
use landmark_data::{DataError, LabelledDocuments, Split};
use landmark_oracles::neural::NeuralError;
use landmark_oracles::subprocess::SubprocessError;
use landmark_report::Caveat;

use crate::config::dataset::{DatasetConfig, Items, PairsConfig};
use crate::config::item_kind::ItemKind;
use crate::config::run_settings::RunSettings;

mod documents;
mod matrix;
mod own_pairs;
mod own_trees;
mod pairs;
mod questions;
mod texts;

pub use documents::{EmptyDocuments, PlacedDocuments};
pub use matrix::GivenMatrix;
pub use pairs::Pairs;
pub use questions::Questions;
pub use texts::{Chosen, PlacedTexts, TextPairs, Texts};

/// Uses of the items, which decide what is loaded of them.
#[derive(Debug, Clone, Copy)]
pub struct Uses<'a> {
    /// Treatment of a document without a word.
    pub empty: EmptyDocuments,
    /// True where anything reads texts through their word vectors.
    pub compares_words: bool,
    /// Kinds of items that the oracle reads: pairs of the user's own are texts to one that knows no pairs.
    pub reads: &'a [ItemKind],
    /// True where a text without a label is an item like others: factors are of all of them.
    pub takes_unlabeled: bool,
}

pub struct Loaded {
    /// Names the random streams and the rows; `embedded` where the run fell back to the sample.
    pub dataset: String,
    pub items: LoadedItems,
    pub stamps: Vec<Caveat>,
    /// Notes on what was dropped, filled or replaced, in sentences.
    pub notes: Vec<String>,
}

pub enum LoadedItems {
    Documents(Box<PlacedDocuments>),
    Questions(Questions),
    Pairs(Box<Pairs>),
    Matrix(GivenMatrix),
    Texts(Texts),
}

impl Loaded {
    pub fn load(
        run: &RunSettings,
        dataset: &DatasetConfig,
        data: Option<&Path>,
        uses: Uses<'_>,
    ) -> Result<Self, LoadError> {
        let Uses { empty, compares_words, reads, takes_unlabeled } = uses;
        let words = compares_words.then_some(empty);
        match &dataset.items {
            Items::Documents(items) => {
                let placed = PlacedDocuments::load(run, dataset, items, empty, data)?;
                let (dataset, stamps, notes) = (placed.dataset.clone(), placed.stamps.clone(), placed.notes.clone());
                Ok(Self { dataset, items: LoadedItems::Documents(Box::new(placed)), stamps, notes })
            }
            Items::Questions(items) => questions::load(run, dataset.name, items, data),
            Items::Pairs(PairsConfig { own: Some(own), .. }) if !reads.contains(&ItemKind::Pairs) => {
                texts::load_pairs(run, dataset, own, words, data)
            }
            Items::Pairs(items) => pairs::load(run, dataset.name, items, data),
            Items::Matrix(items) => {
                let given = GivenMatrix::read(items, data)?;
                Ok(Self::bare(dataset.name, LoadedItems::Matrix(given)))
            }
            Items::Random(items) => {
                let drawn = GivenMatrix::draw(run, dataset.name, items);
                Ok(Self::bare(dataset.name, LoadedItems::Matrix(drawn)))
            }
            Items::Texts(items) => texts::load(run, dataset.name, (items, takes_unlabeled), words, data),
            Items::TwoLists(lists) => texts::load(run, dataset.name, (&lists.texts, true), words, data),
        }
    }

    fn bare(dataset: &str, items: LoadedItems) -> Self {
        Self { dataset: dataset.to_owned(), items, stamps: Vec::new(), notes: Vec::new() }
    }

    pub fn count(&self) -> usize {
        match &self.items {
            LoadedItems::Documents(placed) => placed.documents.len(),
            LoadedItems::Questions(questions) => questions.documents.len(),
            LoadedItems::Pairs(pairs) => pairs.dev.sentences().len(),
            LoadedItems::Matrix(given) => given.matrix.nrows(),
            LoadedItems::Texts(texts) => texts.scored.len(),
        }
    }

    /// The items among those of their file.
    pub fn chosen(&self) -> Chosen {
        let chosen = if let LoadedItems::Texts(texts) = &self.items { texts.chosen.clone() } else { None };
        chosen.unwrap_or_else(|| Chosen::all(self.count()))
    }
}

#[derive(Debug, Clone)]
pub struct Labels {
    pub of: Vec<usize>,
    pub names: Vec<String>,
    /// The dataset's own split, where it has one.
    pub given_split: Option<Split>,
}

impl Labels {
    pub(crate) fn of_documents(documents: &LabelledDocuments) -> Self {
        Self {
            of: documents.labels().to_vec(),
            names: documents.label_names().to_vec(),
            given_split: documents.given_split(),
        }
    }
}

/// Why items could not be loaded, or an oracle not be opened over them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// Documents could not be placed among the word vectors.
    #[error(transparent)]
    WordClouds(#[from] landmark_oracles::wmd::WordCloudError),
    #[error(transparent)]
    Forest(#[from] landmark_oracles::tree_kernel::ForestError),
    /// Labels could not be compared.
    #[error(transparent)]
    Similarity(#[from] landmark_oracles::tree_kernel::SimilarityError),
    #[error(transparent)]
    Combine(#[from] landmark_oracles::combined::CombineError),
    /// The user's items could not be read.
    #[error(transparent)]
    Items(#[from] crate::items::ItemsError),
    /// A file of the user's could not be read.
    #[error(transparent)]
    Table(#[from] crate::table_file::TableError),
    /// A model is to be fine-tuned on pairs that nobody names.
    #[error(
        "`fine_tune` learns from labeled pairs, and the dataset `{0}` names none to learn from: add `split: {{ train: 0.7 }}`, `{{ column: … }}` or `{{ file: … }}` to it"
    )]
    NothingToLearnFrom(String),
    /// The user's program does not score.
    #[error(transparent)]
    Program(#[from] SubprocessError),
    #[error(transparent)]
    Endpoint(#[from] landmark_http::HttpError),
    #[error(transparent)]
    Model(#[from] NeuralError),
    /// A proxy reads embeddings from a file, and there are none of the new items.
    #[error(
        "the factors were made with a proxy, whose scores with the new items are needed as well; hand over embeddings of the new items by the same model: `--embeddings new.npy`"
    )]
    NoNewEmbeddings,
    /// Embeddings of new items that do not go with those of the old ones.
    #[error("the embeddings of the new items are {} × {}, but must be {} × {}: one row a new item, of the model of the old ones", seen.0, seen.1, wanted.0, wanted.1)]
    NewEmbeddings { seen: (usize, usize), wanted: (usize, usize) },
    #[error("`{oracle}` cannot score the items of `{dataset}`")]
    Pair { dataset: String, oracle: &'static str },
    #[error("the proxy `{proxy}` cannot compare the items of `{dataset}` under this oracle: name another, or none")]
    Proxy { dataset: String, proxy: &'static str },
    /// Items and something that goes with them differ in number.
    #[error("`{what}` has {seen} {unit}, but the dataset has {wanted} items")]
    Count {
        what: String,
        /// Unit that it has one of an item: `lines`, `rows`.
        unit: &'static str,
        seen: usize,
        wanted: usize,
    },
    /// A row that is on no side of the split.
    #[error("`{column}` of `{id}` in `{file}` is `{seen}`; write `train` or `test`")]
    Part { file: String, id: String, column: String, seen: String },
    /// The dataset has no split of its own.
    #[error("the dataset `{dataset}` has no split of its own; write `split: {{ train: 0.7 }}`")]
    NoSplit { dataset: String },
}

impl LoadError {
    /// An oracle that cannot score the items of this dataset.
    pub fn pair(dataset: String, oracle: &'static str) -> Self {
        Self::Pair { dataset, oracle }
    }
}
