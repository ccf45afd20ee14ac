//! Circulant: A[i][j] = g[(j − i) mod n], one Gaussian row and its right shifts. More than n rows are blocks of n, each with a
//! g of its own. Pᵢ[q][j] = 1 where j = q + i mod n (paper, §2.2, equations 7 and 8): every Pᵢ is a permutation.
//!
//! Cost of a row: one real FFT of length n and one inverse a block.

use ndarray::Array2;

use crate::structured::p_model::{PModel, Term, shifted_pairs};
use crate::structured::transforms::{CirculantProduct, FftPlans, Room};
use crate::structured::{StructuredError, StructuredMatrix};
use landmark_core::normal::normals;
use landmark_core::stream::Rng;

pub(in super::super) struct Circulant {
    rows: usize,
    cols: usize,
    generators: Vec<f64>,
    product: CirculantProduct,
}

impl Circulant {
    pub(in super::super) fn draw(
        rows: usize,
        cols: usize,
        rng: &mut Rng,
        plans: &mut FftPlans,
    ) -> Result<Self, StructuredError> {
        Self::from_generators(rows, cols, normals(rng, rows.div_ceil(cols) * cols), plans)
    }

    pub(in super::super) fn from_generators(
        rows: usize,
        cols: usize,
        generators: Vec<f64>,
        plans: &mut FftPlans,
    ) -> Result<Self, StructuredError> {
        let product = CirculantProduct::new(cols, &generators, plans)?;
        Ok(Self { rows, cols, generators, product })
    }

    /// The place in the budget behind entry (i, j).
    fn place(&self, row: usize, column: usize) -> usize {
        let (block, shift) = (row / self.cols, row % self.cols);
        block * self.cols + (column + self.cols - shift) % self.cols
    }
}

impl StructuredMatrix for Circulant {
    fn id(&self) -> &'static str {
        "circulant"
    }

    fn shape(&self) -> (usize, usize, usize) {
        (self.rows, self.cols, self.generators.len())
    }

    fn bytes(&self) -> usize {
        size_of_val(self.generators.as_slice()) + self.product.bytes()
    }

    fn apply_row(&self, x: &[f64], out: &mut [f64], room: &mut Room) {
        self.product.apply(x, out, room);
    }

    fn to_dense(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.rows, self.cols), |(i, j)| self.generators[self.place(i, j)])
    }

    fn p_model(&self) -> Option<&dyn PModel> {
        Some(self)
    }
}

impl PModel for Circulant {
    fn randomness(&self) -> Vec<f64> {
        self.generators.clone()
    }

    fn column(&self, row: usize, column: usize) -> Vec<Term> {
        vec![(self.place(row, column), 1.0)]
    }

    fn row_pairs(&self) -> Vec<(usize, usize)> {
        shifted_pairs(self.rows, self.cols)
    }
}
