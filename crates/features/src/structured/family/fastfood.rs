//! Fastfood (Le, Sarlós & Smola 2013): blocks HGΠHB/√N with signs B, a permutation Π and Gaussian numbers G on the diagonal,
//! N the power of two ≥ n (items are padded with zeros). Pᵢ[q][j] = H[i][q] (HB)[π(q)][j]/√N has orthonormal columns, so
//! that each row is N(0, I); all rows of a block have one length, ‖G‖. With S of the original they get independent lengths:
//! row i is multiplied by sᵢ/‖G‖, sᵢ² chi-squared with N degrees, and the matrix is no P-model any more.
//!
//! Cost of a row and block: two Walsh–Hadamard transforms of length N; about 12 bytes a row.

use ndarray::Array2;
use rand::seq::SliceRandom;

use crate::structured::StructuredMatrix;
use crate::structured::p_model::{PModel, Term, block_pairs};
use crate::structured::signs::Signs;
use crate::structured::transforms::{Room, hadamard, padded_length, sized};
use landmark_core::normal::normals;
use landmark_core::stream::Rng;

pub(in super::super) struct Fastfood {
    rows: usize,
    cols: usize,
    blocks: Vec<Block>,
}

struct Block {
    /// B.
    signs: Signs,
    /// Π: place q is taken from π(q).
    permutation: Vec<u32>,
    /// G.
    gaussian: Vec<f64>,
    /// sᵢ/‖G‖.
    lengths: Option<Vec<f64>>,
}

impl Fastfood {
    pub(in super::super) fn draw(rows: usize, cols: usize, independent_norms: bool, rng: &mut Rng) -> Self {
        let n = padded_length(cols);
        let blocks = (0..rows.div_ceil(n)).map(|_| Block::draw(n, independent_norms, rng)).collect();
        Self { rows, cols, blocks }
    }

    fn padded(&self) -> usize {
        padded_length(self.cols)
    }

    /// √N times entry (q, j) of ΠHB/√N … H: ±1.
    fn inner(&self, block: &Block, q: usize, column: usize) -> f64 {
        hadamard_entry(block.permutation[q] as usize, column) * block.signs.get(column)
    }
}

impl Block {
    fn draw(n: usize, independent_norms: bool, rng: &mut Rng) -> Self {
        let (signs, gaussian) = (Signs::draw(rng, n), normals(rng, n));
        // a vector of 2³² numbers would be 32 GB
        let mut permutation: Vec<u32> = (0..n as u32).collect();
        permutation.shuffle(rng);
        let norm = gaussian.iter().map(|g| g * g).sum::<f64>().sqrt();
        // a chi variable is the length of a Gaussian vector
        let chi = |rng: &mut Rng| normals(rng, n).iter().map(|g| g * g).sum::<f64>().sqrt();
        let lengths = independent_norms.then(|| (0..n).map(|_| chi(rng) / norm).collect());
        Self { signs, permutation, gaussian, lengths }
    }

    fn bytes(&self) -> usize {
        let lengths = self.lengths.as_deref().map_or(0, size_of_val);
        self.signs.bytes() + size_of_val(self.permutation.as_slice()) + size_of_val(self.gaussian.as_slice()) + lengths
    }

    fn row_factor(&self, i: usize) -> f64 {
        self.lengths.as_ref().map_or(1.0, |lengths| lengths[i]) / (self.signs.len() as f64).sqrt()
    }
}

/// H[i][j] = (−1)^|i ∧ j|.
pub(super) fn hadamard_entry(i: usize, j: usize) -> f64 {
    if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

impl StructuredMatrix for Fastfood {
    fn id(&self) -> &'static str {
        "fastfood"
    }

    fn shape(&self) -> (usize, usize, usize) {
        let budget =
            self.blocks.iter().map(|block| block.gaussian.len() + block.lengths.as_ref().map_or(0, Vec::len)).sum();
        (self.rows, self.cols, budget)
    }

    fn bytes(&self) -> usize {
        self.blocks.iter().map(Block::bytes).sum()
    }

    fn apply_row(&self, x: &[f64], out: &mut [f64], room: &mut Room) {
        let n = self.padded();
        for (block, out) in self.blocks.iter().zip(out.chunks_mut(n)) {
            let mixed = sized(&mut room.first, n);
            mixed[x.len()..].fill(0.0);
            mixed[..x.len()].copy_from_slice(x);
            block.signs.flip(&mut mixed[..x.len()]);
            hadamard(mixed);
            let permuted = sized(&mut room.second, n);
            for ((out, &from), g) in permuted.iter_mut().zip(&block.permutation).zip(&block.gaussian) {
                *out = mixed[from as usize] * g;
            }
            hadamard(permuted);
            out.iter_mut().zip(permuted).enumerate().for_each(|(i, (out, value))| *out = *value * block.row_factor(i));
        }
    }

    fn to_dense(&self) -> Array2<f64> {
        let n = self.padded();
        Array2::from_shape_fn((self.rows, self.cols), |(i, j)| {
            let (block, i) = (&self.blocks[i / n], i % n);
            let term = |q: usize| hadamard_entry(i, q) * block.gaussian[q] * self.inner(block, q, j);
            block.row_factor(i) * (0..n).map(term).sum::<f64>()
        })
    }

    fn p_model(&self) -> Option<&dyn PModel> {
        if self.blocks.iter().any(|block| block.lengths.is_some()) { None } else { Some(self) }
    }
}

impl PModel for Fastfood {
    fn randomness(&self) -> Vec<f64> {
        self.blocks.iter().flat_map(|block| block.gaussian.iter().copied()).collect()
    }

    fn column(&self, row: usize, column: usize) -> Vec<Term> {
        let n = self.padded();
        let (number, i) = (row / n, row % n);
        let block = &self.blocks[number];
        let entry = |q: usize| hadamard_entry(i, q) * self.inner(block, q, column) * block.row_factor(i);
        (0..n).map(|q| (number * n + q, entry(q))).collect()
    }

    fn row_pairs(&self) -> Vec<(usize, usize)> {
        block_pairs(self.rows, self.padded())
    }
}
