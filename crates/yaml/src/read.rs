//! From a tree to typed values through serde: any `Deserialize` type can stand behind a key.
//!
//! All that is wrong is collected, with its place; of a struct every unknown key, not just the first.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::fault::{Fault, KNOWN, Path};
use super::problem::{Problem, dotted};
use super::tree::{Key, Node, Value};

/// Collector of problems while a configuration is read.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    found: Rc<RefCell<Vec<Problem>>>,
    /// Dotted paths of the keys that were asked for, of all sections.
    asked: Rc<RefCell<Vec<String>>>,
    /// The folder where relative paths of the file start.
    folder: Rc<PathBuf>,
}

impl Problems {
    /// The folder where relative paths of the file start.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// None yet, of a file in this folder.
    pub fn in_folder(folder: &std::path::Path) -> Self {
        Self { folder: Rc::new(folder.to_owned()), ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.found.borrow().len()
    }

    /// Adds one.
    pub fn add(&self, problem: Problem) {
        self.found.borrow_mut().push(problem);
    }

    /// Notes that keys of the section at `path` are known.
    pub(crate) fn ask(&self, path: &str, keys: &[&str]) {
        let mut asked = self.asked.borrow_mut();
        for path in keys.iter().map(|key| dotted(path, key)) {
            if !asked.contains(&path) {
                asked.push(path);
            }
        }
    }

    /// Adds an unknown key of the section at `path`, which knows these.
    pub(crate) fn unknown_key(&self, key: &Key, path: &str, known: &[&str]) {
        self.add(Problem::unknown_key(&key.text, path, known, &self.asked.borrow()).at(key.place));
    }

    /// True while there is none.
    pub fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    pub fn into_vec(self) -> Vec<Problem> {
        self.found.take()
    }

    /// The value, or `None` with the problem collected.
    pub fn keep<T>(&self, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.add(problem)).ok()
    }

    /// Reads a node as a `T`; `path` is its dotted path, for the message.
    pub fn read<T: DeserializeOwned>(&self, node: &Node, path: &str) -> Option<T> {
        let value = T::deserialize(Reader { node, path: &Path::Root(path), problems: self });
        value.map_err(|fault| fault.into_problem().map(|problem| self.add(problem))).ok()
    }
}

/// Names of [`ConfigPath`] and of [`FromNode`] to the reader.
const PATH: &str = "landmark_yaml::ConfigPath";
const NODE: &str = "landmark_yaml::FromNode";

/// What the reader hands over past serde, which has no type for it.
enum HandedOver {
    Path(ConfigPath),
    Node(Node, String, Problems),
}

thread_local! {
    static HANDED_OVER: Cell<Option<HandedOver>> = const { Cell::new(None) };
}

/// Path as written in the file (or in `--set`), and as resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigPath {
    /// As written: this is what counts for the hash of a configuration.
    pub written: String,
    /// Relative paths of the file start at its folder, those of `--set` at the working directory.
    pub resolved: PathBuf,
}

/// Beginning of a path that starts at the folder of the corpora, whatever names it: `--data` or the variable.
const CORPORA: &str = "$LANDMARK_DATA/";

impl ConfigPath {
    /// The place of the file, where a path may start at the folder of the corpora: `$LANDMARK_DATA/…`. `None` if that folder is not known.
    pub fn at(&self, data: Option<&std::path::Path>) -> Option<PathBuf> {
        match self.written.strip_prefix(CORPORA) {
            Some(below) => data.map(|data| data.join(below)),
            None => Some(self.resolved.clone()),
        }
    }
}

/// A value that is read from its node, because what it may hold depends on its content: a choice, for [`Section::tagged`](crate::Section::tagged).
pub trait FromNode: Sized {
    /// Reads it; `path` is its dotted path, for messages. `None` once a problem was added.
    fn from_node(node: &Node, path: &str, problems: &Problems) -> Option<Self>;
}

/// `Deserialize` of such a value, which works where a configuration is read.
pub fn from_node<'de, D: de::Deserializer<'de>, T: FromNode>(deserializer: D) -> Result<T, D::Error> {
    match deserializer.deserialize_newtype_struct(NODE, Taken("a value"))? {
        HandedOver::Node(node, path, problems) => {
            T::from_node(&node, &path, &problems).ok_or_else(|| D::Error::custom(KNOWN))
        }
        HandedOver::Path(_) => Err(D::Error::custom("a path stands where a value must be")),
    }
}

/// `Deserialize` and `JsonSchema` of a value that is read from its node: its type and its schema, as JSON.
#[macro_export]
macro_rules! read_from_node {
    ($type:ty, $schema:expr) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::from_node(deserializer)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::Schema::try_from($schema).unwrap_or_default()
            }
        }
    };
}

/// Takes what was handed over.
struct Taken(&'static str);

impl Visitor<'_> for Taken {
    type Value = HandedOver;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_unit<E: de::Error>(self) -> Result<HandedOver, E> {
        HANDED_OVER.take().ok_or_else(|| E::invalid_type(Unexpected::Unit, &self))
    }
}

impl<'de> Deserialize<'de> for ConfigPath {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_newtype_struct(PATH, Taken("a path"))? {
            HandedOver::Path(path) => Ok(path),
            HandedOver::Node(..) => Err(de::Error::custom("a value stands where a path must be")),
        }
    }
}

impl Serialize for ConfigPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.written)
    }
}

impl JsonSchema for ConfigPath {
    fn schema_name() -> Cow<'static, str> {
        "Path".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// A node as a serde deserializer.
#[derive(Clone, Copy)]
struct Reader<'a> {
    node: &'a Node,
    path: &'a Path<'a>,
    problems: &'a Problems,
}

/// Largest whole number an f64 counts exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl<'a> Reader<'a> {
    fn any<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => visitor.visit_u64(value),
                (_, Ok(value)) => visitor.visit_i64(value),
                _ => visitor.visit_f64(*value as f64),
            },
            Value::Number(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(Items { items: items.iter().enumerate(), parent: self }),
            Value::Map(entries) => {
                visitor.visit_map(Entries { entries: entries.iter(), value: None, parent: self, fields: None })
            }
        }
        .map_err(|fault: Fault| fault.within(self.path, self.node))
    }

    /// A whole number may be written `1e6`.
    fn integer<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.node.value {
            Value::Number(value) if value.fract() == 0.0 && (0.0..EXACT).contains(&value) => {
                visitor.visit_u64(value as u64).map_err(|fault: Fault| fault.within(self.path, self.node))
            }
            _ => self.any(visitor),
        }
    }
}

impl<'de> de::Deserializer<'de> for Reader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.any(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.integer(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.integer(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Fault> {
        match (name, &self.node.value) {
            (PATH, Value::Text(written)) => {
                let from_file = self.node.place.source == 0;
                let resolved = if from_file { self.problems.folder.join(written) } else { PathBuf::from(written) };
                let path = ConfigPath { written: written.clone(), resolved };
                HANDED_OVER.set(Some(HandedOver::Path(path)));
                visitor.visit_unit()
            }
            (PATH, _) => self.any(visitor),
            (NODE, _) => {
                let path = self.path.to_string();
                HANDED_OVER.set(Some(HandedOver::Node(self.node.clone(), path, self.problems.clone())));
                visitor.visit_unit()
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.problems.ask(&self.path.to_string(), fields);
        match &self.node.value {
            Value::Map(entries) => visitor
                .visit_map(Entries { entries: entries.iter(), value: None, parent: self, fields: Some(fields) })
                .map_err(|fault: Fault| fault.within(self.path, self.node)),
            _ => Err(Fault::unfinished(format!("is {}, but must be a section of keys", self.node.describe()))
                .within(self.path, self.node)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let names = || variants.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        match &self.node.value {
            Value::Text(text) => visitor.visit_enum(IntoDeserializer::<Fault>::into_deserializer(text.as_str())),
            // a name with a value: `{ duality_gap: 1e-3 }`
            Value::Map(entries) if entries.len() == 1 => visitor.visit_enum(MapAccessDeserializer::new(Entries {
                entries: entries.iter(),
                value: None,
                parent: self,
                fields: None,
            })),
            _ => Err(Fault::unfinished(format!("is {}, but must be {}", self.node.describe(), names()))),
        }
        .map_err(|fault: Fault| fault.within(self.path, self.node))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct Items<'a> {
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
    parent: Reader<'a>,
}

impl<'de> de::SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        let path = Path::Entry(self.parent.path, index);
        seed.deserialize(Reader { node, path: &path, problems: self.parent.problems }).map(Some)
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, (Key, Node)>,
    value: Option<&'a (Key, Node)>,
    parent: Reader<'a>,
    fields: Option<&'static [&'static str]>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        for entry in self.entries.by_ref() {
            let key = &entry.0;
            if let Some(fields) = self.fields
                && !fields.contains(&key.text.as_str())
            {
                self.parent.problems.unknown_key(key, &self.parent.path.to_string(), fields);
                continue;
            }
            self.value = Some(entry);
            return seed.deserialize(StrDeserializer::<Fault>::new(&key.text)).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((key, node)) = self.value.take() else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        let path = Path::Key(self.parent.path, &key.text);
        seed.deserialize(Reader { node, path: &path, problems: self.parent.problems })
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::super::tree::parse;
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields, default)]
    struct Inner {
        alpha: f64,
        z: usize,
        loss: Loss,
    }

    #[derive(Debug, Clone, Copy, Deserialize, PartialEq, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Loss {
        Hinge,
        SquaredHinge,
    }

    impl Default for Inner {
        fn default() -> Self {
            Self { alpha: 1.5, z: 2, loss: Loss::Hinge }
        }
    }

    fn read(text: &str) -> (Option<Inner>, Vec<String>) {
        let problems = Problems::default();
        let value = problems.read(&parse(text, 0).unwrap(), "m");
        (value, problems.into_vec().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_whole_number_may_have_an_exponent_and_a_number_may_be_whole() {
        let (value, problems) = read("{ alpha: 2, z: 1e3, loss: squared_hinge }");
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(value, Some(Inner { alpha: 2.0, z: 1000, loss: Loss::SquaredHinge }));
    }

    #[test]
    fn every_unknown_key_is_named_not_just_the_first() {
        assert_eq!(read("{ alhpa: 2, zz: 1 }").1, ["unknown key `alhpa` in `m`", "unknown key `zz` in `m`"]);
    }

    #[test]
    fn a_wrong_type_shows_what_is_there_and_what_must_be() {
        assert_eq!(read("{ alpha: high }").1, ["`m.alpha` is the text `high`, but must be a number"]);
        assert_eq!(read("{ z: -1 }").1, ["`m.z` is the number -1, but must be a whole number of at least 0"]);
        assert_eq!(read("{ z: 1.5 }").1, ["`m.z` is the number 1.5, but must be a whole number of at least 0"]);
        assert_eq!(read("{ loss: hinje }").1, ["`m.loss` is `hinje`, but must be `hinge` or `squared_hinge`"]);
        assert_eq!(read("[1]").1, ["`m` is a list of 1, but must be a section of keys"]);
    }
}
