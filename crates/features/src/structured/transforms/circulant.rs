//! Products with a circulant matrix, A[i][j] = g[(j − i) mod n]: (Ax)ᵢ = Σ_d g[d] x[(i + d) mod n], a cyclic correlation.
//!
//! Ax = F⁻¹( conj(Fg) ∘ Fx ) with real FFTs. Cost: two FFTs of length n a row, n + 2 numbers kept.

use realfft::num_complex::Complex64;

use super::fft::{FftPlans, RealPlan, Room, multiply, sized};
use crate::structured::StructuredError;
use crate::structured::error::{require_length, require_some};

/// Several circulant matrices of one size, stacked: block b has the first row `generators[b·n .. (b + 1)·n]`.
#[derive(Clone)]
pub struct CirculantProduct {
    plan: RealPlan,
    spectra: Vec<Complex64>,
}

impl CirculantProduct {
    /// From the first rows of the blocks, one after the other.
    ///
    /// # Errors
    /// n = 0, no block, or a block that is not whole.
    pub fn new(n: usize, generators: &[f64], plans: &mut FftPlans) -> Result<Self, StructuredError> {
        require_some("the length of a circulant matrix", n)?;
        require_some("the number of blocks", generators.len())?;
        let blocks = generators.len().div_ceil(n);
        require_length("the list of first rows", generators.len(), blocks * n)?;
        let plan = plans.real(n);
        let mut spectra = Vec::with_capacity(blocks * plan.bins());
        for generator in generators.chunks_exact(n) {
            spectra.extend(plan.filter(generator).iter().map(Complex64::conj));
        }
        Ok(Self { plan, spectra })
    }

    /// The first `out.len()` entries of the stacked product with `x` (length n).
    pub fn apply(&self, x: &[f64], out: &mut [f64], room: &mut Room) {
        let n = self.plan.length;
        sized(&mut room.time, n).copy_from_slice(x);
        let spectrum = sized(&mut room.spectrum, self.plan.bins());
        self.plan.forward(&mut room.time[..n], spectrum, &mut room.scratch);
        for (block, out) in self.spectra.chunks_exact(self.plan.bins()).zip(out.chunks_mut(n)) {
            let product = sized(&mut room.product, self.plan.bins());
            multiply(block, &room.spectrum[..self.plan.bins()], product);
            if out.len() == n {
                self.plan.inverse(product, out, &mut room.scratch);
            } else {
                self.plan.inverse(product, &mut room.time[..n], &mut room.scratch);
                out.copy_from_slice(&room.time[..out.len()]);
            }
        }
    }

    pub fn bytes(&self) -> usize {
        size_of_val(self.spectra.as_slice())
    }
}
