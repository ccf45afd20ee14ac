//! An embedding as a fitted linfa transformer: similarities to the landmarks in, vectors out.
//!
//! So that the vectors of new items take their place in a linfa pipeline like any other features. Cost: t·r
//! multiplications an item.

use linfa::dataset::{AsTargets, DatasetBase};
use linfa::traits::Transformer;
use ndarray::{Array2, ArrayView2};

use super::Embedding;
use crate::linalg;

/// The linear map from K[new, T] (m × t) to vectors (m × r).
///
/// ```
/// use landmark_core::approximate::{Approximate, Nystrom};
/// use landmark_core::approximation::Known;
/// use landmark_core::landmarks::Landmarks;
/// use landmark_core::oracle::{AsymmetryPolicy, Oracle, Precomputed};
/// use landmark_core::stream::stream;
/// use linfa::{Dataset, traits::Transformer};
/// use ndarray::{Array2, array};
///
/// let points = array![[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.6, 0.8]];
/// let oracle = Precomputed::new(points.dot(&points.t()), AsymmetryPolicy::Reject)?;
/// let landmarks = Landmarks::uniform(4, &mut stream(1, "example", "landmarks", 0));
/// let nystrom = Nystrom;
/// let fit = nystrom.fit(&oracle, &landmarks, 2, Known::NOTHING, &mut stream(1, "example", "fit", 0))?;
///
/// // two new items, known by their similarities to the landmarks
/// let mut similarities = Array2::zeros((2, 2));
/// oracle.block(&[1, 3], fit.landmarks(), similarities.view_mut())?;
/// let vectors = fit.embedding()?.transformer().expect("no proxy takes part");
/// let dataset = vectors.transform(Dataset::new(similarities, array!["left", "right"]));
/// assert_eq!(dataset.records().dim(), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LandmarkTransformer {
    projector: Array2<f64>,
}

impl Embedding {
    /// The map for new items; `None` where a proxy takes part in the vectors.
    pub fn transformer(&self) -> Option<LandmarkTransformer> {
        self.projector.clone().map(|projector| LandmarkTransformer { projector })
    }
}

impl Transformer<ArrayView2<'_, f64>, Array2<f64>> for LandmarkTransformer {
    fn transform(&self, similarities: ArrayView2<'_, f64>) -> Array2<f64> {
        linalg::product(similarities, self.projector.view())
    }
}

impl<T: AsTargets> Transformer<DatasetBase<Array2<f64>, T>, DatasetBase<Array2<f64>, T>> for LandmarkTransformer {
    fn transform(&self, dataset: DatasetBase<Array2<f64>, T>) -> DatasetBase<Array2<f64>, T> {
        let vectors = self.transform(dataset.records.view());
        DatasetBase::new(vectors, dataset.targets).with_weights(dataset.weights)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};

    use super::*;

    #[test]
    fn the_transformer_projects_as_the_embedding_does_and_keeps_targets_and_weights() {
        let embedding = Embedding {
            vectors: Array2::zeros((3, 1)),
            signature: Array1::ones(1),
            projector: Some(array![[1.0], [-2.0]]),
            with_addend: None,
        };
        let similarities = array![[0.5, 0.25], [1.0, 0.0]];
        let dataset = DatasetBase::new(similarities.clone(), array![3_usize, 7]).with_weights(array![1.0_f32, 2.0]);
        let transformed = embedding.transformer().unwrap().transform(dataset);
        assert_eq!(transformed.records, array![[0.0], [1.0]]);
        assert_eq!(transformed.records, embedding.project(similarities.view()).unwrap());
        assert_eq!((transformed.targets, transformed.weights), (array![3, 7], array![1.0, 2.0]));
        assert!(Embedding { projector: None, ..embedding }.transformer().is_none());
    }
}
