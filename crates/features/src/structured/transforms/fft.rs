//! FFT plans, made once for each length, and the scratch memory of one thread.

use std::sync::Arc;

use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};

/// Makes FFT plans and keeps them: matrices that are drawn with the same `FftPlans` share the plans of equal lengths.
pub struct FftPlans {
    real: RealFftPlanner<f64>,
    complex: FftPlanner<f64>,
}

impl FftPlans {
    /// No plan yet.
    pub fn new() -> Self {
        Self { real: RealFftPlanner::new(), complex: FftPlanner::new() }
    }

    pub(in super::super) fn real(&mut self, length: usize) -> RealPlan {
        RealPlan { length, forward: self.real.plan_fft_forward(length), inverse: self.real.plan_fft_inverse(length) }
    }

    pub(super) fn complex(&mut self, length: usize) -> ComplexPlan {
        ComplexPlan { forward: self.complex.plan_fft_forward(length), inverse: self.complex.plan_fft_inverse(length) }
    }
}

impl Default for FftPlans {
    fn default() -> Self {
        Self::new()
    }
}

/// Scratch memory of one thread: grows to what the largest product needs and is used again for the next row.
#[derive(Debug, Default)]
pub struct Room {
    pub(in super::super) time: Vec<f64>,
    pub(in super::super) spectrum: Vec<Complex64>,
    pub(in super::super) product: Vec<Complex64>,
    pub(in super::super) scratch: Vec<Complex64>,
    pub(in super::super) first: Vec<f64>,
    pub(in super::super) second: Vec<f64>,
    pub(in super::super) skew: Vec<Complex64>,
    pub(in super::super) skew_product: Vec<Complex64>,
    pub(in super::super) sum: Vec<Complex64>,
    pub(in super::super) rotated: Vec<f64>,
    pub(in super::super) projections: Vec<f64>,
}

/// The first `length` elements of a buffer that is grown where it is too short; old values are left in place.
pub(in super::super) fn sized<T: Clone + Default>(buffer: &mut Vec<T>, length: usize) -> &mut [T] {
    if buffer.len() < length {
        buffer.resize(length, T::default());
    }
    &mut buffer[..length]
}

/// A real FFT of one length, both ways, unnormalized.
#[derive(Clone)]
pub(in super::super) struct RealPlan {
    pub(super) length: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
}

impl RealPlan {
    /// ⌊length/2⌋ + 1.
    pub(in super::super) fn bins(&self) -> usize {
        self.length / 2 + 1
    }

    /// `signal` (overwritten) to `spectrum`.
    pub(in super::super) fn forward(
        &self,
        signal: &mut [f64],
        spectrum: &mut [Complex64],
        scratch: &mut Vec<Complex64>,
    ) {
        let scratch = sized(scratch, self.forward.get_scratch_len());
        let done = self.forward.process_with_scratch(signal, spectrum, scratch);
        debug_assert!(done.is_ok(), "a plan is used with its own lengths");
    }

    /// `spectrum` (overwritten) to `length` times the signal.
    pub(in super::super) fn inverse(
        &self,
        spectrum: &mut [Complex64],
        signal: &mut [f64],
        scratch: &mut Vec<Complex64>,
    ) {
        // products of real spectra; what rounding left there is no signal
        spectrum[0].im = 0.0;
        if self.length.is_multiple_of(2) {
            spectrum[self.length / 2].im = 0.0;
        }
        let scratch = sized(scratch, self.inverse.get_scratch_len());
        let done = self.inverse.process_with_scratch(spectrum, signal, scratch);
        debug_assert!(done.is_ok(), "a plan is used with its own lengths");
    }

    /// The spectrum of `signal`, zero-padded to the length of the plan, divided by the factor that [`inverse`](Self::inverse) adds.
    pub(in super::super) fn filter(&self, signal: &[f64]) -> Vec<Complex64> {
        let mut padded = vec![0.0; self.length];
        padded[..signal.len()].copy_from_slice(signal);
        let mut spectrum = vec![Complex64::default(); self.bins()];
        self.forward(&mut padded, &mut spectrum, &mut Vec::new());
        spectrum.iter_mut().for_each(|bin| *bin /= self.length as f64);
        spectrum
    }
}

/// A complex FFT of one length in place, both ways, unnormalized.
#[derive(Clone)]
pub(super) struct ComplexPlan {
    forward: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
}

impl ComplexPlan {
    pub(super) fn forward(&self, signal: &mut [Complex64], scratch: &mut Vec<Complex64>) {
        self.forward.process_with_scratch(signal, sized(scratch, self.forward.get_inplace_scratch_len()));
    }

    pub(super) fn inverse(&self, spectrum: &mut [Complex64], scratch: &mut Vec<Complex64>) {
        self.inverse.process_with_scratch(spectrum, sized(scratch, self.inverse.get_inplace_scratch_len()));
    }
}

/// out = a ∘ b.
pub(in super::super) fn multiply(a: &[Complex64], b: &[Complex64], out: &mut [Complex64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = Complex64::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    }
}

/// out += a ∘ b.
pub(in super::super) fn add_product(a: &[Complex64], b: &[Complex64], out: &mut [Complex64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out += Complex64::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    }
}

/// The smallest even 2ᵃ·{1, 3, 9} that is at least `length`: lengths with fast transforms, at most 12.5 % too long.
pub(super) fn fast_length(length: usize) -> usize {
    let power = |odd: usize| 2 * odd * length.div_ceil(2 * odd).next_power_of_two();
    power(1).min(power(3)).min(power(9))
}
