//! Utterances with an intent each, domain by domain: a corpus of several domains is one classification task a domain.
//!
//! Files are tab-separated with the columns `intent` and `text`, one to train on and one to test on; a JSON object maps domains to
//! their intents where there are several.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::documents::{Columns, LabelledDocuments};
use crate::error::DataError;
use crate::rows::RowFormat;

/// Source of the domains of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentLayout {
    One,
    /// A third file maps each domain to its intents.
    Domains {
        /// The intent that is outside of all domains, and left out.
        outside: &'static str,
    },
}

/// Reads the files of a corpus: training part, test part, and the map of domains where the layout has one.
pub(crate) fn read(name: &str, paths: &[PathBuf], layout: IntentLayout) -> Result<Vec<LabelledDocuments>, DataError> {
    let columns = Columns { label: Cow::Borrowed("intent"), ..Columns::default() };
    let part = |place: usize| match paths.get(place) {
        Some(path) => LabelledDocuments::read(name, path, RowFormat::Tsv, &columns),
        None => {
            Err(DataError::Empty { path: PathBuf::from(name), what: "file of utterances to train and one to test on" })
        }
    };
    let whole = LabelledDocuments::joined(name, &part(0)?, &part(1)?);
    match (layout, paths.get(2)) {
        (IntentLayout::Domains { outside }, Some(map)) => by_domain(&whole, map, outside),
        _ => Ok(vec![whole]),
    }
}

fn by_domain(whole: &LabelledDocuments, map: &Path, outside: &str) -> Result<Vec<LabelledDocuments>, DataError> {
    let text = std::fs::read_to_string(map).map_err(DataError::io(map))?;
    let malformed = |line: usize, seen: String, wanted: &str| DataError::malformed(map, line, seen, wanted);
    let domains: BTreeMap<String, Vec<String>> = serde_json::from_str(&text)
        .map_err(|error| malformed(error.line(), error.to_string(), "an object of domains, each a list of intents"))?;
    let mapped: HashSet<&String> = domains.values().flatten().collect();
    if let Some(stray) = whole.label_names().iter().find(|&intent| intent != outside && !mapped.contains(intent)) {
        return Err(malformed(1, format!("no domain has the intent `{stray}`"), "a domain for each intent"));
    }
    Ok(domains
        .iter()
        .map(|(domain, intents)| {
            whole.with_labels(|label| intents.iter().any(|intent| intent == label)).renamed(domain)
        })
        .filter(|documents| !documents.is_empty())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(map: &str) -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = ["train.tsv", "test.tsv", "domains.json"].map(|name| folder.path().join(name)).into();
        std::fs::write(&paths[0], "intent\ttext\npay\tpay it\nfly\tbook a flight\nother\thm\n").unwrap();
        std::fs::write(&paths[1], "intent\ttext\nowe\thow much do I owe\npay\tdo pay\n").unwrap();
        std::fs::write(&paths[2], map).unwrap();
        (folder, paths)
    }

    #[test]
    fn utterances_come_by_domain_with_their_sides_and_the_outsiders_are_left_out() {
        let (_folder, paths) = files(r#"{"travel": ["fly"], "money": ["owe", "pay"]}"#);
        let domains = read("mine", &paths, IntentLayout::Domains { outside: "other" }).unwrap();
        assert_eq!(domains.iter().map(LabelledDocuments::name).collect::<Vec<_>>(), ["money", "travel"]);
        assert_eq!(domains[0].label_names(), ["owe", "pay"]);
        assert_eq!(domains[0].texts(), ["pay it", "how much do I owe", "do pay"]);
        assert_eq!(domains[0].given_split().unwrap().train, [0]);
        assert_eq!(domains[1].label_names(), ["fly"]);
        let one = read("mine", &paths[..2], IntentLayout::One).unwrap();
        assert_eq!((one.len(), one[0].len()), (1, 5));
    }

    #[test]
    fn an_intent_without_a_domain_and_a_map_that_is_none_are_named() {
        let layout = IntentLayout::Domains { outside: "other" };
        let (_folder, paths) = files(r#"{"travel": ["fly"]}"#);
        let message = read("mine", &paths, layout).unwrap_err().to_string();
        assert!(message.contains("no domain has the intent `owe`"), "{message}");
        let (_folder, paths) = files("{\n[");
        let message = read("mine", &paths, layout).unwrap_err().to_string();
        assert!(message.contains("domains.json:2: "), "{message}");
    }
}
