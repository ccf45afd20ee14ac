//! A YAML file as a tree whose every key and value remembers where it stands.
//!
//! The parser's events become [`Node`]s. Plain scalars are resolved by the YAML 1.2 core schema, and `10_000_000` is a
//! whole number. Duplicate keys, a second document and custom tags are refused; anchors and aliases work.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span as Marks, Tag};

use super::problem::{Problem, Span, excerpt};

/// Nesting deeper than this is a mistake, not a configuration.
const MAX_DEPTH: usize = 64;
/// Aliases multiply; no honest configuration comes near this many nodes.
const MAX_NODES: usize = 200_000;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Kind and content.
    pub value: Value,
    pub place: Span,
}

/// A key of a section and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    pub text: String,
    pub place: Span,
}

/// The kinds of value YAML knows.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    Integer(i128),
    /// Any other number.
    Number(f64),
    Text(String),
    /// `[a, b]`.
    List(Vec<Node>),
    /// `{ a: 1, b: 2 }`, in the order written.
    Map(Vec<(Key, Node)>),
}

impl Node {
    pub fn empty(place: Span) -> Self {
        Self { value: Value::Map(Vec::new()), place }
    }

    /// The value behind a key, where this is a section that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|(_, value)| value)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Map(entries) => entries.iter_mut().find(|(k, _)| k.text == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Key and value, where this is a section that has the key.
    pub fn entry(&self, key: &str) -> Option<(&Key, &Node)> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(k, _)| k.text == key).map(|(k, v)| (k, v)),
            _ => None,
        }
    }

    /// Takes an entry out of a section.
    pub fn remove(&mut self, key: &str) -> Option<(Key, Node)> {
        match &mut self.value {
            Value::Map(entries) => {
                let position = entries.iter().position(|(k, _)| k.text == key)?;
                Some(entries.remove(position))
            }
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Kind and content in words: `` the text `high` ``.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "empty".to_owned(),
            Value::Bool(value) => format!("`{value}`"),
            Value::Integer(value) => format!("the number {value}"),
            Value::Number(value) => format!("the number {value}"),
            Value::Text(text) => format!("the text `{}`", excerpt(text)),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Map(_) => "a section of keys".to_owned(),
        }
    }
}

/// Reads one document; `source` is the number under which its text is kept.
pub fn parse(text: &str, source: usize) -> Result<Node, Problem> {
    let mut builder = Builder {
        text,
        source,
        starts: char_starts(text),
        parser: Parser::new_from_str(text),
        anchors: HashMap::new(),
        nodes: 0,
    };
    builder.document()
}

/// Byte offset of every character, and of the end.
fn char_starts(text: &str) -> Vec<usize> {
    text.char_indices().map(|(offset, _)| offset).chain([text.len()]).collect()
}

struct Builder<'a> {
    text: &'a str,
    source: usize,
    starts: Vec<usize>,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
}

impl<'a> Builder<'a> {
    fn document(&mut self) -> Result<Node, Problem> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
                _ if root.is_some() => {
                    return Err(Problem::new("a configuration is one YAML document, but a second one begins here")
                        .at(self.place(span))
                        .label("second document"));
                }
                event => root = Some(self.node(event, span, 0)?),
            }
        }
        let start = Span { source: self.source, offset: 0, len: 0 };
        Ok(root.unwrap_or(Node { value: Value::Null, place: start }))
    }

    fn next(&mut self) -> Result<(Event<'a>, Marks), Problem> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => {
                let offset = self.offset(error.marker().index());
                Err(Problem::new(format!("this is not YAML: {}", error.info()))
                    .at(Span { source: self.source, offset, len: 0 })
                    .label("the parser stopped here")
                    .help("indent with blanks, put a blank after `:`, and quote texts that contain `: ` or ` #`"))
            }
            None => Ok((Event::StreamEnd, Marks::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Marks, depth: usize) -> Result<Node, Problem> {
        let place = self.place(span);
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(Problem::new(format!(
                "nested deeper than {MAX_DEPTH} levels, or more than {MAX_NODES} values"
            ))
            .at(place));
        }
        match event {
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(node) => {
                    let node = Node { place, ..node.clone() };
                    self.nodes += count(&node);
                    Ok(node)
                }
                None => Err(Problem::new("an alias inside its own anchor").at(place)),
            },
            Event::Scalar(text, style, anchor, tag) => {
                let value = match (style, tag.as_deref()) {
                    (_, Some(tag)) => self.tagged(tag, &text, place)?,
                    (ScalarStyle::Plain, None) => resolve(&text),
                    _ => Value::Text(text.into_owned()),
                };
                Ok(self.remember(anchor, Node { value, place }))
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place)?;
                let mut items = Vec::new();
                let end = loop {
                    match self.next()? {
                        (Event::SequenceEnd, span) => break span,
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                };
                let place = self.until(place, end, items.last().map(|item| item.place));
                Ok(self.remember(anchor, Node { value: Value::List(items), place }))
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place)?;
                let mut entries: Vec<(Key, Node)> = Vec::new();
                let end = loop {
                    match self.next()? {
                        (Event::MappingEnd, span) => break span,
                        (event, span) => {
                            let key = self.key(event, span, &entries)?;
                            let (event, span) = self.next()?;
                            let mut value = self.node(event, span, depth + 1)?;
                            if value.value == Value::Null && value.place.len == 0 {
                                value.place = key.place; // an empty value has no text of its own to point at
                            }
                            entries.push((key, value));
                        }
                    }
                };
                let place = self.until(place, end, entries.last().map(|(_, value)| value.place));
                Ok(self.remember(anchor, Node { value: Value::Map(entries), place }))
            }
            other => Err(Problem::new(format!("unexpected YAML event {other:?}")).at(place)),
        }
    }

    fn key(&mut self, event: Event<'a>, span: Marks, entries: &[(Key, Node)]) -> Result<Key, Problem> {
        let place = self.place(span);
        let Event::Scalar(text, ..) = event else {
            return Err(Problem::new("a key must be a word, not a list or a section").at(place));
        };
        if let Some((first, _)) = entries.iter().find(|(key, _)| key.text == text) {
            return Err(Problem::new(format!("the key `{text}` occurs twice in one section"))
                .at(place)
                .label("again here")
                .also(first.place, "first here")
                .help("keep one of the two"));
        }
        Ok(Key { text: text.into_owned(), place })
    }

    fn remember(&mut self, anchor: usize, node: Node) -> Node {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        node
    }

    fn refuse_tag(&self, tag: Option<&Tag>, place: Span) -> Result<(), Problem> {
        match tag {
            Some(tag) if !tag.is_yaml_core_schema() => {
                Err(Problem::new(format!("the tag `{tag}` means nothing here")).at(place).help("remove it"))
            }
            _ => Ok(()),
        }
    }

    fn tagged(&self, tag: &Tag, text: &str, place: Span) -> Result<Value, Problem> {
        self.refuse_tag(Some(tag), place)?;
        Ok(if tag.suffix == "str" { Value::Text(text.to_owned()) } else { resolve(text) })
    }

    fn offset(&self, character: usize) -> usize {
        self.starts.get(character).copied().unwrap_or(self.text.len())
    }

    fn place(&self, span: Marks) -> Span {
        let (start, end) = (self.offset(span.start.index()), self.offset(span.end.index()));
        Span { source: self.source, offset: start, len: end.saturating_sub(start) }
    }

    /// A collection reaches from its first token to its closing bracket, or to its last value where it has none.
    fn until(&self, start: Span, end: Marks, last: Option<Span>) -> Span {
        let end = self.place(end);
        let stop = match last {
            Some(last) if end.len == 0 => last.offset + last.len,
            _ => end.offset + end.len,
        };
        Span { len: stop.saturating_sub(start.offset), ..start }
    }
}

fn count(node: &Node) -> usize {
    1 + match &node.value {
        Value::List(items) => items.iter().map(count).sum(),
        Value::Map(entries) => entries.iter().map(|(_, value)| count(value)).sum(),
        _ => 0,
    }
}

/// A plain scalar by the core schema; underscores between digits are allowed in numbers.
pub(crate) fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".inf" | "+.inf" => return Value::Number(f64::INFINITY),
        "-.inf" => return Value::Number(f64::NEG_INFINITY),
        ".nan" => return Value::Number(f64::NAN),
        _ => {}
    }
    let number_like = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && text.chars().all(|c| c.is_ascii_digit() || "+-._eE".contains(c))
        && text.contains(|c: char| c.is_ascii_digit())
        && !text.starts_with('_')
        && !text.ends_with('_');
    if number_like {
        let digits = text.replace('_', "");
        if let Ok(value) = digits.parse::<i128>() {
            return Value::Integer(value);
        }
        if let Ok(value) = digits.parse::<f64>() {
            return Value::Number(value);
        }
    }
    Value::Text(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        assert_eq!(resolve("10_000_000"), Value::Integer(10_000_000));
        assert_eq!(resolve("1e-3"), Value::Number(1e-3));
        assert_eq!(resolve(".5"), Value::Number(0.5));
        for word in ["20news", "yes", "1.2.3", "-", "_1", "e5", "1_"] {
            assert_eq!(resolve(word), Value::Text(word.to_owned()), "{word}");
        }
    }

    #[test]
    fn places_count_bytes_even_after_wide_characters() {
        let text = "name: größe\nseed: 7\n";
        let tree = parse(text, 0).unwrap();
        let (key, value) = tree.entry("seed").unwrap();
        assert_eq!(&text[key.place.offset..][..key.place.len], "seed");
        assert_eq!(&text[value.place.offset..][..value.place.len], "7");
    }

    #[test]
    fn a_duplicate_key_is_refused_with_both_places() {
        let problem = parse("a: 1\nb: 2\na: 3\n", 0).unwrap_err();
        assert!(problem.to_string().contains("`a` occurs twice"), "{problem}");
    }

    #[test]
    fn aliases_repeat_their_anchor() {
        let tree = parse("a: &x { k: 1 }\nb: *x\n", 0).unwrap();
        assert_eq!(tree.get("b").unwrap().get("k").unwrap().value, Value::Integer(1));
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
        for level in 1..9 {
            let before = format!("*a{}", level - 1);
            text += &format!("a{level}: &a{level} [{}]\n", vec![before; 10].join(", "));
        }
        assert!(parse(&text, 0).unwrap_err().to_string().contains("more than"));
    }
}
