//! The kinds of experiment.

use landmark_harness::experiment::Experiment;
use landmark_harness::experiments::{ErrorCurve, QuerySearch};
use landmark_harness::study::StudyEntry;
use landmark_neighbors_experiment::{Coverage, Retrieval};
use landmark_own::own_data::OwnData;
use landmark_sms_nystrom::classification::Classification;
use landmark_sms_nystrom::glue::Glue;
use landmark_sms_nystrom::spectrum::Spectrum;

/// Experiments over one matrix.
pub static EXPERIMENTS: &[&dyn Experiment] =
    &[&Classification, &ErrorCurve, &Glue, &Spectrum, &OwnData, &QuerySearch, &Retrieval, &Coverage];

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
