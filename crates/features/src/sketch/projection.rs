//! Π: the directions along which the rows vary most, and rows seen along them.
//!
//! The columns of Π (d × m) are the eigenvectors of YᵀY with the largest eigenvalues, as principal component analysis takes those of
//! XᵀX (paper 2, §2). Rows are taken as they are, not centered: centering would make sparse rows dense. A vector's sign is chosen
//! so that its largest number (by size, the first such) is positive. Cost: m multiplications for each non-zero number of a row.

use linfa::dataset::{AsTargets, DatasetBase};
use linfa::traits::Transformer;
use ndarray::{Array1, Array2, ArrayView2, s};

use super::shrink::NewRows;
use super::{FrequentDirections, SketchError};
use landmark_core::linalg;
use landmark_core::parameter::BadParameter;

/// A linear map from rows of d numbers to m ≤ l of them.
///
/// ```
/// use landmark_core::oracle::Identity;
/// use landmark_features::sketch::FrequentDirectionsParams;
/// use linfa::{Dataset, traits::Transformer};
/// use ndarray::array;
///
/// let x = array![[3.0, 0.1, 0.0], [-2.0, 0.0, 0.1], [4.0, -0.1, 0.0]];
/// let mut sketch = FrequentDirectionsParams { rows: 2, ..Default::default() }.check(3, Identity::of(&[]))?;
/// sketch.append_block(x.view())?;
/// let projection = sketch.projection(1)?;
/// assert!((projection.project_sparse(&[0], &[2.0])[0] - 2.0).abs() < 0.01); // nearly along the first column
/// let reduced = projection.transform(Dataset::new(x, array![0, 1, 0]));
/// assert_eq!(reduced.records().dim(), (3, 1));
/// # Ok::<(), landmark_features::sketch::SketchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    directions: Array2<f64>,
    squares: Array1<f64>,
}

impl FrequentDirections {
    /// Π of the m largest directions; fewer where the rows span fewer. Rows that wait are taken in without a loss, on a copy.
    ///
    /// # Errors
    /// m = 0 or m > l; [`SketchError::Linalg`].
    pub fn projection(&self, m: usize) -> Result<Projection, SketchError> {
        if m == 0 || m > self.l {
            let wanted = format!("between 1 and the {} rows of the sketch", self.l);
            return Err(BadParameter::new("dimension", m, &wanted).into());
        }
        if self.pending.len() == 0 {
            return Ok(Projection::of(self.kept.view(), &self.kept.squares, m));
        }
        let mut whole = self.clone();
        whole.finish()?;
        if whole.pending.len() > 0 {
            whole.kept.shrink(NewRows::of(&whole.pending), None)?;
        }
        Ok(Projection::of(whole.kept.view(), &whole.kept.squares, m))
    }
}

impl Projection {
    /// From orthogonal columns (d × k) of descending squared norms.
    fn of(columns: ArrayView2<'_, f64>, squares: &[f64], m: usize) -> Self {
        let m = m.min(squares.len());
        let mut directions = columns.slice(s![.., ..m]).to_owned();
        for mut column in directions.columns_mut() {
            let largest = column.iter().fold(0.0, |a: f64, &b| if b.abs() > a.abs() { b } else { a });
            let norm = column.dot(&column).sqrt();
            if norm > 0.0 {
                column.mapv_inplace(|value| value / norm.copysign(largest));
            }
        }
        Self { directions, squares: squares[..m].iter().copied().collect() }
    }

    /// d, the numbers in a row.
    pub fn columns(&self) -> usize {
        self.directions.nrows()
    }

    /// m, the numbers in a projected row.
    pub fn dimension(&self) -> usize {
        self.directions.ncols()
    }

    /// Π, d × m, orthonormal columns.
    pub fn directions(&self) -> ArrayView2<'_, f64> {
        self.directions.view()
    }

    /// The squared singular values of Y along them, descending.
    pub fn squares(&self) -> &Array1<f64> {
        &self.squares
    }

    /// xΠ of one sparse row; columns in any order, below d.
    ///
    /// # Panics
    /// A column that is not below d.
    pub fn project_sparse(&self, columns: &[u32], values: &[f64]) -> Vec<f64> {
        let mut out = Array1::zeros(self.dimension());
        for (&column, &value) in columns.iter().zip(values) {
            out.scaled_add(value, &self.directions.row(column as usize));
        }
        out.to_vec()
    }
}

impl Transformer<ArrayView2<'_, f64>, Array2<f64>> for Projection {
    /// XΠ of dense rows (n × d).
    fn transform(&self, rows: ArrayView2<'_, f64>) -> Array2<f64> {
        linalg::product(rows, self.directions.view())
    }
}

impl<T: AsTargets> Transformer<DatasetBase<Array2<f64>, T>, DatasetBase<Array2<f64>, T>> for Projection {
    fn transform(&self, dataset: DatasetBase<Array2<f64>, T>) -> DatasetBase<Array2<f64>, T> {
        let rows = self.transform(dataset.records.view());
        DatasetBase::new(rows, dataset.targets).with_weights(dataset.weights)
    }
}
