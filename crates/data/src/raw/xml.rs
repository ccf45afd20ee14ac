//! A small XML document as a tree, every element with its line.

use roxmltree::{Document, Node, ParsingOptions};

use super::malformed;
use crate::error::DataError;

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) line: usize,
    attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

impl Element {
    pub(super) fn read(file: &str, text: &str) -> Result<Self, DataError> {
        if text.trim().is_empty() {
            return Err(DataError::Empty { path: file.into(), what: "XML" });
        }
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let document = Document::parse_with_options(text, options)
            .map_err(|error| malformed(file, error.pos().row as usize, error.to_string(), "well-formed XML"))?;
        let ends: Vec<usize> = text.match_indices('\n').map(|(place, _)| place).collect();
        Ok(Self::of(document.root_element(), &ends))
    }

    /// A node of a text whose lines end at `ends`.
    fn of(node: Node<'_, '_>, ends: &[usize]) -> Self {
        Self {
            name: node.tag_name().name().to_owned(),
            line: 1 + ends.partition_point(|&end| end < node.range().start),
            attributes: node.attributes().map(|one| (one.name().to_owned(), one.value().to_owned())).collect(),
            text: node.children().filter(Node::is_text).filter_map(|piece| piece.text()).collect(),
            children: node.children().filter(Node::is_element).map(|child| Self::of(child, ends)).collect(),
        }
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of an attribute that must be there.
    pub(super) fn required(&self, file: &str, name: &str) -> Result<&str, DataError> {
        let missing = || malformed(file, self.line, format!("`<{}>` without `{name}`", self.name), "that attribute");
        self.attribute(name).ok_or_else(missing)
    }

    pub(super) fn number(&self, file: &str, name: &str) -> Result<usize, DataError> {
        let value = self.required(file, name)?;
        let refuse =
            |_| malformed(file, self.line, format!("`{name}=\"{value}\"` of `<{}>`", self.name), "a number from 0");
        value.parse().map_err(refuse)
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

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
            ("<a>\n<b>\n", "f:1: the root node was opened but never closed"),
            ("<a>\n&b;</a>", "f:2: unknown entity reference 'b'"),
            ("<a>\n<b x=1></b></a>", "f:2: "),
            ("<a>\n</b>", "f:2: "),
            ("", "`f` holds no XML"),
        ] {
            let error = Element::read("f", text).unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
    }
}
