//! q: from the proxy's scores to the oracle's, fitted by least squares on pairs that both have scored.
//!
//! A polynomial is fitted in t = (p − mean) / deviation; a quarter of the range of the scores it has seen beyond them, it
//! continues along its tangent (a cubic that runs away from three pairs would ruin a matrix). An isotonic q, by pool-adjacent-violators (Ayer et al.
//! 1955; Barlow et al. 1972), rises or falls, whichever the pairs do; it is joined linearly between its steps and is
//! constant beyond them. Cost: O(m) and O(m log m) for m pairs; O(degree) and O(log steps) a score.

use ndarray::Array2;

use crate::balance::{balancing, largest};
use crate::linalg::{Cholesky, NotPositiveDefinite};

/// A pivot of the normal equations below this fraction of its diagonal entry: the pairs do not determine that power
/// (8 of the 16 digits are gone).
const SINGULAR: f64 = 1e-8;

/// Reach of a polynomial beyond the scores it was fitted to, as a part of their range.
const TRUSTED: f64 = 0.25;

/// The family that q is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// A polynomial; degree 2 is enough for cosines against cross-encoders and for bounds against word mover's distance.
    Polynomial {
        /// 1, 2 or 3.
        degree: usize,
    },
    /// Any monotone function.
    Isotonic,
}

impl Default for Link {
    fn default() -> Self {
        Self::Polynomial { degree: 2 }
    }
}

impl Link {
    /// Fits q to pairs (proxy score, score). Without pairs q is 0; powers that the pairs do not determine are left out.
    pub fn fit(self, pairs: &[(f64, f64)]) -> FittedLink {
        match self {
            Self::Polynomial { degree } => FittedLink(Form::Polynomial(Polynomial::fit(degree, pairs))),
            Self::Isotonic => FittedLink(Form::Isotonic(Isotonic::fit(pairs))),
        }
    }
}

/// A fitted q.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedLink(Form);

#[derive(Debug, Clone, PartialEq)]
enum Form {
    Polynomial(Polynomial),
    Isotonic(Isotonic),
}

impl FittedLink {
    /// q(p).
    pub fn at(&self, proxy: f64) -> f64 {
        match &self.0 {
            Form::Polynomial(polynomial) => polynomial.at(proxy),
            Form::Isotonic(isotonic) => isotonic.at(proxy),
        }
    }

    /// Every number that decides q, for an identity.
    pub(super) fn numbers(&self) -> Vec<f64> {
        match &self.0 {
            Form::Polynomial(Polynomial { center, scale, coefficients, low, high }) => {
                coefficients.iter().chain([center, scale, low, high]).copied().collect()
            }
            Form::Isotonic(Isotonic { knots }) => knots.iter().flat_map(|&(p, q)| [p, q]).collect(),
        }
    }
}

/// Σ c_k t^k, t = (p − center) / scale, on low ≤ t ≤ high.
#[derive(Debug, Clone, PartialEq)]
struct Polynomial {
    center: f64,
    scale: f64,
    coefficients: Vec<f64>,
    low: f64,
    high: f64,
}

impl Polynomial {
    /// In units of powers of two in which no product leaves the range of f64.
    fn fit(degree: usize, pairs: &[(f64, f64)]) -> Self {
        let (p_unit, y_unit) = units(pairs);
        if p_unit == 1.0 && y_unit == 1.0 {
            return Self::fit_balanced(degree, pairs);
        }
        let balanced: Vec<(f64, f64)> = pairs.iter().map(|(p, y)| (p_unit * p, y_unit * y)).collect();
        let Self { center, scale, coefficients, low, high } = Self::fit_balanced(degree, &balanced);
        let coefficients = coefficients.into_iter().map(|coefficient| coefficient / y_unit).collect();
        Self { center: center / p_unit, scale: scale / p_unit, coefficients, low, high }
    }

    fn fit_balanced(degree: usize, pairs: &[(f64, f64)]) -> Self {
        let count = pairs.len().max(1) as f64;
        let center = pairs.iter().map(|(p, _)| p).sum::<f64>() / count;
        let variance = pairs.iter().map(|(p, _)| (p - center) * (p - center)).sum::<f64>() / count;
        let scale = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let standard = |p: f64| (p - center) / scale;

        // Σ t^k and Σ t^k y determine the normal equations
        let mut powers = vec![0.0; 2 * degree + 1];
        let mut right = vec![0.0; degree + 1];
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for &(p, y) in pairs {
            let t = standard(p);
            (low, high) = (low.min(t), high.max(t));
            let mut power = 1.0;
            for (k, sum) in powers.iter_mut().enumerate() {
                *sum += power;
                if let Some(sum) = right.get_mut(k) {
                    *sum += power * y;
                }
                power *= t;
            }
        }
        let margin = TRUSTED * (high - low);
        (low, high) = (low - margin, high + margin);
        // powers that the pairs do not determine are left out, down to the mean; of no pairs q is 0
        let solved = |degree: usize| solve_normal(&powers, &right[..=degree]).ok();
        let mean = || vec![right[0] / powers[0].max(1.0)];
        Self { center, scale, coefficients: (0..=degree).rev().find_map(solved).unwrap_or_else(mean), low, high }
    }

    fn at(&self, proxy: f64) -> f64 {
        let t = (proxy - self.center) / self.scale;
        let seen = t.clamp(self.low, self.high);
        let (mut value, mut slope) = (0.0, 0.0);
        for &coefficient in self.coefficients.iter().rev() {
            slope = slope * seen + value;
            value = value * seen + coefficient;
        }
        value + slope * (t - seen)
    }
}

/// Powers of two that bring proxy scores and scores near 1; 1 in ordinary units.
fn units(pairs: &[(f64, f64)]) -> (f64, f64) {
    (balancing(largest(pairs.iter().map(|(p, _)| p))), balancing(largest(pairs.iter().map(|(_, y)| y))))
}

/// Solves Σ_b powers[a + b] c_b = right[a].
fn solve_normal(powers: &[f64], right: &[f64]) -> Result<Vec<f64>, NotPositiveDefinite> {
    let normal = Array2::from_shape_fn((right.len(), right.len()), |(a, b)| powers[a + b]);
    Cholesky::with_tolerance(normal.view(), SINGULAR)?.solution(right.to_vec())
}

/// Monotone and piecewise linear through its knots, by rising p.
#[derive(Debug, Clone, PartialEq)]
struct Isotonic {
    knots: Vec<(f64, f64)>,
}

/// A run of pairs that share one value of q.
struct Run {
    from: f64,
    to: f64,
    count: f64,
    sum: f64,
}

impl Isotonic {
    fn fit(pairs: &[(f64, f64)]) -> Self {
        let (p_unit, y_unit) = units(pairs);
        let mut pairs: Vec<(f64, f64)> = pairs.iter().map(|(p, y)| (p_unit * p, y_unit * y)).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let count = pairs.len().max(1) as f64;
        let (mean_p, mean_y) = pairs.iter().fold((0.0, 0.0), |(p, y), pair| (p + pair.0 / count, y + pair.1 / count));
        let covariance: f64 = pairs.iter().map(|(p, y)| (p - mean_p) * (y - mean_y)).sum();
        let direction = if covariance < 0.0 { -1.0 } else { 1.0 };

        let mut runs: Vec<Run> = Vec::new();
        for (p, y) in pairs {
            let mut run = Run { from: p, to: p, count: 1.0, sum: direction * y };
            // a run before at the same p, or one that is not lower, becomes part of this one
            while let Some(last) = runs.pop_if(|last| last.to == p || last.sum * run.count >= run.sum * last.count) {
                run = Run { from: last.from, to: p, count: last.count + run.count, sum: last.sum + run.sum };
            }
            runs.push(run);
        }
        let knots = runs.iter().flat_map(|run| {
            let value = direction * run.sum / run.count;
            let second = (run.to > run.from).then_some((run.to, value));
            std::iter::once((run.from, value)).chain(second)
        });
        Self { knots: knots.map(|(p, q)| (p / p_unit, q / y_unit)).collect() }
    }

    fn at(&self, proxy: f64) -> f64 {
        let after = self.knots.partition_point(|&(p, _)| p <= proxy);
        match (after.checked_sub(1).map(|before| self.knots[before]), self.knots.get(after)) {
            (Some((left, low)), Some(&(right, high))) => {
                let rise = (high - low) * (proxy - left) / (right - left);
                // a product out of range
                if rise.is_finite() { low + rise } else { low + (high - low) * ((proxy - left) / (right - left)) }
            }
            (Some((_, value)), None) | (None, Some(&(_, value))) => value,
            (None, None) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
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
        let fitted = Link::Polynomial { degree: 3 }.fit(&pairs(200, q, 0.0));
        for p in [0.25, 0.5, 0.85] {
            // the normal equations square a condition number of about 10
            assert!((fitted.at(p) - q(p)).abs() < 1e-11);
        }
    }

    #[test]
    fn far_beyond_what_it_has_seen_a_polynomial_follows_its_tangent() {
        let seen: Vec<(f64, f64)> = (0..=10).map(|k| f64::from(k) / 10.0).map(|p| (p, p * p)).collect();
        let fitted = Link::Polynomial { degree: 2 }.fit(&seen);
        // the tangents at 1¼ and at −¼; rounding of the fit
        assert!((fitted.at(1.25) - 1.5625).abs() < 1e-10);
        assert!((fitted.at(3.25) - (1.5625 + 2.5 * 2.0)).abs() < 1e-10);
        assert!((fitted.at(-2.25) - (0.0625 + 0.5 * 2.0)).abs() < 1e-10);
    }

    #[test]
    fn least_squares_does_not_notice_a_proxy_in_other_units() {
        let q = |p: f64| (3.0 * p).sin();
        let near = pairs(300, q, 0.1);
        let far: Vec<_> = near.iter().map(|&(p, y)| (1e4 + 1e-3 * p, y)).collect();
        let (near, far) = (Link::default().fit(&near), Link::default().fit(&far));
        for p in [0.3, 0.6, 0.8] {
            // 1e4 + 1e-3·p keeps 9 digits of p
            assert!((near.at(p) - far.at(1e4 + 1e-3 * p)).abs() < 1e-6);
        }
    }

    #[test]
    fn a_link_does_not_depend_on_the_unit_of_proxy_and_score() {
        let plain = pairs(200, |p| 0.3 - 1.7 * p + 2.0 * p * p, 0.05);
        for (proxy, score) in [(560, 0), (-560, 0), (0, 900), (0, -900), (900, -900)] {
            let (p_unit, y_unit) = (2.0_f64.powi(proxy), 2.0_f64.powi(score));
            let scaled: Vec<_> = plain.iter().map(|(p, y)| (p * p_unit, y * y_unit)).collect();
            for link in [Link::default(), Link::Polynomial { degree: 3 }, Link::Isotonic] {
                let (near, far) = (link.fit(&plain), link.fit(&scaled));
                // powers of two round nothing, but the interpolation may divide first
                let difference = far.at(0.5 * p_unit) / y_unit - near.at(0.5);
                assert!(difference.abs() < 1e-14, "{link:?}, 2^{proxy}, 2^{score}: {difference}");
            }
        }
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
        let fitted = Link::Polynomial { degree: 3 }.fit(&two_values);
        assert!((fitted.at(0.0) - 2.0).abs() < 1e-12 && (fitted.at(1.0) - 6.0).abs() < 1e-12);
        let constant = Link::Polynomial { degree: 2 }.fit(&[(0.5, 1.0), (0.5, 2.0)]);
        assert!((constant.at(9.0) - 1.5).abs() < 1e-15);
        assert_eq!((Link::default().fit(&[]).at(1.0), Link::Isotonic.fit(&[]).at(1.0)), (0.0, 0.0));
    }

    #[test]
    fn an_isotonic_fit_pools_what_violates_the_order() {
        let fitted = Link::Isotonic.fit(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 6.0)]);
        assert_eq!([0.0, 1.0, 2.0, 2.7, 3.5, 4.0, 9.0].map(|p| fitted.at(p)), [1.0, 1.0, 2.5, 2.5, 4.25, 6.0, 6.0]);
    }

    #[test]
    fn an_isotonic_fit_falls_where_the_pairs_do() {
        let fitted = Link::Isotonic.fit(&pairs(500, |p| (-2.0 * p).exp(), 0.0));
        // 500 exact samples over 0.7: linear between neighbours a few thousandths apart
        assert!((fitted.at(0.5) - (-1.0_f64).exp()).abs() < 1e-3);
        assert!(fitted.at(0.3) > fitted.at(0.8));
    }

    proptest! {
        #[test]
        fn an_isotonic_fit_is_monotone_and_keeps_the_mean(
            pairs in prop::collection::vec((0_i32..12, -5.0_f64..5.0), 1..60),
        ) {
            let pairs: Vec<(f64, f64)> = pairs.into_iter().map(|(p, y)| (f64::from(p), y)).collect();
            let fitted = Link::Isotonic.fit(&pairs);
            let values: Vec<f64> = (-2..14).map(|p| fitted.at(f64::from(p))).collect();
            let rises = values.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12);
            let falls = values.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12);
            prop_assert!(rises || falls);
            // a projection on a cone that holds the constants keeps the sum; rounding of 60 terms
            let left_over: f64 = pairs.iter().map(|&(p, y)| y - fitted.at(p)).sum();
            prop_assert!(left_over.abs() < 1e-9);
        }
    }
}
