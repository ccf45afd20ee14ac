//! Policies that choose landmarks.

use landmark_yaml::{Entry, parameter, required};

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
    Entry {
        id: "leverage",
        summary: "two rounds: uniform ones, then by the ridge leverage of every item's row in their columns",
        parameters: &[parameter("first_round", "0.5", "the part that is drawn uniformly")],
        source: "Drineas & Mahoney 2005; Alaoui & Mahoney 2015",
    },
    Entry {
        id: "rpcholesky",
        summary: "randomly pivoted Cholesky: by what is left of the diagonal, which it reads",
        parameters: &[],
        source: "Chen, Epperly, Tropp & Webber 2022",
    },
    Entry {
        id: "kmeans++",
        summary: "k-means++ seeding in the geometry of the kernel; reads the diagonal",
        parameters: &[],
        source: "Arthur & Vassilvitskii 2007",
    },
    Entry {
        id: "farthest",
        summary: "the item whose best similarity to the landmarks so far is lowest",
        parameters: &[],
        source: "Gonzalez 1985",
    },
];
