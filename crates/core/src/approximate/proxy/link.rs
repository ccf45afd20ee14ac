//! q: from the proxy's scores to the oracle's, fitted by least squares on pairs that both have scored.
//!
//! The polynomial is fitted in t = (p − mean) / deviation; a quarter of the range of the scores it has seen beyond them, it
//! continues along its tangent (a cubic that runs away from three pairs would ruin a matrix). Cost: O(m) for m pairs, O(degree) per score.

use crate::balance::{balancing, largest};
use crate::linalg::RidgeRegression;

/// A pivot of the normal equations below this fraction of its diagonal entry: the pairs do not determine that power
/// (8 of the 16 digits are gone).
const SINGULAR: f64 = 1e-8;

/// Reach of a polynomial beyond the scores it was fitted to, as a part of their range.
const TRUSTED: f64 = 0.25;

/// The family that q is taken from: polynomials of this degree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// 1, 2 or 3; 2 is enough for cosines against cross-encoders and for bounds against word mover's distance.
    pub degree: usize,
}

impl Default for Link {
    fn default() -> Self {
        Self { degree: 2 }
    }
}

/// A fitted q: Σ c_k t^k, t = (p − center) / scale, on low ≤ t ≤ high.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedLink {
    center: f64,
    scale: f64,
    coefficients: Vec<f64>,
    low: f64,
    high: f64,
}

impl Link {
    /// Fits q to pairs (proxy score, score), in units of powers of two in which no product leaves the range of f64. Without pairs q is 0; powers that
    /// the pairs do not determine are left out, down to the mean.
    pub fn fit(self, pairs: &[(f64, f64)]) -> FittedLink {
        let (p_unit, y_unit) = units(pairs);
        if p_unit == 1.0 && y_unit == 1.0 {
            return self.fit_balanced(pairs);
        }
        let balanced: Vec<(f64, f64)> = pairs.iter().map(|(p, y)| (p_unit * p, y_unit * y)).collect();
        let FittedLink { center, scale, coefficients, low, high } = self.fit_balanced(&balanced);
        let coefficients = coefficients.into_iter().map(|coefficient| coefficient / y_unit).collect();
        FittedLink { center: center / p_unit, scale: scale / p_unit, coefficients, low, high }
    }

    fn fit_balanced(self, pairs: &[(f64, f64)]) -> FittedLink {
        let degree = self.degree;
        let count = pairs.len().max(1) as f64;
        let center = pairs.iter().map(|(p, _)| p).sum::<f64>() / count;
        let variance = pairs.iter().map(|(p, _)| (p - center) * (p - center)).sum::<f64>() / count;
        let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let standard = |p: f64| (p - center) / scale;

        let mut regression = RidgeRegression::new(degree + 1);
        let mut powers = vec![1.0; degree + 1];
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for &(p, y) in pairs {
            let t = standard(p);
            (low, high) = (low.min(t), high.max(t));
            (1..=degree).for_each(|k| powers[k] = powers[k - 1] * t);
            regression.add(&powers, y);
        }
        let margin = TRUSTED * (high - low);
        (low, high) = (low - margin, high + margin);
        let solved = |degree: usize| regression.leading(degree + 1).solve(0.0, SINGULAR).ok();
        let mean = || vec![pairs.iter().map(|(_, y)| y).sum::<f64>() / count];
        let coefficients = (0..=degree).rev().find_map(solved).unwrap_or_else(mean);
        FittedLink { center, scale, coefficients, low, high }
    }
}

impl FittedLink {
    /// q(p).
    pub fn at(&self, proxy: f64) -> f64 {
        let t = (proxy - self.center) / self.scale;
        let seen = t.clamp(self.low, self.high);
        let (mut value, mut slope) = (0.0, 0.0);
        for &coefficient in self.coefficients.iter().rev() {
            slope = slope * seen + value;
            value = value * seen + coefficient;
        }
        value + slope * (t - seen)
    }

    /// Every number that decides q, for an identity.
    pub(super) fn numbers(&self) -> Vec<f64> {
        let Self { center, scale, coefficients, low, high } = self;
        coefficients.iter().chain([center, scale, low, high]).copied().collect()
    }
}

/// Powers of two that bring proxy scores and scores near 1; 1 in ordinary units.
fn units(pairs: &[(f64, f64)]) -> (f64, f64) {
    (balancing(largest(pairs.iter().map(|(p, _)| p))), balancing(largest(pairs.iter().map(|(_, y)| y))))
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;
    use crate::stream::stream;

    fn pairs(count: usize, q: impl Fn(f64) -> f64, noise: f64) -> Vec<(f64, f64)> {
        let mut rng = stream(1, "link", "pairs", 0);
        (0..count)
            .map(|_| {
                let p: f64 = rng.gen_range(0.2..0.9);
                (p, q(p) + noise * rng.gen_range(-1.0..1.0))
            })
            .collect()
    }

    #[test]
    fn a_polynomial_of_its_degree_is_recovered() {
        let q = |p: f64| 0.3 - 1.7 * p + 2.0 * p * p - 0.5 * p * p * p;
        let fitted = Link { degree: 3 }.fit(&pairs(200, q, 0.0));
        for p in [0.25, 0.5, 0.85] {
            // the normal equations square a condition number of about 10
            assert!((fitted.at(p) - q(p)).abs() < 1e-11);
        }
    }

    #[test]
    fn far_beyond_what_it_has_seen_a_polynomial_follows_its_tangent() {
        let seen: Vec<(f64, f64)> = (0..=10).map(|k| f64::from(k) / 10.0).map(|p| (p, p * p)).collect();
        let fitted = Link { degree: 2 }.fit(&seen);
        // the tangents at 1¼ and at −¼; rounding of the fit
        assert!((fitted.at(1.25) - 1.5625).abs() < 1e-10);
        assert!((fitted.at(3.25) - (1.5625 + 2.5 * 2.0)).abs() < 1e-10);
        assert!((fitted.at(-2.25) - (0.0625 + 0.5 * 2.0)).abs() < 1e-10);
    }

    #[test]
    fn pairs_that_are_not_finite_give_no_zero() {
        for bad in [f64::NAN, f64::INFINITY] {
            let fitted = Link::default().fit(&[(0.1, 1.0), (0.2, bad), (0.3, 2.0)]);
            assert!(!fitted.at(0.2).is_finite(), "{bad}");
        }
    }

    #[test]
    fn powers_that_the_pairs_do_not_determine_are_left_out() {
        let two_values = [(0.0, 1.0), (0.0, 3.0), (1.0, 5.0), (1.0, 7.0)];
        let fitted = Link { degree: 3 }.fit(&two_values);
        assert!((fitted.at(0.0) - 2.0).abs() < 1e-12 && (fitted.at(1.0) - 6.0).abs() < 1e-12);
        let constant = Link { degree: 2 }.fit(&[(0.5, 1.0), (0.5, 2.0)]);
        assert!((constant.at(9.0) - 1.5).abs() < 1e-15);
        assert_eq!(Link::default().fit(&[]).at(1.0), 0.0);
    }
}
