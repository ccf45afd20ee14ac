//! Conversions from XML to JSON lines: question threads of SemEval-2016 Task 3, and ECB+.
//!
//! ```text
//! ECB+/1/1_10ecb.xml                    <token t_id sentence>, <TAG m_id> of <token_anchor t_id>, <CROSS_DOC_COREF> of <source m_id> and <target m_id>
//! ECBplus_coreference_sentences.csv     Topic,File,Sentence Number
//! ```
//!
//! The rules of ECB+ are those of Cattan et al. 2021: a mention is kept if the sentence of its first token is validated. Its cluster is the
//! instance that its cross-document relation names, `INTRA_…` for a relation within the document, `SINGLETON_…` without a relation. Topics 36 to 45
//! are for testing, 2, 5, 12, 18, 21, 23, 34 and 35 for tuning, the others for training (15 and 17 do not exist).

use std::collections::{BTreeSet, HashMap};

use roxmltree::{Document, Node, ParsingOptions};
use serde::Serialize;

use super::{RawFiles, json_lines, lines, unexpected, utf8};
use crate::error::{DataError, excerpt};
use crate::mentions::MentionKind;

fn parsed<'a>(file: &str, text: &'a str) -> Result<Document<'a>, DataError> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| unexpected(file, error.to_string()))
}

fn all<'a, 'i: 'a>(node: Node<'a, 'i>, name: &'a str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

fn text_of(node: Node<'_, '_>) -> String {
    node.children().filter_map(|piece| piece.text().filter(|_| piece.is_text())).collect()
}

/// The value of an attribute that must be there.
fn required<'a>(file: &str, node: Node<'a, '_>, name: &str) -> Result<&'a str, DataError> {
    let missing = || unexpected(file, format!("`<{}>` without `{name}`", node.tag_name().name()));
    node.attribute(name).ok_or_else(missing)
}

fn number(file: &str, node: Node<'_, '_>, name: &str) -> Result<usize, DataError> {
    let value = required(file, node, name)?;
    value.parse().map_err(|_| unexpected(file, format!("`{name}=\"{value}\"` of `<{}>`", node.tag_name().name())))
}

#[derive(Serialize)]
struct Thread<'a> {
    qid: &'a str,
    subject: String,
    body: String,
    category: &'a str,
    date: &'a str,
    user: &'a str,
    /// Threads of the other parts that this one repeats; the official files name none.
    dup_of: Option<&'a str>,
    comments: Vec<Comment<'a>>,
}

#[derive(Serialize)]
struct Comment<'a> {
    cid: &'a str,
    label: &'a str,
    text: String,
    user: &'a str,
    date: &'a str,
}

/// `<Thread>` of one `<RelQuestion>` and its `<RelComment>`s, in the order of the file.
pub(super) fn threads(name: &str, text: &str) -> Result<Vec<u8>, DataError> {
    let document = parsed(name, text)?;
    let of = |node, child| all(node, child).next().map_or_else(String::new, |child| clean(&text_of(child)));
    json_lines(all(document.root_element(), "Thread").map(|thread| {
        let question = all(thread, "RelQuestion").next();
        let question = question.ok_or_else(|| unexpected(name, "a `<Thread>` without `<RelQuestion>`".to_owned()))?;
        let comments = all(thread, "RelComment").map(|comment| {
            Ok(Comment {
                cid: required(name, comment, "RELC_ID")?,
                label: required(name, comment, "RELC_RELEVANCE2RELQ")?,
                text: of(comment, "RelCText"),
                user: required(name, comment, "RELC_USERID")?,
                date: required(name, comment, "RELC_DATE")?,
            })
        });
        Ok(Thread {
            qid: required(name, question, "RELQ_ID")?,
            subject: of(question, "RelQSubject"),
            body: of(question, "RelQBody"),
            category: required(name, question, "RELQ_CATEGORY")?,
            date: required(name, question, "RELQ_DATE")?,
            user: required(name, question, "RELQ_USERID")?,
            dup_of: None,
            comments: comments.collect::<Result<_, DataError>>()?,
        })
    }))
}

/// Runs of blanks, tabs and line ends as one blank; blanks that don't break stay inside, and go at both ends.
fn clean(text: &str) -> String {
    let is_break = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let words: Vec<&str> = text.trim().split(is_break).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

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

struct News<'a> {
    topic: u32,
    name: &'a str,
    path: &'a str,
    validated: BTreeSet<usize>,
    tokens: Vec<(usize, usize, String)>,
    xml: Document<'a>,
}

impl News<'_> {
    fn split(&self) -> &'static str {
        match self.topic {
            FIRST_TEST_TOPIC.. => "test",
            topic if DEV_TOPICS.contains(&topic) => "dev",
            _ => "train",
        }
    }

    /// Mentions in the order of the file. Markables without tokens are instances.
    fn mentions(&self) -> Result<Vec<MentionLine<'_>>, DataError> {
        let root = self.xml.root_element();
        let part = |name| all(root, name).next().into_iter().flat_map(|part| part.children()).filter(Node::is_element);
        let token_of: HashMap<usize, &(usize, usize, String)> =
            self.tokens.iter().map(|token| (token.1, token)).collect();
        let (mut instances, mut found) = (HashMap::new(), Vec::new());
        for markable in part("Markables") {
            let ids: Vec<usize> = all(markable, "token_anchor")
                .map(|anchor| number(self.path, anchor, "t_id"))
                .collect::<Result<_, _>>()?;
            let id = number(self.path, markable, "m_id")?;
            if ids.is_empty() {
                instances.insert(id, markable);
            } else {
                found.push((id, markable, ids));
            }
        }
        let mut relation_of = HashMap::new();
        for relation in part("Relations") {
            for source in all(relation, "source") {
                relation_of.insert(number(self.path, source, "m_id")?, relation);
            }
        }
        let mut mentions = Vec::new();
        for (id, markable, ids) in found {
            let tokens: Option<Vec<_>> = ids.iter().map(|id| token_of.get(id).copied()).collect();
            let tokens =
                tokens.ok_or_else(|| unexpected(self.path, format!("the mention {id} is anchored to no token")))?;
            let sentence = tokens[0].0;
            if !self.validated.contains(&sentence) {
                continue;
            }
            let tag = markable.tag_name().name();
            let kind = MentionKind::of_tag(tag).name();
            let (cluster, cluster_desc) = match relation_of.get(&id) {
                None => (format!("SINGLETON_{}_{id}", self.name), ""),
                Some(&relation) => self.cluster(relation, &instances, kind)?,
            };
            mentions.push(MentionLine {
                split: self.split(),
                topic: self.topic,
                doc: self.name,
                m_id: id,
                sentence,
                text: tokens.iter().map(|token| token.2.as_str()).collect::<Vec<_>>().join(" "),
                tokens: ids,
                tag,
                kind,
                cluster,
                cluster_desc,
            });
        }
        Ok(mentions)
    }

    /// The cluster that a relation names, and its name for people.
    fn cluster<'a>(
        &self,
        relation: Node<'_, '_>,
        instances: &HashMap<usize, Node<'a, '_>>,
        kind: &str,
    ) -> Result<(String, &'a str), DataError> {
        let name = relation.tag_name().name();
        let target = all(relation, "target").next();
        let target = target.ok_or_else(|| unexpected(self.path, format!("a `<{name}>` without `<target>`")))?;
        let instance = instances.get(&number(self.path, target, "m_id")?);
        let instance = instance.ok_or_else(|| unexpected(self.path, "a relation to an unknown instance".to_owned()))?;
        let cluster = match name {
            "CROSS_DOC_COREF" => required(self.path, *instance, "instance_id")?.to_owned(),
            _ => format!("INTRA_{}_{}_{}", required(self.path, relation, "r_id")?, &kind[..2], self.name),
        };
        Ok((cluster, instance.attribute("TAG_DESCRIPTOR").unwrap_or_default()))
    }
}

fn read(raw: &RawFiles) -> Result<Vec<News<'_>>, DataError> {
    let mut validated = validated(raw.text(SENTENCES)?)?;
    let mut all_news = Vec::new();
    for (path, bytes) in raw.iter().filter(|(path, _)| path.starts_with(FOLDER)) {
        let place = path[FOLDER.len()..].split_once('/').and_then(|(topic, name)| Some((topic.parse().ok()?, name)));
        let (topic, name) = place.ok_or_else(|| unexpected(path, "a folder that is no number".to_owned()))?;
        let xml = parsed(path, utf8(path, bytes)?)?;
        let token = |token| Ok((number(path, token, "sentence")?, number(path, token, "t_id")?, text_of(token)));
        let tokens = all(xml.root_element(), "token").map(token).collect::<Result<_, DataError>>()?;
        let validated = validated.remove(name).unwrap_or_default();
        all_news.push(News { topic, name, path, validated, tokens, xml });
    }
    all_news.sort_by_key(|news| (news.topic, news.name));
    Ok(all_news)
}

fn validated(text: &str) -> Result<HashMap<String, BTreeSet<usize>>, DataError> {
    let mut validated: HashMap<String, BTreeSet<usize>> = HashMap::new();
    for line in lines(text).skip(1) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        match (&cells[..], cells.get(2).map(|sentence| sentence.parse())) {
            ([topic, file, _], Some(Ok(sentence))) => {
                validated.entry(format!("{topic}_{file}.xml")).or_default().insert(sentence);
            }
            _ => return Err(unexpected(SENTENCES, format!("`{}`", excerpt(line)))),
        }
    }
    Ok(validated)
}

/// Tokens of all documents.
pub(super) fn documents(raw: &RawFiles) -> Result<Vec<u8>, DataError> {
    let all_news = read(raw)?;
    json_lines(all_news.iter().map(|news| {
        Ok(DocumentLine {
            split: news.split(),
            topic: news.topic,
            subtopic: format!("{}_{}", news.topic, u8::from(news.name.ends_with("ecb.xml"))),
            doc: news.name,
            validated_sentences: &news.validated,
            tokens: &news.tokens,
        })
    }))
}

/// Gold mentions of validated sentences.
pub(super) fn mentions(raw: &RawFiles) -> Result<Vec<u8>, DataError> {
    let all_news = read(raw)?;
    let mut mentions = Vec::new();
    for news in &all_news {
        mentions.extend(news.mentions()?);
    }
    json_lines(mentions.into_iter().map(Ok))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "<?xml version=\"1.0\"?>\n<!DOCTYPE xml [\n<!ELEMENT xml (Thread*)>\n]>\n<xml>\n<Thread THREAD_SEQUENCE=\"Q1\">\n\
        <RelQuestion RELQ_ID=\"Q1\" RELQ_CATEGORY=\"A &amp; B\" RELQ_DATE=\"d\" RELQ_USERID=\"U\">\n\
        <RelQSubject>Bikes?</RelQSubject>\n<RelQBody> one\n two\u{a0} three\u{a0}<![CDATA[&]]></RelQBody></RelQuestion>\n\
        <RelComment RELC_ID=\"C1\" RELC_DATE=\"e\" RELC_USERID=\"V\" RELC_RELEVANCE2RELQ=\"Good\"><RelCText>&lt;yes&gt;</RelCText></RelComment>\n\
        </Thread>\n</xml>";

    #[test]
    fn a_thread_becomes_a_line() {
        let wanted = "{\"qid\": \"Q1\", \"subject\": \"Bikes?\", \"body\": \"one two\u{a0} three\u{a0}&\", \"category\": \"A & B\", \
                      \"date\": \"d\", \"user\": \"U\", \"dup_of\": null, \"comments\": [{\"cid\": \"C1\", \"label\": \"Good\", \
                      \"text\": \"<yes>\", \"user\": \"V\", \"date\": \"e\"}]}\n";
        assert_eq!(String::from_utf8(threads("x", THREAD).unwrap()).unwrap(), wanted);
        for (from, to, wanted) in [
            ("RELC_ID=\"C1\" ", "", "`<RelComment>` without `RELC_ID`"),
            ("RelQuestion", "Question", "a `<Thread>` without `<RelQuestion>`"),
            ("</Thread>", "", "`x`: "),
        ] {
            let error = threads("x", &THREAD.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

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

    #[test]
    fn documents_and_mentions_become_lines_that_are_read_as_a_corpus() {
        let mut raw = RawFiles::one("ECB+/36/36_1ecb.xml", FILE.as_bytes().to_vec());
        raw.insert(SENTENCES, b"Topic,File,Sentence Number\n36,1ecb,0\n".to_vec());
        let (documents, mentions) = (documents(&raw).unwrap(), mentions(&raw).unwrap());
        assert_eq!(
            String::from_utf8_lossy(&documents),
            "{\"split\": \"test\", \"topic\": 36, \"subtopic\": \"36_1\", \"doc\": \"36_1ecb.xml\", \"validated_sentences\": [0], \
             \"tokens\": [[0, 1, \"Fire\"], [0, 2, \"A&B\"], [1, 3, \"unchecked\"]]}\n"
        );
        let text = String::from_utf8_lossy(&mentions);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "{\"split\": \"test\", \"topic\": 36, \"doc\": \"36_1ecb.xml\", \"m_id\": 10, \"sentence\": 0, \"tokens\": [1], \"text\": \"Fire\", \
             \"tag\": \"ACTION_OCCURRENCE\", \"type\": \"event\", \"cluster\": \"ACT1\", \"cluster_desc\": \"fire\"}"
        );
        assert!(lines[1].contains("\"cluster\": \"SINGLETON_36_1ecb.xml_11\""), "{}", lines[1]);
        assert!(lines[2].contains("\"text\": \"Fire A&B\"") && lines[2].contains("INTRA_6_ev_36_1ecb.xml"));
        let read = crate::MentionCorpus::from_jsonl("x", &documents, &mentions).unwrap();
        assert_eq!((read.documents().len(), read.mentions().len()), (1, 3));
    }

    #[test]
    fn what_is_missing_is_named_with_its_file() {
        for (from, to, wanted) in [
            ("t_id=\"3\"/>", "t_id=\"9\"/>", "the mention 12 is anchored to no token"),
            ("<target m_id=\"20\"/></CROSS", "</CROSS", "a `<CROSS_DOC_COREF>` without `<target>`"),
            ("<target m_id=\"20\"/></INTRA", "<target m_id=\"99\"/></INTRA", "a relation to an unknown instance"),
            ("sentence=\"1\"", "sentence=\"one\"", "`sentence=\"one\"` of `<token>`"),
        ] {
            let mut raw = RawFiles::one("ECB+/36/36_1ecb.xml", FILE.replacen(from, to, 1).into_bytes());
            raw.insert(SENTENCES, b"Topic,File,Sentence Number\n36,1ecb,0\n".to_vec());
            let error = mentions(&raw).unwrap_err().to_string();
            assert!(error.contains("36_1ecb.xml") && error.contains(wanted), "{error}");
        }
    }
}
