//! What a configuration can name, and the keys it takes. A key is declared once, as the field of the struct that reads it: its type, its
//! default, its bounds and its doc become, through [`JsonSchema`], what [`Section::part`](crate::Section::part) checks, what `list` shows and
//! the schema that editors complete and check with.

use std::fmt;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use crate::problem::{Problem, dotted};
use crate::read::Problems;
use crate::tree::{Node, Value};

/// Something a configuration can name.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub id: &'static str,
    /// One line: what it is.
    pub summary: &'static str,
    pub keys: Keys,
    /// Paper and section, or where to get it.
    pub source: &'static str,
}

/// A key, as people read of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The key; `section.key` if it stands in a section of its own.
    pub name: String,
    /// The value it has if it is not written; empty if it must be.
    pub default: String,
    /// A value to show if it must be written.
    pub example: String,
    /// One line: its effect.
    pub doc: String,
}

/// Keys of an [`Entry`]: the fields of one struct, or of several that read the same section.
#[derive(Clone, Copy)]
pub struct Keys {
    parts: [Option<fn() -> Json>; 6],
    section: Option<&'static str>,
}

impl Keys {
    pub const NONE: Self = Self { parts: [None; 6], section: None };

    /// The fields of a struct.
    pub const fn of<T: JsonSchema>() -> Self {
        Self { parts: [Some(schema_of::<T>), None, None, None, None, None], section: None }
    }

    /// The fields of another struct as well; those of the first win. At most six structs read a section.
    #[must_use]
    pub const fn and<T: JsonSchema>(self) -> Self {
        let mut parts = self.parts;
        let mut free = 0;
        while parts[free].is_some() {
            free += 1;
        }
        parts[free] = Some(schema_of::<T>);
        Self { parts, section: self.section }
    }

    /// The same in a section of this name at the top of the file.
    #[must_use]
    pub const fn under(self, section: &'static str) -> Self {
        Self { section: Some(section), ..self }
    }

    /// Name of the section at the top of the file, if they have one of their own.
    pub fn section(&self) -> Option<&'static str> {
        self.section
    }

    pub fn schema(&self) -> Json {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for part in self.parts.iter().flatten().map(|part| part()) {
            let names = part["required"].as_array().cloned().unwrap_or_default();
            for (name, schema) in part["properties"].as_object().into_iter().flatten() {
                if !properties.contains_key(name) {
                    properties.insert(name.clone(), schema.clone());
                    required.extend(names.iter().filter(|wanted| *wanted == name).cloned());
                }
            }
        }
        let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        schema
    }

    /// Every key, in the order of the structs.
    pub fn list(&self) -> Vec<Parameter> {
        let schema = self.schema();
        let is_required = |name: &str| schema["required"].as_array().is_some_and(|keys| keys.iter().any(|k| k == name));
        let parameter = |(name, key): (&String, &Json)| Parameter {
            name: dotted(self.section.unwrap_or_default(), name),
            default: if is_required(name) { String::new() } else { in_flow(&key["default"]) },
            example: in_flow(&key["examples"][0]),
            doc: key["description"].as_str().unwrap_or_default().replace('\n', " "),
        };
        schema["properties"].as_object().into_iter().flatten().map(parameter).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.parts[0].is_none()
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list().iter().map(|key| key.name.clone())).finish()
    }
}

pub fn find(list: &'static [Entry], id: &str) -> Option<&'static Entry> {
    list.iter().find(|entry| entry.id == id)
}

/// All ids of a list, in its order.
pub fn ids(list: &'static [Entry]) -> impl Iterator<Item = &'static str> + Clone {
    list.iter().map(|entry| entry.id)
}

/// A choice of entries as JSON Schema: a section whose key `tag` names one of them and which holds its keys, or the bare id of one whose keys
/// have defaults.
pub fn choice(tag: &str, entries: &[Entry]) -> Json {
    // entries with the same keys share a branch
    let mut branches: Vec<(Json, Vec<&Entry>)> = Vec::new();
    for entry in entries {
        let schema = entry.keys.schema();
        match branches.iter_mut().find(|(known, _)| *known == schema) {
            Some((_, named)) => named.push(entry),
            None => branches.push((schema, vec![entry])),
        }
    }
    let mut alternatives = Vec::new();
    for (mut schema, named) in branches {
        let ids: Vec<&str> = named.iter().map(|entry| entry.id).collect();
        let name = json!({ "enum": ids });
        let mut required = vec![Json::from(tag)];
        required.extend(schema["required"].as_array().cloned().unwrap_or_default());
        if required.len() == 1 {
            alternatives.push(name.clone());
        }
        let mut properties = Map::from_iter([(tag.to_owned(), name)]);
        properties.extend(schema["properties"].as_object().cloned().unwrap_or_default());
        schema["properties"] = properties.into();
        schema["required"] = required.into();
        alternatives.push(schema);
    }
    json!({ "anyOf": alternatives })
}

/// A type as JSON Schema, written out.
pub fn schema_of<T: JsonSchema>() -> Json {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema, true);
    schema
}

/// Without names of types, and without formats that only Rust knows. Sections refuse keys that they do not know.
fn plain(schema: &mut Json, is_schema: bool) {
    match schema {
        Json::Object(map) if is_schema => {
            map.remove("title");
            map.remove("format");
            if map.contains_key("properties") {
                map.entry("additionalProperties").or_insert(Json::Bool(false));
            }
            for (key, value) in map.iter_mut() {
                match key.as_str() {
                    "properties" => plain(value, false),
                    "default" | "examples" | "enum" | "const" => {}
                    _ => plain(value, true),
                }
            }
        }
        Json::Object(map) => map.values_mut().for_each(|schema| plain(schema, true)),
        Json::Array(schemas) => schemas.iter_mut().for_each(|schema| plain(schema, true)),
        _ => {}
    }
}

/// A value in one line, as YAML would have it: `{ train: 0.7 }`; `none` for nothing.
fn in_flow(value: &Json) -> String {
    match value {
        Json::Null => "none".to_owned(),
        Json::String(text) => text.clone(),
        Json::Array(items) => format!("[{}]", items.iter().map(in_flow).collect::<Vec<_>>().join(", ")),
        Json::Object(map) if map.is_empty() => "{}".to_owned(),
        Json::Object(map) => {
            let keys = map.iter().map(|(key, value)| format!("{key}: {}", in_flow(value)));
            format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Names every number in a value that is out of the bounds its schema states.
pub(crate) fn within_bounds(node: &Node, schema: &Json, path: &str, problems: &Problems) {
    let number = match &node.value {
        Value::Integer(value) => Some(*value as f64),
        Value::Number(value) => Some(*value),
        Value::List(items) => {
            if items.is_empty() && schema["minItems"].as_u64().is_some_and(|least| least > 0) {
                problems.add(Problem::new(format!("`{path}` is empty, but must list at least one")).at(node.place));
            }
            for (index, item) in items.iter().enumerate() {
                within_bounds(item, &schema["items"], &format!("{path}[{index}]"), problems);
            }
            None
        }
        Value::Map(entries) => {
            for (key, value) in entries {
                if let Some(schema) = schema["properties"].get(&key.text) {
                    within_bounds(value, schema, &dotted(path, &key.text), problems);
                }
            }
            None
        }
        _ => None,
    };
    let alternatives = [&schema["anyOf"], &schema["oneOf"]].into_iter().find_map(Json::as_array);
    for alternative in alternatives.into_iter().flatten() {
        let suits = match &node.value {
            Value::Map(entries) => entries.iter().all(|(key, _)| alternative["properties"].get(&key.text).is_some()),
            Value::List(_) => alternative["type"] == "array",
            _ => false,
        };
        if suits {
            within_bounds(node, alternative, path, problems);
        }
    }
    let Some(number) = number else { return };
    let bound = |key: &str| schema[key].as_f64();
    let (least, most) = (bound("minimum"), bound("maximum"));
    let (above, below) = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
    let is_good = number.is_finite()
        && least.is_none_or(|least| number >= least)
        && most.is_none_or(|most| number <= most)
        && above.is_none_or(|above| number > above)
        && below.is_none_or(|below| number < below);
    // a whole number below 0 is no number of its type, which is reported where it is read
    let is_typed = least == Some(0.0) && most.is_none() && number < 0.0;
    if is_good || is_typed || schema.get("type").is_none() {
        return;
    }
    let wanted = match (least, above, most, below) {
        (Some(least), _, Some(most), _) => format!("between {least} and {most}"),
        (Some(least), _, _, Some(below)) => format!("at least {least} and below {below}"),
        (_, Some(above), _, Some(below)) => format!("above {above} and below {below}"),
        (_, Some(above), Some(most), _) => format!("above {above} and at most {most}"),
        (Some(least), ..) => format!("at least {least}"),
        (_, Some(above), ..) => format!("a number above {above}"),
        (_, _, Some(most), _) => format!("at most {most}"),
        _ => "a finite number".to_owned(),
    };
    problems.add(Problem::new(format!("`{path}` is {number}, but must be {wanted}")).at(node.place));
}
