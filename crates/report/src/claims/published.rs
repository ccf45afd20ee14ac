//! Runs in a folder of results, published ones and those of a working copy.
//!
//! ```text
//! results/TOPIC/NAME/            the largest published run of a name; TOPIC is a paper's folder in `experiments/`, or another word
//! results/TOPIC/NAME/PROFILE/    smaller ones
//! runs/NAME/  runs/PROFILE/NAME/ runs of a working copy, in the profile `laptop` and in others
//! ```

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::amounts::count;
use crate::results::{ResultRow, ResultsError, rows_from_parquet};

/// Profiles, the largest first.
const LARGEST_FIRST: [&str; 4] = ["paper", "full", "medium", "laptop"];

/// One run: its rows, and its `run.json`.
#[derive(Debug, Clone)]
pub struct PublishedRun {
    pub name: String,
    /// Its folder, from that of all results.
    pub folder: PathBuf,
    pub rows: Vec<ResultRow>,
    pub facts: Json,
}

/// Everything that is published under a folder.
#[derive(Debug, Default)]
pub struct Published {
    /// Runs of each name, the largest first.
    runs: HashMap<String, Vec<PublishedRun>>,
}

impl Published {
    /// Reads every run of these names below a folder; names without one are left out.
    pub fn read<'a>(results: &Path, names: impl IntoIterator<Item = &'a str>) -> Result<Self, ResultsError> {
        let mut runs = HashMap::new();
        for name in names {
            if !runs.contains_key(name) {
                let of_name = PublishedRun::find(results, name)?;
                if !of_name.is_empty() {
                    runs.insert(name.to_owned(), of_name);
                }
            }
        }
        Ok(Self { runs })
    }

    /// Takes a run in, in place of all of its name: rows that are not published yet.
    pub fn insert(&mut self, run: PublishedRun) {
        self.runs.insert(run.name.clone(), vec![run]);
    }

    /// Adds the runs of names that it has none of.
    pub fn or(mut self, others: Self) -> Self {
        for (name, runs) in others.runs {
            self.runs.entry(name).or_insert(runs);
        }
        self
    }

    /// The largest run of this name.
    pub fn run(&self, name: &str) -> Option<&PublishedRun> {
        self.runs_of(name).first()
    }

    /// All runs of this name, the largest first.
    pub fn runs_of(&self, name: &str) -> &[PublishedRun] {
        self.runs.get(name).map_or(&[], Vec::as_slice)
    }
}

impl PublishedRun {
    /// The runs of a name below a folder, the largest profile first.
    pub fn find(results: &Path, name: &str) -> Result<Vec<Self>, ResultsError> {
        let read = |folder| Self::read(results, folder);
        let mut runs: Vec<Self> = folders_of(results, name).into_iter().map(read).collect::<Result<_, _>>()?;
        let place = |run: &Self| LARGEST_FIRST.iter().position(|profile| *profile == run.profile());
        runs.sort_by_key(|run| place(run).unwrap_or(LARGEST_FIRST.len()));
        Ok(runs)
    }

    /// The run in a folder.
    pub fn read(results: &Path, folder: PathBuf) -> Result<Self, ResultsError> {
        let rows = rows_from_parquet(&results.join(&folder).join("results.parquet"))?;
        let text = fs::read_to_string(results.join(&folder).join("run.json")).unwrap_or_default();
        let facts = serde_json::from_str(&text).unwrap_or(Json::Null);
        let last = |folder: &Path| folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let profile = rows.first().map(|row: &ResultRow| row.profile.clone());
        // a smaller run is in the folder of its profile, below that of its name
        let is_smaller = last(&folder) == profile && results.join(&folder).join("../run.json").is_file();
        let of_name = if is_smaller { folder.parent().unwrap_or(&folder) } else { &folder };
        let name = last(of_name).unwrap_or_default();
        Ok(Self { name, folder, rows, facts })
    }

    /// The profile it ran in, by its name of today.
    pub fn profile(&self) -> &str {
        match self.rows.first().map(|row| row.profile.as_str()) {
            // rows that were published before the profile was renamed
            Some("desk") => "medium",
            profile => profile.unwrap_or_default(),
        }
    }

    /// Items of its largest dataset.
    pub fn items(&self) -> u64 {
        self.rows.iter().map(|row| row.subject.items).max().unwrap_or(0)
    }

    pub fn replicates(&self) -> u64 {
        self.rows.iter().map(|row| row.replicate + 1).max().unwrap_or(0)
    }

    /// The first digits of the revision, with a mark where files differed from it.
    pub fn revision(&self) -> String {
        let source = &self.facts["source"];
        let revision: String = source["revision"].as_str().unwrap_or("unknown").chars().take(7).collect();
        if source["dirty"] == Json::Bool(true) { format!("{revision}, changed") } else { revision }
    }

    pub fn seconds(&self) -> Option<f64> {
        self.facts["wall_seconds"].as_f64()
    }

    /// Scores evaluated in its time and those that an earlier run of the same store had paid for: `4,794,156`, `1,200 and 3,000 found`,
    /// `4,794,156 found`; a dash where the run had no matrix.
    pub fn scores(&self) -> String {
        let calls = |key: &str| self.facts["calls"][key].as_u64();
        // `bought` in runs of earlier versions
        match (calls("evaluated").or_else(|| calls("bought")).unwrap_or(0), calls("reused").unwrap_or(0)) {
            (0, 0) => "–".to_owned(),
            (evaluated, 0) => count(evaluated),
            (0, found) => format!("{} found", count(found)),
            (evaluated, found) => format!("{} and {} found", count(evaluated), count(found)),
        }
    }

    /// `n = 3,097, profile laptop, 3 replicates, at f363b79`.
    pub fn words(&self) -> String {
        let items = match self.items() {
            0 => String::new(),
            n => format!("n = {}, ", count(n)),
        };
        let replicates = match self.replicates() {
            1 => "1 replicate".to_owned(),
            n => format!("{n} replicates"),
        };
        format!("{items}profile {}, {replicates}, at {}", self.profile(), self.revision())
    }
}

/// Folders below `results` that hold rows of a name: `NAME`, `*/NAME` and `*/NAME/*`, sorted.
pub fn folders_of(results: &Path, name: &str) -> Vec<PathBuf> {
    let below = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(results.join(folder)).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.path().is_dir()).map(|entry| folder.join(entry.file_name()));
        folders.collect()
    };
    let of_name: Vec<PathBuf> =
        std::iter::once(PathBuf::new()).chain(below(Path::new(""))).map(|base| base.join(name)).collect();
    let mut folders: Vec<PathBuf> =
        of_name.iter().flat_map(|folder| below(folder)).chain(of_name.iter().cloned()).collect();
    folders.retain(|folder| results.join(folder).join("results.parquet").is_file());
    folders.sort();
    folders.dedup();
    folders
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scores_that_an_earlier_run_evaluated_are_distinguished_from_those_evaluated() {
        let scores = |evaluated: u64, reused: u64| {
            let shown = ["evaluated", "bought"].map(|key| {
                let facts = json!({ "calls": { "planned": evaluated + reused, key: evaluated, "reused": reused } });
                PublishedRun { name: "tweets".into(), folder: "tweets".into(), rows: Vec::new(), facts }.scores()
            });
            assert_eq!(shown[0], shown[1], "as earlier versions wrote it");
            shown[0].clone()
        };
        assert_eq!(scores(4_794_156, 0), "4,794,156");
        assert_eq!(scores(0, 4_794_156), "4,794,156 found");
        assert_eq!(scores(1_200, 3_000), "1,200 and 3,000 found");
        assert_eq!(scores(0, 0), "–");
    }
}
