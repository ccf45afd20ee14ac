//! `oracle: { kind: tree_kernel }` — a normalized kernel over the trees of questions.

use std::path::Path;
use std::sync::Arc;

use landmark_core::oracle::Oracle;
use landmark_data::{KelpExamples, Tree, catalog};
use landmark_oracles::combined::{BoxedOracle, Normalized, SparseVectors};
use landmark_oracles::tree_kernel::{self, Forest, TreeKernel, TreeKernelParams, WordSimilarity, lexical};
use landmark_yaml::{Entry, Keys, Problem, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Items, Opened, Opening, OracleSettings, OracleSpec};
use crate::config::item_kind::ItemKind;
use crate::loaded::{LoadError, Loaded, LoadedItems, Questions};

pub static TREE_KERNEL: OracleSpec = OracleSpec {
    entry: Entry {
        id: "tree_kernel",
        summary: "normalized tree kernel between dependency trees: shared fragments, weighed by size",
        keys: Keys::of::<TreeKernelKeys>(),
        source: "Collins & Duffy 2001; Moschitti 2006; Croce, Moschitti & Basili 2011",
    },
    reads: &[ItemKind::Trees],
    read,
};

/// A normalized kernel over the representations of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TreeKernelConfig {
    #[serde(flatten)]
    pub kernel: KernelConfig,
    pub trees: String,
    /// Word vectors whose cosine makes labels similar, for `sptk`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<&'static str>,
    /// Cosines below this count 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum KernelConfig {
    Bow(BagOfWords),
    Tree(TreeKernelParams),
}

/// Inner product of bags of words, as configurations name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kernel", rename = "bow")]
pub struct BagOfWords {}

/// The keys; which of them a kernel reads depends on it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct TreeKernelKeys {
    /// `bow`, `st`, `sst`, `ptk` or `sptk`
    kernel: KernelName,
    /// the representation that is compared: `grct`, `lct`, `loct`, …; none: `lct` for `sptk`, `bow` for `bow`, otherwise `grct`
    trees: Option<String>,
    /// decay of gaps (`ptk`, `sptk`), of depth (`st`, `sst`)
    #[schemars(extend("exclusiveMinimum" = 0))]
    lambda: f64,
    /// decay of depth (`ptk`, `sptk`)
    #[schemars(extend("exclusiveMinimum" = 0))]
    mu: f64,
    /// added weight of a match with a leaf; none: 5 for `ptk`, 0.2 for `sptk`
    #[schemars(range(min = 0))]
    terminal_factor: Option<f64>,
    /// whether equal leaves count λ (`st`, `sst`)
    leaves: bool,
    /// word vectors whose cosine makes lemmas similar (`sptk`)
    vectors: String,
    /// cosines below this count 0 (`sptk`)
    #[schemars(range(min = 0, max = 1))]
    threshold: f64,
}

impl Default for TreeKernelKeys {
    fn default() -> Self {
        Self {
            kernel: KernelName::Ptk,
            trees: None,
            lambda: 0.4,
            mu: 0.4,
            terminal_factor: None,
            leaves: true,
            vectors: "self300".to_owned(),
            threshold: 0.01,
        }
    }
}

/// The kernels by their ids.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum KernelName {
    Bow,
    St,
    Sst,
    Ptk,
    Sptk,
}

impl TreeKernelConfig {
    fn read_keys(section: &Section<'_>) -> Option<Self> {
        let keys: TreeKernelKeys = section.part()?;
        let TreeKernelKeys { lambda, mu, leaves, .. } = keys;
        let terminal_factor = |default| keys.terminal_factor.unwrap_or(default);
        let (kernel, representation) = match keys.kernel {
            KernelName::Bow => (KernelConfig::Bow(BagOfWords {}), "bow"),
            KernelName::St => (KernelConfig::Tree(TreeKernelParams::St { lambda, leaves }), "grct"),
            KernelName::Sst => (KernelConfig::Tree(TreeKernelParams::Sst { lambda, leaves }), "grct"),
            KernelName::Ptk => {
                let terminal_factor = terminal_factor(5.0);
                (KernelConfig::Tree(TreeKernelParams::Ptk { lambda, mu, terminal_factor }), "grct")
            }
            KernelName::Sptk => {
                let terminal_factor = terminal_factor(0.2);
                (KernelConfig::Tree(TreeKernelParams::Sptk { lambda, mu, terminal_factor }), "lct")
            }
        };
        let is_smoothed = keys.kernel == KernelName::Sptk;
        Some(Self {
            kernel,
            trees: keys.trees.unwrap_or_else(|| representation.to_owned()),
            vectors: is_smoothed.then(|| Self::vectors(section, &keys.vectors)).flatten(),
            threshold: is_smoothed.then_some(keys.threshold),
        })
    }

    fn vectors(section: &Section<'_>, wanted: &str) -> Option<&'static str> {
        let found = catalog::word_vectors().find(|known| *known == wanted);
        if found.is_none() {
            let place = section.place_of("vectors");
            let known = catalog::word_vectors();
            section.problems().add(Problem::unknown("word vectors", wanted, known).at(place));
        }
        found
    }

    pub fn id(&self) -> &'static str {
        match &self.kernel {
            KernelConfig::Bow(_) => "bow",
            KernelConfig::Tree(params) => params.id(),
        }
    }
}

fn read(section: &Section<'_>) -> Option<Arc<dyn OracleSettings>> {
    if section.node("gamma").is_some() {
        section.refuse("gamma", "`tree_kernel` is a similarity and takes no `gamma`: remove it");
    }
    Some(Arc::new(TreeKernelConfig::read_keys(section)?))
}

impl OracleSettings for TreeKernelConfig {
    fn open(&self, loaded: Loaded, opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, mut notes } = loaded;
        let LoadedItems::Questions(questions) = items else {
            return Err(LoadError::pair(dataset, TREE_KERNEL.entry.id));
        };
        let kernel = kernel(self, &questions.examples, questions.documents.ids(), opening.data, &mut notes)?;
        let raw: Arc<dyn Oracle> = Arc::new(Normalized::new(kernel)?);
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
    /// Fragments of at most `size` nodes that two questions may share, written out.
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
            Ok(Box::new(TreeKernel::smoothed(forest, params.check()?, &similarity)?))
        }
        _ => Ok(Box::new(TreeKernel::new(forest, params.check()?))),
    }
}
