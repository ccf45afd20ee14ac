//! A polynomial of several proxies, without products of two of them.

use ndarray::{Array2, Zip};

use super::columns::{Columns, regress};
use crate::approximate::ApproximateError;

/// c + Σ_k Σ_d c_kd p_k^d.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Polynomials {
    pub(super) constant: f64,
    /// By proxy, by power from 0, whose coefficient is 0.
    pub(super) powers: Vec<Vec<f64>>,
}

impl Polynomials {
    pub(super) fn constant(constant: f64) -> Self {
        Self { constant, powers: Vec::new() }
    }

    /// The first `proxies` of the columns: the main one to the degree, p + p² of the others. 0 without a proxy.
    pub(super) fn fit(columns: &Columns, proxies: usize, degree: usize) -> Result<Self, ApproximateError> {
        if proxies == 0 {
            return Ok(Self::constant(0.0));
        }
        let main = (1..=degree).map(|power| (0, power));
        let others = (1..proxies).flat_map(|proxy| [(proxy, 1), (proxy, 2)]);
        let terms: Vec<(usize, usize)> = main.chain(others).collect();
        let linear = regress(columns, &terms)?;
        let mut sum = Self::constant(linear.constant);
        for (&(proxy, power), &weight) in terms.iter().zip(&linear.weights) {
            let mut coefficients = vec![0.0; power + 1];
            coefficients[power] = weight;
            sum.add_powers(proxy, &coefficients);
        }
        Ok(sum)
    }

    /// Adds `weight` times another.
    pub(super) fn add(&mut self, weight: f64, other: &Self) {
        self.constant += weight * other.constant;
        for (proxy, powers) in other.powers.iter().enumerate() {
            self.add_powers(proxy, &powers.iter().map(|c| weight * c).collect::<Vec<_>>());
        }
    }

    /// Adds Σ_d c_d p^d of a proxy.
    pub(super) fn add_powers(&mut self, proxy: usize, coefficients: &[f64]) {
        if self.powers.len() <= proxy {
            self.powers.resize(proxy + 1, Vec::new());
        }
        let own = &mut self.powers[proxy];
        if own.len() < coefficients.len() {
            own.resize(coefficients.len(), 0.0);
        }
        own.iter_mut().zip(coefficients).for_each(|(own, c)| *own += c);
    }

    pub(super) fn at(&self, proxies: impl Iterator<Item = f64>) -> f64 {
        let terms = self.powers.iter().zip(proxies).map(|(powers, p)| horner(powers, p));
        self.constant + terms.sum::<f64>()
    }

    pub(super) fn block(&self, shape: (usize, usize), proxies: &[Array2<f64>]) -> Array2<f64> {
        let mut sum = Array2::from_elem(shape, self.constant);
        for (powers, scores) in self.powers.iter().zip(proxies) {
            Zip::from(&mut sum).and(scores).for_each(|sum, &p| *sum += horner(powers, p));
        }
        sum
    }

    pub(super) fn numbers(&self) -> Vec<u8> {
        let lengths = self.powers.iter().map(|powers| powers.len() as f64);
        let all = std::iter::once(self.constant).chain(lengths).chain(self.powers.iter().flatten().copied());
        all.flat_map(f64::to_le_bytes).collect()
    }
}

pub(super) fn horner(powers: &[f64], p: f64) -> f64 {
    powers.iter().rev().fold(0.0, |value, c| value * p + c)
}
