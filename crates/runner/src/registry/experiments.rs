//! What a configuration can measure.

use super::Entry;

/// Every experiment.
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
        id: "spectrum",
        summary: "eigenvalues of the matrix and of sampled principal submatrices",
        parameters: &[],
        source: "SMS-Nyström paper, figures 1 and 2",
    },
];

/// Experiments that this version knows of but cannot run.
pub static PLANNED: &[&str] = &["glue", "coref", "cqa", "intent", "sketching", "structured", "own_data"];
