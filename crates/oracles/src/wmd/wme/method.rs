//! WME as a method of a sweep: K̃ = φ(X) φ(X)ᵀ, which approximates the kernel of [`super`], not exp(−γ·WMD) itself.
//!
//! It reads no entry of K: its n·R distances are to random documents, evaluated by an oracle of its own.

use std::fmt;
use std::sync::Arc;

use landmark_core::approximate::{Approximate, ApproximateError, ColumnReader, FitReport};
use landmark_core::approximation::{Approximation, Factors, Known, Signed};
use landmark_core::entries::EntryPlan;
use landmark_core::landmarks::Landmarks;
use landmark_core::oracle::{Oracle, OracleShape};
use landmark_core::parameter::BadParameter;
use landmark_core::stream::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MOST_DOCUMENTS, WmeParams, features};

const ID: &str = "wme";

/// Parameters of the method, as a configuration gives them; R is its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WmeMethodParams {
    /// Dmax ≥ 1, the most words of a random document.
    pub max_words: usize,
}

impl Default for WmeMethodParams {
    fn default() -> Self {
        Self { max_words: WmeParams::default().max_words }
    }
}

impl WmeMethodParams {
    /// The method, if documents can be drawn with it.
    pub fn check(self) -> Result<Wme, ApproximateError> {
        let params = WmeParams { max_words: self.max_words, ..WmeParams::default() };
        match params.check() {
            Ok(_) => Ok(Wme { max_words: self.max_words, random: None }),
            Err(_) => Err(BadParameter::new("max_words", self.max_words, "from 1 to 500").of(ID).into()),
        }
    }
}

/// The checked method, perhaps with the similarities it reads.
#[derive(Clone)]
pub struct Wme {
    max_words: usize,
    random: Option<Arc<dyn Oracle>>,
}

impl fmt::Debug for Wme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wme {{ max_words: {}, bound: {} }}", self.max_words, self.random.is_some())
    }
}

impl Wme {
    pub fn max_words(&self) -> usize {
        self.max_words
    }

    /// The method reading similarities exp(−γ·WMD) over n true documents and then random ones
    /// ([`RandomDocuments`](super::RandomDocuments) seen through γ).
    #[must_use]
    pub fn over(self, similarities: Arc<dyn Oracle>) -> Self {
        Self { random: Some(similarities), ..self }
    }
}

impl Approximate for Wme {
    fn id(&self) -> &'static str {
        ID
    }

    fn landmarks_needed(&self, _: usize, _: usize) -> usize {
        0
    }

    /// R may be more than n.
    fn check_fit(&self, shape: OracleShape, _: &Landmarks, rank: usize) -> Result<(), ApproximateError> {
        if rank == 0 || rank > MOST_DOCUMENTS {
            return Err(ApproximateError::Rank { rank, len: shape.len });
        }
        Ok(())
    }

    fn entries(&self, _: usize, _: &Landmarks, _: usize) -> EntryPlan {
        EntryPlan::exact(Vec::new())
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, _: &mut Rng) -> Result<Approximation, ApproximateError> {
        let rank = columns.rank();
        let refused = |parameter, value: &str, wanted| Err(BadParameter::new(parameter, value, wanted).of(ID).into());
        if columns.known() != Known::NOTHING {
            return refused("known", "given", "absent: the method reads no entry of the matrix");
        }
        let Some(random) = &self.random else {
            return refused("oracle", "without random documents", "word mover's distance between documents");
        };
        let vectors = features(random.as_ref(), columns.oracle().len(), rank)?;
        let factors = Signed { vectors, positive: rank, negative: 0, projector: None };
        let report = FitReport { rank, ..FitReport::default() };
        Ok(Approximation::new(Factors::Signed(factors), Vec::new(), report))
    }

    fn rank_for_columns(&self, _: usize, columns: usize) -> usize {
        columns.clamp(1, MOST_DOCUMENTS)
    }
}

#[cfg(test)]
mod tests {
    use landmark_core::oracle::{AsymmetryPolicy, Precomputed};
    use landmark_core::stream::stream;
    use ndarray::Array2;

    use super::*;

    #[test]
    fn the_approximation_is_the_product_of_the_features_and_buys_no_entry() {
        let n = 5;
        // similarities over 5 true and 3 random documents
        let similarity = |i: usize, j: usize| 1.0 / (1.0 + (i as f64 - j as f64).abs());
        let all = Array2::from_shape_fn((8, 8), |(i, j)| similarity(i, j));
        let random = Arc::new(Precomputed::new(all.clone(), AsymmetryPolicy::Reject).unwrap());
        let matrix = Precomputed::new(all.slice(ndarray::s![..n, ..n]).to_owned(), AsymmetryPolicy::Reject).unwrap();
        let method = WmeMethodParams::default().check().unwrap().over(random);
        let mut rng = stream(1, "test", "wme", 0);
        let landmarks = Landmarks::uniform(n, &mut rng);
        assert!(method.plan(OracleShape::of(&matrix), &landmarks, 3).unwrap().blocks.is_empty());
        let approximation = method.fit(&matrix, &landmarks, 3, Known::NOTHING, &mut rng).unwrap();
        let wanted: f64 = (n..8).map(|r| similarity(1, r) * similarity(2, r) / 3.0).sum();
        // three products and sums of numbers below 1
        assert!((approximation.entry(1, 2).unwrap() - wanted).abs() < 1e-15);
    }

    #[test]
    fn without_random_documents_or_with_known_entries_it_is_refused() {
        let matrix = Precomputed::new(Array2::eye(4), AsymmetryPolicy::Reject).unwrap();
        let mut rng = stream(1, "test", "wme", 0);
        let landmarks = Landmarks::uniform(4, &mut rng);
        let method = WmeMethodParams::default().check().unwrap();
        let message = method.fit(&matrix, &landmarks, 2, Known::NOTHING, &mut rng).unwrap_err().to_string();
        assert!(message.contains("without random documents"), "{message}");
        let message = method.fit(&matrix, &landmarks, 2, Known::LANDMARKS, &mut rng).unwrap_err().to_string();
        assert!(message.contains("`known`"), "{message}");
        assert!(WmeMethodParams { max_words: 0 }.check().is_err());
    }
}
