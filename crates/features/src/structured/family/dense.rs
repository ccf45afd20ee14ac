//! The unstructured reference: mn independent N(0, 1). Pᵢ selects the i-th n numbers of the budget.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use crate::structured::p_model::{PModel, Term};
use crate::structured::transforms::Room;
use crate::structured::{StructuredError, StructuredMatrix};
use landmark_core::normal::fill_normal;
use landmark_core::stream::Rng;

pub(in super::super) struct Dense {
    entries: Array2<f64>,
}

impl Dense {
    pub(in super::super) fn draw(rows: usize, cols: usize, rng: &mut Rng) -> Result<Self, StructuredError> {
        let too_large = StructuredError::Memory { rows, cols };
        let Some(length) = rows.checked_mul(cols) else { return Err(too_large) };
        let mut entries = Vec::new();
        if entries.try_reserve_exact(length).is_err() {
            return Err(too_large);
        }
        entries.resize(length, 0.0);
        fill_normal(rng, &mut entries);
        let entries = Array2::from_shape_vec((rows, cols), entries).map_err(|_| too_large)?;
        Ok(Self { entries })
    }
}

impl StructuredMatrix for Dense {
    fn id(&self) -> &'static str {
        "dense"
    }

    fn shape(&self) -> (usize, usize, usize) {
        (self.entries.nrows(), self.entries.ncols(), self.entries.len())
    }

    fn bytes(&self) -> usize {
        self.entries.len() * size_of::<f64>()
    }

    fn apply_row(&self, x: &[f64], out: &mut [f64], _room: &mut Room) {
        let x = ndarray::aview1(x);
        out.iter_mut().zip(self.entries.rows()).for_each(|(out, row)| *out = row.dot(&x));
    }

    fn apply_chunk(&self, batch: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>, _room: &mut Room) {
        general_mat_mul(1.0, &batch, &self.entries.t(), 0.0, &mut out);
    }

    fn to_dense(&self) -> Array2<f64> {
        self.entries.clone()
    }

    fn p_model(&self) -> Option<&dyn PModel> {
        Some(self)
    }
}

impl PModel for Dense {
    fn randomness(&self) -> Vec<f64> {
        self.entries.iter().copied().collect()
    }

    fn column(&self, row: usize, column: usize) -> Vec<Term> {
        vec![(row * self.cols() + column, 1.0)]
    }

    /// All pairs are alike: no number is shared.
    fn row_pairs(&self) -> Vec<(usize, usize)> {
        if self.rows() > 1 { vec![(0, 1)] } else { Vec::new() }
    }
}
