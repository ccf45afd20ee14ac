//! HD₃HD₂HD₁/N: three random sign flips, each followed by a Walsh–Hadamard transform, N the power of two ≥ n (items are
//! padded with zeros). Andoni et al. 2015; Yu et al. 2016. The N rows of a block are orthogonal and have norm √N, so that
//! inner products are kept exactly by N = n features. Entries are not Gaussian: kernels other than the inner product are
//! estimated with a bias that falls with N. No P-model, since the rows are not linear in a Gaussian budget.
//!
//! Cost of a row and block: three Walsh–Hadamard transforms of length N; 3N bits.

use ndarray::Array2;

use super::fastfood::hadamard_entry;
use crate::structured::StructuredMatrix;
use crate::structured::p_model::PModel;
use crate::structured::signs::Signs;
use crate::structured::transforms::{Room, hadamard, padded_length, sized};
use landmark_core::stream::Rng;

pub(in super::super) struct Hd3 {
    rows: usize,
    cols: usize,
    blocks: Vec<[Signs; 3]>,
}

impl Hd3 {
    pub(in super::super) fn draw(rows: usize, cols: usize, rng: &mut Rng) -> Self {
        let n = padded_length(cols);
        let blocks = (0..rows.div_ceil(n)).map(|_| [(); 3].map(|()| Signs::draw(rng, n))).collect();
        Self { rows, cols, blocks }
    }

    fn padded(&self) -> usize {
        padded_length(self.cols)
    }
}

impl StructuredMatrix for Hd3 {
    fn id(&self) -> &'static str {
        "hd3"
    }

    fn shape(&self) -> (usize, usize, usize) {
        (self.rows, self.cols, 3 * self.padded() * self.blocks.len())
    }

    fn bytes(&self) -> usize {
        self.blocks.iter().flatten().map(Signs::bytes).sum()
    }

    fn apply_row(&self, x: &[f64], out: &mut [f64], room: &mut Room) {
        let n = self.padded();
        let factor = 1.0 / n as f64;
        for (block, out) in self.blocks.iter().zip(out.chunks_mut(n)) {
            let mixed = sized(&mut room.first, n);
            mixed[..x.len()].copy_from_slice(x);
            mixed[x.len()..].fill(0.0);
            for signs in block {
                signs.flip(mixed);
                hadamard(mixed);
            }
            out.iter_mut().zip(mixed).for_each(|(out, value)| *out = *value * factor);
        }
    }

    fn to_dense(&self) -> Array2<f64> {
        let n = self.padded();
        let mut dense = Array2::zeros((self.rows, self.cols));
        for (number, [first, second, third]) in self.blocks.iter().enumerate() {
            let flip = |signs: &Signs| Array2::from_shape_fn((n, n), |(i, j)| hadamard_entry(i, j) * signs.get(j));
            let block = flip(third).dot(&flip(second)).dot(&flip(first)) / n as f64;
            for i in number * n..self.rows.min((number + 1) * n) {
                dense.row_mut(i).assign(&block.row(i % n).slice(ndarray::s![..self.cols]));
            }
        }
        dense
    }

    fn p_model(&self) -> Option<&dyn PModel> {
        None
    }
}
