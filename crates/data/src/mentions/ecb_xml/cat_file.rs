//! One CAT XML file of ECB+: tokens, markables that are anchored to them, and relations between markables.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::malformed;
use crate::error::DataError;
use crate::mentions::{Mention, MentionKind, NewsDocument, Token};

/// One file, as written.
#[derive(Default)]
pub(super) struct CatFile {
    pub(super) tokens: Vec<Token>,
    positions: HashMap<String, usize>,
    /// Mentions and instances, in the order of the file.
    markables: Vec<Markable>,
    ids: HashSet<String>,
    relations: Vec<Relation>,
}

struct Markable {
    id: String,
    tag: String,
    line: usize,
    tokens: Vec<usize>,
}

struct Relation {
    id: String,
    /// The instance, for one across documents.
    instance: Option<String>,
    line: usize,
    sources: Vec<String>,
}

/// Element that the reader is in.
enum Inside {
    Nothing,
    Token,
    Markable,
    Relation,
}

impl CatFile {
    pub(super) fn read(path: &Path, text: &str) -> Result<Self, DataError> {
        let mut reader = Reader::from_str(text);
        let mut lines = LineCounter { text, offset: 0, line: 1 };
        let (mut file, mut inside, mut in_markables) = (Self::default(), Inside::Nothing, false);
        let mut open_elements = 0_usize;
        loop {
            let event = reader.read_event();
            let event = event.map_err(|error| {
                malformed(path, lines.at(reader.error_position()), format!("{error}"), "well-formed XML")
            })?;
            let line = lines.at(reader.buffer_position());
            let place = Place { path, line };
            match event {
                Event::Start(element) => {
                    open_elements += 1;
                    in_markables |= element.name().as_ref() == b"Markables";
                    if let Some(now) = file.open(&place, &element, in_markables)? {
                        inside = now;
                    }
                }
                Event::Empty(element) => file.leaf(&place, &element, &inside, in_markables)?,
                Event::Text(piece) => {
                    if let Inside::Token = inside {
                        file.append(&piece.decode().map_err(|error| place.refuse(error.to_string(), "UTF-8"))?);
                    }
                }
                Event::GeneralRef(reference) => {
                    if let Inside::Token = inside {
                        file.append(&resolve(&place, &reference)?);
                    }
                }
                Event::End(element) => {
                    open_elements = open_elements.saturating_sub(1);
                    match element.name().as_ref() {
                        b"Markables" => in_markables = false,
                        b"token_anchor" | b"source" | b"target" => {}
                        _ => inside = Inside::Nothing,
                    }
                }
                Event::Eof if open_elements > 0 => {
                    return Err(
                        place.refuse(format!("the file ends inside {open_elements} open elements"), "their ends")
                    );
                }
                Event::Eof => return Ok(file),
                _ => {}
            }
        }
    }

    /// An element that has something inside.
    fn open(&mut self, place: &Place, element: &BytesStart, in_markables: bool) -> Result<Option<Inside>, DataError> {
        let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
        Ok(match name.as_str() {
            "token" => {
                let id = place.attribute(element, "t_id")?;
                let sentence = place.attribute(element, "sentence")?;
                let sentence = sentence
                    .parse()
                    .map_err(|_| place.refuse(format!("the sentence `{sentence}` of token {id}"), "a number from 0"))?;
                if self.positions.insert(id.clone(), self.tokens.len()).is_some() {
                    return Err(place.refuse(format!("the token {id} comes twice"), "an id of its own"));
                }
                self.tokens.push(Token { sentence, text: String::new() });
                Some(Inside::Token)
            }
            "CROSS_DOC_COREF" | "INTRA_DOC_COREF" => {
                let id = place.attribute(element, "r_id")?;
                let instance = if name == "CROSS_DOC_COREF" { Some(place.attribute(element, "note")?) } else { None };
                self.relations.push(Relation { id, instance, line: place.line, sources: Vec::new() });
                Some(Inside::Relation)
            }
            "Markables" | "Relations" | "Document" => None,
            _ if in_markables => {
                self.markable(place, element)?;
                Some(Inside::Markable)
            }
            _ => None,
        })
    }

    /// An element without anything inside.
    fn leaf(
        &mut self,
        place: &Place,
        element: &BytesStart,
        inside: &Inside,
        in_markables: bool,
    ) -> Result<(), DataError> {
        match (element.name().as_ref(), inside) {
            (b"token_anchor", Inside::Markable) => {
                let id = place.attribute(element, "t_id")?;
                let Some(&token) = self.positions.get(&id) else {
                    return Err(place.refuse(format!("an anchor to the unknown token {id}"), "a token of the file"));
                };
                if let Some(markable) = self.markables.last_mut() {
                    markable.tokens.push(token);
                }
                Ok(())
            }
            (b"source", Inside::Relation) => {
                let id = place.attribute(element, "m_id")?;
                if !self.ids.contains(&id) {
                    let seen = format!("a relation of the unknown mention {id}");
                    return Err(place.refuse(seen, "a mention of the file"));
                }
                if let Some(relation) = self.relations.last_mut() {
                    relation.sources.push(id);
                }
                Ok(())
            }
            (b"target", Inside::Relation) => {
                let id = place.attribute(element, "m_id")?;
                if self.ids.contains(&id) {
                    return Ok(());
                }
                Err(place.refuse(format!("a relation to the unknown instance {id}"), "an instance of the file"))
            }
            (b"token_anchor" | b"source" | b"target" | b"token", _) => Ok(()),
            _ if in_markables => self.markable(place, element),
            _ => Ok(()),
        }
    }

    fn markable(&mut self, place: &Place, element: &BytesStart) -> Result<(), DataError> {
        let id = place.attribute(element, "m_id")?;
        let tag = String::from_utf8_lossy(element.name().as_ref()).into_owned();
        if !self.ids.insert(id.clone()) {
            return Err(place.refuse(format!("the mention {id} comes twice"), "an id of its own"));
        }
        self.markables.push(Markable { id, tag, line: place.line, tokens: Vec::new() });
        Ok(())
    }

    fn append(&mut self, text: &str) {
        if let Some(token) = self.tokens.last_mut() {
            token.text.push_str(text);
        }
    }

    /// The mentions of validated sentences with their clusters. Markables without tokens are instances, not mentions.
    pub(super) fn mentions(
        &self,
        path: &Path,
        place: usize,
        document: &NewsDocument,
    ) -> Result<Vec<Mention>, DataError> {
        let mut relation_of: HashMap<&str, &Relation> = HashMap::new();
        for relation in &self.relations {
            for source in &relation.sources {
                if let Some(first) = relation_of.insert(source, relation) {
                    let seen = format!("the mention {source} is in the relations {} and {}", first.id, relation.id);
                    return Err(malformed(path, relation.line, seen, "one relation a mention"));
                }
            }
        }
        let (mut mentions, mut seen) = (Vec::new(), HashSet::new());
        for markable in self.markables.iter().filter(|markable| !markable.tokens.is_empty()) {
            let mut tokens = markable.tokens.clone();
            tokens.sort_unstable();
            tokens.dedup();
            let sentence = document.tokens[tokens[0]].sentence;
            if document.validated.binary_search(&sentence).is_err() {
                continue;
            }
            if !seen.insert(tokens.clone()) {
                let what = format!("the mention {} has the same tokens as another", markable.id);
                return Err(malformed(path, markable.line, what, "one mention of the same tokens"));
            }
            let kind = MentionKind::of_tag(&markable.tag);
            let cluster = match relation_of.get(markable.id.as_str()) {
                None => format!("SINGLETON_{}_{}", document.id, markable.id),
                Some(Relation { instance: Some(instance), .. }) => instance.clone(),
                Some(Relation { id, .. }) => format!("INTRA_{id}_{}_{}", &kind.name()[..2], document.id),
            };
            mentions.push(Mention { document: place, sentence, tokens, kind, tag: markable.tag.clone(), cluster });
        }
        Ok(mentions)
    }
}

fn resolve(place: &Place, reference: &BytesRef) -> Result<String, DataError> {
    let refuse = |seen| place.refuse(seen, "an entity of XML or a character reference");
    if let Some(character) = reference.resolve_char_ref().map_err(|error| refuse(error.to_string()))? {
        return Ok(character.to_string());
    }
    let name = reference.decode().map_err(|error| refuse(error.to_string()))?;
    resolve_predefined_entity(&name).map(str::to_owned).ok_or_else(|| refuse(format!("the unknown entity `&{name};`")))
}

/// A line of a file, for errors.
struct Place<'a> {
    path: &'a Path,
    line: usize,
}

impl Place<'_> {
    fn refuse(&self, seen: String, wanted: &str) -> DataError {
        malformed(self.path, self.line, seen, wanted)
    }

    fn attribute(&self, element: &BytesStart, name: &str) -> Result<String, DataError> {
        let tag = String::from_utf8_lossy(element.name().as_ref()).into_owned();
        let attribute = element
            .try_get_attribute(name)
            .map_err(|error| self.refuse(format!("the attributes of `<{tag}>`: {error}"), "`name=\"value\"`"))?
            .ok_or_else(|| self.refuse(format!("`<{tag}>` without `{name}`"), "that attribute"))?;
        let value = attribute.unescape_value();
        Ok(value.map_err(|error| self.refuse(format!("`{name}` of `<{tag}>`: {error}"), "text of XML"))?.into_owned())
    }
}

/// Line numbers of rising byte offsets, each byte looked at once.
struct LineCounter<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl LineCounter<'_> {
    fn at(&mut self, offset: u64) -> usize {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(self.text.len());
        if offset > self.offset {
            self.line += self.text.as_bytes()[self.offset..offset].iter().filter(|&&byte| byte == b'\n').count();
            self.offset = offset;
        }
        self.line
    }
}
