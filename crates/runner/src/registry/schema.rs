//! The JSON Schema of a configuration, from the structs that read it: editors complete and check with it.
//!
//! `cargo xtask docs --write` writes it to [`FILE`]. It accepts a little more than what runs: requirements between keys
//! are checked where a configuration is read.

use std::collections::HashMap;

use landmark_harness::config::{COLLECTION, DatasetConfig, Ranks, SECTIONS, top_keys};
use landmark_yaml::{Entry, choice, schema_of};
use serde_json::{Map, Value as Json, json};

use super::{EXPERIMENTS, METHODS, ORACLES, registry};

/// The committed schema, from the root of the repository.
pub const FILE: &str = "docs/reference/landmark.schema.json";

fn properties() -> Map<String, Json> {
    let mut properties = Map::new();
    for keys in top_keys().map(|keys| keys.schema()) {
        properties.extend(keys["properties"].as_object().cloned().unwrap_or_default());
    }
    let oracles: Vec<Entry> = ORACLES.iter().map(|oracle| oracle.entry).collect();
    let methods: Vec<Entry> = METHODS.iter().map(|method| method.in_a_list()).collect();
    let experiments = registry().experiment_entries();
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
    properties
}

fn described(mut schema: Json, text: &str) -> Json {
    schema["description"] = text.into();
    schema
}

/// The whole schema. A section of a profile is laid over that of the file, so it may leave out keys that the file must
/// have: sections are defined without the keys that they require, for profiles, and a file requires them on top.
pub fn schema() -> Json {
    let needs = |experiments: Vec<&str>, required: &[&str]| {
        json!({
            "if": { "required": ["experiment"], "properties": { "experiment": { "enum": experiments } } },
            "then": { "required": required },
        })
    };
    let sweeps = EXPERIMENTS.iter().map(|experiment| experiment.entry().entry.id).collect();
    let properties = properties();
    let mut of_profile: Map<_, _> = properties.iter().map(|(key, schema)| (key.clone(), partial(schema))).collect();
    of_profile.remove("name");
    let mut of_file: Map<_, _> = properties.iter().map(|(key, schema)| (key.clone(), whole(schema))).collect();
    let profile = json!({ "type": ["object", "null"], "properties": of_profile, "additionalProperties": false });
    let profiles = json!({
        "type": "object",
        "description": "named sections that are laid over the rest",
        "additionalProperties": { "$ref": "#/definitions/profile" },
    });
    of_file.insert("profiles".to_owned(), profiles);
    shared(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A configuration of Landmark",
        "type": "object",
        "required": ["name", "experiment"],
        "allOf": [needs(sweeps, &["dataset", "oracle"]), needs(vec![COLLECTION], &["members"])],
        "properties": of_file,
        "additionalProperties": false,
        "definitions": { "profile": profile },
    }))
}

/// True if a section of it requires keys. Lists do not count: a profile replaces them.
fn requires(schema: &Json) -> bool {
    schema.get("required").is_some() || parts(schema).any(requires)
}

/// The alternatives of a schema, and its properties.
fn parts(schema: &Json) -> impl Iterator<Item = &Json> {
    let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    alternatives.chain(schema.get("properties").and_then(Json::as_object).into_iter().flat_map(Map::values))
}

/// The schema with every alternative and property changed.
fn mapped(schema: &Json, change: fn(&Json) -> Json) -> Json {
    let mut schema = schema.clone();
    for key in ["anyOf", "oneOf"] {
        if let Some(alternatives) = schema.get_mut(key).and_then(Json::as_array_mut) {
            alternatives.iter_mut().for_each(|one| *one = change(one));
        }
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        properties.values_mut().for_each(|one| *one = change(one));
    }
    schema
}

/// A section of a profile: none of its keys is required.
fn partial(schema: &Json) -> Json {
    let mut schema = mapped(schema, partial);
    if let Some(map) = schema.as_object_mut() {
        map.remove("required");
    }
    schema
}

/// A section of a file: that of a profile, and what is required on top of it.
fn whole(schema: &Json) -> Json {
    let Some(properties) = schema.get("properties").and_then(Json::as_object).filter(|_| requires(schema)) else {
        return mapped(schema, whole);
    };
    let deeper: Map<String, Json> =
        properties.iter().filter(|(_, of)| requires(of)).map(|(key, of)| (key.clone(), whole(of))).collect();
    let mut more = Map::new();
    if let Some(required) = schema.get("required") {
        more.insert("required".to_owned(), required.clone());
    }
    if !deeper.is_empty() {
        more.insert("properties".to_owned(), deeper.into());
    }
    json!({ "allOf": [partial(schema), more] })
}

/// Schemas shorter than this stand where they are used.
const SHORT: usize = 120;

/// The same schema, with what occurs more than once in `definitions`, under the key that it is first the value of.
fn shared(mut whole: Json) -> Json {
    let mut seen = HashMap::new();
    count(&whole, "configuration", &mut seen);
    let mut repeated: Vec<(String, String)> =
        seen.into_iter().filter(|(_, (times, _))| *times > 1).map(|(text, (_, key))| (key, text)).collect();
    repeated.sort();
    let mut names: HashMap<String, String> = HashMap::new();
    for (at, (key, text)) in repeated.iter().enumerate() {
        let before = repeated[..at].iter().rev().take_while(|(other, _)| other == key).count();
        names.insert(text.clone(), if before == 0 { key.clone() } else { format!("{key}_{}", before + 1) });
    }
    let mut definitions = Map::new();
    for (_, text) in &repeated {
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

/// Counts every schema that is long enough to be shared; `key` is the nearest one above it.
fn count(schema: &Json, key: &str, seen: &mut HashMap<String, (usize, String)>) {
    // a section may have a key `type`, whose value is a schema
    let is_schema = ["type", "anyOf", "oneOf", "allOf"]
        .iter()
        .any(|keyword| schema.get(keyword).is_some_and(|value| value.is_string() || value.is_array()));
    // what a choice names
    let named = schema.get("properties").and_then(Json::as_object).into_iter().flat_map(Map::values).find_map(|of| {
        let is_name = of.as_object().is_some_and(|of| of.len() == 1);
        of.get("enum").filter(|_| is_name)?.get(0)?.as_str()
    });
    let key = named.unwrap_or(key);
    if is_schema {
        let text = schema.to_string();
        if text.len() > SHORT {
            let (times, _) = seen.entry(text).or_insert((0, key.to_owned()));
            *times += 1;
            if *times > 1 {
                return;
            }
        }
    }
    match schema {
        Json::Object(map) => {
            for (inner_key, inner) in map {
                let is_keyword = is_schema || matches!(inner_key.as_str(), "properties" | "definitions" | "items");
                count(inner, if is_keyword { key } else { inner_key }, seen);
            }
        }
        Json::Array(items) => items.iter().for_each(|inner| count(inner, key, seen)),
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

/// Columns of the committed file.
const WIDTH: usize = 160;

/// The schema as the file holds it: what fits into a line stands in one.
pub fn text() -> String {
    let mut text = String::new();
    write(&schema(), 0, 0, &mut text);
    text + "\n"
}

/// Writes a value at a depth, after `before` columns of its line.
fn write(value: &Json, depth: usize, before: usize, out: &mut String) {
    let in_a_line = value.to_string();
    let (open, close, items): (_, _, Vec<(String, &Json)>) = match value {
        Json::Object(map) if before + in_a_line.len() > WIDTH => {
            ('{', '}', map.iter().map(|(key, value)| (format!("{}: ", Json::from(key.as_str())), value)).collect())
        }
        // names stay in one line
        Json::Array(items) if before + in_a_line.len() > WIDTH && items.iter().any(Json::is_object) => {
            ('[', ']', items.iter().map(|item| (String::new(), item)).collect())
        }
        _ => return out.push_str(&in_a_line),
    };
    out.push(open);
    for (at, (key, item)) in items.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&" ".repeat(depth + 1));
        out.push_str(key);
        write(item, depth + 1, depth + 1 + key.len(), out);
    }
    out.push('\n');
    out.push_str(&" ".repeat(depth));
    out.push(close);
}
