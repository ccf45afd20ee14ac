//! The kinds of experiment.

use landmark_yaml::{Entry, parameter, required};

use crate::config::COLLECTION;
use crate::experiment::Experiment;
use crate::experiments::{Classification, ErrorCurve, Glue, OwnData, Spectrum};
use crate::studies;
use crate::study::StudyEntry;

/// Experiments over one matrix.
pub static EXPERIMENTS: &[&dyn Experiment] = &[&Classification, &ErrorCurve, &Glue, &Spectrum, &OwnData];

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
    studies::corpora::ENTRY,
    studies::feature_time::ENTRY,
    studies::structured::ENTRY,
    studies::sketching::ENTRY,
    studies::intent::ENTRY,
    studies::text_sketch::ENTRY,
    studies::cqa::ENTRY,
    studies::coref::ENTRY,
];
