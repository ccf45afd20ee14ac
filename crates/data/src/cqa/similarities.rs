//! Similarities of a question and a comment: [`SIMILARITIES`].
//!
//! After Nicosia et al. 2015 ("QCRI: Answer selection for community question answering") and Barrón-Cedeño et al. 2015
//! ("Thread-level information for comment classification"), from which Filice et al. 2016 take theirs. Texts are stems of
//! words and numbers; n-grams are of those.
//!
//! | feature | formula | source |
//! |---|---|---|
//! | `cosine_n` n = 1, 2, 3 | cosine of n-gram counts | Salton & McGill 1983 |
//! | `tf_idf` | cosine of counts · ln((1 + N)/(1 + df)) over the training threads | the same |
//! | `jaccard_n` n = 1, 2 | \|A ∩ B\| / \|A ∪ B\| of n-gram sets | Jaccard 1901 |
//! | `containment_n` n = 1, 2 | \|A ∩ B\| / \|A\|, A the question's n-grams | Lyon et al. 2001 |
//! | `content_overlap` | containment of content words alone | Filice et al. 2016 |
//! | `subsequence` | longest common subsequence / shorter length | Allison & Dix 1986 |
//! | `substring` | longest common run of words / shorter length | Gusfield 1997 |
//! | `tiling` | words in common runs of 2 or more / shorter length, longest first | Wise 1996 |
//! | `vectors` | cosine of mean word vectors | Mikolov et al. 2013 |
//! | `vectors_content` | the same of content words | Nicosia et al. 2015 |
//! | `alignment` | mean over the question's content words of their best cosine in the comment | Barrón-Cedeño et al. 2016 |
//!
//! 0 where a side has nothing to compare. Cost: O(mn) words of both for the subsequences, O(mnd) for the alignment.

use std::collections::{HashMap, HashSet};

use super::annotation::Annotated;
use crate::word_vectors::WordVectors;

/// The names, in the order of the numbers.
pub const SIMILARITIES: [&str; 15] = [
    "cosine_1",
    "cosine_2",
    "cosine_3",
    "tf_idf",
    "jaccard_1",
    "jaccard_2",
    "containment_1",
    "containment_2",
    "content_overlap",
    "subsequence",
    "substring",
    "tiling",
    "vectors",
    "vectors_content",
    "alignment",
];

/// Inputs of the similarities besides the two texts: inverse document frequencies and word vectors.
#[derive(Debug)]
pub struct TextSimilarities<'a> {
    /// ln((1 + N)/(1 + df)) of a stem; that of df = 0 for the others.
    inverse_frequency: HashMap<String, f64>,
    unseen: f64,
    vectors: Option<&'a WordVectors>,
}

impl<'a> TextSimilarities<'a> {
    /// Document frequencies of the stems in these texts (those of the training threads), and word vectors, without which
    /// their three features are 0.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t Annotated>, vectors: Option<&'a WordVectors>) -> Self {
        let mut frequency: HashMap<String, usize> = HashMap::new();
        let mut count = 0;
        for text in texts {
            count += 1;
            for stem in text.words().into_iter().collect::<HashSet<_>>() {
                *frequency.entry(stem.to_owned()).or_default() += 1;
            }
        }
        let weight = |df: usize| ((1 + count) as f64 / (1 + df) as f64).ln();
        let inverse_frequency = frequency.into_iter().map(|(stem, df)| (stem, weight(df))).collect();
        Self { inverse_frequency, unseen: weight(0), vectors }
    }

    /// The similarities of a question and a comment, in the order of [`SIMILARITIES`].
    pub fn of(&self, question: &Annotated, comment: &Annotated) -> [f64; SIMILARITIES.len()] {
        let (q, c) = (question.words(), comment.words());
        let shorter = q.len().min(c.len());
        let weigh = |counts: HashMap<Vec<&'_ str>, f64>| -> HashMap<String, f64> {
            let weight = |stem: &str| self.inverse_frequency.get(stem).copied().unwrap_or(self.unseen);
            counts.into_iter().map(|(gram, n)| (gram[0].to_owned(), n * weight(gram[0]))).collect()
        };
        let content_of = |text: &Annotated| -> HashSet<String> {
            text.tokens().filter(|token| token.is_content).map(|token| token.stem.clone()).collect()
        };
        let [vectors, vectors_content, alignment] = self.by_vectors(question, comment);
        [
            cosine(&grams(&q, 1), &grams(&c, 1)),
            cosine(&grams(&q, 2), &grams(&c, 2)),
            cosine(&grams(&q, 3), &grams(&c, 3)),
            cosine(&weigh(grams(&q, 1)), &weigh(grams(&c, 1))),
            jaccard(&grams(&q, 1), &grams(&c, 1)),
            jaccard(&grams(&q, 2), &grams(&c, 2)),
            containment(&grams(&q, 1), &grams(&c, 1)),
            containment(&grams(&q, 2), &grams(&c, 2)),
            share(content_of(question).intersection(&content_of(comment)).count(), content_of(question).len()),
            share(longest_common_subsequence(&q, &c), shorter),
            share(longest_common_run(&q, &c), shorter),
            share(tiled(&q, &c), shorter),
            vectors,
            vectors_content,
            alignment,
        ]
    }

    fn by_vectors(&self, question: &Annotated, comment: &Annotated) -> [f64; 3] {
        let Some(vectors) = self.vectors else { return [0.0; 3] };
        let of = |text: &Annotated, content_only: bool| -> Vec<Vec<f64>> {
            let words = text.tokens().filter(|token| token.is_content || !content_only);
            words.filter_map(|token| unit(vectors, &token.form.to_lowercase())).collect()
        };
        let all = dense_cosine(&sum(&of(question, false)), &sum(&of(comment, false)));
        let (q, c) = (of(question, true), of(comment, true));
        let best = |word: &Vec<f64>| c.iter().map(|other| dot(word, other)).fold(0.0, f64::max);
        let alignment = if q.is_empty() { 0.0 } else { q.iter().map(best).sum::<f64>() / q.len() as f64 };
        [all, dense_cosine(&sum(&q), &sum(&c)), alignment]
    }
}

fn unit(vectors: &WordVectors, word: &str) -> Option<Vec<f64>> {
    let vector: Vec<f64> = vectors.vector(word)?.iter().map(|&x| f64::from(x)).collect();
    let length = dot(&vector, &vector).sqrt();
    (length > 0.0).then(|| vector.into_iter().map(|x| x / length).collect())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sum(vectors: &[Vec<f64>]) -> Vec<f64> {
    let mut total = vectors.first().cloned().unwrap_or_default();
    for vector in vectors.iter().skip(1) {
        total.iter_mut().zip(vector).for_each(|(total, x)| *total += x);
    }
    total
}

fn dense_cosine(a: &[f64], b: &[f64]) -> f64 {
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

/// Counts of n-grams.
fn grams<'a>(words: &[&'a str], n: usize) -> HashMap<Vec<&'a str>, f64> {
    let mut counts = HashMap::new();
    for gram in words.windows(n) {
        *counts.entry(gram.to_vec()).or_default() += 1.0;
    }
    counts
}

fn cosine<K: std::hash::Hash + Eq + Ord>(a: &HashMap<K, f64>, b: &HashMap<K, f64>) -> f64 {
    // in the order of the keys, so that a sum has the same bits in every run
    let ordered = |map: &HashMap<K, f64>| {
        let mut squares: Vec<(&K, f64)> = map.iter().map(|(key, x)| (key, x * x)).collect();
        squares.sort_by(|x, y| x.0.cmp(y.0));
        squares.into_iter().map(|(_, x)| x).sum::<f64>()
    };
    let lengths = (ordered(a) * ordered(b)).sqrt();
    let mut common: Vec<(&K, f64)> = a.iter().filter_map(|(key, x)| Some((key, x * b.get(key)?))).collect();
    common.sort_by(|x, y| x.0.cmp(y.0));
    let product: f64 = common.into_iter().map(|(_, x)| x).sum();
    if lengths > 0.0 { product / lengths } else { 0.0 }
}

fn jaccard(a: &HashMap<Vec<&str>, f64>, b: &HashMap<Vec<&str>, f64>) -> f64 {
    let both = a.keys().filter(|gram| b.contains_key(*gram)).count();
    share(both, a.len() + b.len() - both)
}

fn containment(a: &HashMap<Vec<&str>, f64>, b: &HashMap<Vec<&str>, f64>) -> f64 {
    share(a.keys().filter(|gram| b.contains_key(*gram)).count(), a.len())
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn longest_common_subsequence(a: &[&str], b: &[&str]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut corner = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { corner + 1 } else { above.max(row[j]) };
            corner = above;
        }
    }
    row[b.len()]
}

fn longest_common_run(a: &[&str], b: &[&str]) -> usize {
    runs(a, b, &vec![false; a.len()], &vec![false; b.len()]).map_or(0, |(length, _, _)| length)
}

/// The longest common run of words that are not taken, with where it starts; the first of the longest.
fn runs(a: &[&str], b: &[&str], taken_a: &[bool], taken_b: &[bool]) -> Option<(usize, usize, usize)> {
    let mut best: Option<(usize, usize, usize)> = None;
    let mut row = vec![0; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        let mut corner = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y && !taken_a[i] && !taken_b[j] { corner + 1 } else { 0 };
            let length = row[j + 1];
            if length > best.map_or(0, |(longest, _, _)| longest) {
                best = Some((length, i + 1 - length, j + 1 - length));
            }
            corner = above;
        }
    }
    best
}

/// Words in common runs of at least two, the longest taken first and no word twice.
fn tiled(a: &[&str], b: &[&str]) -> usize {
    let (mut taken_a, mut taken_b) = (vec![false; a.len()], vec![false; b.len()]);
    let mut total = 0;
    while let Some((length, i, j)) = runs(a, b, &taken_a, &taken_b).filter(|&(length, _, _)| length >= 2) {
        taken_a[i..i + length].fill(true);
        taken_b[j..j + length].fill(true);
        total += length;
    }
    total
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn words_are_compared_as_the_formulas_say() {
        let (a, b) = (["x", "y", "z", "x", "w"], ["y", "z", "q", "x", "w"]);
        assert_eq!(longest_common_subsequence(&a, &b), 4);
        assert_eq!(longest_common_run(&a, &b), 2);
        assert_eq!(tiled(&a, &b), 4);
        assert_eq!(jaccard(&grams(&a, 1), &grams(&b, 1)), 4.0 / 5.0);
        assert_eq!(containment(&grams(&a, 2), &grams(&b, 2)), 2.0 / 4.0);
        assert!((cosine(&grams(&a, 1), &grams(&b, 1)) - 5.0 / (7.0_f64 * 5.0).sqrt()).abs() < 1e-15);
        assert_eq!((longest_common_run(&a, &[]), tiled(&[], &[])), (0, 0));
    }
}
