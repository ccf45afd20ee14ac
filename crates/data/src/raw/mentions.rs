//! ECB+ from its CAT XML to JSON lines: tokens of all documents, and gold mentions of validated sentences.
//!
//! ```text
//! ECB+/1/1_10ecb.xml                    <token t_id sentence>, <TAG m_id> of <token_anchor t_id>, <CROSS_DOC_COREF> of <source m_id> and <target m_id>
//! ECBplus_coreference_sentences.csv     Topic,File,Sentence Number
//! ```
//!
//! The rules are those of Cattan et al. 2021: a mention is kept if the sentence of its first token is validated. Its cluster is the instance that
//! its cross-document relation names, `INTRA_…` for a relation within the document, `SINGLETON_…` without a relation. Topics 36 to 45 are for
//! testing, 2, 5, 12, 18, 21, 23, 34 and 35 for tuning, the others for training (15 and 17 do not exist).

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use super::json_lines::json_lines;
use super::xml::Element;
use super::{RawFiles, lines, malformed, utf8};
use crate::error::{DataError, excerpt};

/// The folder of the XML files, a folder a topic inside.
const FOLDER: &str = "ECB+/";
const SENTENCES: &str = "ECBplus_coreference_sentences.csv";
const DEV_TOPICS: [u32; 8] = [2, 5, 12, 18, 21, 23, 34, 35];
const FIRST_TEST_TOPIC: u32 = 36;

#[derive(Serialize)]
struct DocumentLine<'a> {
    split: &'static str,
    topic: u32,
    subtopic: String,
    doc: &'a str,
    validated_sentences: &'a BTreeSet<usize>,
    tokens: &'a [(usize, usize, String)],
}

#[derive(Serialize)]
struct MentionLine<'a> {
    split: &'static str,
    topic: u32,
    doc: &'a str,
    m_id: usize,
    sentence: usize,
    tokens: Vec<usize>,
    text: String,
    tag: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    cluster: String,
    cluster_desc: &'a str,
}

struct Document<'a> {
    topic: u32,
    name: &'a str,
    path: &'a str,
    validated: BTreeSet<usize>,
    tokens: Vec<(usize, usize, String)>,
    root: Element,
}

impl Document<'_> {
    fn split(&self) -> &'static str {
        match self.topic {
            FIRST_TEST_TOPIC.. => "test",
            topic if DEV_TOPICS.contains(&topic) => "dev",
            _ => "train",
        }
    }

    /// Mentions in the order of the file. Markables without tokens are instances.
    fn mentions(&self) -> Result<Vec<MentionLine<'_>>, DataError> {
        let part = |name| self.root.child(name).map_or(&[][..], |part| part.children.as_slice());
        let token_of: HashMap<usize, &(usize, usize, String)> =
            self.tokens.iter().map(|token| (token.1, token)).collect();
        let (mut instances, mut found) = (HashMap::new(), Vec::new());
        for markable in part("Markables") {
            let ids: Vec<usize> = markable
                .all("token_anchor")
                .map(|anchor| anchor.number(self.path, "t_id"))
                .collect::<Result<_, _>>()?;
            let id = markable.number(self.path, "m_id")?;
            if ids.is_empty() {
                instances.insert(id, markable);
            } else {
                found.push((id, markable, ids));
            }
        }
        let mut relation_of = HashMap::new();
        for relation in part("Relations") {
            for source in relation.all("source") {
                relation_of.insert(source.number(self.path, "m_id")?, relation);
            }
        }
        let mut mentions = Vec::new();
        for (id, markable, ids) in found {
            let tokens: Option<Vec<_>> = ids.iter().map(|id| token_of.get(id).copied()).collect();
            let tokens = tokens.ok_or_else(|| {
                malformed(
                    self.path,
                    markable.line,
                    format!("the mention {id} is anchored to no token"),
                    "ids of tokens",
                )
            })?;
            let sentence = tokens[0].0;
            if !self.validated.contains(&sentence) {
                continue;
            }
            let kind =
                if markable.name.starts_with("ACT") || markable.name.starts_with("NEG") { "event" } else { "entity" };
            let (cluster, description) = match relation_of.get(&id) {
                None => (format!("SINGLETON_{}_{id}", self.name), ""),
                Some(relation) => self.cluster(relation, &instances, kind)?,
            };
            mentions.push(MentionLine {
                split: self.split(),
                topic: self.topic,
                doc: self.name,
                m_id: id,
                sentence,
                text: tokens.iter().map(|token| token.2.as_str()).collect::<Vec<_>>().join(" "),
                tokens: ids,
                tag: &markable.name,
                kind,
                cluster,
                cluster_desc: description,
            });
        }
        Ok(mentions)
    }

    /// The cluster that a relation names, and its name for people.
    fn cluster<'a>(
        &self,
        relation: &Element,
        instances: &HashMap<usize, &'a Element>,
        kind: &str,
    ) -> Result<(String, &'a str), DataError> {
        let target = relation.child("target").ok_or_else(|| {
            malformed(self.path, relation.line, format!("a `<{}>` without `<target>`", relation.name), "one")
        })?;
        let instance = instances.get(&target.number(self.path, "m_id")?).ok_or_else(|| {
            malformed(
                self.path,
                target.line,
                "a relation to an unknown instance".to_owned(),
                "a markable without tokens",
            )
        })?;
        let description = instance.attribute("TAG_DESCRIPTOR").unwrap_or_default();
        Ok(if relation.name == "CROSS_DOC_COREF" {
            (instance.required(self.path, "instance_id")?.to_owned(), description)
        } else {
            (format!("INTRA_{}_{}_{}", relation.required(self.path, "r_id")?, &kind[..2], self.name), description)
        })
    }
}

fn read(raw: &RawFiles) -> Result<Vec<Document<'_>>, DataError> {
    let mut validated = validated(raw.text(SENTENCES)?)?;
    let mut documents = Vec::new();
    for (path, bytes) in raw.iter().filter(|(path, _)| path.starts_with(FOLDER)) {
        let place = path[FOLDER.len()..].split_once('/').and_then(|(topic, name)| Some((topic.parse().ok()?, name)));
        let (topic, name) = place.ok_or_else(|| DataError::Archive {
            path: path.into(),
            what: format!("this path is none of `{FOLDER}<topic>/<document>`"),
        })?;
        let root = Element::read(path, utf8(path, bytes)?)?;
        let token =
            |token: &Element| Ok((token.number(path, "sentence")?, token.number(path, "t_id")?, token.text.clone()));
        let tokens = root.all("token").map(token).collect::<Result<_, DataError>>()?;
        let validated = validated.remove(name).unwrap_or_default();
        documents.push(Document { topic, name, path, validated, tokens, root });
    }
    if documents.is_empty() {
        return Err(DataError::Empty { path: FOLDER.into(), what: "documents" });
    }
    documents.sort_by_key(|document| (document.topic, document.name));
    Ok(documents)
}

fn validated(text: &str) -> Result<HashMap<String, BTreeSet<usize>>, DataError> {
    let mut validated: HashMap<String, BTreeSet<usize>> = HashMap::new();
    for (number, line) in lines(text).filter(|(number, _)| *number > 1) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        match (&cells[..], cells.get(2).map(|sentence| sentence.parse())) {
            ([topic, file, _], Some(Ok(sentence))) => {
                validated.entry(format!("{topic}_{file}.xml")).or_default().insert(sentence);
            }
            _ => {
                let wanted = "`topic,file,sentence`, such as `1,10ecbplus,3`";
                return Err(malformed(SENTENCES, number, format!("`{}`", excerpt(line)), wanted));
            }
        }
    }
    Ok(validated)
}

pub(super) fn documents(raw: &RawFiles) -> Result<Vec<u8>, DataError> {
    let documents = read(raw)?;
    json_lines(documents.iter().map(|document| {
        Ok(DocumentLine {
            split: document.split(),
            topic: document.topic,
            subtopic: format!("{}_{}", document.topic, u8::from(document.name.ends_with("ecb.xml"))),
            doc: document.name,
            validated_sentences: &document.validated,
            tokens: &document.tokens,
        })
    }))
}

pub(super) fn mentions(raw: &RawFiles) -> Result<Vec<u8>, DataError> {
    let documents = read(raw)?;
    let mut all = Vec::new();
    for document in &documents {
        all.extend(document.mentions()?);
    }
    json_lines(all.into_iter().map(Ok))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"<Document doc_name="36_1ecb.xml">
<token t_id="1" sentence="0" number="0">Fire</token>
<token t_id="2" sentence="0" number="1">A&amp;B</token>
<token t_id="3" sentence="1" number="0">unchecked</token>
<Markables>
<ACTION_OCCURRENCE m_id="10"><token_anchor t_id="1"/></ACTION_OCCURRENCE>
<LOC_FAC m_id="11"><token_anchor t_id="2"/></LOC_FAC>
<LOC_FAC m_id="12"><token_anchor t_id="3"/></LOC_FAC>
<NEG_ACTION_STATE m_id="13"><token_anchor t_id="1"/><token_anchor t_id="2"/></NEG_ACTION_STATE>
<ACTION_OCCURRENCE m_id="20" TAG_DESCRIPTOR="fire" instance_id="ACT1" />
</Markables>
<Relations>
<CROSS_DOC_COREF r_id="5" note="ACT1"><source m_id="10"/><target m_id="20"/></CROSS_DOC_COREF>
<INTRA_DOC_COREF r_id="6"><source m_id="13"/><target m_id="20"/></INTRA_DOC_COREF>
</Relations>
</Document>
"#;

    fn raw(file: &str) -> RawFiles {
        let mut raw = RawFiles::one("ECB+/36/36_1ecb.xml", file.as_bytes().to_vec());
        raw.insert(SENTENCES, b"Topic,File,Sentence Number\n36,1ecb,0\n".to_vec());
        raw
    }

    #[test]
    fn documents_and_mentions_become_lines() {
        let text = |bytes: Result<Vec<u8>, DataError>| String::from_utf8(bytes.unwrap()).unwrap();
        assert_eq!(
            text(documents(&raw(FILE))),
            "{\"split\": \"test\", \"topic\": 36, \"subtopic\": \"36_1\", \"doc\": \"36_1ecb.xml\", \"validated_sentences\": [0], \
             \"tokens\": [[0, 1, \"Fire\"], [0, 2, \"A&B\"], [1, 3, \"unchecked\"]]}\n"
        );
        let lines = text(mentions(&raw(FILE)));
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].ends_with("\"type\": \"event\", \"cluster\": \"ACT1\", \"cluster_desc\": \"fire\"}"),
            "{}",
            lines[0]
        );
        assert!(lines[1].contains("\"cluster\": \"SINGLETON_36_1ecb.xml_11\""), "{}", lines[1]);
        assert!(
            lines[2].contains("\"text\": \"Fire A&B\"") && lines[2].contains("INTRA_6_ev_36_1ecb.xml"),
            "{}",
            lines[2]
        );
    }

    #[test]
    fn the_converted_lines_are_read_as_a_corpus() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("docs.jsonl"), documents(&raw(FILE)).unwrap()).unwrap();
        std::fs::write(path("mentions.jsonl"), mentions(&raw(FILE)).unwrap()).unwrap();
        let read = crate::MentionCorpus::read("x", &path("docs.jsonl"), &path("mentions.jsonl")).unwrap();
        assert_eq!((read.documents().len(), read.mentions().len()), (1, 3));
    }

    #[test]
    fn what_is_malformed_is_named_with_its_line() {
        for (from, to, wanted) in [
            ("t_id=\"3\"/>", "t_id=\"9\"/>", "ECB+/36/36_1ecb.xml:8: the mention 12 is anchored to no token"),
            (
                "<target m_id=\"20\"/></CROSS",
                "</CROSS",
                "ECB+/36/36_1ecb.xml:13: a `<CROSS_DOC_COREF>` without `<target>`",
            ),
            (
                "<target m_id=\"20\"/></INTRA",
                "<target m_id=\"99\"/></INTRA",
                "ECB+/36/36_1ecb.xml:14: a relation to an unknown instance",
            ),
            ("sentence=\"1\"", "sentence=\"one\"", "ECB+/36/36_1ecb.xml:4: `sentence=\"one\"` of `<token>`"),
        ] {
            let error = mentions(&raw(&FILE.replacen(from, to, 1))).unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
        let mut other = raw(FILE);
        other.insert(SENTENCES, b"Topic\n36,1ecb\n".to_vec());
        assert!(documents(&other).unwrap_err().to_string().contains("sentences.csv:2: `36,1ecb`"));
    }
}
