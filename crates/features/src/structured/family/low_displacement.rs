//! Low displacement rank: A = Σ_k Circ(g_k) Skew(h_k), k < r, with Circ(g)[i][j] = g[(i − j) mod n] (first column g) and the
//! skew-circulant matrix of first column h. Paper, §2.2, equation 11: h_k has a nonzeros ±1/√(ar) at random places, so that
//! every column of every Pᵢ has norm 1. Pᵢ stacks Skew(h_k) with rows shifted and reversed: Pᵢ[(k, q)][j] =
//! Skew(h_k)[(i − q) mod n][j]. Columns of one Pᵢ are orthogonal for a = 1 and on average for a > 1.
//!
//! More than n rows are blocks of n, each with its own g_k and h_k. Cost of a row and block: r + 1 real FFTs of length n and
//! r + 1 complex ones of length n/2.

use ndarray::Array2;
use realfft::num_complex::Complex64;

use crate::structured::p_model::{PModel, Term, shifted_pairs};
use crate::structured::signs::sign;
use crate::structured::transforms::{FftPlans, RealPlan, Room, SkewSpectrum, add_product, multiply, sized};
use crate::structured::{StructuredError, StructuredMatrix};
use landmark_core::normal::normals;
use landmark_core::parameter::BadParameter;
use landmark_core::stream::Rng;

pub(in super::super) struct LowDisplacement {
    rows: usize,
    cols: usize,
    /// Terms of all blocks, `rank` a block.
    terms: Vec<Displacement>,
    rank: usize,
    cyclic: RealPlan,
    skew: SkewSpectrum,
}

/// g and the nonzeros of h by place.
pub(in super::super) type Generators = (Vec<f64>, Vec<(usize, f64)>);

/// One Circ(g) Skew(h).
struct Displacement {
    g: Vec<f64>,
    /// (place, value) of the nonzeros of h, by place.
    h: Vec<(usize, f64)>,
    g_spectrum: Vec<Complex64>,
    h_spectrum: Vec<Complex64>,
}

impl Displacement {
    /// Skew(h)[i][j].
    fn skew_entry(&self, n: usize, i: usize, j: usize) -> f64 {
        let (place, sign) = if i >= j { (i - j, 1.0) } else { (n + i - j, -1.0) };
        self.h.binary_search_by_key(&place, |&(place, _)| place).map_or(0.0, |k| sign * self.h[k].1)
    }
}

impl LowDisplacement {
    pub(in super::super) fn draw(
        rows: usize,
        cols: usize,
        rank: usize,
        nonzeros: usize,
        rng: &mut Rng,
        plans: &mut FftPlans,
    ) -> Result<Self, StructuredError> {
        if nonzeros > cols {
            let refused = BadParameter::new("nonzeros", nonzeros, "at most the number of columns");
            return Err(refused.of("low_displacement").into());
        }
        let value = 1.0 / ((nonzeros * rank) as f64).sqrt();
        let generators = (0..rows.div_ceil(cols) * rank)
            .map(|_| {
                let g = normals(rng, cols);
                let mut places = rand::seq::index::sample(rng, cols, nonzeros).into_vec();
                places.sort_unstable();
                (g, places.into_iter().map(|place| (place, value * sign(rng))).collect())
            })
            .collect();
        Ok(Self::from_generators(rows, cols, rank, generators, plans))
    }

    /// From g_k and h_k, `rank` a block.
    pub(in super::super) fn from_generators(
        rows: usize,
        cols: usize,
        rank: usize,
        generators: Vec<Generators>,
        plans: &mut FftPlans,
    ) -> Self {
        let (cyclic, skew) = (plans.real(cols), SkewSpectrum::new(cols, plans));
        let terms = generators
            .into_iter()
            .map(|(g, h)| {
                let mut column = vec![0.0; cols];
                h.iter().for_each(|&(place, value)| column[place] = value);
                Displacement { g_spectrum: cyclic.filter(&g), h_spectrum: skew.filter(&column), g, h }
            })
            .collect();
        Self { rows, cols, terms, rank, cyclic, skew }
    }

    /// The terms of the block of a row, and the row's place in the block.
    fn block_of(&self, row: usize) -> (usize, usize) {
        (row / self.cols * self.rank, row % self.cols)
    }
}

impl StructuredMatrix for LowDisplacement {
    fn id(&self) -> &'static str {
        "low_displacement"
    }

    fn shape(&self) -> (usize, usize, usize) {
        (self.rows, self.cols, self.terms.len() * self.cols)
    }

    fn bytes(&self) -> usize {
        let spectra = |term: &Displacement| term.g_spectrum.len() + term.h_spectrum.len();
        let of = |term: &Displacement| {
            size_of_val(term.g.as_slice()) + size_of_val(term.h.as_slice()) + spectra(term) * size_of::<Complex64>()
        };
        self.terms.iter().map(of).sum::<usize>() + self.skew.len() * size_of::<Complex64>()
    }

    fn apply_row(&self, x: &[f64], out: &mut [f64], room: &mut Room) {
        let (n, bins, odd) = (self.cols, self.cyclic.bins(), self.skew.len());
        self.skew.forward(x, sized(&mut room.skew, odd), &mut room.scratch);
        for (block, out) in self.terms.chunks_exact(self.rank).zip(out.chunks_mut(n)) {
            sized(&mut room.sum, bins).fill(Complex64::default());
            for term in block {
                let skewed = sized(&mut room.skew_product, odd);
                multiply(&term.h_spectrum, &room.skew[..odd], skewed);
                let turned = sized(&mut room.time, n);
                self.skew.inverse(skewed, turned, &mut room.scratch);
                let spectrum = sized(&mut room.spectrum, bins);
                self.cyclic.forward(turned, spectrum, &mut room.scratch);
                add_product(&term.g_spectrum, spectrum, &mut room.sum[..bins]);
            }
            let whole = sized(&mut room.time, n);
            self.cyclic.inverse(&mut room.sum[..bins], whole, &mut room.scratch);
            out.copy_from_slice(&whole[..out.len()]);
        }
    }

    fn to_dense(&self) -> Array2<f64> {
        let n = self.cols;
        Array2::from_shape_fn((self.rows, n), |(i, j)| {
            let (first, i) = self.block_of(i);
            let entry = |term: &Displacement| -> f64 {
                (0..n).map(|l| term.g[(i + n - l) % n] * term.skew_entry(n, l, j)).sum()
            };
            self.terms[first..first + self.rank].iter().map(entry).sum()
        })
    }

    fn p_model(&self) -> Option<&dyn PModel> {
        Some(self)
    }
}

impl PModel for LowDisplacement {
    fn randomness(&self) -> Vec<f64> {
        self.terms.iter().flat_map(|term| term.g.iter().copied()).collect()
    }

    fn column(&self, row: usize, column: usize) -> Vec<Term> {
        let n = self.cols;
        let (first, i) = self.block_of(row);
        let mut terms = Vec::new();
        for k in first..first + self.rank {
            for &(place, value) in &self.terms[k].h {
                // Skew(h)[l][j] holds h[place] at l = j + place, turned in sign where that leaves the end
                let l = (column + place) % n;
                let sign = if column + place < n { 1.0 } else { -1.0 };
                terms.push((k * n + (i + n - l) % n, sign * value));
            }
        }
        terms
    }

    fn row_pairs(&self) -> Vec<(usize, usize)> {
        shifted_pairs(self.rows, self.cols)
    }
}
