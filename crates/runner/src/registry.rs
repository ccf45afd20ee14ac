//! The one list of everything a configuration can name.
//!
//! `landmark list`, the tables in docs/reference/methods.md, the checks of a configuration and every "did you mean"
//! come from here, so that they cannot disagree. Adding a method, an oracle or a task touches one line of one list.

use landmark_harness::config::{Ingredients, SvmConfig};
use landmark_harness::experiment::Experiment;
use landmark_harness::experiments::{ErrorCurve, QuerySearch};
use landmark_harness::oracles::{OracleSpec, cross_encoder, http, precomputed, string, subprocess, tree_kernel, wmd};
use landmark_harness::registry::Registry;
use landmark_harness::study::StudyEntry;
use landmark_neighbors_experiment::{Coverage, Retrieval};
use landmark_own::own_data::OwnData;
use landmark_sms_nystrom::classification::Classification;
use landmark_sms_nystrom::glue::Glue;
use landmark_sms_nystrom::spectrum::Spectrum;
use landmark_yaml::{Entry, Keys};

pub mod methods;
pub mod schema;

pub use landmark_harness::config::{DATASETS, ENTRY_POLICIES, LANDMARK_POLICIES, PROXIES, SECTIONS};
pub use methods::METHODS;

/// A named list, as `landmark list` shows it.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Plural, as typed: `methods`.
    pub plural: &'static str,
    /// One of them: `method`.
    pub singular: &'static str,
    /// Description of them, in a line.
    pub summary: &'static str,
    pub entries: fn() -> Vec<Entry>,
}

impl Kind {
    const fn new(
        plural: &'static str,
        singular: &'static str,
        summary: &'static str,
        entries: fn() -> Vec<Entry>,
    ) -> Self {
        Self { plural, singular, summary, entries }
    }
}

/// All of it, as configurations are read with.
pub fn registry() -> &'static Registry {
    static REGISTRY: Registry = Registry {
        ingredients: Ingredients { methods: METHODS, oracles: ORACLES },
        experiments: EXPERIMENTS,
        studies: STUDIES,
    };
    &REGISTRY
}

/// Experiments over one matrix.
static EXPERIMENTS: &[&dyn Experiment] =
    &[&Classification, &ErrorCurve, &Glue, &Spectrum, &OwnData, &QuerySearch, &Retrieval, &Coverage];

/// Experiments that read a section of their own.
static STUDIES: &[StudyEntry] = &[
    landmark_sms_nystrom::corpora::ENTRY,
    landmark_sms_nystrom::feature_time::ENTRY,
    landmark_structured_embeddings::structured::ENTRY,
    landmark_intent_sketch::sketching::ENTRY,
    landmark_intent_sketch::intent::ENTRY,
    landmark_intent_sketch::text_sketch::ENTRY,
    landmark_tree_kernels::cqa::ENTRY,
    landmark_sms_nystrom::coref::ENTRY,
];

pub static ORACLES: &[&OracleSpec] = &[
    &wmd::WMD,
    &tree_kernel::TREE_KERNEL,
    &cross_encoder::CROSS_ENCODER,
    &precomputed::PRECOMPUTED,
    &string::STRING,
    &subprocess::SUBPROCESS,
    &http::HTTP,
];

/// Tasks that a factored matrix is used for.
static TASKS: &[Entry] = &[
    Entry {
        id: "answer_ranking",
        summary: "comments of a question by the score of a machine: MAP, AvgRec, MRR, P, R, F1, accuracy",
        keys: Keys::NONE,
        source: "SemEval-2016 Task 3, subtask A",
    },
    Entry {
        id: "classification",
        summary: "linear SVM by finite Newton or dual coordinate descent on the embedding, kernel SVM on the exact matrix",
        keys: SvmConfig::KEYS.under("svm"),
        source: "Keerthi & DeCoste 2005; Hsieh et al. 2008; Crammer & Singer 2001",
    },
    Entry {
        id: "coreference",
        summary: "average linkage on 1 − K̃, cut below a threshold: MUC, B³, CEAFm, CEAFe, BLANC, LEA, CoNLL F1",
        keys: Keys::NONE,
        source: "Pradhan et al. 2014; Moosavi & Strube 2016",
    },
    Entry {
        id: "pair_scoring",
        summary: "Pearson, Spearman, F1 and accuracy of approximated entries at labeled pairs",
        keys: Keys::NONE,
        source: "GLUE; SMS-Nyström paper, §4.2",
    },
];

/// Every list, in the order it is shown.
pub static KINDS: &[Kind] = &[
    Kind::new("methods", "method", "approximate a matrix from evaluated entries", || {
        METHODS.iter().map(|method| method.entry()).collect()
    }),
    Kind::new("oracles", "oracle", "score a pair of items", || ORACLES.iter().map(|oracle| oracle.entry).collect()),
    Kind::new("proxies", "proxy", "cheap relatives of an oracle", || PROXIES.to_vec()),
    Kind::new("entries", "kind of entries", "what the calls of a method go to", || ENTRY_POLICIES.to_vec()),
    Kind::new("landmarks", "landmark policy", "choose which columns to evaluate", || LANDMARK_POLICIES.to_vec()),
    Kind::new("experiments", "experiment", "what a configuration measures", || registry().experiment_entries()),
    Kind::new("sections", "section", "further sections of a sweep", || SECTIONS.to_vec()),
    Kind::new("tasks", "task", "what a factored matrix is used for", || TASKS.to_vec()),
    Kind::new("datasets", "dataset", "where the items come from", || DATASETS.to_vec()),
];

#[cfg(test)]
mod tests {
    use landmark_harness::config::ItemKind;

    use super::*;

    #[test]
    fn items_of_every_kind_have_an_oracle() {
        for kind in ItemKind::ALL {
            assert!(ORACLES.iter().any(|oracle| oracle.reads.contains(kind)), "no oracle reads {}", kind.name());
        }
    }
}
