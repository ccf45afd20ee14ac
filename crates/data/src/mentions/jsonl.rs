//! Documents and mentions as JSON lines: one file of documents, one of mentions.
//!
//! ```text
//! {"split": "train", "topic": 1, "subtopic": "1_1", "doc": "1_10ecb.xml", "validated_sentences": [0, 3], "tokens": [[0, 1, "Perennial"], …]}
//! {"doc": "1_10ecb.xml", "tokens": [6, 8], "tag": "ACTION_OCCURRENCE", "cluster": "ACT16236402809085484", …}
//! ```
//!
//! A token is `[sentence, id, text]` with ids distinct in its document; a mention names the ids of its tokens.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{CorefPart, Mention, MentionCorpus, MentionKind, NewsDocument, Token};
use crate::error::{DataError, excerpt};
use crate::lines::Lines;
use crate::unpack::open;

#[derive(Deserialize)]
struct DocumentLine {
    split: CorefPart,
    topic: Name,
    #[serde(default)]
    subtopic: Option<Name>,
    doc: String,
    validated_sentences: Vec<usize>,
    tokens: Vec<(usize, u64, String)>,
}

#[derive(Deserialize)]
struct MentionLine {
    doc: String,
    tokens: Vec<u64>,
    tag: String,
    cluster: String,
    #[serde(default, rename = "type")]
    kind: Option<MentionKind>,
}

/// A topic is a number in ECB+ and a word elsewhere.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Number(u64),
    Text(String),
}

impl Name {
    fn text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

impl MentionCorpus {
    /// Reads JSON lines, plain or gzip. A document may have no mention; it stays, as context.
    ///
    /// # Errors
    /// [`DataError`] with file and line: no JSON object of the format, an unknown split, a document or token id that was seen before,
    /// sentences out of order, a mention of an unknown document or token, of no token, of several sentences, in a sentence that is
    /// not validated, without a cluster, or of the same tokens as another; a file without documents.
    pub fn read(name: &str, documents: &Path, mentions: &Path) -> Result<Self, DataError> {
        Self::from_lines(
            name,
            (documents, Lines::new(documents, open(documents)?)),
            (mentions, Lines::new(mentions, open(mentions)?)),
        )
    }

    /// The same from memory; errors name `<name>.documents` and `<name>.mentions` in place of files.
    pub fn from_jsonl(name: &str, documents: &[u8], mentions: &[u8]) -> Result<Self, DataError> {
        let (first, second) = (format!("{name}.documents"), format!("{name}.mentions"));
        let (first, second) = (Path::new(&first), Path::new(&second));
        Self::from_lines(name, (first, Lines::new(first, documents)), (second, Lines::new(second, mentions)))
    }

    fn from_lines<R: BufRead>(
        name: &str,
        (path, mut lines): (&Path, Lines<R>),
        mentions: (&Path, Lines<R>),
    ) -> Result<Self, DataError> {
        let mut documents = Vec::new();
        let mut places = Places::default();
        while let Some((number, line)) = lines.next_line()? {
            if !line.trim().is_empty() {
                let wanted = "a document with `split`, `topic`, `doc`, `validated_sentences` and `tokens`";
                let document = parse(path, number, line, wanted)?;
                documents.push(places.document(path, number, document, documents.len())?);
            }
        }
        if documents.is_empty() {
            return Err(DataError::Empty { path: path.to_owned(), what: "documents" });
        }
        let mentions = read_mentions(mentions, &documents, &places)?;
        Ok(Self::sorted(name, documents, mentions))
    }
}

/// Positions of documents and their tokens, by the ids of the source.
#[derive(Default)]
struct Places {
    documents: HashMap<String, (usize, usize)>,
    tokens: Vec<HashMap<u64, usize>>,
}

impl Places {
    fn document(
        &mut self,
        path: &Path,
        number: usize,
        line: DocumentLine,
        place: usize,
    ) -> Result<NewsDocument, DataError> {
        let malformed = |seen: String, wanted: &str| DataError::malformed(path, number, seen, wanted);
        if let Some((_, first)) = self.documents.insert(line.doc.clone(), (place, number)) {
            let seen = format!("the document `{}` was seen before, in line {first}", line.doc);
            return Err(malformed(seen, "an id of its own"));
        }
        let mut tokens: Vec<Token> = Vec::with_capacity(line.tokens.len());
        let mut ids = HashMap::with_capacity(line.tokens.len());
        for (sentence, id, text) in line.tokens {
            if ids.insert(id, tokens.len()).is_some() {
                return Err(malformed(format!("the token {id} of `{}` comes twice", line.doc), "an id of its own"));
            }
            if tokens.last().is_some_and(|last| last.sentence > sentence) {
                let seen = format!("the token {id} of `{}` goes back to sentence {sentence}", line.doc);
                return Err(malformed(seen, "sentences in their order"));
            }
            tokens.push(Token { sentence, text });
        }
        self.tokens.push(ids);
        let mut validated = line.validated_sentences;
        validated.sort_unstable();
        validated.dedup();
        let topic = line.topic.text();
        let subtopic = line.subtopic.map_or_else(|| topic.clone(), Name::text);
        Ok(NewsDocument { id: line.doc, topic, subtopic, part: line.split, validated, tokens })
    }
}

fn read_mentions<R: BufRead>(
    (path, mut lines): (&Path, Lines<R>),
    documents: &[NewsDocument],
    places: &Places,
) -> Result<Vec<Mention>, DataError> {
    let mut mentions = Vec::new();
    let mut seen: HashMap<(usize, Vec<usize>), usize> = HashMap::new();
    while let Some((number, line)) = lines.next_line()? {
        if line.trim().is_empty() {
            continue;
        }
        let line: MentionLine = parse(path, number, line, "a mention with `doc`, `tokens`, `tag` and `cluster`")?;
        let mention = mention(path, number, line, documents, places)?;
        if let Some(first) = seen.insert((mention.document, mention.tokens.clone()), number) {
            let what = format!(
                "the tokens {:?} of `{}` are a mention in line {first} already",
                mention.tokens, documents[mention.document].id
            );
            return Err(DataError::malformed(path, number, what, "one mention of the same tokens"));
        }
        mentions.push(mention);
    }
    Ok(mentions)
}

fn mention(
    path: &Path,
    number: usize,
    line: MentionLine,
    documents: &[NewsDocument],
    places: &Places,
) -> Result<Mention, DataError> {
    let malformed = |seen: String, wanted: &str| DataError::malformed(path, number, seen, wanted);
    let Some(&(place, _)) = places.documents.get(&line.doc) else {
        return Err(malformed(format!("the unknown document `{}`", line.doc), "one of the file of documents"));
    };
    let document = &documents[place];
    let mut tokens = Vec::with_capacity(line.tokens.len());
    for id in &line.tokens {
        let token = places.tokens[place].get(id);
        tokens.push(*token.ok_or_else(|| {
            malformed(format!("the unknown token {id} of `{}`", line.doc), "a token of the document")
        })?);
    }
    tokens.sort_unstable();
    tokens.dedup();
    let Some(&first) = tokens.first() else {
        return Err(malformed(format!("a mention of `{}` without tokens", line.doc), "at least one"));
    };
    let sentence = document.tokens[first].sentence;
    if tokens.iter().any(|&token| document.tokens[token].sentence != sentence) {
        let seen = format!("the mention {:?} of `{}` is in several sentences", line.tokens, line.doc);
        return Err(malformed(seen, "tokens of one sentence"));
    }
    if document.validated.binary_search(&sentence).is_err() {
        let seen = format!("a mention in sentence {sentence} of `{}`, which is not validated", line.doc);
        return Err(malformed(seen, "a validated sentence; drop the mention or add it to `validated_sentences`"));
    }
    if line.cluster.trim().is_empty() {
        return Err(malformed(
            format!("a mention of `{}` without a cluster", line.doc),
            "a name, of its own if it is alone",
        ));
    }
    let kind = line.kind.unwrap_or_else(|| MentionKind::of_tag(&line.tag));
    Ok(Mention { document: place, sentence, tokens, kind, tag: line.tag, cluster: line.cluster })
}

fn parse<T: DeserializeOwned>(path: &Path, number: usize, line: &str, wanted: &str) -> Result<T, DataError> {
    serde_json::from_str(line)
        .map_err(|error| DataError::malformed(path, number, format!("`{}` ({error})", excerpt(line)), wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mentions::MentionKinds;

    const DOCUMENT: &str = r#"{"split": "test", "topic": "fire", "doc": "a", "validated_sentences": [1], "tokens": [[0, 1, "News"], [1, 2, "It"], [1, 3, "burned"], [1, 4, "down"]]}"#;

    fn read(documents: &str, mentions: &str) -> Result<MentionCorpus, String> {
        MentionCorpus::from_jsonl("mine", documents.as_bytes(), mentions.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn nested_and_split_mentions_are_kept_in_the_order_of_the_text() {
        let mentions = r#"{"doc": "a", "tokens": [3, 4], "tag": "ACTION_OCCURRENCE", "cluster": "F"}
{"doc": "a", "tokens": [3], "tag": "ACTION_OCCURRENCE", "cluster": "G"}
{"doc": "a", "tokens": [4, 2], "tag": "LOC_FAC", "cluster": "H"}"#;
        let corpus = read(DOCUMENT, mentions).unwrap();
        let tokens: Vec<&[usize]> = corpus.mentions().iter().map(|mention| mention.tokens.as_slice()).collect();
        assert_eq!(tokens, [&[1, 3][..], &[2], &[2, 3]]);
        assert_eq!(corpus.counts(CorefPart::Test, MentionKinds::Events).mentions, 2);
        assert_eq!((corpus.documents()[0].sentence(1), corpus.documents()[0].validated_tokens()), (1..4, 3));
    }

    #[test]
    fn a_document_without_mentions_and_a_topic_of_one_mention_are_read() {
        let other = DOCUMENT.replace(r#""doc": "a""#, r#""doc": "b""#).replace("fire", "flood");
        let corpus = read(
            &format!("{DOCUMENT}\n\n{other}\n"),
            r#"{"doc": "a", "tokens": [3], "tag": "ACTION_STATE", "cluster": "F"}"#,
        )
        .unwrap();
        assert_eq!(corpus.topics(CorefPart::Test), ["fire", "flood"]);
        assert_eq!(corpus.mentions_of("fire", MentionKinds::Both).len(), 1);
        assert!(corpus.mentions_of("flood", MentionKinds::Both).is_empty());
    }

    #[test]
    fn what_is_wrong_with_a_mention_is_named_with_its_line() {
        let good = r#"{"doc": "a", "tokens": [3, 4], "tag": "ACTION_STATE", "cluster": "F"}"#;
        for (line, wanted) in [
            (good, "mine.mentions:2: the tokens [2, 3] of `a` are a mention in line 1 already"),
            (&good.replace("\"a\"", "\"z\""), "mine.mentions:2: the unknown document `z`"),
            (&good.replace("[3, 4]", "[3, 9]"), "the unknown token 9 of `a`"),
            (&good.replace("[3, 4]", "[]"), "a mention of `a` without tokens"),
            (&good.replace("[3, 4]", "[1, 3]"), "is in several sentences"),
            (&good.replace("[3, 4]", "[1]"), "a mention in sentence 0 of `a`, which is not validated"),
            (&good.replace("\"F\"", "\" \""), "a mention of `a` without a cluster"),
            (&good.replace("cluster", "chain"), "missing field `cluster`"),
        ] {
            let message = read(DOCUMENT, &format!("{good}\n{line}\n")).unwrap_err();
            assert!(message.contains("mine.mentions:2: ") && message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_document_is_named_with_its_line() {
        let other = DOCUMENT.replace("\"a\"", "\"b\"");
        for (line, wanted) in [
            (DOCUMENT.to_owned(), "the document `a` was seen before, in line 1"),
            (other.replace("test", "held_out"), "unknown variant `held_out`"),
            (other.replace("[1, 3,", "[1, 2,"), "the token 2 of `b` comes twice"),
            (other.replace("[1, 4,", "[0, 4,"), "the token 4 of `b` goes back to sentence 0"),
            ("nothing".to_owned(), "`nothing` (expected"),
        ] {
            let message = read(&format!("{DOCUMENT}\n{line}"), "").unwrap_err();
            assert!(message.contains("mine.documents:2: ") && message.contains(wanted), "{message}");
        }
        assert_eq!(read("\n", "").unwrap_err(), "`mine.documents` holds no documents");
    }
}
