//! A small XML document as a tree, every element with its line.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

use super::malformed;
use crate::error::DataError;

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) line: usize,
    attributes: Vec<(String, String)>,
    /// Text directly inside.
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// The root of a document.
    pub(super) fn read(file: &str, text: &str) -> Result<Self, DataError> {
        let mut reader = Reader::from_str(text);
        let (mut line, mut seen) = (1, 0);
        // a list above the root holds it
        let mut open = vec![Self::default()];
        loop {
            let event = reader.read_event();
            let place = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
            line += text.as_bytes()[seen..place].iter().filter(|&&byte| byte == b'\n').count();
            seen = place;
            let refuse = |what: String, wanted: &str| malformed(file, line, what, wanted);
            let event = event.map_err(|error| refuse(error.to_string(), "well-formed XML"))?;
            let Some(inside) = open.last_mut() else {
                return Err(refuse("an end without its beginning".to_owned(), "well-formed XML"));
            };
            match event {
                Event::Start(start) => {
                    let element = Self::begin(file, line, &start)?;
                    open.push(element);
                }
                Event::Empty(start) => inside.children.push(Self::begin(file, line, &start)?),
                Event::End(_) => {
                    let done = open.pop().unwrap_or_default();
                    let Some(parent) = open.last_mut() else {
                        return Err(refuse("an end without its beginning".to_owned(), "well-formed XML"));
                    };
                    parent.children.push(done);
                }
                Event::Text(piece) => {
                    inside.text.push_str(&piece.decode().map_err(|error| refuse(error.to_string(), "UTF-8"))?);
                }
                Event::CData(piece) => {
                    inside.text.push_str(&piece.decode().map_err(|error| refuse(error.to_string(), "UTF-8"))?);
                }
                Event::GeneralRef(reference) => {
                    let wanted = "an entity of XML or a character reference";
                    let name = reference.decode().map_err(|error| refuse(error.to_string(), wanted))?;
                    match reference.resolve_char_ref().map_err(|error| refuse(error.to_string(), wanted))? {
                        Some(character) => inside.text.push(character),
                        None => inside.text.push_str(
                            resolve_predefined_entity(&name)
                                .ok_or_else(|| refuse(format!("the unknown entity `&{name};`"), wanted))?,
                        ),
                    }
                }
                Event::Eof if open.len() > 1 => {
                    return Err(refuse(format!("the file ends inside {} open elements", open.len() - 1), "their ends"));
                }
                Event::Eof => {
                    let root = open.pop().and_then(|mut above| above.children.pop());
                    return root.ok_or_else(|| DataError::Empty { path: file.into(), what: "XML" });
                }
                _ => {}
            }
        }
    }

    fn begin(file: &str, line: usize, start: &BytesStart<'_>) -> Result<Self, DataError> {
        let name = String::from_utf8_lossy(start.name().as_ref()).into_owned();
        let refuse =
            |what: String| malformed(file, line, format!("the attributes of `<{name}>`: {what}"), "`name=\"value\"`");
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| refuse(error.to_string()))?;
            let value = attribute.unescape_value().map_err(|error| refuse(error.to_string()))?;
            attributes.push((String::from_utf8_lossy(attribute.key.as_ref()).into_owned(), value.into_owned()));
        }
        Ok(Self { name, line, attributes, ..Self::default() })
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of an attribute that must be there.
    pub(super) fn required(&self, file: &str, name: &str) -> Result<&str, DataError> {
        let missing = || malformed(file, self.line, format!("`<{}>` without `{name}`", self.name), "that attribute");
        self.attribute(name).ok_or_else(missing)
    }

    /// An attribute that must be a number.
    pub(super) fn number(&self, file: &str, name: &str) -> Result<usize, DataError> {
        let value = self.required(file, name)?;
        let refuse =
            |_| malformed(file, self.line, format!("`{name}=\"{value}\"` of `<{}>`", self.name), "a number from 0");
        value.parse().map_err(refuse)
    }

    /// Children of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The first child of a name.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_knows_its_lines_texts_and_attributes() {
        let text = "<?xml version=\"1.0\"?>\n<!DOCTYPE a [\n<!ELEMENT a (b*)>\n]>\n<a>\n<b k=\"A&amp;B\">x &lt; &#233;<![CDATA[&]]></b>\n<c/></a>\n";
        let root = Element::read("f", text).unwrap();
        let b = root.child("b").unwrap();
        assert_eq!((b.attribute("k"), b.text.as_str(), b.line), (Some("A&B"), "x < é&", 6));
        assert_eq!(root.children[1].name, "c");
        let error = b.required("f", "m").unwrap_err().to_string();
        assert_eq!(error, "f:6: `<b>` without `m`; wanted is that attribute");
    }

    #[test]
    fn what_is_no_xml_is_named_with_its_line() {
        for (text, wanted) in [
            ("<a>\n<b>\n", "f:3: the file ends inside 2 open elements"),
            ("<a>\n&b;</a>", "f:2: the unknown entity `&b;`"),
            ("<a>\n<b x=1></b></a>", "f:2: the attributes of `<b>`"),
            ("<a>\n</b>", "f:2: "),
            ("", "`f` holds no XML"),
        ] {
            let error = Element::read("f", text).unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
    }
}
