//! Factors of an earlier fit as a similarity: Z diag(±1) Zᵀ.

use std::sync::Arc;

use ndarray::{Array2, ArrayViewMut2, Axis};

use landmark_core::linalg;
use landmark_core::oracle::{EmbeddingProxy, Identity, Oracle, OracleError, OracleShape, Pair};

/// Z diag(±1) Zᵀ of factors Z (n × r) with r signs: the seed of a search among their items ([`Known`](super::Known)).
///
/// # Errors
/// [`OracleError::NotFinite`] for a component that is none.
///
/// # Panics
/// When there is not one sign a column.
pub fn factors(vectors: Array2<f64>, signature: &[f64]) -> Result<Arc<dyn Oracle>, OracleError> {
    assert_eq!(vectors.ncols(), signature.len(), "columns and their signs");
    if signature.iter().all(|&sign| sign == 1.0) {
        return Ok(Arc::new(EmbeddingProxy::dot(vectors)?));
    }
    let signs = ndarray::aview1(signature);
    let turned = EmbeddingProxy::dot(&vectors * &signs)?;
    Ok(Arc::new(Signed { vectors: EmbeddingProxy::dot(vectors)?, turned }))
}

/// Inner products of which some terms count negatively.
struct Signed {
    vectors: EmbeddingProxy,
    /// The same with the signs.
    turned: EmbeddingProxy,
}

impl Oracle for Signed {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.vectors.len())
    }

    fn identity(&self) -> Identity {
        let (vectors, turned) = (self.vectors.identity(), self.turned.identity());
        let kind: &[u8] = b"signed_factors";
        Identity::of(&[("kind", kind), ("vectors", vectors.as_bytes()), ("turned", turned.as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        for (&(i, j), score) in pairs.iter().zip(out) {
            *score = self.turned.vectors().row(i.min(j)).dot(&self.vectors.vectors().row(i.max(j)));
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        let left = self.turned.vectors().select(Axis(0), rows);
        let right = self.vectors.vectors().select(Axis(0), cols);
        out.assign(&linalg::product(left.view(), right.t()));
        Ok(())
    }
}
