//! How landmarks are chosen.

use super::{Entry, parameter};

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
            parameter("indices", "", "item numbers from 0"),
            parameter("path", "", "a file with one item number a line, instead of `indices`"),
        ],
        source: "yours",
    },
];
