//! Hankel, A[i][j] = g[i + j], and Toeplitz, A[i][j] = g[j − i + m − 1]: the same matrix with its rows turned upside down.
//! Pᵢ[q][j] = 1 where q is that index (paper, §2.2, equations 9 and 10).
//!
//! Cost of a row: one real FFT of length ≈ n + m and one inverse a block of max(n, 1024) rows.

use ndarray::Array2;

use crate::structured::p_model::{PModel, Term, shifted_pairs};
use crate::structured::transforms::{FftPlans, HankelProduct, Room};
use crate::structured::{StructuredError, StructuredMatrix};
use landmark_core::normal::normals;
use landmark_core::stream::Rng;

pub(in super::super) struct Hankel {
    rows: usize,
    cols: usize,
    upside_down: bool,
    generator: Vec<f64>,
    product: HankelProduct,
}

impl Hankel {
    pub(in super::super) fn draw(
        rows: usize,
        cols: usize,
        upside_down: bool,
        rng: &mut Rng,
        plans: &mut FftPlans,
    ) -> Result<Self, StructuredError> {
        Self::from_generator(rows, cols, upside_down, normals(rng, rows + cols - 1), plans)
    }

    pub(in super::super) fn from_generator(
        rows: usize,
        cols: usize,
        upside_down: bool,
        generator: Vec<f64>,
        plans: &mut FftPlans,
    ) -> Result<Self, StructuredError> {
        let product = HankelProduct::new(rows, cols, &generator, plans)?;
        Ok(Self { rows, cols, upside_down, generator, product })
    }

    /// The place in the budget behind entry (i, j).
    fn place(&self, row: usize, column: usize) -> usize {
        if self.upside_down { self.rows - 1 - row + column } else { row + column }
    }
}

impl StructuredMatrix for Hankel {
    fn id(&self) -> &'static str {
        if self.upside_down { "toeplitz" } else { "hankel" }
    }

    fn shape(&self) -> (usize, usize, usize) {
        (self.rows, self.cols, self.generator.len())
    }

    fn bytes(&self) -> usize {
        size_of_val(self.generator.as_slice()) + self.product.bytes()
    }

    fn apply_row(&self, x: &[f64], out: &mut [f64], room: &mut Room) {
        self.product.apply(x, out, room);
        if self.upside_down {
            out.reverse();
        }
    }

    fn to_dense(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.rows, self.cols), |(i, j)| self.generator[self.place(i, j)])
    }

    fn p_model(&self) -> Option<&dyn PModel> {
        Some(self)
    }
}

impl PModel for Hankel {
    fn randomness(&self) -> Vec<f64> {
        self.generator.clone()
    }

    fn column(&self, row: usize, column: usize) -> Vec<Term> {
        vec![(self.place(row, column), 1.0)]
    }

    fn row_pairs(&self) -> Vec<(usize, usize)> {
        shifted_pairs(self.rows, self.rows)
    }
}
