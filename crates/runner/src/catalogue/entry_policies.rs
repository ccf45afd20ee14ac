//! Entries that the calls of a method go to.

use landmark_yaml::{Entry, parameter};

/// Every kind of entries, as `entries:` of a method names them.
pub static ENTRY_POLICIES: &[Entry] = &[
    Entry {
        id: "columns",
        summary: "full columns at the landmarks, and whatever else the method itself names",
        parameters: &[],
        source: "SMS-Nyström paper, Algorithm 1",
    },
    Entry {
        id: "scattered",
        summary: "columns for a part of the calls, for the rest the pairs whose residual is predicted to be largest: K̃ = the method's \
                  on fewer columns, exact where evaluated; as many calls as its columns alone",
        parameters: &[
            parameter("columns", "0.75", "the part of the calls that goes to columns"),
            parameter("rounds", "2", "rounds in which pairs are chosen, each by what was seen before"),
            parameter(
                "nearest",
                "null",
                "look for pairs among this many nearest of each item under the first proxy; among all unless said",
            ),
        ],
        source: "this project",
    },
];
