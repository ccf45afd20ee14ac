//! How landmarks are chosen.

use super::{Entry, parameter, required};

/// Every policy.
pub static LANDMARK_POLICIES: &[Entry] = &[
    Entry {
        id: "uniform",
        summary: "uniformly without replacement; buys nothing to choose",
        parameters: &[],
        source: "SMS-Nyström paper, Algorithm 1",
    },
    Entry {
        id: "given",
        summary: "your own list, most important first",
        parameters: &[
            required("indices", "[3, 1, 4]", "item numbers from 0, or `path`"),
            parameter("path", "none", "a file with one item number a line, instead of `indices`"),
        ],
        source: "yours",
    },
];
