//! Word mover's embeddings: random features of word mover's distance (Wu et al. 2018, *Word Mover's Embedding: From Word2Vec
//! to Document Embedding*, EMNLP, Algorithm 1), the baseline of the SMS-Nyström paper (§4.1, appendix A).
//!
//! ```text
//! φ_r(x) = exp(−γ·WMD(x, ω_r)) / √R,   φ(x)·φ(y) → k(x, y) = E_ω[exp(−γ·WMD(x, ω)) · exp(−γ·WMD(y, ω))]   as R → ∞
//! ```
//! over random documents ω of D words, D uniform in 1..=Dmax, weighing 1/D each. Their words are drawn as the authors'
//! program does (IBM/WordMoversEmbeddings, `wme_GenFea.m`, scheme 1; the range in `wme_GenFea_preproc.m`): every coordinate
//! uniform between the smallest and the largest coordinate of any word in use, then the word divided by its length. Such a
//! word points anywhere and lies at distance 1 from the origin, whatever the lengths of the true vectors.
//!
//! Document r depends on nothing but the word vectors, the seed, Dmax and r: the first R of more are the same R.
//!
//! Cost: n·R distances for n documents, each to at most Dmax words. Memory: the word vectors once more, and 4·d bytes a
//! random word.

use std::sync::Arc;

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, block_of};
use landmark_core::stream::stream;
use ndarray::Array2;
use rand::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Wmd, WordClouds};

mod method;

pub use method::{Wme, WmeMethodParams};

/// Random documents there can be at most: the largest rank of the paper.
///
/// It is also how many items an oracle over random documents has beyond the true ones, however many are drawn: a store
/// knows an oracle by its identity and its number of items, and what was evaluated for few serves where more are drawn.
pub const MOST_DOCUMENTS: usize = 4096;

/// Words of a random document at most: as many as the authors keep of a true one.
const MOST_WORDS: usize = 500;

/// Parameters as a configuration gives them.
///
/// The authors search Dmax in 3, 6, …, 21 at R = 256 and then R in 4, 8, …, 512 (`wme_gridsearch_CV.m`,
/// `wme_VaryingR_allSplits_CV_R256.m`); what they chose for Twitter is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WmeParams {
    /// Dmax ≥ 1, the most words of a random document.
    pub max_words: usize,
    /// R ≥ 1, the number of random documents, and of features.
    pub documents: usize,
}

impl Default for WmeParams {
    fn default() -> Self {
        Self { max_words: 9, documents: 256 }
    }
}

/// Why random documents cannot be drawn, or one cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WmeError {
    #[error("`{parameter}` is {value}, but must be from 1 to {most}")]
    Parameter { parameter: &'static str, value: usize, most: usize },
    #[error("none of the {documents} documents has a word; random documents need the range of their word vectors")]
    NoWords { documents: usize },
    #[error("random document {document} was asked for, but only {drawn} are drawn; raise `documents`")]
    NotDrawn { document: usize, drawn: usize },
}

impl WmeParams {
    /// The parameters, if documents can be drawn with them.
    pub fn check(self) -> Result<Self, WmeError> {
        let ranges = [("max_words", self.max_words, MOST_WORDS), ("documents", self.documents, MOST_DOCUMENTS)];
        match ranges.into_iter().find(|&(_, value, most)| !(1..=most).contains(&value)) {
            None => Ok(self),
            Some((parameter, value, most)) => Err(WmeError::Parameter { parameter, value, most }),
        }
    }
}

/// Word mover's distance over n true documents, the items `0..n`, and R random ones, `n..n + R`.
///
/// It has n + [`MOST_DOCUMENTS`] items; those from n + R on are not drawn and answer [`WmeError::NotDrawn`]. Its identity
/// covers the true documents with their vectors, the seed and Dmax, but not R.
#[derive(Debug, Clone)]
pub struct RandomDocuments {
    wmd: Wmd,
    /// n.
    documents: usize,
    params: WmeParams,
    identity: Identity,
}

impl RandomDocuments {
    /// Draws R documents around the word vectors of `clouds`.
    ///
    /// # Errors
    /// [`WmeError`] for parameters out of their range and for documents without any word.
    pub fn draw(clouds: &Arc<WordClouds>, params: WmeParams, seed: u64) -> Result<Self, WmeError> {
        let WmeParams { max_words, documents } = params.check()?;
        let range = coordinate_range(clouds).ok_or(WmeError::NoWords { documents: clouds.len() })?;
        let dimension = clouds.dimension();
        let drawn: Vec<Vec<f32>> = (0..documents as u64)
            .into_par_iter()
            .map(|r| draw_document(range, dimension, max_words, seed, r))
            .collect();
        let identity = Identity::of(&[
            ("kind", b"wme"),
            ("version", b"1"),
            ("clouds", clouds.identity().as_bytes()),
            ("seed", &seed.to_le_bytes()),
            ("max_words", &(max_words as u64).to_le_bytes()),
        ]);
        let wmd = Wmd::new(Arc::new(clouds.with_equal_weights(&drawn, identity)));
        Ok(Self { wmd, documents: clouds.len(), params, identity })
    }

    /// Dmax and R.
    pub fn params(&self) -> WmeParams {
        self.params
    }

    /// Number of true documents n.
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// The words of random document r (D × d), which weigh 1/D each.
    pub fn random_document(&self, r: usize) -> Array2<f64> {
        assert!(r < self.params.documents, "random document {r} of {}", self.params.documents);
        let clouds = self.wmd.clouds();
        let words = clouds.cloud(self.documents + r).words;
        Array2::from_shape_fn((words.len(), clouds.dimension()), |(k, c)| {
            f64::from(clouds.vectors().point(words[k])[c])
        })
    }

    fn check(&self, items: impl IntoIterator<Item = usize>) -> Result<(), OracleError> {
        let (len, drawn) = (self.len(), self.params.documents);
        match items.into_iter().find(|&item| item >= self.documents + drawn) {
            None => Ok(()),
            Some(index) if index >= len => Err(OracleError::OutOfRange { index, len }),
            Some(index) => {
                let document = index - self.documents;
                let source = Box::new(WmeError::NotDrawn { document, drawn });
                Err(OracleError::Failed { what: format!("random document {document}"), source })
            }
        }
    }
}

impl Oracle for RandomDocuments {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: Some(0.0), ..OracleShape::symmetric(self.documents + MOST_DOCUMENTS) }
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.check(pairs.iter().flat_map(|&(i, j)| [i, j]))?;
        self.wmd.evaluate(pairs, out)
    }
}

/// The features of n documents (n × R): the similarities to the random ones, divided by √R.
///
/// `oracle` answers exp(−γ·WMD) over n true documents and then random ones, as a [`RandomDocuments`] seen through
/// [`Kernelized`](landmark_core::oracle::Kernelized) does, metered and stored as it may be. n·R evaluations.
///
/// # Errors
/// Whatever the oracle answers; a score that is not finite.
pub fn features(oracle: &dyn Oracle, n: usize, documents: usize) -> Result<Array2<f64>, OracleError> {
    let (rows, cols): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (n..n + documents).collect());
    let mut features = block_of(oracle, &rows, &cols)?;
    features /= (documents.max(1) as f64).sqrt();
    Ok(features)
}

/// The smallest and the largest coordinate of any word in use.
fn coordinate_range(clouds: &WordClouds) -> Option<(f64, f64)> {
    let words = 0..u32::try_from(clouds.vocabulary_len()).ok()?;
    let coordinates = words.flat_map(|word| &clouds.vectors().point(word)[..clouds.dimension()]);
    let wider = |(low, high): (f32, f32), &x: &f32| (low.min(x), high.max(x));
    let (low, high) = coordinates.fold((f32::INFINITY, f32::NEG_INFINITY), wider);
    (low <= high).then_some((low.into(), high.into()))
}

/// The words of random document r, one after the other.
fn draw_document((low, high): (f64, f64), dimension: usize, max_words: usize, seed: u64, r: u64) -> Vec<f32> {
    let mut rng = stream(seed, "wme", "random document", r);
    let words = rng.gen_range(1..=max_words);
    let mut document = Vec::with_capacity(words * dimension);
    let mut word = vec![0.0; dimension];
    for _ in 0..words {
        word.fill_with(|| low + (high - low) * rng.r#gen::<f64>());
        // a cube that is but the origin has words without direction: they stay there
        let length = word.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        document.extend(word.iter().map(|x| (x / length) as f32));
    }
    document
}
