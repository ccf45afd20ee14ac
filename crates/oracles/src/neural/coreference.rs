//! Spans of words, and the recipe of a coreference scorer.

use landmark_data::MentionCorpus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::{SHARE, WrongParameter, first_wrong, is_rate};

/// The rows of the states of a span: `first..=last`, and how many words it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanRows {
    pub first: usize,
    /// The last row, at least `first`.
    pub last: usize,
    /// Words, from its first to its last.
    pub words: usize,
}

impl SpanRows {
    pub fn rows(&self) -> usize {
        self.last - self.first + 1
    }
}

/// All spans of up to `longest` words in the validated sentences of a document, as (first, last) word, by first word.
pub fn candidate_spans(corpus: &MentionCorpus, document: usize, longest: usize) -> Vec<(usize, usize)> {
    let document = &corpus.documents()[document];
    let mut spans = Vec::new();
    for &sentence in &document.validated {
        let words = document.sentence(sentence);
        for start in words.clone() {
            spans.extend((start..words.end.min(start + longest)).map(|end| (start, end)));
        }
    }
    spans
}

/// The question that a scorer learns to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Spans that are mentions.
    Mentions,
    /// Pairs of mentions that corefer.
    Pairs,
}

/// Settings of a training; defaults are those of Cattan et al. 2021.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScorerParams {
    /// Width of the hidden layers.
    pub hidden: usize,
    /// Share of values that are set to 0 while training.
    pub dropout: f64,
    /// Numbers that encode the width of a span.
    pub width: usize,
    /// Passes over the examples.
    pub epochs: usize,
    /// Examples of a step.
    pub batch: usize,
    /// Adam's η.
    pub learning_rate: f64,
    /// Pairs that do not corefer for each that does.
    pub negatives: f64,
}

impl Default for ScorerParams {
    fn default() -> Self {
        Self { hidden: 1024, dropout: 0.3, width: 20, epochs: 10, batch: 32, learning_rate: 1e-4, negatives: 10.0 }
    }
}

impl ScorerParams {
    /// The first parameter out of its range: name, value, what is wanted.
    pub fn wrong(&self) -> Option<WrongParameter> {
        let checks = [
            ("hidden", self.hidden >= 1, self.hidden.to_string(), "at least 1"),
            ("dropout", (0.0..1.0).contains(&self.dropout), self.dropout.to_string(), SHARE),
            ("width", self.width >= 1, self.width.to_string(), "at least 1"),
            ("epochs", self.epochs >= 1, self.epochs.to_string(), "at least 1"),
            ("batch", self.batch >= 1, self.batch.to_string(), "at least 1"),
            ("learning_rate", is_rate(self.learning_rate), self.learning_rate.to_string(), "between 0 and 1"),
            ("negatives", (0.0..f64::INFINITY).contains(&self.negatives), self.negatives.to_string(), "at least 0"),
        ];
        first_wrong(checks)
    }
}

/// The spans of a topic in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    pub spans: Vec<SpanRows>,
    /// The cluster of each; none for a span that is no mention.
    pub clusters: Vec<Option<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScorerEpoch {
    /// From 1.
    pub number: usize,
    /// Mean loss over its examples.
    pub loss: f64,
    /// The judge's figure; higher is better.
    pub score: f64,
    /// Wall seconds, judging included.
    pub seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_stay_inside_a_sentence_and_below_the_longest_length() {
        let corpus = landmark_data::embedded::news().unwrap();
        let document = &corpus.documents()[0];
        let spans = candidate_spans(&corpus, 0, 3);
        for &(start, end) in &spans {
            assert!(end - start < 3 && document.tokens[start].sentence == document.tokens[end].sentence);
        }
        // a sentence of n ≥ 3 words has n + (n − 1) + (n − 2) spans of up to 3 words
        let wanted: usize = document.validated.iter().map(|&s| 3 * document.sentence(s).len() - 3).sum();
        assert_eq!(spans.len(), wanted);
    }
}
