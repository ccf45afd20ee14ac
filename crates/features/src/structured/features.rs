//! Structured random features: φ(x) = f(A D₁HD₀ x)/√m, so that φ(x)·φ(y) = Λ̂_f(x, y) (paper, §2.3, equation 13).
//!
//! Counterpart of scikit-learn's `RBFSampler`: parameters → `check` → `fit` (or `draw`) → `transform`, in linfa's terms.
//! Cost of an item: O((n + m) log n) flops instead of nm; O(n + m) numbers kept instead of nm.

use std::sync::Arc;

use linfa::dataset::{AsTargets, DatasetBase};
use linfa::traits::{Fit, Transformer};
use ndarray::{Array2, ArrayBase, ArrayView2, ArrayViewMut2, Data, Ix2};
use serde::{Deserialize, Serialize};

use super::chunks::{for_each_chunk, rows_per_chunk};
use super::error::{require_length, require_some};
use super::transforms::{FftPlans, Room, padded_length, sized};
use super::{Family, Rotation, SphericalKernel, StructuredError, StructuredMatrix};
use landmark_core::stream::stream;

/// Parameters of structured random features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StructuredFeaturesParams {
    /// f.
    pub kernel: SphericalKernel,
    pub family: Family,
    /// m, the number of projections (the Gaussian kernel has two features of each).
    pub features: usize,
    /// True where items go through D₁HD₀ first. Off only where they are known to be spread out.
    pub preprocess: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Independent draws of one seed.
    pub replicate: u64,
}

impl Default for StructuredFeaturesParams {
    fn default() -> Self {
        Self {
            kernel: SphericalKernel::default(),
            family: Family::default(),
            features: 1024,
            preprocess: true,
            seed: 0,
            replicate: 0,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ValidStructuredFeatures {
    params: StructuredFeaturesParams,
}

impl StructuredFeaturesParams {
    /// Range check of the parameters.
    ///
    /// # Errors
    /// No feature, a parameter of the kernel or the family out of range.
    pub fn check(self) -> Result<ValidStructuredFeatures, StructuredError> {
        require_some("`features`", self.features)?;
        self.kernel.check()?;
        self.family.check()?;
        Ok(ValidStructuredFeatures { params: self })
    }
}

impl ValidStructuredFeatures {
    /// Draws the map for items of `cols` numbers.
    ///
    /// # Errors
    /// No column, or parameters that do not suit that number.
    pub fn draw(&self, cols: usize) -> Result<StructuredFeatures, StructuredError> {
        self.draw_with(cols, &mut FftPlans::new())
    }

    /// As [`draw`](Self::draw), with FFT plans that other draws share.
    pub fn draw_with(&self, cols: usize, plans: &mut FftPlans) -> Result<StructuredFeatures, StructuredError> {
        let StructuredFeaturesParams { kernel, family, features, preprocess, seed, replicate } = self.params;
        let names = |purpose| stream(seed, "structured features", purpose, replicate);
        let rotation = if preprocess { Some(Rotation::draw(cols, &mut names("rotation"))?) } else { None };
        let inner = rotation.as_ref().map_or(cols, Rotation::rows);
        let matrix = family.draw(features, inner, &mut names("matrix"), plans)?;
        Ok(StructuredFeatures { kernel, cols, rotation, matrix: Arc::from(matrix) })
    }
}

/// A drawn map from items (n numbers) to features.
///
/// ```
/// use landmark_features::structured::{Family, SphericalKernel, StructuredFeaturesParams};
/// use linfa::Dataset;
/// use linfa::traits::{Fit, Transformer};
/// use ndarray::array;
///
/// let kernel = SphericalKernel::Gaussian { sigma: 2.0 };
/// let params = StructuredFeaturesParams { kernel, family: Family::Circulant, features: 512, ..Default::default() };
/// let items = Dataset::new(array![[1.0, 0.0, 2.0], [0.5, 0.5, 1.0]], array!["left", "right"]);
/// let map = params.check()?.fit(&items)?;
/// let features = map.transform(items).records;
/// assert_eq!(features.dim(), (2, 1024));
/// // ‖x − y‖² = 1.5
/// let estimate = features.row(0).dot(&features.row(1));
/// assert!((estimate - (-1.5_f64 / 8.0).exp()).abs() < 0.1);
/// # Ok::<(), landmark_features::structured::StructuredError>(())
/// ```
#[derive(Debug, Clone)]
pub struct StructuredFeatures {
    kernel: SphericalKernel,
    cols: usize,
    rotation: Option<Rotation>,
    matrix: Arc<dyn StructuredMatrix>,
}

impl StructuredFeatures {
    /// n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Length of φ(x): m, or 2m for the Gaussian kernel.
    pub fn feature_count(&self) -> usize {
        self.kernel.features_per_projection() * self.matrix.rows()
    }

    /// f.
    pub fn kernel(&self) -> SphericalKernel {
        self.kernel
    }

    pub fn matrix(&self) -> &dyn StructuredMatrix {
        &*self.matrix
    }

    pub fn bytes(&self) -> usize {
        self.matrix.bytes() + self.rotation.as_ref().map_or(0, Rotation::bytes)
    }

    /// A D₁HD₀ x for each item: r × m.
    pub fn projections(&self, items: ArrayView2<'_, f64>) -> Result<Array2<f64>, StructuredError> {
        require_length("an item", items.ncols(), self.cols)?;
        let mut out = Array2::zeros((items.nrows(), self.matrix.rows()));
        for_each_chunk(items, out.view_mut(), self.chunk_rows(), |chunk, mut out, room| {
            self.project_chunk(chunk.rows(), out.view_mut(), room);
            chunk.unscale(out);
        })?;
        Ok(out)
    }

    /// φ(x) for each item: r × [`feature_count`](Self::feature_count).
    pub fn features(&self, items: ArrayView2<'_, f64>) -> Result<Array2<f64>, StructuredError> {
        let mut out = Array2::zeros((items.nrows(), self.feature_count()));
        self.features_into(items, out.view_mut())?;
        Ok(out)
    }

    /// As [`features`](Self::features), into memory that is there.
    ///
    /// # Errors
    /// Also an `out` of another shape.
    pub fn features_into(
        &self,
        items: ArrayView2<'_, f64>,
        out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), StructuredError> {
        require_length("an item", items.ncols(), self.cols)?;
        require_length("the list of feature vectors", out.nrows(), items.nrows())?;
        require_length("a feature vector", out.ncols(), self.feature_count())?;
        let m = self.matrix.rows();
        let scale = 1.0 / (m as f64).sqrt();
        for_each_chunk(items, out, self.chunk_rows(), |chunk, mut out, room| {
            let mut projections = std::mem::take(&mut room.projections);
            let length = chunk.rows().nrows() * m;
            if let Ok(mut projected) =
                ArrayViewMut2::from_shape((chunk.rows().nrows(), m), sized(&mut projections, length))
            {
                self.project_chunk(chunk.rows(), projected.view_mut(), room);
                chunk.unscale(projected);
            }
            let mut buffer = Vec::new();
            for (projected, mut out) in projections[..length].chunks_exact(m).zip(out.rows_mut()) {
                if let Some(out) = out.as_slice_mut() {
                    self.kernel.write_features(projected, scale, out);
                } else {
                    buffer.resize(out.len(), 0.0);
                    self.kernel.write_features(projected, scale, &mut buffer);
                    out.iter_mut().zip(&buffer).for_each(|(out, &value)| *out = value);
                }
            }
            room.projections = projections;
        })
    }

    /// Λ̂_f(x, y).
    pub fn estimate(&self, x: &[f64], y: &[f64]) -> Result<f64, StructuredError> {
        require_length("the first vector", x.len(), self.cols)?;
        require_length("the second vector", y.len(), self.cols)?;
        let mut pair = Array2::zeros((2, self.cols));
        pair.row_mut(0).assign(&ndarray::aview1(x));
        pair.row_mut(1).assign(&ndarray::aview1(y));
        let features = self.features(pair.view())?;
        Ok(features.row(0).dot(&features.row(1)))
    }

    fn chunk_rows(&self) -> usize {
        rows_per_chunk(self.matrix.rows().max(padded_length(self.cols)))
    }

    fn project_chunk(&self, items: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>, room: &mut Room) {
        let Some(rotation) = &self.rotation else { return self.matrix.apply_chunk(items, out, room) };
        let mut rotated = std::mem::take(&mut room.rotated);
        let n = rotation.rows();
        let buffer = sized(&mut rotated, items.nrows() * n);
        for (item, out) in items.rows().into_iter().zip(buffer.chunks_exact_mut(n)) {
            // a chunk is contiguous
            if let Some(item) = item.as_slice() {
                rotation.apply_row(item, out);
            }
        }
        if let Ok(rotated) = ArrayView2::from_shape((items.nrows(), n), &*buffer) {
            self.matrix.apply_chunk(rotated, out, room);
        }
        room.rotated = rotated;
    }
}

impl<D: Data<Elem = f64>, T> Fit<ArrayBase<D, Ix2>, T, StructuredError> for ValidStructuredFeatures {
    type Object = StructuredFeatures;

    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> Result<StructuredFeatures, StructuredError> {
        self.draw(dataset.records().ncols())
    }
}

impl Transformer<ArrayView2<'_, f64>, Array2<f64>> for StructuredFeatures {
    /// # Panics
    /// An error of [`features`](StructuredFeatures::features).
    fn transform(&self, items: ArrayView2<'_, f64>) -> Array2<f64> {
        self.features(items).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl<T: AsTargets> Transformer<DatasetBase<Array2<f64>, T>, DatasetBase<Array2<f64>, T>> for StructuredFeatures {
    /// # Panics
    /// An error of [`features`](StructuredFeatures::features).
    fn transform(&self, dataset: DatasetBase<Array2<f64>, T>) -> DatasetBase<Array2<f64>, T> {
        let features = self.transform(dataset.records.view());
        DatasetBase::new(features, dataset.targets).with_weights(dataset.weights)
    }
}
