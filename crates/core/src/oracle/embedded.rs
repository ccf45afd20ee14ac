//! Vectors as an oracle: cosine or inner product of the rows of an embedding, the usual cheap proxy.
//!
//! O(d) an entry; blocks are matrix products. Memory: one copy of the embedding, 8nd bytes.

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2, s};

use super::{DistinctPairs, Identity, Oracle, OracleError, OracleShape, Pair, check_indices, check_pairs};
use crate::linalg;

/// Rows of the embedding gathered at a time, so that a tall block copies little.
const ROWS_AT_A_TIME: usize = 4096;

/// Similarities of n vectors of length d.
#[derive(Debug, Clone)]
pub struct EmbeddingProxy {
    vectors: Array2<f64>,
    known_diagonal: Option<f64>,
    identity: Identity,
}

impl EmbeddingProxy {
    /// `⟨x, y⟩ / (‖x‖ ‖y‖)` of an n × d embedding; 0 with a zero vector. Self-similarity is known to be 1, unless a
    /// vector is zero.
    ///
    /// # Errors
    /// [`OracleError::NotFinite`] for the first component that is NaN or infinite (i: item, j: component).
    pub fn cosine(vectors: Array2<f64>) -> Result<Self, OracleError> {
        let mut proxy = Self::checked(b"embedding_cosine", vectors)?;
        proxy.known_diagonal = Some(1.0);
        for mut vector in proxy.vectors.rows_mut() {
            let norm = norm(vector.view());
            if norm > 0.0 {
                vector /= norm;
            } else {
                proxy.known_diagonal = None;
            }
        }
        Ok(proxy)
    }

    /// `⟨x, y⟩` of an n × d embedding.
    pub fn dot(vectors: Array2<f64>) -> Result<Self, OracleError> {
        Self::checked(b"embedding_dot", vectors)
    }

    /// The vectors of some items; a view where they are a range.
    pub(super) fn vectors_of(&self, items: &[usize]) -> CowArray<'_, f64, Ix2> {
        match items.first() {
            Some(&first) if items.windows(2).all(|pair| pair[1] == pair[0] + 1) => {
                self.vectors.slice(s![first..first + items.len(), ..]).into()
            }
            _ => self.vectors.select(Axis(0), items).into(),
        }
    }

    fn checked(kind: &[u8], vectors: Array2<f64>) -> Result<Self, OracleError> {
        if let Some(((i, j), &value)) = vectors.indexed_iter().find(|(_, value)| !value.is_finite()) {
            return Err(OracleError::NotFinite { i, j, value });
        }
        let identity = Identity::of(&[("kind", kind), ("vectors", Identity::of_values(vectors.view()).as_bytes())]);
        Ok(Self { vectors, known_diagonal: None, identity })
    }

    /// n × d, of unit length for the cosine.
    pub fn vectors(&self) -> &Array2<f64> {
        &self.vectors
    }

    /// The vectors themselves, as [`vectors`](Self::vectors).
    pub fn into_vectors(self) -> Array2<f64> {
        self.vectors
    }
}

/// Euclidean norm, of the largest component first so that no square overflows.
fn norm(vector: ArrayView1<'_, f64>) -> f64 {
    let largest = vector.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * vector.iter().map(|x| (x / largest) * (x / largest)).sum::<f64>().sqrt()
}

impl Oracle for EmbeddingProxy {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: self.known_diagonal, ..OracleShape::symmetric(self.vectors.nrows()) }
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn vectors(&self) -> Option<ArrayView2<'_, f64>> {
        Some(self.vectors.view())
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        for (&(i, j), score) in pairs.iter().zip(out) {
            *score = match self.known_diagonal {
                Some(value) if i == j => value,
                _ => self.vectors.row(i).dot(&self.vectors.row(j)),
            };
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        check_indices(self.len(), rows, cols)?;
        let right = self.vectors_of(cols);
        for (rows, out) in rows.chunks(ROWS_AT_A_TIME).zip(out.axis_chunks_iter_mut(Axis(0), ROWS_AT_A_TIME)) {
            let left = self.vectors_of(rows);
            linalg::product_into(left.view(), right.t(), 1.0, out);
        }
        // both orders of a pair and the diagonal come out equal to the last bit
        DistinctPairs::new(self.shape(), rows, cols).complete(out);
        Ok(())
    }
}
