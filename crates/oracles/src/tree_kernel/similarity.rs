//! Similarity of two labels: it makes a partial tree kernel a smoothed one.
//!
//! Labels fall into groups (parts of speech, say); labels of different groups are not alike, equal labels are alike
//! exactly, and what lies between is asked of a [`LabelSimilarity`] pair by pair.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use landmark_core::oracle::Identity;
use landmark_data::WordVectors;
use ndarray::Array2;

use super::forest::Forest;

/// A similarity of node labels, symmetric, between 0 and 1. Implement it to bring one's own.
pub trait LabelSimilarity: Send + Sync {
    /// A digest of everything that moves a similarity.
    fn identity(&self) -> Identity;

    /// The group of a label; `None` where it is like nothing but itself.
    fn group<'a>(&self, label: &'a str) -> Option<&'a str>;

    /// Similarity of two different labels of one group. Called once for each pair of nodes that meet, so it should be quick;
    /// [`bind`](Self::bind) is the place to prepare.
    fn similarity(&self, first: &str, second: &str) -> f64;

    /// The same over numbered labels, prepared once for a forest; `None` where names are as good.
    fn bind(&self, labels: &[String]) -> Option<Box<dyn BoundSimilarity>> {
        let _ = labels;
        None
    }
}

/// A similarity over the numbered labels of one forest.
pub trait BoundSimilarity: Send + Sync {
    /// Similarity of two different labels of one group.
    fn similarity(&self, first: u32, second: u32) -> f64;
}

/// Why a similarity can't be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimilarityError {
    #[error("the similarity of `{first}` and `{second}` is {value}; want a number between 0 and 1")]
    Range { first: String, second: String, value: f64 },
    #[error("the table says {value} and {other} for `{first}` and `{second}`; want one number for a pair in any order")]
    Disagree { first: String, second: String, value: f64, other: f64 },
    #[error("the threshold is {value}; want a number between 0 and 1")]
    Threshold { value: f64 },
}

/// The word and part of speech of a lexical label, `LEX##word::p`; `None` for any other label.
pub fn lexical(label: &str) -> Option<(&str, &str)> {
    label.strip_prefix("LEX##")?.rsplit_once("::")
}

/// A list of pairs of labels with their similarity; all other pairs have 0.
#[derive(Debug, Clone)]
pub struct SimilarityTable {
    pairs: HashMap<(String, String), f64>,
    identity: Identity,
}

/// The group of every label that a table names: a similarity may be said of any two.
const TABLE_GROUP: &str = "table";

impl SimilarityTable {
    /// From (label, label, similarity), each pair in one order or in both.
    ///
    /// # Errors
    /// A similarity outside 0..1; two entries of a pair that disagree.
    pub fn new<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str, f64)>) -> Result<Self, SimilarityError> {
        let mut pairs = HashMap::new();
        for (first, second, value) in entries {
            let (first, second) = if first <= second { (first, second) } else { (second, first) };
            check_range(first, second, value)?;
            if let Some(other) = pairs.insert((first.to_owned(), second.to_owned()), value)
                && other != value
            {
                let (first, second) = (first.to_owned(), second.to_owned());
                return Err(SimilarityError::Disagree { first, second, value, other });
            }
        }
        let mut sorted: Vec<_> = pairs.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(b.0));
        let bytes: Vec<[u8; 8]> = sorted.iter().map(|(_, value)| value.to_le_bytes()).collect();
        let mut parts: Vec<(&str, &[u8])> = vec![("kind", b"similarity_table")];
        for (((first, second), _), value) in sorted.iter().zip(&bytes) {
            parts.extend([("first", first.as_bytes()), ("second", second.as_bytes()), ("value", &value[..])]);
        }
        let identity = Identity::of(&parts);
        Ok(Self { pairs, identity })
    }
}

impl LabelSimilarity for SimilarityTable {
    fn identity(&self) -> Identity {
        self.identity
    }

    fn group<'a>(&self, _label: &'a str) -> Option<&'a str> {
        Some(TABLE_GROUP)
    }

    fn similarity(&self, first: &str, second: &str) -> f64 {
        let (first, second) = if first <= second { (first, second) } else { (second, first) };
        self.pairs.get(&(first.to_owned(), second.to_owned())).copied().unwrap_or(0.0)
    }

    fn bind(&self, labels: &[String]) -> Option<Box<dyn BoundSimilarity>> {
        let number: HashMap<&str, u32> = labels.iter().map(String::as_str).zip(0..).collect();
        let both =
            |(first, second): &(String, String)| Some((*number.get(first.as_str())?, *number.get(second.as_str())?));
        let bound: HashMap<(u32, u32), f64> = self
            .pairs
            .iter()
            .filter_map(|(pair, &value)| both(pair).map(|(a, b)| ((a.min(b), a.max(b)), value)))
            .collect();
        Some(Box::new(BoundTable(bound)))
    }
}

struct BoundTable(HashMap<(u32, u32), f64>);

impl BoundSimilarity for BoundTable {
    fn similarity(&self, first: u32, second: u32) -> f64 {
        self.0.get(&(first.min(second), first.max(second))).copied().unwrap_or(0.0)
    }
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
    ///
    /// # Errors
    /// A threshold outside 0..1.
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

    fn cut(&self, cosine: f64) -> f64 {
        cut(cosine, self.threshold)
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

    fn similarity(&self, first: &str, second: &str) -> f64 {
        let unit = |label: &str| lexical(label).and_then(|(word, _)| self.unit(word));
        match (unit(first), unit(second)) {
            (Some(a), Some(b)) => self.cut(a.iter().zip(&b).map(|(a, b)| a * b).sum()),
            _ => 0.0,
        }
    }

    fn bind(&self, labels: &[String]) -> Option<Box<dyn BoundSimilarity>> {
        let mut rows = vec![usize::MAX; labels.len()];
        let mut units: Vec<f64> = Vec::new();
        let mut count = 0;
        for (row, label) in rows.iter_mut().zip(labels) {
            if let Some(unit) = lexical(label).and_then(|(word, _)| self.unit(word)) {
                units.extend(unit);
                *row = count;
                count += 1;
            }
        }
        let units = Array2::from_shape_vec((count, self.vectors.dimension()), units).ok()?;
        Some(Box::new(BoundVectors { rows, units, threshold: self.threshold }))
    }
}

struct BoundVectors {
    /// The row of each label, `usize::MAX` for none.
    rows: Vec<usize>,
    units: Array2<f64>,
    threshold: f64,
}

impl BoundSimilarity for BoundVectors {
    fn similarity(&self, first: u32, second: u32) -> f64 {
        let row = |label: u32| self.rows.get(label as usize).filter(|&&row| row != usize::MAX);
        match (row(first), row(second)) {
            (Some(&a), Some(&b)) => cut(self.units.row(a).dot(&self.units.row(b)), self.threshold),
            _ => 0.0,
        }
    }
}

fn check_range(first: &str, second: &str, value: f64) -> Result<(), SimilarityError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(SimilarityError::Range { first: first.to_owned(), second: second.to_owned(), value })
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

/// Labels are alike as a [`LabelSimilarity`] says.
pub(super) struct SmoothedLabels {
    groups: Vec<u32>,
    labels: Vec<String>,
    bound: Option<Box<dyn BoundSimilarity>>,
    similarity: Arc<dyn LabelSimilarity>,
}

/// Pairs of labels whose similarity is looked at before the first score.
const PAIRS_CHECKED: usize = 1000;

impl SmoothedLabels {
    pub(super) fn new(forest: &Forest, similarity: Arc<dyn LabelSimilarity>) -> Result<Self, SimilarityError> {
        let labels = forest.labels().to_vec();
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
        let bound = similarity.bind(&labels);
        let smoothed = Self { groups, labels, bound, similarity };
        smoothed.check()?;
        Ok(smoothed)
    }

    /// Looks at neighbors in the alphabet: a similarity that is out of range somewhere mostly is so here.
    fn check(&self) -> Result<(), SimilarityError> {
        for (second, label) in (1u32..).zip(self.labels.iter().skip(1)).take(PAIRS_CHECKED) {
            let first = second - 1;
            if self.groups[first as usize] == self.groups[second as usize] {
                check_range(&self.labels[first as usize], label, self.similarity(first, second))?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for SmoothedLabels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmoothedLabels").field("labels", &self.labels.len()).finish_non_exhaustive()
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
        match &self.bound {
            Some(bound) => bound.similarity(first, second),
            None => self.similarity.similarity(&self.labels[first as usize], &self.labels[second as usize]),
        }
    }
}
