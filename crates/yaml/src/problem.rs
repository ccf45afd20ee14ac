//! Faults of a configuration: the message, the place, and what to write instead.
//!
//! A [`Problem`] knows its place; [`ConfigError`] holds all of a file's problems and is what a person sees.

use std::fmt;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

use crate::suggest::did_you_mean;

/// A stretch of one of the texts a configuration was read from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    /// Number of the text in [`Sources`].
    pub source: usize,
    /// First byte.
    pub offset: usize,
    /// Bytes.
    pub len: usize,
}

/// The texts a configuration was read from: the file, then each `--set`.
#[derive(Debug, Default)]
pub struct Sources(Vec<Arc<NamedSource<String>>>);

impl Sources {
    /// Keeps a text and returns its number.
    pub fn add(&mut self, name: &str, text: &str) -> usize {
        self.0.push(Arc::new(NamedSource::new(name, text.to_owned())));
        self.0.len() - 1
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    message: String,
    /// The place itself, then others that matter.
    marks: Vec<(Span, Option<String>)>,
    help: Option<String>,
    is_unknown_key: bool,
}

impl Problem {
    /// A problem in words: no full stop, names in backticks.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), marks: Vec::new(), help: None, is_unknown_key: false }
    }

    /// `unknown {what} `{seen}``, with the nearest of `known` as help, or the list of them where none is near.
    pub fn unknown<'a>(what: &str, seen: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let problem = Self::new(format!("unknown {what} `{seen}`"));
        match did_you_mean(seen, known.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => problem.help("nothing goes here: remove it"),
            None => problem.help(format!("known: {}", list(&known))),
        }
    }

    /// An unknown key of the section at `path`, with the nearest of its keys as help, else the nearest of `others`, dotted paths of all that was
    /// asked for: a section may be read in parts, and what another part asked for is known as well.
    pub(crate) fn unknown_key(seen: &str, path: &str, known: &[&str], others: &[String]) -> Self {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
        let here = others.iter().filter_map(|other| other.strip_prefix(&prefix)).filter(|key| !key.contains('.'));
        let mut known = known.to_vec();
        here.for_each(|key| {
            if !known.contains(&key) {
                known.push(key);
            }
        });
        let names: Vec<&str> = others.iter().filter_map(|other| other.rsplit('.').next()).collect();
        let elsewhere = || {
            let near = did_you_mean(seen, names.iter().copied())?;
            others.iter().find(|other| other.rsplit('.').next() == Some(near))
        };
        let mut problem = Self::unknown("key", seen, known.iter().copied());
        if !path.is_empty() {
            problem = problem.and(&format!(" in `{path}`"));
        }
        if did_you_mean(seen, known.iter().copied()).is_none()
            && let Some(other) = elsewhere()
        {
            problem = problem.help(format!("did you mean `{other}`?"));
        }
        Self { is_unknown_key: true, ..problem }
    }

    /// Continues the message: `` in `svm` ``.
    #[must_use]
    pub fn and(mut self, more: &str) -> Self {
        self.message += more;
        self
    }

    /// Points at a place.
    #[must_use]
    pub fn at(mut self, place: Span) -> Self {
        self.marks.insert(0, (place, None));
        self
    }

    /// Text under the underlined part.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        if let Some((_, text)) = self.marks.first_mut() {
            *text = Some(label.into());
        }
        self
    }

    /// A second place that matters.
    #[must_use]
    pub fn also(mut self, place: Span, label: impl Into<String>) -> Self {
        self.marks.push((place, Some(label.into())));
        self
    }

    /// Next step for the reader.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Place it points at, if any.
    pub fn place(&self) -> Option<Span> {
        self.marks.first().map(|(place, _)| *place)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// `a.b`, or `b` at the top.
pub(crate) fn dotted(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// `` `a`, `b`, `c` ``.
pub fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The beginning of a text, short enough for a message.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Everything that is wrong with a configuration: unknown keys first, since other faults may follow from them, then in the order of the file. One
/// problem shows as itself.
#[derive(Debug)]
pub struct ConfigError {
    name: String,
    profile: Option<String>,
    problems: Vec<Located>,
}

impl ConfigError {
    /// Of the configuration called `name`; `problems` must not be empty.
    pub fn new(name: &str, sources: &Sources, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| {
            (!problem.is_unknown_key, problem.place().map(|place| (place.source, place.offset)))
        });
        problems.dedup();
        let located = |problem: Problem| {
            let source = problem.place().and_then(|place| sources.0.get(place.source)).cloned();
            Located { problem, source }
        };
        Self { name: name.to_owned(), profile: None, problems: problems.into_iter().map(located).collect() }
    }

    /// Names the profile that the file is wrong in.
    #[must_use]
    pub fn in_profile(self, profile: &str) -> Self {
        Self { profile: Some(profile.to_owned()), ..self }
    }

    /// Every problem with its place.
    pub fn each(&self) -> impl Iterator<Item = &dyn Diagnostic> {
        self.problems.iter().map(|problem| problem as &dyn Diagnostic)
    }

    /// Every problem as `file, line 3: message; help`, for where no frame is drawn.
    pub fn lines(&self) -> String {
        let line = |Located { problem, source }: &Located| {
            let before = source.as_ref().zip(problem.place()).and_then(|(s, place)| s.inner().get(..place.offset));
            let number = before.map_or(String::new(), |text| format!(", line {}", text.matches('\n').count() + 1));
            let help = problem.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
            format!("`{}`{number}: {problem}{help}", self.name)
        };
        self.problems.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The profile it was reported to be wrong in.
    pub fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// `` `configs/a.yaml` has 3 problems ``.
    pub fn summary(&self) -> String {
        let many =
            if self.problems.len() == 1 { "a problem".to_owned() } else { format!("{} problems", self.problems.len()) };
        let profile = self.profile.as_ref().map_or(String::new(), |profile| format!(" in the profile `{profile}`"));
        format!("`{}` has {many}{profile}", self.name)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [only] => only.fmt(f),
            _ => f.write_str(&self.summary()),
        }
    }
}

impl std::error::Error for ConfigError {}

impl Diagnostic for ConfigError {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.each()))
    }
}

/// A problem with the text it points into.
#[derive(Debug)]
struct Located {
    problem: Problem,
    source: Option<Arc<NamedSource<String>>>,
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl Located {
    /// Length of a place as shown: some lines, not a whole file.
    fn shown(&self, place: &Span) -> usize {
        const LINES: usize = 12;
        let text = self.source.as_deref().and_then(|source| source.inner().get(place.offset..place.offset + place.len));
        text.map_or(place.len, |text| text.split_inclusive('\n').take(LINES).map(str::len).sum())
    }
}

impl std::error::Error for Located {}

impl Diagnostic for Located {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let source = self.problem.place()?.source;
        let marks = self.problem.marks.iter().filter(move |(place, _)| place.source == source).enumerate();
        Some(Box::new(marks.map(|(index, (place, label))| match index {
            0 => LabeledSpan::new_primary_with_span(label.clone(), (place.offset, self.shown(place))),
            _ => LabeledSpan::new(label.clone(), place.offset, self.shown(place)),
        })))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_deref().map(|source| source as &dyn SourceCode)
    }
}
