//! The JSON Schema of a configuration, from the structs that read it: editors complete and check with it.
//!
//! `runner docs --write` writes it to [`FILE`]. What it accepts is a little more than what runs: requirements between keys are checked where a
//! configuration is read.

use std::collections::HashMap;

use landmark_harness::config::{COLLECTION, DatasetConfig, Ranks, SECTIONS, top_keys};
use landmark_yaml::{Entry, choice, schema_of};
use serde_json::{Map, Value as Json, json};

use super::{METHODS, ORACLES, catalogue, experiments};

/// The committed schema, from the root of the repository.
pub const FILE: &str = "docs/reference/landmark.schema.json";

/// The schema of a configuration; of a profile with `is_profile`, which may leave out every key.
fn keys(is_profile: bool) -> Json {
    let [run, sweep] = top_keys().map(|keys| keys.schema());
    let mut properties = Map::new();
    for part in [&run, &sweep] {
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
    }
    let oracles: Vec<Entry> = ORACLES.iter().map(|oracle| oracle.entry).collect();
    let methods: Vec<Entry> = METHODS.iter().map(|method| method.in_a_list()).collect();
    let experiments = catalogue().experiment_entries();
    let names: Vec<&str> = experiments.iter().map(|entry| entry.id).collect();
    properties.insert("experiment".to_owned(), json!({ "enum": names, "description": "what is measured" }));
    properties.insert("oracle".to_owned(), described(choice("kind", &oracles), "the score of a pair"));
    properties.insert("dataset".to_owned(), described(schema_of::<DatasetConfig>(), "the items"));
    let methods = described(json!({ "type": "array", "items": choice("id", &methods), "minItems": 1 }), "the methods");
    properties.insert("methods".to_owned(), methods.clone());
    properties.insert("ranks".to_owned(), described(schema_of::<Ranks>(), "numbers of landmarks, or shares"));
    for entry in SECTIONS.iter().filter(|entry| !["budget", "error_estimate"].contains(&entry.id)) {
        properties.insert(entry.id.to_owned(), described(entry.keys.schema(), entry.summary));
    }
    for entry in &experiments {
        if let Some(section) = entry.keys.section() {
            properties.insert(section.to_owned(), described(entry.keys.schema(), entry.summary));
        } else if entry.id != COLLECTION {
            properties.extend(entry.keys.schema()["properties"].as_object().cloned().unwrap_or_default());
        }
    }
    // the methods of `coref` are those of a sweep
    if let Some(of_coref) = properties.get_mut("coref").and_then(|coref| coref["properties"].as_object_mut()) {
        of_coref.insert("methods".to_owned(), methods);
    }
    if is_profile {
        // sections of a profile are laid over those of the file, so they may hold some of their keys
        properties.remove("name");
        properties.values_mut().for_each(without_required);
        return json!({ "type": ["object", "null"], "properties": properties, "additionalProperties": false });
    }
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    schema["required"] = json!(["name", "experiment"]);
    schema
}

fn described(mut schema: Json, text: &str) -> Json {
    schema["description"] = text.into();
    schema
}

fn without_required(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            if map.contains_key("properties") {
                map.remove("required");
            }
            map.values_mut().for_each(without_required);
        }
        Json::Array(items) => items.iter_mut().for_each(without_required),
        _ => {}
    }
}

/// The whole schema.
pub fn schema() -> Json {
    let mut whole = keys(false);
    whole["properties"]["profiles"] = json!({
        "type": "object", "description": "named sections that are laid over the rest", "additionalProperties": { "$ref": "#/definitions/profile" },
    });
    let needs = |experiments: Vec<&str>, required: &[&str]| {
        json!({
            "if": { "required": ["experiment"], "properties": { "experiment": { "enum": experiments } } },
            "then": { "required": required },
        })
    };
    let sweeps = experiments::EXPERIMENTS.iter().map(|experiment| experiment.entry().entry.id).collect();
    let mut all = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A configuration of Landmark",
    });
    if let (Json::Object(all), Json::Object(whole)) = (&mut all, whole) {
        all.extend(whole);
        all.insert(
            "allOf".to_owned(),
            json!([needs(sweeps, &["dataset", "oracle"]), needs(vec![COLLECTION], &["members"])]),
        );
        all.insert("definitions".to_owned(), json!({ "profile": keys(true) }));
    }
    shared(all)
}

/// Schemas shorter than this stand where they are used.
const SHORT: usize = 300;

/// The same schema, with what occurs more than once in `definitions`.
fn shared(mut whole: Json) -> Json {
    let mut seen: HashMap<String, usize> = HashMap::new();
    count(&whole, &mut seen);
    let mut repeated: Vec<_> = seen.into_iter().filter(|(_, times)| *times > 1).map(|(text, _)| text).collect();
    // the longest first: what is inside of them is shared as well
    repeated.sort_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
    let names: HashMap<String, String> =
        repeated.iter().enumerate().map(|(number, text)| (text.clone(), format!("part{number}"))).collect();
    let mut definitions = Map::new();
    for text in &repeated {
        if let (Some(name), Ok(mut part)) = (names.get(text), serde_json::from_str::<Json>(text)) {
            children(&mut part, &mut |inner| refer(inner, &names));
            definitions.insert(name.clone(), part);
        }
    }
    children(&mut whole, &mut |inner| refer(inner, &names));
    if let Some(known) = whole["definitions"].as_object_mut() {
        known.extend(definitions);
    }
    whole
}

fn count(schema: &Json, seen: &mut HashMap<String, usize>) {
    if schema.is_object() {
        let text = schema.to_string();
        if text.len() > SHORT && (schema.get("type").is_some() || schema.get("anyOf").is_some()) {
            let times = seen.entry(text).or_default();
            *times += 1;
            if *times > 1 {
                return;
            }
        }
    }
    match schema {
        Json::Object(map) => map.values().for_each(|inner| count(inner, seen)),
        Json::Array(items) => items.iter().for_each(|inner| count(inner, seen)),
        _ => {}
    }
}

fn children(schema: &mut Json, change: &mut dyn FnMut(&mut Json)) {
    match schema {
        Json::Object(map) => map.values_mut().for_each(change),
        Json::Array(items) => items.iter_mut().for_each(change),
        _ => {}
    }
}

fn refer(schema: &mut Json, names: &HashMap<String, String>) {
    if schema.is_object()
        && let Some(name) = names.get(&schema.to_string())
    {
        *schema = json!({ "$ref": format!("#/definitions/{name}") });
        return;
    }
    children(schema, &mut |inner| refer(inner, names));
}

/// The schema as the file holds it.
pub fn text() -> String {
    format!("{:#}\n", schema())
}
