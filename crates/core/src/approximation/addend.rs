//! A cheap matrix that is added to the core and evaluated where it is read: q(P) of the `proxy` wrapper.

use std::fmt;

use ndarray::{Array2, ArrayViewMut2};

use super::Embedding;
use crate::fit::ApproximateError;
use crate::linalg;
use crate::oracle::{Identity, OracleError, Pair};

/// Cells evaluated at a time by the default mat-vec: 32 MB.
const CELLS_PER_BLOCK: usize = 1 << 22;

/// A symmetric n × n matrix that costs nothing but time.
pub trait Addend: Send + Sync + fmt::Debug {
    /// Number of items n.
    fn len(&self) -> usize;

    /// Whether there are no items.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A digest of everything that moves a value: part of the result's provenance.
    fn identity(&self) -> Identity;

    /// `out[k]` = value at `pairs[k]`; of one length.
    ///
    /// # Errors
    /// Whatever stands behind it.
    fn pairs(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError>;

    /// Fills `out` (rows.len() × cols.len()).
    ///
    /// # Errors
    /// Whatever stands behind it.
    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError>;

    /// `out` = matrix · x, by blocks of rows unless there is a faster way. O(n²) evaluations, 32 MB.
    ///
    /// # Errors
    /// Whatever stands behind it.
    fn apply(&self, x: &[f64], out: &mut [f64]) -> Result<(), OracleError> {
        let n = self.len();
        let all: Vec<usize> = (0..n).collect();
        let rows_at_a_time = (CELLS_PER_BLOCK / n.max(1)).max(1);
        for (rows, out) in all.chunks(rows_at_a_time).zip(out.chunks_mut(rows_at_a_time)) {
            let mut values = Array2::zeros((rows.len(), n));
            self.block(rows, &all, values.view_mut())?;
            linalg::apply(values.view(), x, out);
        }
        Ok(())
    }

    /// Vectors whose signed inner products approximate the matrix, e.g. by Nyström on many landmarks.
    ///
    /// # Errors
    /// Whatever stands behind it, or a factorisation.
    fn embedding(&self) -> Result<Embedding, ApproximateError>;

    /// Items whose cheap scores with a new item decide its vector in [`embedding`](Self::embedding).
    fn anchors(&self) -> &[usize];

    /// Turns cheap scores of new items into values of this matrix, in place.
    fn link(&self, scores: ArrayViewMut2<'_, f64>);
}
