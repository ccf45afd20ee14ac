//! Facts of a run that its report needs in addition to its configuration and its rows: the section `facts` of `run.json`.
//!
//! They are gathered when a run ends, while its items are in memory. A report reads them from `run.json`, so it needs no corpus, model or store.

use std::path::{Path, PathBuf};

use landmark_oracles::neural::Epoch;
use landmark_report::{Caveat, ResultRow};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Everything that a report states about a run in addition to its configuration and its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Dataset as rows name it: `embedded` if the run used the sample in place of a missing corpus.
    pub dataset: String,
    /// Number of items n; 0 for an experiment without a matrix.
    pub items: usize,
    pub caveats: Vec<Caveat>,
    /// What was dropped, filled, replaced or failed, in sentences.
    pub notes: Vec<String>,
    /// Calls that an unordered pair takes: 2 if the score of both orders is asked for.
    pub calls_per_pair: u64,
    /// True if every score stood in a file, so that no call was made.
    pub is_given: bool,
    /// The label that most judged items have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_frequent: Option<LabelCount>,
    /// Labeled pairs of sentences that the run was judged by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<LabeledPairs>,
    /// Calls of the factors of a user's own data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<FactorCalls>,
    /// Learning curve of the model that the run fine-tuned; `run.json` has it among the facts of the data.
    #[serde(skip)]
    pub fine_tuned: Vec<Epoch>,
    /// Hash of the configuration of the run; `run.json` has it among the facts of the configuration.
    #[serde(skip)]
    pub config_hash: String,
    /// The folder of the run, for what else it left there.
    #[serde(skip)]
    pub folder: PathBuf,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            dataset: String::new(),
            items: 0,
            caveats: Vec::new(),
            notes: Vec::new(),
            calls_per_pair: 1,
            is_given: false,
            most_frequent: None,
            pairs: None,
            calls: None,
            fine_tuned: Vec::new(),
            config_hash: String::new(),
            folder: PathBuf::new(),
        }
    }
}

/// A label, and how many of the judged items have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelCount {
    pub label: String,
    pub count: usize,
    /// Number of judged items.
    pub of: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabeledPairs {
    pub train: usize,
    pub judged: usize,
    /// True if people gave grades rather than yes or no.
    pub are_graded: bool,
    /// True if a score is a label too.
    pub are_labels: bool,
}

/// Calls that the factors of a matrix took, each as if the store had been empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactorCalls {
    pub fit: u64,
    pub estimate: u64,
    pub all: u64,
    /// True if a rank grew until its estimated error was small enough, so that the fit includes the estimate's calls.
    pub fit_has_estimate: bool,
}

impl Facts {
    /// The facts in a `run.json`, completed by the rows for files of versions that recorded fewer.
    pub fn of(run: &Json, rows: &[ResultRow], folder: &Path) -> Self {
        let mut facts: Self = serde_json::from_value(run["facts"].clone()).unwrap_or_default();
        if facts.dataset.is_empty() {
            let data = run["data"]["dataset"].as_str().map(str::to_owned);
            facts.dataset = data.or_else(|| Some(rows.first()?.subject.dataset.clone())).unwrap_or_default();
        }
        if facts.items == 0 {
            let of_rows = || rows.iter().map(|row| row.subject.items).max();
            // a count of items that were in memory
            facts.items = run["data"]["items"].as_u64().or_else(of_rows).unwrap_or(0) as usize;
        }
        facts.fine_tuned = serde_json::from_value(run["data"]["more"]["fine_tuned"].clone()).unwrap_or_default();
        facts.config_hash = run["config"]["hash"].as_str().unwrap_or_default().to_owned();
        folder.clone_into(&mut facts.folder);
        facts
    }
}
