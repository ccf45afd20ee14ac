//! Spans of words, and where their states are.

use landmark_data::MentionCorpus;

/// The rows of the states of a span: `first..=last`, and how many words it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanRows {
    /// The first row.
    pub first: usize,
    /// The last row, at least `first`.
    pub last: usize,
    /// Words, from its first to its last.
    pub words: usize,
}

impl SpanRows {
    /// Number of rows.
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
