//! Datasets and models that a configuration names, so that they can be fetched before it runs.

use landmark_data::catalog::{self, Dataset};
use landmark_oracles::neural::{KNOWN_MODELS, KnownModel};
use serde_json::Value as Json;

use crate::config::{Config, Subject};

/// What a run reads from outside, as far as the catalog and the known models have it.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    /// In the order of the catalog.
    pub datasets: Vec<&'static Dataset>,
    /// In the order of the known models.
    pub models: Vec<&'static KnownModel>,
}

impl Needs {
    /// The needs of a configuration, those of its members among them.
    ///
    /// # Errors
    /// Settings that are no JSON.
    pub fn of_config(config: &Config) -> serde_json::Result<Self> {
        let mut names = Vec::new();
        collect(config, &mut names)?;
        Ok(Self::named(&names))
    }

    /// Every dataset and every model whose name stands somewhere in a configuration.
    pub(crate) fn of(config: &Json) -> Self {
        let mut names = Vec::new();
        walk(config, &mut names);
        Self::named(&names)
    }

    fn named(names: &[String]) -> Self {
        let is_named = |wanted: &str| names.iter().any(|name| name == wanted);
        Self {
            datasets: catalog::all().filter(|dataset| is_named(dataset.name)).collect(),
            models: KNOWN_MODELS.iter().filter(|model| is_named(model.name)).collect(),
        }
    }

    /// Names of the datasets.
    pub fn dataset_names(&self) -> Vec<&'static str> {
        self.datasets.iter().map(|dataset| dataset.name).collect()
    }
}

fn collect(config: &Config, names: &mut Vec<String>) -> serde_json::Result<()> {
    if let Subject::Collection(collection) = &config.subject {
        return collection.members.iter().try_for_each(|member| collect(member, names));
    }
    walk(&serde_json::to_value(config)?, names);
    Ok(())
}

fn walk(value: &Json, names: &mut Vec<String>) {
    match value {
        Json::String(text) if !names.contains(text) => names.push(text.clone()),
        Json::Array(values) => values.iter().for_each(|value| walk(value, names)),
        Json::Object(map) => map.values().for_each(|value| walk(value, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_wherever_they_stand() {
        let config = serde_json::json!({
            "dataset": {"name": "twitter", "vectors": "self300"},
            "methods": [{"proxy": {"model": "all-MiniLM-L6-v2"}}],
            "title": "about stsb",
        });
        let needs = Needs::of(&config);
        assert_eq!(needs.dataset_names(), ["twitter", "self300"]);
        assert_eq!(needs.models.iter().map(|model| model.name).collect::<Vec<_>>(), ["all-MiniLM-L6-v2"]);
    }
}
