//! Pairs that cannot be scored, kept next to the scores with the scorer's error.
//!
//! ```text
//! <store>/<oracle id>/<blake3>.failures          {"row":3,"col":11,"error":"…"}, one a line, immutable, named by content
//! ```
//!
//! No tile holds a stand-in for them, so that `failed_pairs` may be set, changed or unset without a call. A pair that has a score as well
//! was asked again and did not fail.

use std::collections::{HashMap, HashSet};
use std::fmt;

use landmark_core::oracle::{Identity, Oracle};
use serde::{Deserialize, Serialize};

use super::backend::Object;
use super::maintenance::{Cleaned, Problem};
use super::tile::has_extension;
use super::{StoreError, TileStore, identity_of};

/// File name extension of a list of failures.
const EXTENSION: &str = "failures";

/// A pair that could not be scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFailure {
    pub row: u32,
    pub col: u32,
    /// The scorer's error, items by name.
    pub error: String,
    /// True where it had no stand-in and ended its run: the next run without one asks again, for the scorer may be fixed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_run: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OracleFailures {
    /// The oracle's identity in hexadecimal.
    pub identity: String,
    /// One line about it, where it is known.
    pub description: String,
    /// Its failures, sorted by column and row.
    pub failures: Vec<StoredFailure>,
}

impl fmt::Display for OracleFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, count) = (&self.identity[..12], self.failures.len());
        writeln!(f, "{id}  {}: {count} failed", self.description)?;
        self.failures.iter().try_for_each(|failure| writeln!(f, "  {}", failure.error))
    }
}

/// Identity that the scores of an oracle are kept under, and true where its failures are kept apart from them.
///
/// A store that was begun when stand-ins were kept among the scores is continued that way: nothing of it is asked twice.
pub(super) fn kept_as(store: &TileStore, oracle: &impl Oracle) -> Result<(Identity, bool), StoreError> {
    let identity = oracle.identity();
    let Some(scores) = oracle.fallible().map(|fallible| fallible.identity_of_scores()) else {
        return Ok((identity, false));
    };
    if scores != identity && store.manifest(&identity.to_hex())?.is_some() {
        return Ok((identity, false));
    }
    Ok((scores, true))
}

#[derive(Debug, Default)]
pub(super) struct Failures {
    by_pair: HashMap<u64, StoredFailure>,
    unpublished: Vec<u64>,
    /// A pair was scored: what fails before that may be the scorer's fault.
    has_scores: bool,
}

impl Failures {
    pub(super) fn len(&self) -> usize {
        self.by_pair.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_pair.is_empty()
    }

    pub(super) fn get(&self, key: u64) -> Option<&StoredFailure> {
        self.by_pair.get(&key)
    }

    /// Those that are not asked again, where there is no stand-in.
    pub(super) fn final_keys(&self) -> HashSet<u64> {
        self.by_pair.iter().filter(|(_, failure)| !failure.ended_run).map(|(&key, _)| key).collect()
    }

    /// A pair that failed before has a score.
    pub(super) fn remove(&mut self, key: u64) {
        self.by_pair.remove(&key);
    }

    pub(super) fn read(&mut self, key: u64, failure: StoredFailure) {
        self.by_pair.entry(key).or_insert(failure);
    }

    /// Takes new ones in, met together with `scores` scores.
    pub(super) fn add(&mut self, scores: usize, failures: impl IntoIterator<Item = (u64, StoredFailure)>) {
        self.has_scores |= scores > 0;
        for (key, failure) in failures {
            self.by_pair.insert(key, failure);
            self.unpublished.push(key);
        }
    }

    pub(super) fn due(&self) -> Vec<StoredFailure> {
        let waiting = self.unpublished.iter().filter(|_| self.has_scores);
        waiting.filter_map(|key| self.by_pair.get(key).cloned()).collect()
    }

    pub(super) fn published(&mut self) {
        self.unpublished.clear();
    }
}

pub(super) fn listed(objects: &[Object]) -> Vec<String> {
    objects.iter().map(|object| &object.name).filter(|name| has_extension(name, EXTENSION)).cloned().collect()
}

impl TileStore {
    /// Failures that are kept, by oracle; oracles without any are left out.
    pub fn failures(&self) -> Result<Vec<OracleFailures>, StoreError> {
        let mut found = Vec::new();
        for id in self.backend.list("")?.folders.into_iter().filter(|name| identity_of(name).is_some()) {
            let mut failures = HashMap::new();
            for name in listed(&self.backend.list(&id)?.objects) {
                let list = self.read_failures(&id, &name)?.unwrap_or_default();
                failures.extend(list.into_iter().map(|failure| ((failure.col, failure.row), failure)));
            }
            let mut failures: Vec<StoredFailure> = failures.into_values().collect();
            failures.sort_unstable_by_key(|failure| (failure.col, failure.row));
            if !failures.is_empty() {
                let description = self.manifest(&id)?.map_or_else(String::new, |manifest| manifest.label.description);
                found.push(OracleFailures { identity: id, description, failures });
            }
        }
        Ok(found)
    }

    /// Forgets the failures of oracles whose identity begins with `identity`, so that the pairs are asked again when they are wanted; answers how
    /// many there were.
    pub fn retry_failures(&self, identity: &str) -> Result<usize, StoreError> {
        let mut count = 0;
        for oracle in self.failures()?.into_iter().filter(|oracle| oracle.identity.starts_with(identity)) {
            for name in listed(&self.backend.list(&oracle.identity)?.objects) {
                self.backend.remove(&format!("{}/{name}", oracle.identity))?;
            }
            count += oracle.failures.len();
        }
        Ok(count)
    }

    pub(super) fn write_failures(&self, id: &str, failures: &[StoredFailure]) -> Result<Option<String>, StoreError> {
        if failures.is_empty() {
            return Ok(None);
        }
        let mut lines = Vec::new();
        for failure in failures {
            let written = serde_json::to_writer(&mut lines, failure);
            written.map_err(|error| StoreError::System { action: "write down a failure", source: error.into() })?;
            lines.push(b'\n');
        }
        let name = format!("{}.{EXTENSION}", blake3::hash(&lines).to_hex());
        self.backend.create_content(&format!("{id}/{name}"), lines)?;
        Ok(Some(name))
    }

    /// Reads a list; `None` where it is gone.
    pub(super) fn read_failures(&self, id: &str, name: &str) -> Result<Option<Vec<StoredFailure>>, StoreError> {
        let path = format!("{id}/{name}");
        let Some(bytes) = self.backend.get(&path)? else { return Ok(None) };
        let torn = |reason: String| StoreError::Torn { file: self.backend.describe(&path), reason };
        let digest = blake3::hash(&bytes).to_hex();
        if !name.ends_with(&format!("{digest}.{EXTENSION}")) {
            return Err(torn(format!("its {} bytes are not those that it is named by", bytes.len())));
        }
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).map_err(|error| torn(error.to_string())))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    pub(super) fn bad_failures(&self, id: &str) -> Result<Vec<Problem>, StoreError> {
        let mut problems = Vec::new();
        for name in listed(&self.backend.list(id)?.objects) {
            match self.read_failures(id, &name) {
                Err(error @ StoreError::Torn { .. }) => {
                    let name = format!("{id}/{name}");
                    problems.push(Problem { file: self.backend.describe(&name), error, name });
                }
                read => drop(read?),
            }
        }
        Ok(problems)
    }

    pub(super) fn merge_failures(&self, id: &str, dry_run: bool, cleaned: &mut Cleaned) -> Result<(), StoreError> {
        let (names, mut failures) = (listed(&self.backend.list(id)?.objects), Vec::new());
        if names.len() < 2 {
            return Ok(());
        }
        for name in &names {
            failures.extend(self.read_failures(id, name)?.unwrap_or_default());
        }
        if !dry_run {
            let written = self.write_failures(id, &failures)?;
            for name in names.iter().filter(|&name| Some(name) != written.as_ref()) {
                self.backend.remove(&format!("{id}/{name}"))?;
            }
        }
        cleaned.merged += names.len();
        cleaned.into += 1;
        Ok(())
    }
}
