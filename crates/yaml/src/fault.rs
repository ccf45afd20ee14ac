//! Errors of reading a configuration into a type: where, what stands there, what must.

use std::fmt;

use serde::de::{self, Unexpected};

use super::problem::{Problem, Span, excerpt, list};
use super::tree::Node;

/// The error of a value whose problems are collected.
pub(crate) const KNOWN: &str = "";

/// The way to a value.
pub(crate) enum Path<'a> {
    Root(&'a str),
    Key(&'a Path<'a>, &'a str),
    Entry(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(root) => f.write_str(root),
            Self::Key(Path::Root(""), key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Entry(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// A serde error that remembers where it happened.
#[derive(Debug)]
pub(crate) struct Fault {
    message: String,
    complete: bool,
    place: Option<Span>,
    help: Option<String>,
}

impl Fault {
    pub(crate) fn within(mut self, path: &Path<'_>, node: &Node) -> Self {
        if self.place.is_none() {
            self.place = Some(node.place);
            if !self.complete {
                self.message = format!("`{path}` {}", self.message);
                self.complete = true;
            }
        }
        self
    }

    /// None of a fault that was reported where it was found.
    pub(crate) fn into_problem(self) -> Option<Problem> {
        if self.message.is_empty() {
            return None;
        }
        let problem = Problem::new(self.message);
        let problem = match self.place {
            Some(place) => problem.at(place),
            None => problem,
        };
        Some(match self.help {
            Some(help) => problem.help(help),
            None => problem,
        })
    }

    pub(crate) fn unfinished(message: String) -> Self {
        Self { message, complete: false, place: None, help: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        match message.to_string() {
            known if known == KNOWN => Self { complete: true, ..Self::unfinished(known) },
            message => Self::unfinished(format!("is wrong: {message}")),
        }
    }

    fn invalid_type(seen: Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        Self::unfinished(format!("is {}, but must be {}", in_words(seen), plainly(&wanted.to_string())))
    }

    fn invalid_value(seen: Unexpected<'_>, wanted: &dyn de::Expected) -> Self {
        Self::invalid_type(seen, wanted)
    }

    fn unknown_variant(seen: &str, known: &'static [&'static str]) -> Self {
        let near = crate::suggest::did_you_mean(seen, known.iter().copied());
        let wanted = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        Self {
            help: near.map(|near| format!("did you mean `{near}`?")),
            ..Self::unfinished(format!("is `{seen}`, but must be {wanted}"))
        }
    }

    fn unknown_field(seen: &str, known: &'static [&'static str]) -> Self {
        let near = crate::suggest::did_you_mean(seen, known.iter().copied());
        let help = near.map_or_else(|| format!("known: {}", list(known)), |near| format!("did you mean `{near}`?"));
        Self { help: Some(help), ..Self::unfinished(format!("has the unknown key `{seen}`")) }
    }

    fn missing_field(key: &'static str) -> Self {
        Self::unfinished(format!("lacks the key `{key}`"))
    }
}

fn in_words(seen: Unexpected<'_>) -> String {
    match seen {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("the number {value}"),
        Unexpected::Signed(value) => format!("the number {value}"),
        Unexpected::Float(value) => format!("the number {value}"),
        Unexpected::Str(text) => format!("the text `{}`", excerpt(text)),
        Unexpected::Unit | Unexpected::Option => "empty".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a section of keys".to_owned(),
        other => other.to_string(),
    }
}

fn plainly(wanted: &str) -> String {
    match wanted {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number of at least 0".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a string" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "path string" => "a path".to_owned(),
        other if other.starts_with("struct ") => "a section of keys".to_owned(),
        other if other.starts_with("enum ") || other == "variant identifier" => {
            "one of the names known here".to_owned()
        }
        other => other.to_owned(),
    }
}
