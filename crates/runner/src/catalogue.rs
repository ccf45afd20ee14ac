//! The one list of everything a configuration can name.
//!
//! `landmark list`, the tables in docs/reference/methods.md, the checks of a configuration and every "did you mean"
//! come from here, so that they cannot disagree. Adding a method, an oracle or a task touches one line of one list.

use std::sync::LazyLock;

use landmark_harness::catalogue::Catalogue;
use landmark_harness::config::Ingredients;
use landmark_yaml::Entry;

pub mod experiments;
pub mod methods;
pub mod oracles;
pub mod schema;
pub mod tasks;

pub use landmark_harness::config::{DATASETS, ENTRY_POLICIES, LANDMARK_POLICIES, PROXIES, SECTIONS};
pub use methods::METHODS;
pub use oracles::ORACLES;
pub use tasks::TASKS;

/// A named list, as `landmark list` shows it.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Plural, as typed: `methods`.
    pub plural: &'static str,
    /// One of them: `method`.
    pub singular: &'static str,
    /// Description of them, in a line.
    pub summary: &'static str,
    pub entries: fn() -> Vec<Entry>,
}

/// All of it, as configurations are read with.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue {
        ingredients: Ingredients { methods: METHODS, oracles: ORACLES },
        experiments: experiments::EXPERIMENTS,
        studies: experiments::STUDIES,
    });
    &CATALOGUE
}

/// Every list, in the order it is shown.
pub static KINDS: &[Kind] = &[
    Kind {
        plural: "methods",
        singular: "method",
        summary: "approximate a matrix from evaluated entries",
        entries: || METHODS.iter().map(|method| method.entry()).collect(),
    },
    Kind {
        plural: "oracles",
        singular: "oracle",
        summary: "score a pair of items",
        entries: || ORACLES.iter().map(|oracle| oracle.entry).collect(),
    },
    Kind {
        plural: "proxies",
        singular: "proxy",
        summary: "cheap relatives of an oracle",
        entries: || PROXIES.to_vec(),
    },
    Kind {
        plural: "entries",
        singular: "kind of entries",
        summary: "what the calls of a method go to",
        entries: || ENTRY_POLICIES.to_vec(),
    },
    Kind {
        plural: "landmarks",
        singular: "landmark policy",
        summary: "choose which columns to evaluate",
        entries: || LANDMARK_POLICIES.to_vec(),
    },
    Kind {
        plural: "experiments",
        singular: "experiment",
        summary: "what a configuration measures",
        entries: || catalogue().experiment_entries(),
    },
    Kind {
        plural: "sections",
        singular: "section",
        summary: "what else the configuration of a sweep may say",
        entries: || SECTIONS.to_vec(),
    },
    Kind {
        plural: "tasks",
        singular: "task",
        summary: "what a factored matrix is used for",
        entries: || TASKS.to_vec(),
    },
    Kind {
        plural: "datasets",
        singular: "dataset",
        summary: "where the items come from",
        entries: || DATASETS.to_vec(),
    },
];
