//! `oracle: { kind: tree_kernel }` — a normalised kernel over the trees of questions.

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::Oracle;
use landmark_data::{KelpExamples, Tree, catalog};
use landmark_oracles::combined::{BoxedOracle, Normalised, SparseVectors};
use landmark_oracles::tree_kernel::{self, Forest, TreeKernel, TreeKernelParams, WordSimilarity, lexical};
use landmark_yaml::{Entry, Problem, Section, parameter};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{Items, Opened, Opening, OracleSettings, OracleSpec};
use crate::config::item_kind::ItemKind;
use crate::loaded::{LoadError, Loaded, LoadedItems, Questions};

/// A normalised kernel over trees.
pub static TREE_KERNEL: OracleSpec = OracleSpec {
    entry: Entry {
        id: "tree_kernel",
        summary: "normalised tree kernel between dependency trees: shared fragments, weighed by size",
        parameters: &[
            parameter("kernel", "ptk", "`bow`, `st`, `sst`, `ptk` or `sptk`"),
            parameter(
                "trees",
                "grct",
                "the representation that is compared: `grct`, `lct` (default of `sptk`), `loct`, …",
            ),
            parameter("lambda", "0.4", "decay of gaps (`ptk`, `sptk`), of depth (`st`, `sst`)"),
            parameter("mu", "0.4", "decay of depth (`ptk`, `sptk`)"),
            parameter("terminal_factor", "5", "what a match with a leaf is worth more (`ptk`; `sptk`: 0.2)"),
            parameter("leaves", "none", "whether equal leaves count λ (`st`, `sst`: true)"),
            parameter("vectors", "none", "word vectors whose cosine makes lemmas similar (`sptk`: `self300`)"),
            parameter("threshold", "none", "cosines below this count 0 (`sptk`: 0.01)"),
        ],
        source: "Collins & Duffy 2001; Moschitti 2006; Croce, Moschitti & Basili 2011",
    },
    reads: &[ItemKind::Trees],
    read,
};

/// A normalised kernel over the representations of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TreeKernelConfig {
    /// The kernel and its decays.
    #[serde(flatten)]
    pub kernel: KernelConfig,
    /// The representation that is compared.
    pub trees: String,
    /// Word vectors whose cosine makes labels similar, for `sptk`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<&'static str>,
    /// Cosines below this count 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// The kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum KernelConfig {
    /// Inner product of bags of words.
    Bow(BagOfWords),
    /// Shared fragments of trees.
    Tree(TreeKernelParams),
}

/// Inner product of bags of words, as configurations name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kernel", rename = "bow")]
pub struct BagOfWords {}

/// The kernels by their ids.
const KERNELS: [&str; 5] = ["bow", "st", "sst", "ptk", "sptk"];

impl TreeKernelConfig {
    fn read_keys(section: &Section<'_>) -> Option<Self> {
        let id: String = section.or("kernel", "ptk".to_owned());
        let decay = |key| section.checked(key, |&x: &f64| x > 0.0 && x.is_finite(), "a number above 0").unwrap_or(0.4);
        let terminal_factor = |default| {
            let wanted = "a number, 0 or above";
            section.checked("terminal_factor", |&x: &f64| x >= 0.0 && x.is_finite(), wanted).unwrap_or(default)
        };
        let kernel = match id.as_str() {
            "bow" => KernelConfig::Bow(BagOfWords {}),
            "st" => {
                KernelConfig::Tree(TreeKernelParams::St { lambda: decay("lambda"), leaves: section.or("leaves", true) })
            }
            "sst" => KernelConfig::Tree(TreeKernelParams::Sst {
                lambda: decay("lambda"),
                leaves: section.or("leaves", true),
            }),
            "ptk" => KernelConfig::Tree(TreeKernelParams::Ptk {
                lambda: decay("lambda"),
                mu: decay("mu"),
                terminal_factor: terminal_factor(5.0),
            }),
            "sptk" => KernelConfig::Tree(TreeKernelParams::Sptk {
                lambda: decay("lambda"),
                mu: decay("mu"),
                terminal_factor: terminal_factor(0.2),
            }),
            other => {
                let place = section.node("kernel").map_or(section.place(), |node| node.place);
                section.problems().add(Problem::unknown("kernel", other, KERNELS).at(place));
                return None;
            }
        };
        let is_smoothed = id == "sptk";
        let representation = match id.as_str() {
            "bow" => "bow",
            "sptk" => "lct",
            _ => "grct",
        };
        let vectors = is_smoothed.then(|| Self::vectors(section)).flatten();
        let threshold = |&x: &f64| (0.0..=1.0).contains(&x);
        Some(Self {
            kernel,
            trees: section.or("trees", representation.to_owned()),
            vectors,
            threshold: is_smoothed.then(|| section.checked("threshold", threshold, "between 0 and 1").unwrap_or(0.01)),
        })
    }

    fn vectors(section: &Section<'_>) -> Option<&'static str> {
        let wanted: String = section.or("vectors", "self300".to_owned());
        let found = catalog::word_vectors().find(|known| *known == wanted);
        if found.is_none() {
            let place = section.node("vectors").map_or(section.place(), |node| node.place);
            let known = catalog::word_vectors();
            section.problems().add(Problem::unknown("word vectors", &wanted, known).at(place));
        }
        found
    }

    /// The id of the kernel.
    pub fn id(&self) -> &'static str {
        match &self.kernel {
            KernelConfig::Bow(_) => "bow",
            KernelConfig::Tree(params) => params.id(),
        }
    }
}

fn read(section: &Section<'_>, _folder: &Path) -> Option<Arc<dyn OracleSettings>> {
    if section.node("gamma").is_some() {
        section.refuse("gamma", "`tree_kernel` is a similarity and takes no `gamma`: remove it");
    }
    let config = TreeKernelConfig::read_keys(section)?;
    section.finish(&[]);
    Some(Arc::new(config))
}

impl OracleSettings for TreeKernelConfig {
    fn to_json(&self) -> serde_json::Result<Json> {
        serde_json::to_value(self)
    }

    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, mut notes } = loaded;
        let LoadedItems::Questions(questions) = items else {
            return Err(LoadError::pair(dataset, TREE_KERNEL.entry.id));
        };
        let kernel = kernel(self, &questions.examples, questions.documents.ids(), opening.data, &mut notes)?;
        let raw: Arc<dyn Oracle> = Arc::new(Normalised::new(kernel)?);
        Ok(Opened {
            item_list: None,
            description: format!("{} of {} `{dataset}` questions over `{}`", self.id(), raw.len(), self.trees),
            is_priced: true,
            facts: json!({ "documents": questions.documents.identity().to_hex(), "kernel": self }),
            items: Items::Questions { labels: questions.labels() },
            stamps,
            notes,
            as_given: Arc::clone(&raw),
            raw,
        })
    }
}

impl TreeKernelConfig {
    /// Fragments of at most so many nodes that two questions may share, written out.
    ///
    /// # Errors
    /// A representation that the questions do not have, trees that cannot be numbered.
    pub fn fragments(&self, questions: &Questions, size: usize) -> Result<SparseVectors, LoadError> {
        match self.kernel {
            // a bag of words has fragments of one word
            KernelConfig::Bow(_) => questions.bags_of_words(),
            KernelConfig::Tree(params) => {
                let trees: Vec<Tree> = questions.examples.trees(&self.trees, questions.documents.ids())?;
                Ok(tree_kernel::fragments(&Forest::new(&trees)?, params.check()?, size)?)
            }
        }
    }
}

fn kernel(
    wanted: &TreeKernelConfig,
    examples: &KelpExamples,
    ids: &[String],
    data: Option<&Path>,
    notes: &mut Vec<String>,
) -> Result<BoxedOracle, LoadError> {
    let params = match wanted.kernel {
        KernelConfig::Bow(_) => return Ok(Box::new(SparseVectors::new(examples.vectors(&wanted.trees, ids)?.rows())?)),
        KernelConfig::Tree(params) => params,
    };
    let trees: Vec<Tree> = examples.trees(&wanted.trees, ids)?;
    let forest = Arc::new(Forest::new(&trees)?);
    let mean = forest.nodes() as f64 / forest.len() as f64;
    notes.push(format!("trees of {mean:.1} nodes on average, {} distinct labels", forest.labels().len()));
    match (params, wanted.vectors) {
        (TreeKernelParams::Sptk { .. }, Some(vectors)) => {
            let words: std::collections::HashSet<&str> =
                forest.labels().iter().filter_map(|label| lexical(label)).map(|(word, _)| word).collect();
            let vectors = catalog::load_word_vectors(vectors, data, &|word| words.contains(word))?;
            notes.push(format!(
                "word vectors `{}` know {} of {} lemmas; the others are like themselves alone",
                vectors.source(),
                vectors.len(),
                words.len()
            ));
            let similarity = WordSimilarity::new(vectors, wanted.threshold.unwrap_or(0.0))?;
            Ok(Box::new(TreeKernel::smoothed(forest, params.check()?, Arc::new(similarity))?))
        }
        _ => Ok(Box::new(TreeKernel::new(forest, params.check()?))),
    }
}
