//! Documents as words: vocabulary, coverage by word vectors, bags of words.
//!
//! Memory: 4 bytes a token and the distinct words themselves.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bag_of_words::BagsOfWords;
use crate::documents::LabelledDocuments;
use crate::tokens::{stop_words, words};
use crate::word_vectors::WordVectors;

/// Preprocessing of the words of a document before any vector is looked up, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TokenRules {
    /// Drop the [stop words](stop_words), as the WMD experiments do (default).
    pub drop_stop_words: bool,
    /// Drop the words that occur fewer times in all documents together; 1 drops none. The WMD experiments take 5 for 20
    /// Newsgroups.
    pub min_count: u64,
    /// Keep in each document its k most frequent distinct words, ties to the one that comes first; the WMD experiments
    /// take k = 500 for 20 Newsgroups.
    pub most_frequent_words: Option<usize>,
}

impl Default for TokenRules {
    fn default() -> Self {
        Self { drop_stop_words: true, min_count: 1, most_frequent_words: None }
    }
}

/// The words of n documents, in order, as indices into one vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corpus {
    ids: Vec<String>,
    words: Vec<String>,
    index: HashMap<String, u32>,
    counts: Vec<u64>,
    documents: Vec<Vec<u32>>,
}

impl Corpus {
    /// Cuts documents into words. The vocabulary is in the order of first appearance.
    pub fn tokenize(documents: &LabelledDocuments, rules: &TokenRules) -> Self {
        Self::from_texts(documents.ids(), documents.texts(), rules)
    }

    /// The same for texts without labels; `ids` and `texts` go together.
    pub fn from_texts(ids: &[String], texts: &[String], rules: &TokenRules) -> Self {
        let mut corpus = Self {
            ids: ids.to_vec(),
            words: Vec::new(),
            index: HashMap::new(),
            counts: Vec::new(),
            documents: Vec::with_capacity(texts.len()),
        };
        for text in texts {
            let mut tokens = words(text);
            if rules.drop_stop_words {
                tokens.retain(|word| !stop_words().contains(word.as_str()));
            }
            let document = tokens.into_iter().map(|word| corpus.intern(word)).collect();
            corpus.documents.push(document);
        }
        if rules.min_count > 1 || rules.most_frequent_words.is_some() {
            for document in &mut corpus.documents {
                document.retain(|&word| corpus.counts[word as usize] >= rules.min_count);
                if let Some(k) = rules.most_frequent_words {
                    keep_most_frequent(document, k);
                }
            }
            corpus = corpus.renumbered();
        }
        corpus
    }

    fn intern(&mut self, word: String) -> u32 {
        let next = u32::try_from(self.words.len()).expect("a corpus has fewer than 2^32 distinct words");
        let place = *self.index.entry(word).or_insert_with_key(|word| {
            self.words.push(word.clone());
            self.counts.push(0);
            next
        });
        self.counts[place as usize] += 1;
        place
    }

    /// The same documents over a vocabulary of the words that are left.
    fn renumbered(self) -> Self {
        let mut corpus =
            Self { ids: self.ids, words: Vec::new(), index: HashMap::new(), counts: Vec::new(), documents: Vec::new() };
        for document in &self.documents {
            let document = document.iter().map(|&word| corpus.intern(self.words[word as usize].clone())).collect();
            corpus.documents.push(document);
        }
        corpus
    }

    /// Number of documents n.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Number of occurrences of each distinct word in all documents together.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The words of document i as indices into [`words`](Self::words), in their order and as often as they occur.
    pub fn document(&self, i: usize) -> &[u32] {
        &self.documents[i]
    }

    /// True where a word occurs anywhere: what a [reader of vectors](WordVectors::read) needs to keep.
    pub fn contains(&self, word: &str) -> bool {
        self.index.contains_key(word)
    }

    /// The documents as bags over the rows of `vectors`; words without a vector are dropped. A document that loses all
    /// of them is kept as an empty bag under its id, and what becomes of it is the caller's policy.
    pub fn bags(&self, vectors: &WordVectors) -> BagsOfWords {
        let rows = self.rows(vectors);
        let known =
            |document: &Vec<u32>| document.iter().filter_map(|&w| rows[w as usize]).map(|row| (row, 1.0)).collect();
        BagsOfWords::from_counts(self.documents.iter().map(known)).with_ids(self.ids.clone())
    }

    /// Coverage of the corpus by `vectors`.
    pub fn coverage(&self, vectors: &WordVectors) -> Coverage {
        const LISTED: usize = 20;
        let rows = self.rows(vectors);
        let mut unknown: Vec<(String, u64)> = (0..self.words.len())
            .filter(|&w| rows[w].is_none())
            .map(|w| (self.words[w].clone(), self.counts[w]))
            .collect();
        let unknown_tokens: u64 = unknown.iter().map(|(_, count)| count).sum();
        let tokens: u64 = self.counts.iter().sum();
        let known_types = self.words.len() - unknown.len();
        unknown.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        unknown.truncate(LISTED);
        let emptied = |&i: &usize| self.documents[i].iter().all(|&w| rows[w as usize].is_none());
        Coverage {
            tokens,
            known_tokens: tokens - unknown_tokens,
            types: self.words.len(),
            known_types,
            documents: self.len(),
            emptied: (0..self.len()).filter(emptied).map(|i| self.ids[i].clone()).collect(),
            most_frequent_unknown: unknown,
        }
    }

    /// Mean number of distinct words of a document, the "length" of the papers' dataset tables; 0 of nothing.
    pub fn mean_distinct_words(&self) -> f64 {
        let distinct = |document: &Vec<u32>| {
            let mut words = document.clone();
            words.sort_unstable();
            words.dedup();
            words.len()
        };
        self.documents.iter().map(distinct).sum::<usize>() as f64 / self.len().max(1) as f64
    }

    fn rows(&self, vectors: &WordVectors) -> Vec<Option<u32>> {
        self.words.iter().map(|word| vectors.index_of(word)).collect()
    }
}

/// Keeps the tokens that belong to the k most frequent distinct words, in their order.
fn keep_most_frequent(tokens: &mut Vec<u32>, k: usize) {
    let mut counts: HashMap<u32, (usize, usize)> = HashMap::new();
    for (place, &word) in tokens.iter().enumerate() {
        counts.entry(word).or_insert((0, place)).0 += 1;
    }
    if counts.len() <= k {
        return;
    }
    let mut ranked: Vec<(usize, usize)> = counts.values().copied().collect();
    ranked.sort_unstable_by_key(|&(count, first)| (std::cmp::Reverse(count), first));
    let (least, last) = match k.checked_sub(1) {
        None => return tokens.clear(),
        Some(last) => ranked[last],
    };
    tokens.retain(|word| {
        let (count, first) = counts[word];
        count > least || (count == least && first <= last)
    });
}

/// Coverage of a corpus by word vectors; printed before a run and stored with its results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Words in all documents, with repetition.
    pub tokens: u64,
    pub known_tokens: u64,
    pub types: usize,
    pub known_types: usize,
    pub documents: usize,
    /// Ids of the documents without any known word.
    pub emptied: Vec<String>,
    /// The most frequent words without a vector, with their counts; at most twenty.
    pub most_frequent_unknown: Vec<(String, u64)>,
}

impl Coverage {
    /// Percentage of the tokens that have a vector; 100 of nothing.
    pub fn token_percent(&self) -> f64 {
        if self.tokens == 0 { 100.0 } else { 100.0 * self.known_tokens as f64 / self.tokens as f64 }
    }

    /// Percentage of the distinct words that have a vector; 100 of nothing.
    pub fn type_percent(&self) -> f64 {
        if self.types == 0 { 100.0 } else { 100.0 * self.known_types as f64 / self.types as f64 }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "word vectors cover {:.1} % of {} tokens and {:.1} % of {} distinct words; {} of {} documents have no known word",
            self.token_percent(),
            self.tokens,
            self.type_percent(),
            self.types,
            self.emptied.len(),
            self.documents,
        )?;
        if !self.most_frequent_unknown.is_empty() {
            let listed = self.most_frequent_unknown.iter().take(8).map(|(word, count)| format!("{word} ({count})"));
            write!(f, "; most frequent unknown words: {}", listed.collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn corpus(texts: &[&str], rules: &TokenRules) -> Corpus {
        let ids: Vec<String> = (0..texts.len()).map(|i| format!("d{i}")).collect();
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        Corpus::from_texts(&ids, &texts, rules)
    }

    fn vectors() -> WordVectors {
        let words = ["moon", "soup"].map(str::to_owned).to_vec();
        WordVectors::new(words, array![[1.0, 0.0], [0.0, 1.0]], "by hand").unwrap()
    }

    #[test]
    fn stop_words_go_and_the_vocabulary_is_in_order_of_appearance() {
        let texts = ["The moon and the soup.", "Soup, the moon: MOON?"];
        let kept = corpus(&texts, &TokenRules::default());
        assert_eq!(kept.words(), ["moon", "soup"]);
        assert_eq!(kept.counts(), [3, 2]);
        assert_eq!(kept.document(1), [1, 0, 0]);
        let all = corpus(&texts, &TokenRules { drop_stop_words: false, ..TokenRules::default() });
        assert_eq!(all.words(), ["the", "moon", "and", "soup"]);
    }

    #[test]
    fn bags_hold_known_words_and_an_emptied_document_is_reported_by_its_id() {
        let corpus = corpus(&["moon moon soup xyzzy", "xyzzy plugh", "the", "soup"], &TokenRules::default());
        let bags = corpus.bags(&vectors());
        assert_eq!(bags.document(0), (&[0, 1][..], &[2.0 / 3.0, 1.0 / 3.0][..]));
        assert_eq!((bags.empty_documents(), bags.id(2)), (vec![1, 2], "d2"));
        let coverage = corpus.coverage(&vectors());
        assert_eq!((coverage.tokens, coverage.known_tokens, coverage.types, coverage.known_types), (7, 4, 4, 2));
        assert_eq!(coverage.emptied, ["d1", "d2"]);
        assert_eq!(coverage.most_frequent_unknown, [("xyzzy".to_owned(), 2), ("plugh".to_owned(), 1)]);
        assert_eq!(
            coverage.to_string(),
            "word vectors cover 57.1 % of 7 tokens and 50.0 % of 4 distinct words; 2 of 4 documents have no known word; \
             most frequent unknown words: xyzzy (2), plugh (1)"
        );
    }

    #[test]
    fn the_most_frequent_words_of_a_document_are_kept_with_all_their_tokens() {
        let rules = |k| TokenRules { drop_stop_words: false, most_frequent_words: Some(k), ..TokenRules::default() };
        let text = ["b a c b d c b"];
        let kept = |k| {
            let corpus = corpus(&text, &rules(k));
            corpus.document(0).iter().map(|&w| corpus.words()[w as usize].clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(kept(0), "");
        assert_eq!(kept(1), "b b b");
        assert_eq!(kept(3), "b a c b c b"); // a and d occur once each; a comes first
        assert_eq!(kept(9), text[0]);
    }

    #[test]
    fn rare_words_of_the_whole_corpus_go_and_the_vocabulary_closes_up() {
        let rules = TokenRules { min_count: 2, ..TokenRules::default() };
        let corpus = corpus(&["rake moon soup", "soup moon", "pan"], &rules);
        assert_eq!((corpus.words().join(" "), corpus.counts()), ("moon soup".to_owned(), &[2, 2][..]));
        assert_eq!([corpus.document(0), corpus.document(1), corpus.document(2)], [&[0, 1][..], &[1, 0], &[]]);
        assert!(corpus.contains("moon") && !corpus.contains("rake"));
    }
}
