//! The proxy among the items, as kriging reads it: rows of vectors, or a matrix.

use ndarray::{Array1, Array2, ArrayView1, Axis};

use super::{SearchError, check_matrix};
use landmark_core::oracle::{EmbeddingProxy, OracleError};

/// Similarity of the items among themselves by the proxy, scaled to mean self-similarity 1.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemProxy {
    /// Cosine of the rows, n × d, each of length 1 (or 0).
    Vectors(Array2<f64>),
    /// n × n, symmetric: 8n² bytes.
    Matrix(Array2<f64>),
}

impl ItemProxy {
    /// Cosine of n × d vectors, which are scaled to length 1.
    ///
    /// # Errors
    /// A component that is not finite.
    pub fn cosine(vectors: Array2<f64>) -> Result<Self, SearchError> {
        match EmbeddingProxy::cosine(vectors) {
            Ok(proxy) => Ok(Self::Vectors(proxy.into_vectors())),
            Err(OracleError::NotFinite { i, j, value }) => {
                Err(SearchError::NotFinite { what: "the item vectors", row: i, column: j, value })
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Any symmetric n × n proxy, of which only the diagonal is looked at for the scale.
    ///
    /// # Errors
    /// A matrix that is not square, or holds a number that is not finite.
    pub fn matrix(mut matrix: Array2<f64>) -> Result<Self, SearchError> {
        let n = matrix.nrows();
        check_matrix("the proxy among the items", matrix.view(), (n, n))?;
        matrix /= mean_diagonal(&matrix);
        Ok(Self::Matrix(matrix))
    }

    /// Number of items n.
    pub fn len(&self) -> usize {
        match self {
            Self::Vectors(rows) | Self::Matrix(rows) => rows.nrows(),
        }
    }

    /// True where there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// P[items, items].
    pub(super) fn among(&self, items: &[usize]) -> Array2<f64> {
        let rows = self.rows().select(Axis(0), items);
        match self {
            Self::Vectors(_) => rows.dot(&rows.t()),
            Self::Matrix(_) => rows.select(Axis(1), items),
        }
    }

    /// P[:, items] w, length n: O(n(d + |items|)).
    pub(super) fn combine(&self, items: &[usize], weights: ArrayView1<'_, f64>) -> Array1<f64> {
        let sum = weights.dot(&self.rows().select(Axis(0), items));
        match self {
            Self::Vectors(vectors) => vectors.dot(&sum),
            // symmetric: a sum of rows is one of columns
            Self::Matrix(_) => sum,
        }
    }

    fn rows(&self) -> &Array2<f64> {
        match self {
            Self::Vectors(rows) | Self::Matrix(rows) => rows,
        }
    }
}

/// Mean of the diagonal; 1 where that is no scale to divide by.
pub(super) fn mean_diagonal(matrix: &Array2<f64>) -> f64 {
    let mean = matrix.diag().mean().unwrap_or(1.0);
    if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}
