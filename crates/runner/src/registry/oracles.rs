//! The similarity functions, as a configuration names them.

use super::{Entry, parameter};

/// Every oracle.
pub static ORACLES: &[Entry] = &[
    Entry {
        id: "wmd",
        summary: "exp(−γ · word mover's distance) between documents, exact optimal transport",
        parameters: &[
            parameter("gamma", "search", "γ: a number, or `search` to choose it by cross-validation"),
            parameter(
                "empty_documents",
                "error",
                "a document without a known word: `error`, `drop`, or `{ distance: d }`",
            ),
        ],
        source: "Kusner et al. 2015; SMS-Nyström paper, §4.1",
    },
    Entry {
        id: "precomputed",
        summary: "a matrix that is already there, read from the dataset",
        parameters: &[
            parameter("gamma", "none", "turns distances into exp(−γ·d); absent: the matrix holds similarities"),
            parameter("symmetrize", "none", "an asymmetric matrix becomes the `mean`, `max` or `min` of both orders"),
        ],
        source: "any `.npy`",
    },
];
