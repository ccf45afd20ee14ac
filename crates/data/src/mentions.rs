//! News documents with mentions of events and entities, and which mentions are of the same thing: the items of
//! cross-document coreference.
//!
//! A corpus is documents by topic, each cut into tokens and sentences, and the mentions of its *validated* sentences, those
//! whose annotation was checked; the others are context. The format is JSON lines (`jsonl.rs`); `raw::mentions`
//! converts the CAT XML of ECB+ (Cybulska & Vossen 2014) to it. Nested and overlapping mentions are kept; two mentions of the same tokens are an error.

use std::collections::{BTreeSet, HashMap};

use landmark_core::oracle::Identity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod jsonl;

/// The part of the standard split that a topic is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CorefPart {
    Train,
    Dev,
    Test,
}

impl CorefPart {
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}

/// Kind of a mention's referent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MentionKind {
    /// Something that happens; tags that begin with `ACT` or `NEG`.
    Event,
    /// Someone or something that takes part, a place, a time.
    Entity,
}

impl MentionKind {
    /// The rule of Cattan et al. 2021 for the tags of ECB+.
    pub fn of_tag(tag: &str) -> Self {
        if tag.starts_with("ACT") || tag.starts_with("NEG") { Self::Event } else { Self::Entity }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Entity => "entity",
        }
    }
}

/// Selection of mentions by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MentionKinds {
    /// Events alone.
    Events,
    /// Entities alone.
    Entities,
    /// Both together (`ALL`, `mixed` of the literature).
    #[default]
    Both,
}

impl MentionKinds {
    /// True where a kind is among them.
    pub fn include(self, kind: MentionKind) -> bool {
        match self {
            Self::Events => kind == MentionKind::Event,
            Self::Entities => kind == MentionKind::Entity,
            Self::Both => true,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The number of its sentence, from 0.
    pub sentence: usize,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewsDocument {
    /// Its id, distinct among all.
    pub id: String,
    /// Subject of the news; mentions corefer within a topic.
    pub topic: String,
    /// Event within the topic, where the source distinguishes them.
    pub subtopic: String,
    pub part: CorefPart,
    /// Sentences whose annotation was checked, ascending.
    pub validated: Vec<usize>,
    pub tokens: Vec<Token>,
}

impl NewsDocument {
    /// The positions of the tokens of a sentence.
    pub fn sentence(&self, sentence: usize) -> std::ops::Range<usize> {
        let start = self.tokens.partition_point(|token| token.sentence < sentence);
        start..self.tokens.partition_point(|token| token.sentence <= sentence)
    }

    /// Number of tokens in validated sentences.
    pub fn validated_tokens(&self) -> usize {
        self.validated.iter().map(|&sentence| self.sentence(sentence).len()).sum()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Index of its document in the corpus.
    pub document: usize,
    pub sentence: usize,
    /// Positions of its tokens in the document, ascending; they need not be neighbors.
    pub tokens: Vec<usize>,
    pub kind: MentionKind,
    pub tag: String,
    /// Mentions with equal names are of the same thing.
    pub cluster: String,
}

impl Mention {
    /// Position of its first token.
    pub fn start(&self) -> usize {
        self.tokens[0]
    }

    /// Position of its last token.
    pub fn end(&self) -> usize {
        self.tokens[self.tokens.len() - 1]
    }
}

/// Documents and their mentions by one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MentionCorpus {
    name: String,
    documents: Vec<NewsDocument>,
    mentions: Vec<Mention>,
}

/// Statistics of a part of a corpus, as papers count them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorefCounts {
    /// Documents with a validated sentence.
    pub documents: usize,
    pub sentences: usize,
    pub mentions: usize,
    /// Clusters, those of one mention included.
    pub clusters: usize,
    pub singletons: usize,
}

impl MentionCorpus {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its documents in the order of the source.
    pub fn documents(&self) -> &[NewsDocument] {
        &self.documents
    }

    pub fn mentions(&self) -> &[Mention] {
        &self.mentions
    }

    /// The topics of a part, in the order of the source.
    pub fn topics(&self, part: CorefPart) -> Vec<&str> {
        let mut topics: Vec<&str> = Vec::new();
        for document in self.documents.iter().filter(|document| document.part == part) {
            if !topics.contains(&document.topic.as_str()) {
                topics.push(&document.topic);
            }
        }
        topics
    }

    pub fn documents_of(&self, topic: &str) -> Vec<usize> {
        (0..self.documents.len()).filter(|&document| self.documents[document].topic == topic).collect()
    }

    /// The mentions of a topic; none is an empty list.
    pub fn mentions_of(&self, topic: &str, kinds: MentionKinds) -> Vec<&Mention> {
        let wanted =
            |mention: &&Mention| self.documents[mention.document].topic == topic && kinds.include(mention.kind);
        self.mentions.iter().filter(wanted).collect()
    }

    /// Statistics of a part. Clusters are counted by name, whatever the topic, as the published figures are.
    pub fn counts(&self, part: CorefPart, kinds: MentionKinds) -> CorefCounts {
        let of_part = |document: usize| self.documents[document].part == part;
        let documents =
            self.documents.iter().filter(|document| document.part == part && !document.validated.is_empty());
        let mut sizes: HashMap<&str, usize> = HashMap::new();
        for mention in self.mentions.iter().filter(|mention| of_part(mention.document) && kinds.include(mention.kind)) {
            *sizes.entry(&mention.cluster).or_default() += 1;
        }
        CorefCounts {
            documents: documents.clone().count(),
            sentences: documents.map(|document| document.validated.len()).sum(),
            mentions: sizes.values().sum(),
            clusters: sizes.len(),
            singletons: sizes.values().filter(|&&size| size == 1).count(),
        }
    }

    /// Only the first `topics` topics of each part, with their documents and mentions.
    #[must_use]
    pub fn first_topics(self, topics: usize) -> Self {
        let parts = [CorefPart::Train, CorefPart::Dev, CorefPart::Test];
        let kept: BTreeSet<String> = parts
            .iter()
            .flat_map(|&part| self.topics(part).into_iter().take(topics).map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut documents = Vec::new();
        for (place, document) in self.documents.into_iter().enumerate() {
            if kept.contains(&document.topic) {
                places.insert(place, documents.len());
                documents.push(document);
            }
        }
        let moved = |mention: Mention| places.get(&mention.document).map(|&document| Mention { document, ..mention });
        let mentions = self.mentions.into_iter().filter_map(moved).collect();
        Self { documents, mentions, ..self }
    }

    /// A digest of everything read.
    pub fn identity(&self) -> Identity {
        let mut parts: Vec<(&str, Vec<u8>)> =
            vec![("kind", b"mentions v1".to_vec()), ("name", self.name.as_bytes().to_vec())];
        for document in &self.documents {
            parts.push(("document", document.id.as_bytes().to_vec()));
            parts.push(("topic", document.topic.as_bytes().to_vec()));
            parts.push(("part", document.part.name().as_bytes().to_vec()));
            parts.push(("validated", format!("{:?}", document.validated).into_bytes()));
            for token in &document.tokens {
                parts.push(("sentence", token.sentence.to_le_bytes().to_vec()));
                parts.push(("token", token.text.as_bytes().to_vec()));
            }
        }
        for mention in &self.mentions {
            parts.push(("mention", format!("{} {:?}", mention.document, mention.tokens).into_bytes()));
            parts.push(("tag", mention.tag.as_bytes().to_vec()));
            parts.push(("cluster", mention.cluster.as_bytes().to_vec()));
        }
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
        Identity::of(&parts)
    }

    /// Puts the mentions in their order: by document, then by first and last token.
    fn sorted(name: &str, documents: Vec<NewsDocument>, mut mentions: Vec<Mention>) -> Self {
        mentions.sort_by(|a, b| {
            (a.document, a.start(), a.end(), &a.tokens).cmp(&(b.document, b.start(), b.end(), &b.tokens))
        });
        Self { name: name.to_owned(), documents, mentions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_cut_by_topic_part_and_kind() {
        let corpus = crate::embedded::news().unwrap();
        for part in [CorefPart::Train, CorefPart::Dev, CorefPart::Test] {
            let both = corpus.counts(part, MentionKinds::Both);
            let events = corpus.counts(part, MentionKinds::Events);
            let entities = corpus.counts(part, MentionKinds::Entities);
            assert_eq!(both.mentions, events.mentions + entities.mentions);
            assert_eq!(both.clusters, events.clusters + entities.clusters);
            let by_topic: usize =
                corpus.topics(part).iter().map(|topic| corpus.mentions_of(topic, MentionKinds::Both).len()).sum();
            assert_eq!(by_topic, both.mentions);
        }
        let first = corpus.clone().first_topics(1);
        assert_eq!(first.topics(CorefPart::Test).len(), 1);
        let topic = first.topics(CorefPart::Test)[0];
        let texts = |corpus: &MentionCorpus| -> Vec<String> {
            corpus
                .mentions_of(topic, MentionKinds::Events)
                .iter()
                .map(|mention| corpus.documents()[mention.document].tokens[mention.start()].text.clone())
                .collect()
        };
        assert_eq!(texts(&first), texts(&corpus));
        assert_ne!(first.identity(), corpus.identity());
    }

    #[test]
    fn the_kind_follows_from_the_tag() {
        for (tag, kind) in [
            ("ACTION_OCCURRENCE", MentionKind::Event),
            ("NEG_ACTION_STATE", MentionKind::Event),
            ("HUMAN_PART_PER", MentionKind::Entity),
            ("NON_HUMAN_PART", MentionKind::Entity),
            ("TIME_DATE", MentionKind::Entity),
        ] {
            assert_eq!(MentionKind::of_tag(tag), kind, "{tag}");
        }
    }
}
