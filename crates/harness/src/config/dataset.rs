//! `dataset:` — which items, which of them, and the word vectors they are read with.

use std::path::Path;

use landmark_data::catalog::{self, DocumentOptions};
use landmark_data::{Headers, PpmiParams, TokenRules, VectorFormat};
use landmark_yaml::{Entry, Node, Problem, Problems, Section, Span, Value, find, ids, list};
use serde::{Deserialize, Serialize};

pub use super::own_pairs::OwnPairsConfig;
pub use super::own_trees::OwnTreesConfig;
pub use super::texts::TextsConfig;
use super::values::ConfigPath;

/// Items of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatasetConfig {
    /// Id in the catalogue.
    pub name: &'static str,
    /// Kind of the items, with its settings.
    #[serde(flatten)]
    pub items: Items,
    /// Place of the name, for complaints about the data itself.
    #[serde(skip)]
    pub place: Span,
}

/// Kind of the items, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Items {
    /// Documents with labels.
    Documents(DocumentsConfig),
    /// Questions with labels and trees.
    Questions(QuestionsConfig),
    /// The sentences of labelled pairs.
    Pairs(PairsConfig),
    /// The rows of a matrix in a file.
    Matrix(MatrixConfig),
    /// The rows of a random matrix.
    Random(RandomMatrix),
    /// Texts of the user's.
    Texts(Box<TextsConfig>),
}

/// Documents with labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DocumentsConfig {
    /// At most so many, a seeded stratified sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Train/test split.
    pub split: SplitConfig,
    /// Keep the first so many labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<usize>,
    /// Treatment of header lines of newsgroup posts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Headers>,
    /// Leave stop words out.
    pub drop_stop_words: bool,
    /// Drop words that occur fewer times in all documents together.
    pub min_count: u64,
    /// Keep a document's most frequent distinct words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_words: Option<usize>,
    /// Word vectors.
    pub vectors: VectorsConfig,
    /// Stand-in for missing files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
}

/// The sentences of labelled pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairsConfig {
    /// At most so many pairs to judge by, a seeded sample; those to learn from are always all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Pairs to learn from whose scores choose the threshold of a yes, where pairs have labels; none: ½.
    pub threshold_pairs: usize,
    /// Stand-in for missing files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// The file, where they are the user's own.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub own: Option<Box<OwnPairsConfig>>,
}

/// Questions with labels and trees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionsConfig {
    /// At most so many, a seeded stratified sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Train/test split; trees of the user's own say it in their file's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitConfig>,
    /// The file, where they are the user's own.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub own: Option<Box<OwnTreesConfig>>,
}

/// Stand-in for missing files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// The sample inside.
    Embedded,
}

/// A matrix in a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatrixConfig {
    /// n × n `.npy`.
    pub path: ConfigPath,
    /// One label a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<ConfigPath>,
    /// Train/test split.
    pub split: SplitConfig,
}

/// Z Zᵀ of a random n × n matrix Z.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RandomMatrix {
    /// Number of items.
    pub n: usize,
    /// Distribution of the entries of Z.
    pub distribution: Distribution,
}

/// Distribution of the entries of Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// N(0, 1), as the paper says.
    Normal,
    /// U(0, 1), as its program did.
    Uniform,
}

/// Train/test split.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitConfig {
    /// The dataset's own split.
    Given,
    /// In each replicate a random share to train on.
    Train(f64),
}

/// Source of the word vectors.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum VectorsConfig {
    /// A set of the catalog, such as `self300`.
    Named(&'static str),
    /// A file of yours.
    File {
        path: ConfigPath,
        /// Its layout.
        format: VectorFormat,
        /// The words of a NumPy matrix.
        #[serde(skip_serializing_if = "Option::is_none")]
        vocabulary: Option<ConfigPath>,
    },
    /// Learned from the documents themselves.
    Learned(Learned),
}

/// Word vectors learned from the documents themselves.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Learned {
    /// Positive pointwise mutual information of neighbouring words, factored.
    PpmiSvd(PpmiParams),
}

impl DatasetConfig {
    /// True where a sample may stand in for files that are missing.
    pub fn falls_back(&self) -> bool {
        match &self.items {
            Items::Documents(documents) => documents.fallback.is_some(),
            Items::Pairs(pairs) => pairs.fallback.is_some(),
            Items::Questions(_) | Items::Matrix(_) | Items::Random(_) | Items::Texts(_) => false,
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
            _ => None,
        }
    }

    /// True where the items are questions with trees.
    pub fn has_trees(&self) -> bool {
        matches!(self.items, Items::Questions(_))
    }

    /// True where the items are sentences of labelled pairs.
    pub fn has_pairs(&self) -> bool {
        matches!(self.items, Items::Pairs(_))
    }

    /// True where items have labels.
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
            Items::Pairs(_) | Items::Random(_) => None,
        }
    }

    /// Reads the section; a bare name is the whole section.
    pub fn read(node: &Node, known: &'static [Entry], folder: &Path, problems: &Problems) -> Option<Self> {
        let short;
        let node = match &node.value {
            Value::Text(_) => {
                short = Node::section("name", node.clone());
                &short
            }
            _ => node,
        };
        let section = Section::new(node, "dataset", problems)?;
        let place = section.required_node("name")?.place;
        let name: String = section.optional("name")?;
        let Some(entry) = find(known, &name) else {
            problems.add(Problem::unknown("dataset", &name, ids(known)).at(place));
            return None;
        };
        let items = match entry.id {
            "precomputed" => MatrixConfig::read(&section, folder).map(Items::Matrix),
            "random_psd" => Some(Items::Random(RandomMatrix::read(&section))),
            "texts" => TextsConfig::read(&section, folder).map(|texts| Items::Texts(Box::new(texts))),
            "pairs" => PairsConfig::read_own(&section, folder).map(Items::Pairs),
            "trees" => QuestionsConfig::read_own(&section, folder).map(Items::Questions),
            _ if catalog::has_pairs(entry.id) => Some(Items::Pairs(PairsConfig::read(&section))),
            _ if catalog::has_trees(entry.id) => QuestionsConfig::read(&section).map(Items::Questions),
            _ => DocumentsConfig::read(&section, folder).map(Items::Documents),
        };
        refuse_keys(&section, entry, known);
        Some(Self { name: entry.id, items: items?, place })
    }
}

/// Names the keys that this dataset does not take; one that belongs to another dataset is no typo.
fn refuse_keys(section: &Section<'_>, entry: &Entry, datasets: &'static [Entry]) {
    let takes = |entry: &Entry, key: &str| entry.parameters.iter().any(|p| p.name == key);
    let keys: Vec<&str> = entry.parameters.iter().map(|p| p.name).collect();
    let mut known = vec!["name"];
    known.extend(&keys);
    for (key, _) in section.entries().iter().filter(|(key, _)| key.text != "name" && !takes(entry, &key.text)) {
        if let Some(other) = datasets.iter().find(|other| takes(other, &key.text)) {
            let message = format!("the dataset `{}` takes no `{}`, though `{}` does", entry.id, key.text, other.id);
            section.problems().add(Problem::new(message).at(key.place).help(format!("it takes: {}", list(&keys))));
            known.push(&key.text);
        }
    }
    section.finish_among(known);
}

impl DocumentsConfig {
    fn read(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let problems = section.problems();
        let split = SplitConfig::of(section);
        let vectors = section.required_node("vectors");
        let vectors = vectors.and_then(|node| VectorsConfig::read(node, folder, problems));
        Some(Self {
            limit: section.checked("limit", |&limit: &usize| limit >= 2, "at least 2"),
            classes: section.checked("classes", |&classes: &usize| classes >= 2, "at least 2"),
            headers: section.optional("headers"),
            drop_stop_words: section.or("drop_stop_words", true),
            min_count: section.checked("min_count", |&count: &u64| count >= 1, "at least 1").unwrap_or(1),
            max_words: section.checked("max_words", |&words: &usize| words >= 1, "at least 1"),
            fallback: section.optional("fallback"),
            split: split?,
            vectors: vectors?,
        })
    }

    /// Which words count.
    pub fn token_rules(&self) -> TokenRules {
        TokenRules {
            drop_stop_words: self.drop_stop_words,
            min_count: self.min_count,
            most_frequent_words: self.max_words,
        }
    }

    /// Selection of the dataset's documents.
    pub fn options(&self) -> DocumentOptions {
        DocumentOptions { first_classes: self.classes, headers: self.headers, limit: self.limit }
    }
}

impl QuestionsConfig {
    fn read(section: &Section<'_>) -> Option<Self> {
        let limit = section.checked("limit", |&limit: &usize| limit >= 2, "at least 2");
        Some(Self { limit, split: Some(SplitConfig::of(section)?), own: None })
    }

    /// Trees of the user's own: the same keys, and those of their file.
    fn read_own(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let limit = section.checked("limit", |&limit: &usize| limit >= 2, "at least 2");
        Some(Self { limit, split: None, own: Some(Box::new(OwnTreesConfig::read(section, folder)?)) })
    }
}

impl PairsConfig {
    /// So many that a share of right answers is known to two points.
    const THRESHOLD_PAIRS: usize = 500;

    fn read(section: &Section<'_>) -> Self {
        Self {
            limit: section.checked("limit", |&limit: &usize| limit >= 2, "at least 2"),
            threshold_pairs: section.or("threshold_pairs", Self::THRESHOLD_PAIRS),
            fallback: section.optional("fallback"),
            own: None,
        }
    }

    /// Pairs of the user's own: the same keys, and those of their file.
    fn read_own(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let own = OwnPairsConfig::read(section, folder);
        Some(Self { own: Some(Box::new(own?)), ..Self::read(section) })
    }
}

impl MatrixConfig {
    fn read(section: &Section<'_>, folder: &Path) -> Option<Self> {
        let read = |node: &Node, key| ConfigPath::read(node, &section.path_of(key), folder, section.problems());
        let path = section.required_node("path").and_then(|node| read(node, "path"));
        let labels = section.node("labels").and_then(|node| read(node, "labels"));
        let split = SplitConfig::of(section);
        Some(Self { path: path?, labels, split: split? })
    }
}

impl RandomMatrix {
    fn read(section: &Section<'_>) -> Self {
        Self {
            n: section.checked("n", |&n: &usize| n >= 2, "at least 2").unwrap_or(1000),
            distribution: section.or("distribution", Distribution::Normal),
        }
    }
}

impl SplitConfig {
    fn of(section: &Section<'_>) -> Option<Self> {
        section.node("split").map_or(Some(Self::Train(0.7)), |node| Self::read(node, section.problems()))
    }

    fn read(node: &Node, problems: &Problems) -> Option<Self> {
        if let Value::Text(text) = &node.value {
            if text == "given" {
                return Some(Self::Given);
            }
            let message = format!("`dataset.split` is `{text}`, but must be `given` or `{{ train: 0.7 }}`");
            problems.add(Problem::new(message).at(node.place));
            return None;
        }
        let section = Section::new(node, "dataset.split", problems)?;
        let train = section.checked("train", |&share: &f64| share > 0.0 && share < 1.0, "a share between 0 and 1");
        if !section.has("train") {
            section.required_node("train");
        }
        section.finish(&[]);
        train.map(Self::Train)
    }
}

impl VectorsConfig {
    pub(super) fn read(node: &Node, folder: &Path, problems: &Problems) -> Option<Self> {
        if let Value::Text(name) = &node.value {
            return Self::named(name, node.place, problems);
        }
        let section = Section::new(node, "dataset.vectors", problems)?;
        if let Some(kind) = section.optional::<String>("kind") {
            if kind != "ppmi_svd" {
                let place = section.node("kind").map_or(section.place(), |node| node.place);
                problems.add(Problem::unknown("kind of word vectors", &kind, ["ppmi_svd"]).at(place));
                return None;
            }
            let params = problems.read(&section.rest(), "dataset.vectors")?;
            return Some(Self::Learned(Learned::PpmiSvd(params)));
        }
        let read =
            |key| section.node(key).and_then(|node| ConfigPath::read(node, &section.path_of(key), folder, problems));
        let name = section.optional::<String>("name");
        let vectors = match (name, read("path"), section.optional("format"), read("vocabulary")) {
            (Some(name), None, None, None) => Self::named(&name, section.place(), problems),
            (None, Some(path), Some(format), vocabulary) => Some(Self::File { path, format, vocabulary }),
            _ => {
                let message = "`dataset.vectors` must have a `name`, or a `path` and its `format`, or `kind: ppmi_svd`";
                problems.add(Problem::new(message).at(section.place()));
                None
            }
        };
        section.finish(&["kind"]);
        vectors
    }

    fn named(name: &str, place: Span, problems: &Problems) -> Option<Self> {
        let found = catalog::word_vectors().find(|known| *known == name);
        if found.is_none() {
            problems.add(Problem::unknown("word vectors", name, catalog::word_vectors()).at(place));
        }
        found.map(Self::Named)
    }
}
