//! `vectors:` — word vectors, by name, from a file or learned from the documents.

use landmark_data::{PpmiParams, VectorFormat, catalog};
use landmark_yaml::{
    ConfigPath, Entry, FromNode, Keys, Node, Problem, Problems, Section, Span, Value, choice, ids, read_from_node,
    schema_of,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum VectorsConfig {
    /// A set of the catalog, such as `self300`.
    Named(&'static str),
    File(VectorFile),
    Learned(Learned),
}

/// Word vectors in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VectorFile {
    pub path: ConfigPath,
    /// its layout
    pub format: VectorFormat,
    /// the words of a NumPy matrix
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vocabulary: Option<ConfigPath>,
}

/// Word vectors learned from the documents themselves.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Learned {
    /// Positive pointwise mutual information of neighboring words, factored.
    PpmiSvd(PpmiParams),
}

static LEARNED: &[Entry] = &[Entry {
    id: "ppmi_svd",
    summary: "positive pointwise mutual information of neighboring words, factored",
    keys: Keys::of::<PpmiParams>(),
    source: "Levy & Goldberg 2014",
}];

impl FromNode for VectorsConfig {
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self> {
        if let Value::Text(name) = &node.value {
            return Self::named(name, node.place, problems);
        }
        if node.get("kind").is_some() {
            let (kind, place, section) = Section::tagged(node, path, "kind", problems)?;
            if kind != LEARNED[0].id {
                problems.add(Problem::unknown("kind of word vectors", &kind, ids(LEARNED)).at(place));
                return None;
            }
            return Some(Self::Learned(Learned::PpmiSvd(section.whole()?)));
        }
        if let Some(name) = node.get("name").and_then(Node::as_text) {
            let section = Section::new(node, path, problems)?;
            section.finish(&["name"]);
            return Self::named(name, section.place(), problems);
        }
        let section = Section::new(node, path, problems)?;
        if !section.has("path") || !section.has("format") {
            let message = format!("`{path}` must have a `name`, or a `path` and its `format`, or `kind: ppmi_svd`");
            problems.add(Problem::new(message).at(section.place()));
            return None;
        }
        section.whole().map(Self::File)
    }
}

impl VectorsConfig {
    fn named(name: &str, place: Span, problems: &Problems) -> Option<Self> {
        let found = catalog::word_vectors().find(|known| *known == name);
        if found.is_none() {
            problems.add(Problem::unknown("word vectors", name, catalog::word_vectors()).at(place));
        }
        found.map(Self::Named)
    }
}

read_from_node!(VectorsConfig, vectors_schema());

fn vectors_schema() -> Json {
    let names = json!({ "enum": catalog::word_vectors().collect::<Vec<_>>() });
    let named = json!({ "type": "object", "properties": { "name": names }, "required": ["name"] });
    let mut learned = choice("kind", LEARNED);
    // a bare id is the name of a set
    let learned = learned["anyOf"].as_array_mut().and_then(Vec::pop);
    json!({ "anyOf": [names, named, schema_of::<VectorFile>(), learned] })
}
