//! Products with a Hankel matrix, A[i][j] = g[i + j]: (Ax)ᵢ = Σⱼ g[i + j] xⱼ, a correlation; with its rows turned upside
//! down also with a Toeplitz matrix, A[i][j] = g[j − i + m − 1].
//!
//! c = F⁻¹( Fg ∘ conj(Fx) ) on a length ≥ n + B − 1 that has a fast transform, for B rows at a time (overlap-save): x is
//! transformed once, each block of rows costs one inverse. B = m where m ≤ max(n, 1024), so that the usual case is two FFTs.

use realfft::num_complex::Complex64;

use super::fft::{FftPlans, RealPlan, Room, fast_length, multiply, sized};
use crate::structured::StructuredError;
use crate::structured::error::{require_length, require_some};

/// Blocks shorter than this cost more in calls than they save in length.
const SHORTEST_BLOCK: usize = 1024;

/// The Hankel matrix of a generator g of n + m − 1 numbers.
#[derive(Clone)]
pub struct HankelProduct {
    cols: usize,
    block: usize,
    plan: RealPlan,
    spectra: Vec<Complex64>,
}

impl HankelProduct {
    /// `rows` × `cols` from `generator` of length rows + cols − 1.
    ///
    /// # Errors
    /// No row, no column, or a generator of another length.
    pub fn new(rows: usize, cols: usize, generator: &[f64], plans: &mut FftPlans) -> Result<Self, StructuredError> {
        require_some("the number of rows", rows)?;
        require_some("the number of columns", cols)?;
        require_length("the generator of a Hankel matrix", generator.len(), rows + cols - 1)?;
        let block = rows.min(cols.max(SHORTEST_BLOCK));
        let plan = plans.real(fast_length(cols + block - 1));
        let mut spectra = Vec::new();
        for start in (0..rows).step_by(block) {
            let end = (start + cols + block - 1).min(generator.len());
            spectra.extend(plan.filter(&generator[start..end]));
        }
        Ok(Self { cols, block, plan, spectra })
    }

    /// `out` (length rows) = A x (length cols).
    pub fn apply(&self, x: &[f64], out: &mut [f64], room: &mut Room) {
        let bins = self.plan.bins();
        let time = sized(&mut room.time, self.plan.length);
        time[..self.cols].copy_from_slice(x);
        time[self.cols..].fill(0.0);
        let spectrum = sized(&mut room.spectrum, bins);
        self.plan.forward(time, spectrum, &mut room.scratch);
        spectrum.iter_mut().for_each(|bin| bin.im = -bin.im);
        for (block, out) in self.spectra.chunks_exact(bins).zip(out.chunks_mut(self.block)) {
            let product = sized(&mut room.product, bins);
            multiply(block, spectrum, product);
            self.plan.inverse(product, time, &mut room.scratch);
            out.copy_from_slice(&time[..out.len()]);
        }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(self.spectra.as_slice())
    }
}
