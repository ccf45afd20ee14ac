//! The proxy among the items, as kriging reads it: rows of vectors, or a matrix.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use super::{SearchError, check_matrix};
use landmark_core::oracle::{EmbeddingProxy, OracleError};

/// Similarity of the items among themselves by the proxy, scaled to mean self-similarity 1.
///
/// Every constructor checks its input, so that a proxy that exists is finite and of the right shape.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemProxy(Form);

#[derive(Debug, Clone, PartialEq)]
enum Form {
    /// Cosine of the rows, n × d, each of length 1 (or 0).
    Vectors(Array2<f64>),
    /// n × n, symmetric: 8n² bytes.
    Matrix(Array2<f64>),
}

/// Numbers that a proxy is made of, to be kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ItemProxyParts<'a> {
    /// Rows of length 1 (or 0), n × d, for [`ItemProxy::unit_vectors`].
    Vectors(ArrayView2<'a, f64>),
    /// n × n, for [`ItemProxy::matrix`].
    Matrix(ArrayView2<'a, f64>),
}

/// Two halves of a symmetric matrix that were computed apart agree to this share of its largest entry.
const ROUNDING: f64 = 1e-9;

/// A mean diagonal that is 1 but for rounding.
const SCALED: f64 = 1e-12;

/// Vectors of length 1 that were kept as f64 are that long to this difference.
const UNIT: f64 = 1e-9;

impl ItemProxy {
    /// Cosine of n × d vectors, which are scaled to length 1.
    ///
    /// # Errors
    /// A component that is not finite.
    pub fn cosine(vectors: Array2<f64>) -> Result<Self, SearchError> {
        match EmbeddingProxy::cosine(vectors) {
            Ok(proxy) => Ok(Self(Form::Vectors(proxy.into_vectors()))),
            Err(OracleError::NotFinite { i, j, value }) => {
                Err(SearchError::NotFinite { what: "the item vectors", row: i, column: j, value })
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Cosine of n × d vectors whose rows have length 1, or 0 for items without one.
    ///
    /// # Errors
    /// A component that is not finite, a row of another length.
    pub fn unit_vectors(vectors: Array2<f64>) -> Result<Self, SearchError> {
        const WHAT: &str = "the item vectors";
        check_matrix(WHAT, vectors.view(), vectors.dim())?;
        for (row, vector) in vectors.rows().into_iter().enumerate() {
            let length = vector.dot(&vector).sqrt();
            if length != 0.0 && (length - 1.0).abs() > UNIT {
                return Err(SearchError::Length { what: WHAT, row, length });
            }
        }
        Ok(Self(Form::Vectors(vectors)))
    }

    /// Any symmetric n × n proxy, which is scaled to a mean diagonal of 1 unless that is no scale to divide by.
    ///
    /// # Errors
    /// A matrix that is not square, not symmetric, or holds a number that is not finite.
    pub fn matrix(mut matrix: Array2<f64>) -> Result<Self, SearchError> {
        const WHAT: &str = "the proxy among the items";
        let n = matrix.nrows();
        check_matrix(WHAT, matrix.view(), (n, n))?;
        let largest = matrix.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        for ((row, column), &value) in matrix.indexed_iter().filter(|((row, column), _)| row < column) {
            let mirror = matrix[[column, row]];
            if (value - mirror).abs() > ROUNDING * largest {
                return Err(SearchError::Asymmetric { what: WHAT, row, column, values: (value, mirror) });
            }
        }
        let scale = mean_diagonal(&matrix);
        // one that was scaled before keeps its bits
        if (scale - 1.0).abs() > SCALED {
            matrix /= scale;
        }
        // a tiny diagonal may push the others out of range
        check_matrix(WHAT, matrix.view(), (n, n))?;
        Ok(Self(Form::Matrix(matrix)))
    }

    /// The numbers it is made of.
    pub fn parts(&self) -> ItemProxyParts<'_> {
        match &self.0 {
            Form::Vectors(vectors) => ItemProxyParts::Vectors(vectors.view()),
            Form::Matrix(matrix) => ItemProxyParts::Matrix(matrix.view()),
        }
    }

    /// Number of items n.
    pub fn len(&self) -> usize {
        self.rows().nrows()
    }

    /// True where there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// P[items, items].
    pub(super) fn among(&self, items: &[usize]) -> Array2<f64> {
        let rows = self.rows().select(Axis(0), items);
        match self.0 {
            Form::Vectors(_) => rows.dot(&rows.t()),
            Form::Matrix(_) => rows.select(Axis(1), items),
        }
    }

    /// P[:, items] w, length n: O(n(d + |items|)).
    pub(super) fn combine(&self, items: &[usize], weights: ArrayView1<'_, f64>) -> Array1<f64> {
        let sum = weights.dot(&self.rows().select(Axis(0), items));
        match &self.0 {
            Form::Vectors(vectors) => vectors.dot(&sum),
            // symmetric: a sum of rows is one of columns
            Form::Matrix(_) => sum,
        }
    }

    fn rows(&self) -> &Array2<f64> {
        match &self.0 {
            Form::Vectors(rows) | Form::Matrix(rows) => rows,
        }
    }
}

/// Mean of the diagonal; 1 where that is no scale to divide by.
pub(super) fn mean_diagonal(matrix: &Array2<f64>) -> f64 {
    let mean = matrix.diag().mean().unwrap_or(1.0);
    if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn a_proxy_among_the_items_is_square_finite_and_symmetric_or_refused() {
        let said = |matrix: Array2<f64>| ItemProxy::matrix(matrix).map_err(|error| error.to_string());
        assert!(said(Array2::zeros((3, 2))).unwrap_err().contains("is 3 × 2, but must be 3 × 3"));
        assert!(said(array![[1.0, f64::NAN], [0.0, 1.0]]).unwrap_err().contains("NaN at row 0, column 1"));
        let error = said(array![[1.0, 0.5], [0.25, 1.0]]).unwrap_err();
        assert!(error.contains("not symmetric: 0.5 at row 0, column 1 and 0.25"), "{error}");
        let proxy = said(array![[4.0, 1.0], [1.0 + 1e-12, 4.0]]).unwrap();
        assert!(matches!(proxy.parts(), ItemProxyParts::Matrix(matrix) if matrix[[0, 0]] == 1.0));
        assert!(ItemProxy::matrix(array![[1e-300, 1e10], [1e10, 1e-300]]).is_err());
    }

    #[test]
    fn vectors_of_another_length_than_one_are_refused_by_their_row() {
        assert!(ItemProxy::unit_vectors(array![[0.6, 0.8], [0.0, 0.0]]).is_ok());
        let error = ItemProxy::unit_vectors(array![[0.6, 0.8], [2.0, 0.0]]).unwrap_err().to_string();
        assert!(error.starts_with("row 1 of the item vectors has length 2"), "{error}");
        assert!(ItemProxy::unit_vectors(array![[f64::INFINITY, 0.0]]).is_err());
        let unit = ItemProxy::cosine(array![[3.0, 4.0]]).unwrap();
        let ItemProxyParts::Vectors(vectors) = unit.parts() else { panic!("a matrix") };
        assert_eq!(ItemProxy::unit_vectors(vectors.to_owned()).unwrap(), unit);
    }
}
