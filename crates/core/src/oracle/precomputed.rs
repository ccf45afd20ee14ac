//! A matrix that is already there: for studies, tests and a user's own `.npy`.

use ndarray::{Array2, ArrayViewMut2};

use super::{Identity, Oracle, OracleError, Pair, Symmetry};

/// An n × n matrix as an oracle. Costs 8n² bytes.
#[derive(Debug, Clone)]
pub struct Precomputed {
    matrix: Array2<f64>,
    symmetry: Symmetry,
    identity: Identity,
}

impl Precomputed {
    /// Wraps a square matrix; it counts as symmetric when `K = Kᵀ` bit for bit.
    pub fn new(matrix: Array2<f64>) -> Self {
        let symmetry = if matrix == matrix.t() { Symmetry::Symmetric } else { Symmetry::Asymmetric };
        let bytes: Vec<u8> = matrix.iter().flat_map(|value| value.to_le_bytes()).collect();
        let identity = Identity::of(&[("kind", b"precomputed"), ("values", &bytes)]);
        Self { matrix, symmetry, identity }
    }

    /// The matrix itself, n × n.
    pub fn matrix(&self) -> &Array2<f64> {
        &self.matrix
    }
}

impl Oracle for Precomputed {
    fn len(&self) -> usize {
        self.matrix.nrows()
    }

    fn symmetry(&self) -> Symmetry {
        self.symmetry
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        for (&(i, j), score) in pairs.iter().zip(out) {
            *score = self.matrix[[i, j]];
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        for (a, &i) in rows.iter().enumerate() {
            for (b, &j) in cols.iter().enumerate() {
                let value = self.matrix[[i, j]];
                if !value.is_finite() {
                    return Err(OracleError::NotFinite { i, j, value });
                }
                out[[a, b]] = value;
            }
        }
        Ok(())
    }
}
