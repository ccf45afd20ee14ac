//! The kinds of experiment.

use landmark_harness::config::COLLECTION;
use landmark_harness::experiment::Experiment;
use landmark_harness::experiments::{ErrorCurve, QuerySearch};
use landmark_harness::study::StudyEntry;
use landmark_neighbors_experiment::{Coverage, Retrieval};
use landmark_own::own_data::OwnData;
use landmark_sms_nystrom::classification::Classification;
use landmark_sms_nystrom::glue::Glue;
use landmark_sms_nystrom::spectrum::Spectrum;
use landmark_yaml::{Entry, parameter, required};

/// Experiments over one matrix.
pub static EXPERIMENTS: &[&dyn Experiment] =
    &[&Classification, &ErrorCurve, &Glue, &Spectrum, &OwnData, &QuerySearch, &Retrieval, &Coverage];

/// The experiment that gathers others.
pub static GATHERING: Entry = Entry {
    id: COLLECTION,
    summary: "other configurations, run one after the other and shown on one page",
    parameters: &[
        required("members", "[member.yaml]", "their files, relative to this one"),
        parameter("shown", "in_turn", "a section each (`in_turn`), or one with the rows of all (`together`)"),
        parameter("only", "[]", "show only tables and figures whose ids begin with one of these"),
    ],
    source: "this project",
};

/// Experiments that read a section of their own.
pub static STUDIES: &[StudyEntry] = &[
    landmark_sms_nystrom::corpora::ENTRY,
    landmark_sms_nystrom::feature_time::ENTRY,
    landmark_structured_embeddings::structured::ENTRY,
    landmark_intent_sketch::sketching::ENTRY,
    landmark_intent_sketch::intent::ENTRY,
    landmark_intent_sketch::text_sketch::ENTRY,
    landmark_tree_kernels::cqa::ENTRY,
    landmark_sms_nystrom::coref::ENTRY,
];
