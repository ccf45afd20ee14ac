//! `oracle: { kind: string }` — similarity of strings, as record linkage compares names and addresses.

use std::sync::Arc;

use landmark_core::oracle::{Itemless, Oracle};
use landmark_oracles::string::{Measure, StringSimilarity};
use landmark_store::ItemList;
use landmark_yaml::{Entry, Keys, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Items, Opened, Opening, OracleSettings, OracleSpec};
use crate::config::item_kind::ItemKind;
use crate::loaded::{LoadError, Loaded, LoadedItems};

pub static STRING: OracleSpec = OracleSpec {
    entry: Entry {
        id: "string",
        summary: "similarity of strings between 0 and 1: Jaro–Winkler, Damerau–Levenshtein or token sort; no model, no download",
        keys: Keys::of::<StringConfig>(),
        source: "Winkler 1990; Damerau 1964; rapidfuzz",
    },
    reads: &[ItemKind::Texts],
    read,
};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct StringConfig {
    /// `jaro_winkler`, `damerau_levenshtein` or `token_sort`
    measure: Measure,
    /// compare without case
    lowercase: bool,
}

impl Default for StringConfig {
    fn default() -> Self {
        Self { measure: Measure::DamerauLevenshtein, lowercase: true }
    }
}

fn read(section: &Section<'_>) -> Option<Arc<dyn OracleSettings>> {
    if section.node("gamma").is_some() {
        section.refuse("gamma", "`string` is a similarity and takes no `gamma`: remove it");
    }
    Some(Arc::new(section.part::<StringConfig>()?))
}

impl OracleSettings for StringConfig {
    fn open(&self, loaded: Loaded, _opening: &Opening<'_>) -> Result<Opened, LoadError> {
        let Loaded { dataset, items, stamps, notes } = loaded;
        let LoadedItems::Texts(texts) = items else { return Err(LoadError::pair(dataset, STRING.entry.id)) };
        let oracle = StringSimilarity::new(self.measure, self.lowercase, Arc::clone(&texts.scored));
        let alone = Itemless { identity: oracle.identity_apart_from_items(), symmetry: oracle.symmetry() };
        let item_list = ItemList::new(alone, texts.scored.texts().iter().map(String::as_bytes));
        let raw: Arc<dyn Oracle> = Arc::new(oracle);
        let items = Items::of_texts(&texts, None, &raw, None);
        Ok(Opened {
            item_list: Some(item_list),
            items,
            as_given: Arc::clone(&raw),
            raw,
            description: texts.description(&format!("under string similarity `{}`", self.measure.id())),
            is_priced: true,
            stamps,
            notes,
            facts: json!({ "items": texts.scored.identity().to_hex(), "measure": self.measure.id() }),
        })
    }
}
