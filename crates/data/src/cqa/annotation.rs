//! A text taken apart: sentences of tagged, chunked and stemmed words.

/// A phrase that a token is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Chunk {
    /// Noun phrase by the chunker.
    Noun,
    /// Verbs, auxiliaries, particles and adverbs in a row.
    Verb,
    /// Adpositions and subordinating conjunctions.
    Preposition,
    /// Adjectives outside a noun phrase.
    Adjective,
    Other,
}

impl Chunk {
    pub fn label(self) -> &'static str {
        match self {
            Self::Noun => "NP",
            Self::Verb => "VP",
            Self::Preposition => "PP",
            Self::Adjective => "ADJP",
            Self::Other => "O",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub form: String,
    /// Its stem, in lower case.
    pub stem: String,
    /// Its universal part of speech, such as `NOUN`.
    pub tag: &'static str,
    pub chunk: Chunk,
    /// True for a content word: no stop word, no sign.
    pub is_content: bool,
}

/// A text taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Annotated {
    /// Its sentences, none of them empty.
    pub sentences: Vec<Vec<Token>>,
}

impl Annotated {
    pub fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.sentences.iter().flatten()
    }

    /// The stems of the tokens that are words or numbers.
    pub fn words(&self) -> Vec<&str> {
        self.tokens()
            .filter(|token| token.form.chars().any(char::is_alphanumeric))
            .map(|token| token.stem.as_str())
            .collect()
    }
}

/// True where a piece without blanks is a web or mail address.
pub(super) fn is_address(piece: &str) -> bool {
    let lower = piece.to_lowercase();
    let mail = lower.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    mail || lower.contains("://") || lower.starts_with("www.")
}
