//! A section read key by key; at the end it names the keys nobody asked for.

use std::cell::RefCell;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::keys::{schema_of, within_bounds};
use super::problem::{Problem, Span, dotted};
use super::read::Problems;
use super::suggest::did_you_mean;
use super::tree::{Key, Node, Value};

/// A section being read key by key.
pub struct Section<'a> {
    entries: &'a [(Key, Node)],
    place: Span,
    path: String,
    problems: &'a Problems,
    asked: RefCell<Vec<String>>,
}

impl<'a> Section<'a> {
    /// The keys of `node`; `None`, and a problem, where it is not a section.
    pub fn new(node: &'a Node, path: &str, problems: &'a Problems) -> Option<Self> {
        match &node.value {
            Value::Map(entries) => {
                Some(Self { entries, place: node.place, path: path.to_owned(), problems, asked: RefCell::default() })
            }
            _ => {
                let what = if path.is_empty() { "a configuration" } else { path };
                problems.add(
                    Problem::new(format!("`{what}` is {}, but must be a section of keys", node.describe()))
                        .at(node.place),
                );
                None
            }
        }
    }

    /// A choice by the key `tag`, or by a bare id: the id, its place, and the section of the other keys.
    pub fn tagged(
        node: &'a Node,
        path: &str,
        tag: &'static str,
        problems: &'a Problems,
    ) -> Option<(String, Span, Self)> {
        if let Value::Text(id) = &node.value {
            let asked = RefCell::default();
            let section = Self { entries: &[], place: node.place, path: path.to_owned(), problems, asked };
            return Some((id.clone(), node.place, section));
        }
        let section = Self::new(node, path, problems)?;
        let place = section.required_node(tag)?.place;
        Some((section.optional(tag)?, place, section))
    }

    /// Reads the keys that are fields of `T`; others are left to whoever asks for them, or to [`finish`](Self::finish). `None`, and a
    /// problem, if a key is missing, of the wrong type or out of its bounds.
    pub fn part<T: DeserializeOwned + JsonSchema>(&self) -> Option<T> {
        let schema = schema_of::<T>();
        let fields: Vec<&String> = schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key).collect();
        let before = self.problems.len();
        // what another struct of this section has read is not read again
        let is_mine = |key: &String| fields.contains(&key) && !self.asked.borrow().contains(key);
        let mine = self.entries.iter().filter(|(key, node)| is_mine(&key.text) && node.value != Value::Null);
        let mine = Node { value: Value::Map(mine.cloned().collect()), place: self.place };
        for field in &fields {
            self.problems.ask(&self.path, &[field]);
            if !self.asked.borrow().contains(field) {
                self.asked.borrow_mut().push((*field).clone());
            }
        }
        for key in schema["required"].as_array().into_iter().flatten().filter_map(|key| key.as_str()) {
            if mine.get(key).is_none() {
                self.miss(key, None);
            }
        }
        within_bounds(&mine, &schema, &self.path, self.problems);
        (self.problems.len() == before).then(|| self.problems.read(&mine, &self.path))?
    }

    /// Reads the whole section as a `T`, and names the keys that it has no field for.
    pub fn whole<T: DeserializeOwned + JsonSchema>(&self) -> Option<T> {
        let value = self.part();
        self.finish(&[]);
        value
    }

    pub fn place(&self) -> Span {
        self.place
    }

    pub fn problems(&self) -> &'a Problems {
        self.problems
    }

    /// The dotted path of one of its keys.
    pub fn path_of(&self, key: &str) -> String {
        dotted(&self.path, key)
    }

    /// The node behind a key, unless it is absent or empty.
    pub fn node(&self, key: &'static str) -> Option<&'a Node> {
        self.asked.borrow_mut().push(key.to_owned());
        self.problems.ask(&self.path, &[key]);
        let node = self.entries.iter().find(|(k, _)| k.text == key).map(|(_, node)| node)?;
        (node.value != Value::Null).then_some(node)
    }

    /// Reads a key that may be absent.
    pub fn optional<T: DeserializeOwned>(&self, key: &'static str) -> Option<T> {
        self.node(key).and_then(|node| self.problems.read(node, &self.path_of(key)))
    }

    /// Reads a key that must be there.
    pub fn required<T: DeserializeOwned>(&self, key: &'static str) -> Option<T> {
        self.required_node(key).and_then(|node| self.problems.read(node, &self.path_of(key)))
    }

    /// The node behind a key that must be there.
    pub fn required_node(&self, key: &'static str) -> Option<&'a Node> {
        let node = self.node(key);
        if node.is_none() {
            self.miss(key, None);
        }
        node
    }

    /// The same; `help` names what would do as well.
    pub fn required_node_or(&self, key: &'static str, help: &str) -> Option<&'a Node> {
        let node = self.node(key);
        if node.is_none() {
            self.miss(key, Some(help));
        }
        node
    }

    /// A problem for a key that must be there; one that is misspelt is unknown, and not missing as well.
    fn miss(&self, key: &str, help: Option<&str>) {
        let missing = Problem::new(format!("`{}` is missing", self.path_of(key)));
        let missing = if let Some(help) = help { missing.help(help) } else { missing };
        let written = |is_it: &dyn Fn(&str) -> bool| self.entries.iter().map(|(k, _)| k).find(|k| is_it(&k.text));
        if let Some(empty) = written(&|text| text == key) {
            self.problems.add(missing.at(empty.place).label("has no value"));
        } else if let Some(misspelt) = written(&|text| did_you_mean(text, [key]).is_some()) {
            self.problems.unknown_key(misspelt, &self.path, &[key]);
        } else {
            let start = Span { len: self.place.len.min(1), ..self.place };
            self.problems.add(missing.at(start).label("the section begins here"));
        }
    }

    /// A problem at the value of a key.
    pub fn refuse(&self, key: &str, message: impl Into<String>) {
        self.problems.add(Problem::new(message).at(self.place_of(key)));
    }

    /// The place of the value of a key, or of the section where it is not written.
    pub fn place_of(&self, key: &str) -> Span {
        self.entries.iter().find(|(k, _)| k.text == key).map_or(self.place, |(_, node)| node.place)
    }

    pub fn entries(&self) -> &'a [(Key, Node)] {
        self.entries
    }

    /// True where the key is written, even if empty.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(k, _)| k.text == key)
    }

    /// Names every key nobody asked for. `also` are keys that were read by other means.
    pub fn finish(&self, also: &[&'static str]) {
        let asked = self.asked.borrow();
        let mut known: Vec<&str> = Vec::new();
        for key in also.iter().copied().chain(asked.iter().map(String::as_str)) {
            if !known.contains(&key) {
                known.push(key);
            }
        }
        self.finish_among(known);
    }

    /// Names every key that is not among these.
    pub fn finish_among<'k>(&self, known: impl IntoIterator<Item = &'k str>) {
        let known: Vec<&str> = known.into_iter().collect();
        for (key, _) in self.entries.iter().filter(|(key, _)| !known.contains(&key.text.as_str())) {
            self.problems.unknown_key(key, &self.path, &known);
        }
    }
}
