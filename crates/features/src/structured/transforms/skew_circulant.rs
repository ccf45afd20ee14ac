//! Products with a skew-circulant matrix of first column h: A[i][j] = h[i − j] for i ≥ j, else −h[n + i − j].
//!
//! A is diagonal in the odd frequencies X(k) = Σⱼ xⱼ e^(−2πi j (k + ½)/n). For even n and real x half of them determine all, since
//! X(n − 1 − k) is the conjugate of X(k), and the even ones are one complex FFT of half the length:
//! X(2k) = Σ_{j < n/2} [(xⱼ − i x_{j + n/2}) e^(−πi j/n)] e^(−2πi jk/(n/2)). For odd n all n are computed.
//!
//! Cost: two complex FFTs of length n/2 a row (n odd: of length n); n numbers kept, and as many phases.

use std::f64::consts::PI;

use realfft::num_complex::Complex64;

use super::fft::{ComplexPlan, FftPlans};

#[derive(Clone)]
pub(in super::super) struct SkewSpectrum {
    n: usize,
    plan: ComplexPlan,
    /// e^(−πi j/n), one a frequency that is kept.
    phases: Vec<Complex64>,
}

impl SkewSpectrum {
    pub(in super::super) fn new(n: usize, plans: &mut FftPlans) -> Self {
        let kept = if n.is_multiple_of(2) { n / 2 } else { n };
        let phases = (0..kept).map(|j| Complex64::from_polar(1.0, -PI * j as f64 / n as f64)).collect();
        Self { n, plan: plans.complex(kept), phases }
    }

    pub(in super::super) fn len(&self) -> usize {
        self.phases.len()
    }

    pub(in super::super) fn forward(&self, x: &[f64], spectrum: &mut [Complex64], scratch: &mut Vec<Complex64>) {
        if self.len() < self.n {
            let (low, high) = x.split_at(self.len());
            for (((out, low), high), phase) in spectrum.iter_mut().zip(low).zip(high).zip(&self.phases) {
                *out = Complex64::new(low * phase.re + high * phase.im, low * phase.im - high * phase.re);
            }
        } else {
            for ((out, x), phase) in spectrum.iter_mut().zip(x).zip(&self.phases) {
                *out = phase * x;
            }
        }
        self.plan.forward(spectrum, scratch);
    }

    /// `len()` times the signal; `spectrum` is overwritten.
    pub(in super::super) fn inverse(&self, spectrum: &mut [Complex64], out: &mut [f64], scratch: &mut Vec<Complex64>) {
        self.plan.inverse(spectrum, scratch);
        if self.len() < self.n {
            let (low, high) = out.split_at_mut(self.len());
            for (((value, low), high), phase) in spectrum.iter().zip(low).zip(high).zip(&self.phases) {
                *low = value.re * phase.re + value.im * phase.im;
                *high = value.re * phase.im - value.im * phase.re;
            }
        } else {
            for ((value, out), phase) in spectrum.iter().zip(out).zip(&self.phases) {
                *out = value.re * phase.re + value.im * phase.im;
            }
        }
    }

    /// The odd frequencies of `h`, divided by the factor that [`inverse`](Self::inverse) adds.
    pub(in super::super) fn filter(&self, h: &[f64]) -> Vec<Complex64> {
        let mut spectrum = vec![Complex64::default(); self.len()];
        self.forward(h, &mut spectrum, &mut Vec::new());
        spectrum.iter_mut().for_each(|bin| *bin /= self.len() as f64);
        spectrum
    }
}
