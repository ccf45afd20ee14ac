//! The drawn matrix behind structured features, one trait for all families.

use std::fmt;

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::StructuredError;
use super::chunks::{for_each_chunk, rows_per_chunk};
use super::error::require_length;
use super::transforms::Room;

/// A drawn m × n matrix.
pub trait StructuredMatrix: Send + Sync {
    /// The stable id of the family.
    fn id(&self) -> &'static str;

    /// (m, n, t), t the random numbers (for `hd3` random signs) behind the matrix.
    fn shape(&self) -> (usize, usize, usize);

    fn rows(&self) -> usize {
        self.shape().0
    }

    fn cols(&self) -> usize {
        self.shape().1
    }

    fn budget(&self) -> usize {
        self.shape().2
    }

    /// Bytes kept for the product.
    fn bytes(&self) -> usize;

    /// `out` (length m) = A x (length n). Finite numbers are the caller's promise.
    fn apply_row(&self, x: &[f64], out: &mut [f64], room: &mut Room);

    /// `out` (r × m) = X Aᵀ for a contiguous batch X (r × n), on this thread.
    fn apply_chunk(&self, batch: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>, room: &mut Room) {
        for (x, mut out) in batch.rows().into_iter().zip(out.rows_mut()) {
            if let (Some(x), Some(out)) = (x.as_slice(), out.as_slice_mut()) {
                self.apply_row(x, out, room);
            }
        }
    }

    /// A, entry by entry from its definition, without the fast product. 8mn bytes.
    fn to_dense(&self) -> Array2<f64>;

    /// The P-model behind the matrix; `None` where rows are not linear in a Gaussian budget (`hd3`, `fastfood` with
    /// independent norms).
    fn p_model(&self) -> Option<&dyn PModel>;

    /// X Aᵀ for a batch X (r × n): one row an item, rows in parallel.
    fn apply(&self, batch: ArrayView2<'_, f64>) -> Result<Array2<f64>, StructuredError> {
        require_length("an item", batch.ncols(), self.cols())?;
        let mut out = Array2::zeros((batch.nrows(), self.rows()));
        let rows = rows_per_chunk(self.rows().max(self.cols()));
        for_each_chunk(batch, out.view_mut(), rows, |chunk, mut out, room| {
            self.apply_chunk(chunk.rows(), out.view_mut(), room);
            chunk.unscale(out);
        })?;
        Ok(out)
    }
}

impl fmt::Debug for dyn StructuredMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({} × {})", self.id(), self.rows(), self.cols())
    }
}

/// One nonzero of a column of Pᵢ: (place in the budget, value).
pub type Term = (usize, f64);

/// The matrices Pᵢ behind a structured matrix.
pub trait PModel: StructuredMatrix {
    /// g, of length t.
    fn randomness(&self) -> Vec<f64>;

    /// Column `column` of P_`row`: its nonzeros, each place once.
    fn column(&self, row: usize, column: usize) -> Vec<Term>;

    /// Pairs of rows i < j such that every coherence graph of the model is isomorphic, σ included, to one of theirs or empty.
    fn row_pairs(&self) -> Vec<(usize, usize)>;
}
