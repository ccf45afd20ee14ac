//! From a text to sentences of tagged, chunked and stemmed words.
//!
//! - sentences end at `.`, `!`, `?` (as many as there are) before a blank, and at line breaks;
//! - tokens are web and mail addresses, words with inner apostrophes and hyphens, numbers with inner points and commas,
//!   and other signs one by one;
//! - universal parts of speech and noun phrases come from Harper's Brill tagger and chunker (crate `harper-brill`, models
//!   inside), words it does not know by their shape;
//! - stems are Snowball's for English (crate `rust-stemmers`), of the lower-cased word.
//!
//! Cost: about a millisecond for a comment, once.

use std::sync::Arc;

use harper_brill::{BrillChunker, BrillTagger, Chunker, FreqDict, Tagger, UPOS};
use rust_stemmers::{Algorithm, Stemmer};

use super::annotation::{Annotated, Chunk, Token, is_address};
use crate::tokens::stop_words;

/// Tagger, chunker and stemmer, made once.
pub struct Annotator {
    tagger: Arc<BrillTagger<FreqDict>>,
    chunker: Arc<BrillChunker>,
    stemmer: Stemmer,
}

impl Default for Annotator {
    fn default() -> Self {
        Self::new()
    }
}

impl Annotator {
    /// Loads the models that ship with the tagger.
    pub fn new() -> Self {
        Self {
            tagger: harper_brill::brill_tagger(),
            chunker: harper_brill::brill_chunker(),
            stemmer: Stemmer::create(Algorithm::English),
        }
    }

    /// Takes a text apart; a text without any sign has no sentences.
    pub fn annotate(&self, text: &str) -> Annotated {
        let sentences = sentences(text).into_iter().map(tokenize).filter(|forms| !forms.is_empty());
        Annotated { sentences: sentences.map(|forms| self.annotate_sentence(forms)).collect() }
    }

    fn annotate_sentence(&self, forms: Vec<String>) -> Vec<Token> {
        let guesses = self.tagger.tag_sentence(&forms);
        let tags: Vec<Option<UPOS>> =
            forms.iter().zip(guesses).map(|(form, tag)| Some(tag.unwrap_or_else(|| guess(form)))).collect();
        let in_noun_phrase = self.chunker.chunk_sentence(&forms, &tags);
        let mut tokens = Vec::with_capacity(forms.len());
        for ((form, tag), is_noun_phrase) in forms.into_iter().zip(tags).zip(in_noun_phrase) {
            // the tagger knows signs by what surrounds them; what has no letter and no digit is a sign
            let has_letters = form.chars().any(char::is_alphanumeric);
            let tag = if has_letters { tag.unwrap_or_default() } else { UPOS::PUNCT };
            let chunk = if is_noun_phrase && has_letters { Chunk::Noun } else { chunk_of(tag) };
            let lower = form.to_lowercase();
            let is_content = has_letters && !stop_words().contains(lower.as_str());
            tokens.push(Token {
                stem: self.stemmer.stem(&lower).into_owned(),
                form,
                tag: tag_name(tag),
                chunk,
                is_content,
            });
        }
        tokens
    }
}

/// The part of speech of a word that the tagger does not know, by its shape.
fn guess(form: &str) -> UPOS {
    let lower = form.to_lowercase();
    if !form.chars().any(char::is_alphanumeric) {
        UPOS::PUNCT
    } else if form.chars().all(|c| c.is_numeric() || matches!(c, '.' | ',' | '-' | '/' | ':')) {
        UPOS::NUM
    } else if form.contains("://") || form.contains('@') || form.starts_with("www.") {
        UPOS::SYM
    } else if lower.len() > 4 && lower.ends_with("ly") {
        UPOS::ADV
    } else if lower.len() > 5 && (lower.ends_with("ing") || lower.ends_with("ed")) {
        UPOS::VERB
    } else if form.chars().next().is_some_and(char::is_uppercase) {
        UPOS::PROPN
    } else {
        UPOS::NOUN
    }
}

fn tag_name(tag: UPOS) -> &'static str {
    match tag {
        UPOS::ADJ => "ADJ",
        UPOS::ADP => "ADP",
        UPOS::ADV => "ADV",
        UPOS::AUX => "AUX",
        UPOS::CCONJ => "CCONJ",
        UPOS::DET => "DET",
        UPOS::INTJ => "INTJ",
        UPOS::NOUN => "NOUN",
        UPOS::NUM => "NUM",
        UPOS::PART => "PART",
        UPOS::PRON => "PRON",
        UPOS::PROPN => "PROPN",
        UPOS::PUNCT => "PUNCT",
        UPOS::SCONJ => "SCONJ",
        UPOS::SYM => "SYM",
        UPOS::VERB => "VERB",
    }
}

fn chunk_of(tag: UPOS) -> Chunk {
    match tag {
        UPOS::VERB | UPOS::AUX | UPOS::PART | UPOS::ADV => Chunk::Verb,
        UPOS::ADP | UPOS::SCONJ => Chunk::Preposition,
        UPOS::ADJ => Chunk::Adjective,
        UPOS::NOUN | UPOS::PROPN | UPOS::PRON | UPOS::DET | UPOS::NUM => Chunk::Noun,
        UPOS::CCONJ | UPOS::INTJ | UPOS::PUNCT | UPOS::SYM => Chunk::Other,
    }
}

/// The sentences of a text, blank ones left out.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let (mut start, mut after_end) = (0, false);
    for (at, c) in text.char_indices() {
        if c == '\n' || (after_end && c.is_whitespace()) {
            sentences.push(&text[start..at]);
            start = at;
        }
        after_end = matches!(c, '.' | '!' | '?');
    }
    sentences.push(&text[start..]);
    sentences.retain(|sentence| !sentence.trim().is_empty());
    sentences
}

fn tokenize(sentence: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for piece in sentence.split_whitespace() {
        if is_address(piece) {
            tokens.push(piece.trim_end_matches(['.', ',', ';', ')', '!', '?']).to_owned());
            continue;
        }
        let mut word = String::new();
        let mut rest = piece.chars().map(|c| if c == '’' { '\'' } else { c }).peekable();
        while let Some(c) = rest.next() {
            let inner = rest.peek().is_some_and(|next| next.is_alphanumeric()) && !word.is_empty();
            let joins = match c {
                '\'' => inner,
                '-' => inner && word.ends_with(char::is_alphabetic),
                '.' | ',' => inner && word.chars().all(|c| c.is_numeric() || c == '.' || c == ','),
                _ => c.is_alphanumeric(),
            };
            if joins {
                word.push(c);
            } else {
                if !word.is_empty() {
                    tokens.push(std::mem::take(&mut word));
                }
                tokens.push(c.to_string());
            }
        }
        if !word.is_empty() {
            tokens.push(word);
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Vec<Vec<String>> {
        sentences(text).into_iter().map(tokenize).collect()
    }

    #[test]
    fn sentences_end_at_stops_before_a_blank_and_at_line_breaks() {
        assert_eq!(sentences("One. Two?! Three 3.5 x\nFour"), ["One.", " Two?!", " Three 3.5 x", "\nFour"]);
        assert!(sentences(" \n ").is_empty());
    }

    #[test]
    fn addresses_numbers_and_joined_words_stay_whole() {
        assert_eq!(
            forms("Don’t pay 7,000-8,000; see www.a.b/c?d=1, or mail me@x.org!!"),
            [["Don't", "pay", "7,000", "-", "8,000", ";", "see", "www.a.b/c?d=1", "or", "mail", "me@x.org"]]
        );
    }
}
