//! Inner products of sparse vectors: a bag of words as a kernel. O(entries of both) a pair, 12 bytes an entry.

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, check_pairs};

/// n sparse vectors.
#[derive(Debug, Clone)]
pub struct SparseVectors {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    identity: Identity,
}

impl SparseVectors {
    /// From rows of (column, value); columns of a row in any order, values of one column are added up.
    ///
    /// # Errors
    /// [`OracleError::NotFinite`] for a value that is not finite (i: row, j: column), [`OracleError::OutOfRange`] for a
    /// column beyond 2³².
    pub fn new(rows: &[Vec<(usize, f64)>]) -> Result<Self, OracleError> {
        let mut vectors =
            Self { offsets: vec![0], columns: Vec::new(), values: Vec::new(), identity: Identity::of(&[]) };
        for (i, row) in rows.iter().enumerate() {
            let mut row = row.clone();
            row.sort_by_key(|&(column, _)| column);
            let start = vectors.columns.len();
            for (column, value) in row {
                if !value.is_finite() {
                    return Err(OracleError::NotFinite { i, j: column, value });
                }
                let beyond = OracleError::OutOfRange { index: column, len: u32::MAX as usize };
                let column = u32::try_from(column).map_err(|_| beyond)?;
                if vectors.columns.len() > start && vectors.columns.last() == Some(&column) {
                    if let Some(last) = vectors.values.last_mut() {
                        *last += value;
                    }
                } else {
                    vectors.columns.push(column);
                    vectors.values.push(value);
                }
            }
            vectors.offsets.push(vectors.columns.len());
        }
        vectors.identity = vectors.digest();
        Ok(vectors)
    }

    fn dot(&self, i: usize, j: usize) -> f64 {
        let (mut a, mut b) = (self.offsets[i], self.offsets[j]);
        let (a_end, b_end) = (self.offsets[i + 1], self.offsets[j + 1]);
        let mut sum = 0.0;
        while a < a_end && b < b_end {
            match self.columns[a].cmp(&self.columns[b]) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => {
                    sum += self.values[a] * self.values[b];
                    (a, b) = (a + 1, b + 1);
                }
            }
        }
        sum
    }

    fn digest(&self) -> Identity {
        let offsets: Vec<u8> = self.offsets.iter().flat_map(|&x| (x as u64).to_le_bytes()).collect();
        let columns: Vec<u8> = self.columns.iter().flat_map(|x| x.to_le_bytes()).collect();
        let values: Vec<u8> = self.values.iter().flat_map(|x| x.to_le_bytes()).collect();
        Identity::of(&[("kind", b"sparse_vectors"), ("offsets", &offsets), ("columns", &columns), ("values", &values)])
    }
}

impl Oracle for SparseVectors {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.offsets.len() - 1)
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        pairs.iter().zip(out).for_each(|(&(i, j), score)| *score = self.dot(i, j));
        Ok(())
    }
}
