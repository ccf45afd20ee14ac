//! Datasets and models that a configuration reads, so that they can be fetched before it runs.

use landmark_data::catalog::{self, Dataset};
use landmark_oracles::neural::{KNOWN_MODELS, KnownModel};
use serde_json::{Map, Value as Json};

use crate::config::{Config, Subject};

/// Settings that name a dataset or word vectors of the catalog: alone, in a list, or as `{ name: … }`.
const DATASETS: [&str; 5] = ["dataset", "corpora", "vectors", "representations", "unlabelled"];
/// Settings that name a model, unless an endpoint has it.
const MODELS: [&str; 2] = ["model", "encoder"];

/// What a run reads from outside, as far as the catalog and the known models have it.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    /// In the order of the catalog.
    pub datasets: Vec<&'static Dataset>,
    /// In the order of the known models.
    pub models: Vec<&'static KnownModel>,
}

/// Names that stand in settings of datasets and of models.
#[derive(Default)]
struct Names {
    datasets: Vec<String>,
    models: Vec<String>,
}

impl Needs {
    /// The needs of a configuration, those of its members among them.
    pub fn of_config(config: &Config) -> serde_json::Result<Self> {
        let mut names = Names::default();
        collect(config, &mut names)?;
        Ok(Self::named(&names))
    }

    /// The needs of the settings of one configuration. No other text counts: a title, a column or the name of a run may be called as a dataset is.
    pub(crate) fn of(config: &Json) -> Self {
        let mut names = Names::default();
        names.walk(config);
        Self::named(&names)
    }

    fn named(names: &Names) -> Self {
        let is_in = |names: &[String], wanted: &str| names.iter().any(|name| name == wanted);
        Self {
            datasets: catalog::all().filter(|dataset| is_in(&names.datasets, dataset.name)).collect(),
            models: KNOWN_MODELS.iter().filter(|model| is_in(&names.models, model.name)).collect(),
        }
    }

    pub fn dataset_names(&self) -> Vec<&'static str> {
        self.datasets.iter().map(|dataset| dataset.name).collect()
    }
}

fn collect(config: &Config, names: &mut Names) -> serde_json::Result<()> {
    if let Subject::Collection(collection) = &config.subject {
        return collection.members.iter().try_for_each(|member| collect(member, names));
    }
    names.walk(&serde_json::to_value(config)?);
    Ok(())
}

impl Names {
    fn walk(&mut self, value: &Json) {
        match value {
            Json::Array(values) => values.iter().for_each(|value| self.walk(value)),
            Json::Object(map) => map.iter().for_each(|(key, value)| {
                if DATASETS.contains(&key.as_str()) {
                    self.datasets_in(value);
                } else if MODELS.contains(&key.as_str()) && !is_endpoint(map) {
                    self.models.extend(value.as_str().map(str::to_owned));
                }
                self.walk(value);
            }),
            _ => {}
        }
    }

    fn datasets_in(&mut self, value: &Json) {
        match value {
            Json::String(name) => self.datasets.push(name.clone()),
            Json::Array(values) => values.iter().for_each(|value| self.datasets_in(value)),
            Json::Object(map) => self.datasets.extend(map.get("name").and_then(Json::as_str).map(str::to_owned)),
            _ => {}
        }
    }
}

/// True of settings whose model a server runs.
fn is_endpoint(settings: &Map<String, Json>) -> bool {
    settings.contains_key("url")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datasets_vectors_and_models_are_found_in_the_settings_that_name_them() {
        let config = serde_json::json!({
            "dataset": {"name": "twitter", "vectors": "self300"},
            "methods": [{"proxy": {"model": "all-MiniLM-L6-v2"}}],
            "intent": {"corpora": ["snips"], "representations": ["glove50_8k"]},
            "title": "about stsb",
        });
        let needs = Needs::of(&config);
        let mut names = needs.dataset_names();
        names.sort_unstable();
        assert_eq!(names, ["glove50_8k", "self300", "snips", "twitter"]);
        assert_eq!(needs.models.iter().map(|model| model.name).collect::<Vec<_>>(), ["all-MiniLM-L6-v2"]);
    }

    #[test]
    fn a_run_a_title_a_column_or_a_method_called_as_a_dataset_needs_none() {
        let config = serde_json::json!({
            "name": "twitter", "title": "stsb", "methods": [{"id": "nystrom", "name": "self300"}],
            "dataset": {"name": "texts", "path": "tweets.tsv", "text": "trec", "id": "snips"},
            "oracle": {"kind": "http", "url": "http://localhost:1/x", "model": "all-MiniLM-L6-v2"},
        });
        let needs = Needs::of(&config);
        assert!(needs.datasets.is_empty() && needs.models.is_empty(), "{needs:?}");
    }
}
