//! Documents as clouds of weighted word vectors: what WMD and its bounds are computed from.
//!
//! Only the words in use are kept, renumbered in the order of the vocabulary: 4 bytes × words in use × dimension (rounded
//! up to 8), and 20 bytes a word of a document.

use std::collections::BTreeSet;

use landmark_core::oracle::{Identity, OracleError, Pair};
use landmark_data::BagsOfWords;
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use super::emd::whole_units;
use super::points::Points;

/// Treatment of a document without any known word.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmptyDocuments {
    /// An error that names it.
    #[default]
    Error,
    /// At this distance from every other document, also from those without a word: nothing is known that they share.
    Fill(f64),
}

/// Why documents cannot be placed among the word vectors.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WordCloudError {
    #[error(
        "{} of {total} documents have no word with a vector: {}; drop them (`oracle.empty_documents: drop`), set their distance from all others (`{{ distance: 1.0 }}`), or load vectors that cover them",
        ids.len(),
        first_few(ids)
    )]
    EmptyDocuments { ids: Vec<String>, total: usize },
    #[error(
        "document `{id}` has the word {word}, but there are vectors for {vocabulary} words; build both from one vocabulary"
    )]
    UnknownWord { id: String, word: u32, vocabulary: usize },
    #[error("the vector of word {word} holds {value}; want finite numbers")]
    NotFinite { word: u32, value: f32 },
    #[error("the fill distance for empty documents is {value}; want a finite number ≥ 0")]
    FillDistance { value: f64 },
}

fn first_few(ids: &[String]) -> String {
    let named: Vec<String> = ids.iter().take(5).map(|id| format!("`{id}`")).collect();
    let more = if ids.len() > named.len() { ", …" } else { "" };
    named.join(", ") + more
}

/// n documents over the vectors of their words.
#[derive(Debug, Clone)]
pub struct WordClouds {
    offsets: Vec<usize>,
    /// Indices among the words in use, ascending within a document.
    words: Vec<u32>,
    weights: Vec<f64>,
    /// The weights in whole units, see `emd.rs`.
    units: Vec<f64>,
    vectors: Points<f32>,
    dimension: usize,
    empty: Vec<usize>,
    fill: f64,
    identity: Identity,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Cloud<'a> {
    pub(super) words: &'a [u32],
    pub(super) weights: &'a [f64],
    pub(super) units: &'a [f64],
}

impl WordClouds {
    /// Places the documents of `bags` among `vectors` (V × d, one row a word of the vocabulary).
    ///
    /// # Errors
    /// [`WordCloudError`] for documents without words where `empty` is [`EmptyDocuments::Error`], a word without a vector,
    /// a vector that is not finite, a fill distance that is negative or not finite.
    pub fn new(
        bags: &BagsOfWords,
        vectors: ArrayView2<'_, f32>,
        empty: EmptyDocuments,
    ) -> Result<Self, WordCloudError> {
        let empty_documents = bags.empty_documents();
        let fill = match empty {
            EmptyDocuments::Error if !empty_documents.is_empty() => {
                let ids = empty_documents.iter().map(|&i| bags.id(i).to_owned()).collect();
                return Err(WordCloudError::EmptyDocuments { ids, total: bags.len() });
            }
            EmptyDocuments::Error => 0.0,
            EmptyDocuments::Fill(value) if value >= 0.0 && value.is_finite() => value,
            EmptyDocuments::Fill(value) => return Err(WordCloudError::FillDistance { value }),
        };
        let in_use = words_in_use(bags, vectors.nrows())?;
        check_finite(&in_use, vectors)?;
        let mut clouds = Self {
            offsets: vec![0],
            words: Vec::new(),
            weights: Vec::new(),
            units: Vec::new(),
            vectors: Points::new(vectors.ncols(), in_use.iter().map(|&word| vectors.row(word as usize))),
            dimension: vectors.ncols(),
            empty: empty_documents,
            fill,
            identity: Identity::of(&[]),
        };
        let mut renumbered = vec![0; vectors.nrows()];
        in_use.iter().zip(0..).for_each(|(&word, number)| renumbered[word as usize] = number);
        for i in 0..bags.len() {
            let (words, weights) = bags.document(i);
            clouds.push(weights, |k| renumbered[words[k] as usize]);
        }
        clouds.identity = clouds.digest();
        Ok(clouds)
    }

    /// These documents and then others, each the vectors of its words one after the other, all of one weight and none of them
    /// equal to a word in use. `identity` is that of the whole.
    pub(super) fn with_equal_weights(&self, others: &[Vec<f32>], identity: Identity) -> Self {
        let mut clouds = Self { identity, ..self.clone() };
        for document in others {
            let words = document.chunks_exact(self.dimension.max(1));
            let weights = vec![1.0 / words.len() as f64; words.len()];
            let first = clouds.vectors.len();
            words.for_each(|word| clouds.vectors.push(word));
            clouds.push(&weights, |k| (first + k) as u32);
        }
        clouds
    }

    /// Adds a document of these weights; a weight below half a unit in 5·10¹⁵ carries nothing and leaves with its word.
    fn push(&mut self, weights: &[f64], word: impl Fn(usize) -> u32) {
        whole_units(weights, weights.iter().sum(), |k, units| {
            self.words.push(word(k));
            self.weights.push(weights[k]);
            self.units.push(units);
        });
        self.offsets.push(self.words.len());
    }

    /// Number of documents n.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Dimension d of the word vectors.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of distinct words in use.
    pub fn vocabulary_len(&self) -> usize {
        self.vectors.len()
    }

    /// Mean number of distinct words a document.
    pub fn mean_words(&self) -> f64 {
        self.words.len() as f64 / self.len().max(1) as f64
    }

    /// Σ aᵢ xᵢ of each document: n × d. A document without words gets zeros.
    pub fn centroids(&self) -> Array2<f64> {
        let mut centroids = Array2::<f64>::zeros((self.len(), self.dimension()));
        for (i, mut centroid) in centroids.rows_mut().into_iter().enumerate() {
            let cloud = self.cloud(i);
            for (&word, &weight) in cloud.words.iter().zip(cloud.weights) {
                for (sum, &x) in centroid.iter_mut().zip(self.vectors().point(word)) {
                    *sum += weight * f64::from(x);
                }
            }
        }
        centroids
    }

    /// Indices of the documents without words, to be counted in a report.
    pub fn empty_documents(&self) -> &[usize] {
        &self.empty
    }

    /// Digest of the vectors in use, the bags and the fill distance.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    pub(super) fn cloud(&self, i: usize) -> Cloud<'_> {
        let range = self.offsets[i]..self.offsets[i + 1];
        Cloud { words: &self.words[range.clone()], weights: &self.weights[range.clone()], units: &self.units[range] }
    }

    pub(super) fn vectors(&self) -> &Points<f32> {
        &self.vectors
    }

    /// The distance of a pair that has an empty document, or of a document and itself; `None` where words decide.
    pub(super) fn distance_without_words(&self, (i, j): Pair) -> Option<f64> {
        if i == j {
            return Some(0.0);
        }
        [i, j].iter().any(|&k| self.cloud(k).words.is_empty()).then_some(self.fill)
    }

    pub(super) fn check(&self, pairs: &[Pair], room: usize, op: &'static str) -> Result<(), OracleError> {
        if pairs.len() != room {
            return Err(OracleError::ShapeMismatch { op, pairs: pairs.len(), room });
        }
        match pairs.iter().flat_map(|&(i, j)| [i, j]).find(|&index| index >= self.len()) {
            Some(index) => Err(OracleError::OutOfRange { index, len: self.len() }),
            None => Ok(()),
        }
    }

    pub(super) fn check_documents(&self, documents: &[usize]) -> Result<Vec<u32>, OracleError> {
        let out_of_range = |index| OracleError::OutOfRange { index, len: self.len() };
        documents
            .iter()
            .map(|&i| u32::try_from(i).ok().filter(|_| i < self.len()).ok_or_else(|| out_of_range(i)))
            .collect()
    }

    fn digest(&self) -> Identity {
        let dimension = (self.dimension as u64).to_le_bytes();
        let vectors: Vec<u8> = self.vectors.values().iter().flat_map(|x| x.to_le_bytes()).collect();
        let offsets: Vec<u8> = self.offsets.iter().flat_map(|&x| (x as u64).to_le_bytes()).collect();
        let words: Vec<u8> = self.words.iter().flat_map(|x| x.to_le_bytes()).collect();
        let units: Vec<u8> = self.units.iter().flat_map(|x| x.to_le_bytes()).collect();
        // a fill distance moves a score only where there is something to fill
        let fill = if self.empty.is_empty() { 0.0_f64 } else { self.fill };
        // two empty documents were at 0 from each other once: stores of that time must not answer
        let filled = if self.empty.len() > 1 { "fill of every pair" } else { "fill" };
        Identity::of(&[
            ("dimension", &dimension),
            ("vectors", &vectors),
            ("offsets", &offsets),
            ("words", &words),
            ("units", &units),
            (filled, &fill.to_le_bytes()),
        ])
    }
}

fn words_in_use(bags: &BagsOfWords, vocabulary: usize) -> Result<Vec<u32>, WordCloudError> {
    let mut in_use = BTreeSet::new();
    for i in 0..bags.len() {
        let (words, _) = bags.document(i);
        if let Some(&word) = words.iter().find(|&&word| word as usize >= vocabulary) {
            return Err(WordCloudError::UnknownWord { id: bags.id(i).to_owned(), word, vocabulary });
        }
        in_use.extend(words);
    }
    Ok(in_use.into_iter().collect())
}

fn check_finite(words: &[u32], vectors: ArrayView2<'_, f32>) -> Result<(), WordCloudError> {
    for &word in words {
        if let Some(&value) = vectors.row(word as usize).iter().find(|value| !value.is_finite()) {
            return Err(WordCloudError::NotFinite { word, value });
        }
    }
    Ok(())
}
