//! `dataset:` — which items, which of them, and the word vectors they are read with.

use std::path::Path;

use landmark_data::{Headers, TokenRules, VectorFormat};
use serde::{Deserialize, Serialize};

use super::problem::{Place, Problem};
use super::read::{Problems, Section};
use super::tree::{Node, Value};
use super::values::ConfigPath;
use crate::registry::{self, DATASETS};

/// Which items an experiment is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatasetConfig {
    /// Id in the registry.
    pub name: &'static str,
    /// At most so many items, a seeded stratified sample.
    pub limit: Option<usize>,
    /// Who trains and who tests.
    pub split: SplitConfig,
    /// Keep the first so many labels.
    pub classes: Option<usize>,
    /// Header lines of newsgroup posts.
    pub headers: Headers,
    /// Which words count.
    pub tokens: TokenRules,
    /// Word vectors, for documents.
    pub vectors: Option<VectorsConfig>,
    /// Use the embedded sample where the files are missing.
    pub fallback: bool,
    /// The matrix of `precomputed`.
    pub path: Option<ConfigPath>,
    /// Labels of `precomputed`, one a line.
    pub labels: Option<ConfigPath>,
    /// `random_psd`: number of items and distribution of Z.
    pub random: Option<RandomMatrix>,
    /// Where the section stands, for complaints about the data itself.
    #[serde(skip)]
    pub place: Place,
}

/// Who trains and who tests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitConfig {
    /// The dataset's own split.
    Given,
    /// In each replicate a random share to train on.
    Train(f64),
}

/// Where word vectors come from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorsConfig {
    /// A set of the catalog, such as `self300`.
    Named(String),
    /// A file of yours.
    File {
        /// The vectors.
        path: ConfigPath,
        /// Its layout.
        format: VectorFormat,
        /// The words of a NumPy matrix.
        vocabulary: Option<ConfigPath>,
    },
    /// Learned from the documents themselves.
    PpmiSvd(PpmiSvd),
}

/// Positive pointwise mutual information of neighbouring words, factored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PpmiSvd {
    /// Dimension of the vectors.
    pub dim: usize,
    /// Words to each side that count as neighbours.
    pub window: usize,
    /// Words seen less often get no vector.
    pub min_count: usize,
}

impl Default for PpmiSvd {
    fn default() -> Self {
        Self { dim: 50, window: 5, min_count: 1 }
    }
}

/// Z Zᵀ of a random n × n matrix Z.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RandomMatrix {
    /// Number of items.
    pub n: usize,
    /// How the entries of Z are drawn.
    pub distribution: Distribution,
}

/// How the entries of Z are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// N(0, 1), as the paper says.
    Normal,
    /// U(0, 1), as its program did.
    Uniform,
}

impl DatasetConfig {
    /// Whether the items are documents.
    pub fn has_documents(&self) -> bool {
        !matches!(self.name, "precomputed" | "random_psd")
    }

    /// Reads the section; a bare name is the whole section.
    pub fn read(node: &Node, folder: &Path, problems: &Problems) -> Option<Self> {
        let short;
        let node = match &node.value {
            Value::Text(_) => {
                let key = super::tree::Key { text: "name".to_owned(), place: node.place };
                short = Node { value: Value::Map(vec![(key, node.clone())]), place: node.place };
                &short
            }
            _ => node,
        };
        let section = Section::new(node, "dataset", problems)?;
        let name: Option<String> = section.required("name");
        let entry = name.and_then(|name| known_dataset(&section, &name));
        if let Some(entry) = entry {
            refuse_keys_of_other_datasets(&section, entry);
        }
        let path = section.node("path").and_then(|node| ConfigPath::read(node, "dataset.path", folder, problems));
        let labels = section.node("labels").and_then(|node| ConfigPath::read(node, "dataset.labels", folder, problems));
        let config = Self {
            name: entry.map_or("", |entry| entry.id),
            limit: section.checked("limit", |&limit: &usize| limit >= 2, "at least 2"),
            split: section
                .node("split")
                .map_or(Some(SplitConfig::Train(0.7)), |node| SplitConfig::read(node, problems))?,
            classes: section.checked("classes", |&classes: &usize| classes >= 2, "at least 2"),
            headers: section.or("headers", Headers::default()),
            tokens: TokenRules {
                drop_stop_words: section.or("drop_stop_words", true),
                most_frequent_words: section.checked("max_words", |&words: &usize| words >= 1, "at least 1"),
            },
            vectors: section.node("vectors").and_then(|node| VectorsConfig::read(node, folder, problems)),
            fallback: section.optional::<Fallback>("fallback").is_some(),
            random: (entry.is_some_and(|e| e.id == "random_psd")).then(|| RandomMatrix {
                n: section.checked("n", |&n: &usize| n >= 2, "at least 2").unwrap_or(1000),
                distribution: section.or("distribution", Distribution::Normal),
            }),
            path,
            labels,
            place: section.place(),
        };
        if config.name == "precomputed" && config.path.is_none() && !section.has("path") {
            section.required_node("path");
        }
        if config.has_documents() && config.vectors.is_none() && !section.has("vectors") && entry.is_some() {
            section
                .refuse("name", "`dataset.vectors` is missing: documents are compared by the vectors of their words");
        }
        section.finish(&["n", "distribution"]);
        Some(config)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fallback {
    Embedded,
}

/// A key that belongs to another dataset is no typo: say so.
fn refuse_keys_of_other_datasets(section: &Section<'_>, entry: &registry::Entry) {
    let takes = |entry: &registry::Entry, key: &str| entry.parameters.iter().any(|p| p.name == key);
    for (key, _) in section.entries().iter().filter(|(key, _)| key.text != "name" && !takes(entry, &key.text)) {
        if let Some(other) = DATASETS.iter().find(|other| takes(other, &key.text)) {
            let keys: Vec<&str> = entry.parameters.iter().map(|p| p.name).collect();
            let message = format!("the dataset `{}` takes no `{}`, though `{}` does", entry.id, key.text, other.id);
            section
                .problems()
                .add(Problem::new(message).at(key.place).help(format!("it takes: {}", super::problem::list(&keys))));
        }
    }
}

fn known_dataset(section: &Section<'_>, name: &str) -> Option<&'static registry::Entry> {
    let entry = registry::find(&DATASETS, name);
    if entry.is_none() {
        let place = section.node("name").map_or(section.place(), |node| node.place);
        section.problems().add(Problem::unknown("dataset", name, registry::ids(&DATASETS)).at(place));
    }
    entry
}

impl SplitConfig {
    fn read(node: &Node, problems: &Problems) -> Option<Self> {
        if let Value::Text(text) = &node.value {
            if text == "given" {
                return Some(Self::Given);
            }
            problems.add(
                Problem::new(format!("`dataset.split` is `{text}`, but must be `given` or `{{ train: 0.7 }}`"))
                    .at(node.place),
            );
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
    fn read(node: &Node, folder: &Path, problems: &Problems) -> Option<Self> {
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
            let vectors: PpmiSvd = problems.read(&section.rest(), "dataset.vectors")?;
            if vectors.dim == 0 || vectors.window == 0 {
                section.refuse("kind", "`dataset.vectors` needs `dim` and `window` of at least 1");
            }
            return Some(Self::PpmiSvd(vectors));
        }
        let read =
            |key| section.node(key).and_then(|node| ConfigPath::read(node, &section.path_of(key), folder, problems));
        let vectors =
            match (section.optional::<String>("name"), read("path"), section.optional("format"), read("vocabulary")) {
                (Some(name), None, None, None) => Self::named(&name, section.place(), problems),
                (None, Some(path), Some(format), vocabulary) => Some(Self::File { path, format, vocabulary }),
                _ => {
                    let message =
                        "`dataset.vectors` must have a `name`, or a `path` and its `format`, or `kind: ppmi_svd`";
                    problems.add(Problem::new(message).at(section.place()));
                    None
                }
            };
        section.finish(&["dim", "window", "min_count"]);
        vectors
    }

    fn named(name: &str, place: Place, problems: &Problems) -> Option<Self> {
        if registry::datasets::word_vectors().any(|known| known == name) {
            return Some(Self::Named(name.to_owned()));
        }
        problems.add(Problem::unknown("word vectors", name, registry::datasets::word_vectors()).at(place));
        None
    }
}
