//! What a configuration can measure.

use landmark_yaml::{Entry, parameter, required};

use super::studies::STUDIES;

/// Every experiment that is no study.
pub static EXPERIMENTS: &[Entry] = &[
    Entry {
        id: "classification",
        summary: "SVM accuracy on factors of the matrix against the exact kernel",
        parameters: &[],
        source: "SMS-Nyström paper, table 2",
    },
    Entry {
        id: "error_curve",
        summary: "relative error ‖K − K̃‖/‖K‖ against rank, at equal rank and at equal entries",
        parameters: &[],
        source: "SMS-Nyström paper, figure 3",
    },
    Entry {
        id: "glue",
        summary: "correlation, F1 or accuracy of approximated scores at labelled pairs of sentences, and relative errors",
        parameters: &[],
        source: "SMS-Nyström paper, tables 3 to 5",
    },
    Entry {
        id: "spectrum",
        summary: "eigenvalues of the matrix and of sampled principal submatrices",
        parameters: &[],
        source: "SMS-Nyström paper, figures 1 and 2",
    },
    Entry {
        id: "own_data",
        summary: "factors of a matrix of your own, in files, with an error estimate, within a budget",
        parameters: &[parameter("output", "{ formats: [npy, safetensors, parquet] }", "forms of the factors")],
        source: "this project",
    },
    Entry {
        id: crate::config::COLLECTION,
        summary: "other configurations, run one after the other and shown on one page",
        parameters: &[
            required("members", "[member.yaml]", "their files, relative to this one"),
            parameter("shown", "in_turn", "a section each (`in_turn`), or one with the rows of all (`together`)"),
            parameter("only", "[]", "show only tables and figures whose ids begin with one of these"),
        ],
        source: "this project",
    },
];

/// Sweeps over a matrix, collections and studies.
pub fn all() -> Vec<Entry> {
    EXPERIMENTS.iter().copied().chain(STUDIES.iter().map(|study| study.entry)).collect()
}
