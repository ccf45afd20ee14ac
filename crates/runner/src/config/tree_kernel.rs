//! `oracle: { kind: tree_kernel }` — which kernel over which trees.

use landmark_data::catalog;
use landmark_oracles::tree_kernel::TreeKernelParams;
use landmark_yaml::{Problem, Section};
use serde::Serialize;

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
    /// Reads the keys of `oracle:` beside `kind`.
    pub(super) fn read(section: &Section<'_>) -> Option<Self> {
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
