//! `dataset:` — which items, which of them, and the word vectors they are read with.

use std::sync::LazyLock;

use landmark_data::catalog::{self, DocumentOptions, Holds};
use landmark_data::{Headers, TokenRules};
use landmark_yaml::{
    ConfigPath, Entry, FromNode, Keys, Node, Problem, Problems, Section, Span, choice, find, ids, list, read_from_node,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::own_pairs::OwnPairsConfig;
pub use super::own_trees::OwnTreesConfig;
pub use super::split::SplitConfig;
use super::texts::LabelKeys;
pub use super::texts::{TextsConfig, TwoListsConfig};
pub use super::word_vectors::{Learned, VectorFile, VectorsConfig};

/// Items that are the user's, or drawn at random.
const MATRICES: [Entry; 6] = [
    Entry { id: "precomputed", summary: "your own n × n matrix", keys: Keys::of::<MatrixConfig>(), source: "yours" },
    Entry {
        id: "texts",
        summary: "your own texts, with labels or without: a TXT, TSV, CSV, JSONL or Parquet file, or a folder",
        keys: Keys::of::<TextsConfig>().and::<LabelKeys>(),
        source: "yours",
    },
    Entry {
        id: "two_lists",
        summary: "two files of your own texts, for `topk`, `mine` and `audit`: pairs within a file do not exist",
        keys: Keys::of::<TwoListsConfig>(),
        source: "yours",
    },
    Entry {
        id: "trees",
        summary: "your own trees, with labels or without: one in brackets a row, or CoNLL-U, for `tree_kernel`",
        keys: Keys::of::<OwnTreesConfig>().and::<QuestionsConfig>(),
        source: "yours",
    },
    Entry {
        id: "pairs",
        summary: "your own labeled pairs of texts, graded or yes and no, for `glue`",
        keys: Keys::of::<OwnPairsConfig>().and::<PairsConfig>(),
        source: "yours",
    },
    Entry {
        id: "random_psd",
        summary: "Z Zᵀ of a random n × n matrix Z",
        keys: Keys::of::<RandomMatrix>(),
        source: "SMS-Nyström paper, figure 3",
    },
];

const INSIDE: Keys = Keys::of::<DocumentsConfig>();
const DOCUMENTS: Keys = INSIDE.and::<FallbackKeys>();
const POSTS: Keys = DOCUMENTS.and::<HeaderKeys>();
const QUESTIONS: Keys = Keys::of::<QuestionsConfig>().and::<SplitKeys>();
const PAIRS: Keys = Keys::of::<PairsConfig>().and::<FallbackKeys>();

/// Every dataset: the documents of the catalog, then matrices and files.
pub static DATASETS: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let documents = catalog::all().filter_map(|dataset| {
        let keys = match (&dataset.holds, dataset.name) {
            (Holds::EmbeddedDocuments, _) => INSIDE,
            (Holds::Documents { .. }, "20news") => POSTS,
            (Holds::Documents { .. }, _) => DOCUMENTS,
            (Holds::Kelp { .. }, _) => QUESTIONS,
            (Holds::Pairs { .. } | Holds::EmbeddedPairs, _) => PAIRS,
            _ => return None,
        };
        Some(Entry { id: dataset.name, summary: dataset.title, keys, source: dataset.how_to_get })
    });
    documents.chain(MATRICES).collect()
});

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatasetConfig {
    pub name: &'static str,
    /// Kind of the items, with its settings.
    #[serde(flatten)]
    pub items: Items,
    /// Place of the name, for errors about the data itself.
    #[serde(skip)]
    pub place: Span,
}

/// Kind of the items, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Items {
    Documents(DocumentsConfig),
    Questions(QuestionsConfig),
    Pairs(PairsConfig),
    /// The rows of a matrix in a file.
    Matrix(MatrixConfig),
    Random(RandomMatrix),
    Texts(Box<TextsConfig>),
    TwoLists(Box<TwoListsConfig>),
}

/// Documents with labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentsConfig {
    /// a seeded, stratified sample of this many items; none: all
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub limit: Option<usize>,
    /// `given`, or a random share to train on in each replicate
    #[serde(default)]
    pub split: SplitConfig,
    /// keep only this many labels, the first; none: all
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub classes: Option<usize>,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub headers: Option<Headers>,
    /// leave stop words out
    #[serde(default = "yes")]
    pub drop_stop_words: bool,
    /// drop words that occur fewer times in all documents
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub min_count: u64,
    /// keep a document's most frequent distinct words; none: all
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_words: Option<usize>,
    /// word vectors: a name, `{ path, format }` or `{ kind: ppmi_svd }`
    #[schemars(example = &"self300")]
    pub vectors: VectorsConfig,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub fallback: Option<Fallback>,
}

fn yes() -> bool {
    true
}

fn one() -> u64 {
    1
}

/// The key of posts to newsgroups.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HeaderKeys {
    /// header lines of a post: `subject` (unless given), `keep` or `strip`
    headers: Option<Headers>,
}

/// The key of datasets whose files may be missing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FallbackKeys {
    /// `embedded`: use the sample inside if the files are missing
    fallback: Option<Fallback>,
}

/// The sentences of labeled pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairsConfig {
    /// a seeded sample of this many pairs to judge by; training uses all pairs
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub limit: Option<usize>,
    /// if pairs have labels, a seeded sample of this many to choose the decision threshold on; 0: ½
    #[serde(default = "threshold_pairs")]
    pub threshold_pairs: usize,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub fallback: Option<Fallback>,
    /// The file, if they are the user's own.
    #[serde(flatten, skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub own: Option<Box<OwnPairsConfig>>,
}

/// A number at which a share of right answers is known to two points.
fn threshold_pairs() -> usize {
    500
}

/// Questions with labels and trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionsConfig {
    /// a seeded, stratified sample of this many items; none: all
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub limit: Option<usize>,
    /// Trees of the user's own state it with the keys of their file.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub split: Option<SplitConfig>,
    /// The file, if they are the user's own.
    #[serde(flatten, skip_deserializing, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub own: Option<Box<OwnTreesConfig>>,
}

/// The key of questions of the catalog.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SplitKeys {
    /// `given`, or a random share to train on in each replicate
    #[serde(default)]
    split: SplitConfig,
}

/// Stand-in for missing files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// The sample inside.
    Embedded,
}

/// A matrix in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatrixConfig {
    /// the file: `.npy`, `.npz`, or numbers in lines (`.csv`, `.tsv`)
    #[schemars(example = &"matrix.npy")]
    pub path: ConfigPath,
    /// a file with one label a line, for classification
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<ConfigPath>,
    /// `given`, or a random share to train on in each replicate
    #[serde(default)]
    pub split: SplitConfig,
}

/// Z Zᵀ of a random n × n matrix Z.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomMatrix {
    /// number of items
    #[schemars(range(min = 2))]
    pub n: usize,
    /// entries of Z: `normal` (the paper's text) or `uniform` (its program)
    pub distribution: Distribution,
}

impl Default for RandomMatrix {
    fn default() -> Self {
        Self { n: 1000, distribution: Distribution::Normal }
    }
}

/// Distribution of the entries of Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// N(0, 1), as in the paper's text.
    Normal,
    /// U(0, 1), as in its program.
    Uniform,
}

impl DatasetConfig {
    /// True where a sample may stand in for files that are missing.
    pub fn falls_back(&self) -> bool {
        match &self.items {
            Items::Documents(documents) => documents.fallback.is_some(),
            Items::Pairs(pairs) => pairs.fallback.is_some(),
            Items::Questions(_) | Items::Matrix(_) | Items::Random(_) => false,
            Items::Texts(_) | Items::TwoLists(_) => false,
        }
    }

    /// The documents, where that is what the items are.
    pub fn documents(&self) -> Option<&DocumentsConfig> {
        match &self.items {
            Items::Documents(documents) => Some(documents),
            _ => None,
        }
    }

    /// The user's texts, where that is what the items are.
    pub fn texts(&self) -> Option<&TextsConfig> {
        match &self.items {
            Items::Texts(texts) => Some(texts),
            Items::TwoLists(lists) => Some(&lists.texts),
            _ => None,
        }
    }

    /// True where they are two lists, of which only pairs across exist.
    pub fn has_two_lists(&self) -> bool {
        matches!(self.items, Items::TwoLists(_))
    }

    /// True where the items are questions with trees.
    pub fn has_trees(&self) -> bool {
        matches!(self.items, Items::Questions(_))
    }

    /// True where the items are sentences of labeled pairs.
    pub fn has_pairs(&self) -> bool {
        matches!(self.items, Items::Pairs(_))
    }

    pub fn has_labels(&self) -> bool {
        self.split().is_some()
    }

    /// Train/test split, where items have labels.
    pub fn split(&self) -> Option<SplitConfig> {
        match &self.items {
            Items::Documents(documents) => Some(documents.split),
            Items::Questions(questions) => match &questions.own {
                Some(own) => own.label.as_ref().map(|_| own.rows.of_items()),
                None => questions.split,
            },
            Items::Matrix(matrix) => matrix.labels.as_ref().map(|_| matrix.split),
            Items::Texts(texts) => texts.labels.as_ref().map(|labels| labels.split.of_items()),
            Items::Pairs(_) | Items::Random(_) | Items::TwoLists(_) => None,
        }
    }
}

impl FromNode for DatasetConfig {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        let (name, place, section) = Section::tagged(node, path, "name", problems)?;
        let Some(entry) = find(&DATASETS, &name) else {
            problems.add(Problem::unknown("dataset", &name, ids(&DATASETS)).at(place));
            return None;
        };
        let items = match entry.id {
            "precomputed" => section.part().map(Items::Matrix),
            "random_psd" => section.part().map(Items::Random),
            "texts" => TextsConfig::labeled(&section).map(|texts| Items::Texts(Box::new(texts))),
            "two_lists" => TwoListsConfig::read(&section).map(|lists| Items::TwoLists(Box::new(lists))),
            "pairs" => PairsConfig::read_own(&section).map(Items::Pairs),
            "trees" => QuestionsConfig::read_own(&section).map(Items::Questions),
            _ if catalog::has_pairs(entry.id) => PairsConfig::read(&section).map(Items::Pairs),
            _ if catalog::has_trees(entry.id) => QuestionsConfig::read(&section).map(Items::Questions),
            _ => DocumentsConfig::read(&section, entry).map(Items::Documents),
        };
        refuse_keys(&section, entry);
        Some(Self { name: entry.id, items: items?, place })
    }
}

read_from_node!(DatasetConfig, choice("name", &DATASETS));

/// Names the keys that this dataset does not take; one that belongs to another dataset is no typo.
fn refuse_keys(section: &Section<'_>, entry: &Entry) {
    let names = |entry: &Entry| entry.keys.list().into_iter().map(|key| key.name).collect::<Vec<_>>();
    let keys = names(entry);
    let mut known = vec!["name"];
    known.extend(keys.iter().map(String::as_str));
    let strange = section.entries().iter().filter(|(key, _)| !known.contains(&key.text.as_str())).collect::<Vec<_>>();
    for (key, _) in strange {
        if let Some(other) = DATASETS.iter().find(|other| names(other).contains(&key.text)) {
            let message = format!("the dataset `{}` takes no `{}`, though `{}` does", entry.id, key.text, other.id);
            let takes: Vec<&str> = keys.iter().map(String::as_str).collect();
            section.problems().add(Problem::new(message).at(key.place).help(format!("it takes: {}", list(&takes))));
            known.push(&key.text);
        }
    }
    section.finish_among(known);
}

impl DocumentsConfig {
    fn read(section: &Section<'_>, entry: &Entry) -> Option<Self> {
        let takes = |key: &str| entry.keys.list().iter().any(|known| known.name == key);
        let documents: Option<Self> = section.part();
        let fallback = if takes("fallback") { section.part::<FallbackKeys>()?.fallback } else { None };
        let headers = if takes("headers") { section.part::<HeaderKeys>()?.headers } else { None };
        Some(Self { fallback, headers, ..documents? })
    }

    /// Which words count.
    pub fn token_rules(&self) -> TokenRules {
        TokenRules {
            drop_stop_words: self.drop_stop_words,
            min_count: self.min_count,
            most_frequent_words: self.max_words,
        }
    }

    pub fn options(&self) -> DocumentOptions {
        DocumentOptions { first_classes: self.classes, headers: self.headers, limit: self.limit }
    }
}

impl QuestionsConfig {
    fn read(section: &Section<'_>) -> Option<Self> {
        let questions: Self = section.part()?;
        let SplitKeys { split } = section.part()?;
        Some(Self { split: Some(split), ..questions })
    }

    /// Trees of the user's own: the same keys, and those of their file.
    fn read_own(section: &Section<'_>) -> Option<Self> {
        let questions: Self = section.part()?;
        Some(Self { own: Some(section.part()?), ..questions })
    }
}

impl PairsConfig {
    fn read(section: &Section<'_>) -> Option<Self> {
        let pairs: Self = section.part()?;
        let FallbackKeys { fallback } = section.part()?;
        Some(Self { fallback, ..pairs })
    }

    /// Pairs of the user's own: the same keys, and those of their file.
    fn read_own(section: &Section<'_>) -> Option<Self> {
        let own = OwnPairsConfig::read(section);
        let pairs: Self = section.part()?;
        Some(Self { own: Some(Box::new(own?)), ..pairs })
    }
}
