//! Similarity of two labels: it makes a partial tree kernel a smoothed one.
//!
//! Labels fall into groups (parts of speech, for example); labels of different groups are not alike, equal labels are alike
//! exactly, and what lies between is asked of a [`LabelSimilarity`] pair by pair.

use std::collections::HashMap;
use std::fmt;

use landmark_core::oracle::Identity;
use landmark_data::WordVectors;
use ndarray::Array2;

use super::forest::Forest;

/// A similarity of node labels, symmetric, between 0 and 1. Implement it to bring your own.
pub trait LabelSimilarity: Send + Sync {
    /// A digest of everything that moves a similarity.
    fn identity(&self) -> Identity;

    /// The group of a label; `None` where it is like nothing but itself.
    fn group<'a>(&self, label: &'a str) -> Option<&'a str>;

    /// The similarity of two different labels of one group, by their numbers in a forest whose labels these are. It is asked once for each pair
    /// of nodes that meet, so it should be quick.
    fn bind(&self, labels: &[String]) -> Box<NumberedSimilarity>;
}

/// A similarity over the numbered labels of one forest.
pub type NumberedSimilarity = dyn Fn(u32, u32) -> f64 + Send + Sync;

/// Why a similarity can't be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimilarityError {
    #[error("the similarity of `{first}` and `{second}` is {value}; want a number between 0 and 1")]
    Range { first: String, second: String, value: f64 },
    #[error("the threshold is {value}; want a number between 0 and 1")]
    Threshold { value: f64 },
}

/// The word and part of speech of a lexical label, `LEX##word::p`; `None` for any other label.
pub fn lexical(label: &str) -> Option<(&str, &str)> {
    label.strip_prefix("LEX##")?.rsplit_once("::")
}

/// Cosine of word vectors for lexical labels `LEX##word::p` of one part of speech, 0 below a threshold (KeLP's default is
/// 0.01). Words without a vector are like nothing but themselves.
#[derive(Debug, Clone)]
pub struct WordSimilarity {
    vectors: WordVectors,
    threshold: f64,
}

impl WordSimilarity {
    /// Over these vectors.
    pub fn new(vectors: WordVectors, threshold: f64) -> Result<Self, SimilarityError> {
        if (0.0..=1.0).contains(&threshold) {
            Ok(Self { vectors, threshold })
        } else {
            Err(SimilarityError::Threshold { value: threshold })
        }
    }

    /// The vector of a word at length 1; nothing for a word without one.
    fn unit(&self, word: &str) -> Option<Vec<f64>> {
        let vector: Vec<f64> = self.vectors.vector(word)?.iter().map(|&x| f64::from(x)).collect();
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        (length > 0.0).then(|| vector.into_iter().map(|x| x / length).collect())
    }
}

/// 0 below the threshold, and never above 1 for rounding.
fn cut(cosine: f64, threshold: f64) -> f64 {
    if cosine < threshold || cosine <= 0.0 { 0.0 } else { cosine.min(1.0) }
}

impl LabelSimilarity for WordSimilarity {
    fn identity(&self) -> Identity {
        let threshold = self.threshold.to_le_bytes();
        Identity::of(&[
            ("kind", b"word_similarity"),
            ("vectors", self.vectors.identity().as_bytes()),
            ("threshold", &threshold),
        ])
    }

    fn group<'a>(&self, label: &'a str) -> Option<&'a str> {
        let (word, part_of_speech) = lexical(label)?;
        self.vectors.vector(word).is_some().then_some(part_of_speech)
    }

    fn bind(&self, labels: &[String]) -> Box<NumberedSimilarity> {
        let mut rows = vec![None; labels.len()];
        let mut units: Vec<f64> = Vec::new();
        let mut count = 0;
        for (row, label) in rows.iter_mut().zip(labels) {
            if let Some(unit) = lexical(label).and_then(|(word, _)| self.unit(word)) {
                units.extend(unit);
                *row = Some(count);
                count += 1;
            }
        }
        let units = Array2::from_shape_vec((count, self.vectors.dimension()), units).unwrap_or_default();
        let threshold = self.threshold;
        Box::new(move |first, second| match (rows[first as usize], rows[second as usize]) {
            (Some(a), Some(b)) => cut(units.row(a).dot(&units.row(b)), threshold),
            _ => 0.0,
        })
    }
}

/// Labels as the partial kernels need them: groups within which a similarity is asked for.
pub(super) trait Labels: Send + Sync {
    fn group(&self, label: u32) -> u32;

    fn similarity(&self, first: u32, second: u32) -> f64;
}

#[derive(Debug)]
pub(super) struct EqualLabels;

impl EqualLabels {
    pub(super) fn new(_forest: &Forest) -> Self {
        Self
    }
}

impl Labels for EqualLabels {
    #[inline(always)]
    fn group(&self, label: u32) -> u32 {
        label
    }

    #[inline(always)]
    fn similarity(&self, _first: u32, _second: u32) -> f64 {
        1.0
    }
}

/// Labels with the similarity that a [`LabelSimilarity`] returns.
pub(super) struct SmoothedLabels {
    groups: Vec<u32>,
    similarity: Box<NumberedSimilarity>,
}

/// Pairs of labels whose similarity is looked at before the first score.
const PAIRS_CHECKED: usize = 1000;

impl SmoothedLabels {
    pub(super) fn new(forest: &Forest, similarity: &dyn LabelSimilarity) -> Result<Self, SimilarityError> {
        let labels = forest.labels();
        // a group of its own for every label that is like no other: its number, and the named groups after all of them
        let mut named: HashMap<String, u32> = HashMap::new();
        let mut groups = Vec::with_capacity(labels.len());
        let count = u32::try_from(labels.len()).unwrap_or(u32::MAX);
        for (label, number) in labels.iter().zip(0u32..) {
            groups.push(match similarity.group(label) {
                None => number,
                Some(name) => {
                    let next = count.saturating_add(u32::try_from(named.len()).unwrap_or(u32::MAX));
                    *named.entry(name.to_owned()).or_insert(next)
                }
            });
        }
        let smoothed = Self { groups, similarity: similarity.bind(labels) };
        // neighbors in the alphabet: a similarity that is out of range somewhere mostly is so here
        for (second, pair) in (1u32..).zip(labels.windows(2)).take(PAIRS_CHECKED) {
            let value = smoothed.similarity(second - 1, second);
            if smoothed.group(second - 1) == smoothed.group(second) && !(0.0..=1.0).contains(&value) {
                return Err(SimilarityError::Range { first: pair[0].clone(), second: pair[1].clone(), value });
            }
        }
        Ok(smoothed)
    }
}

impl fmt::Debug for SmoothedLabels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmoothedLabels").field("labels", &self.groups.len()).finish_non_exhaustive()
    }
}

impl Labels for SmoothedLabels {
    #[inline(always)]
    fn group(&self, label: u32) -> u32 {
        self.groups[label as usize]
    }

    fn similarity(&self, first: u32, second: u32) -> f64 {
        if first == second {
            return 1.0;
        }
        (self.similarity)(first, second)
    }
}
