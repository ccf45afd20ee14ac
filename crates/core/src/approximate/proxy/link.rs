//! q of K ≈ q(P): a function of one variable fitted to bought entries by least squares.

use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};

use crate::linalg::LinalgError;
use crate::linalg::{self, PINV_TOLERANCE};

/// The family q is chosen from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// A polynomial; degree 2 was enough on every matrix measured.
    Polynomial {
        /// 1, 2 or 3.
        degree: usize,
    },
    /// Any non-decreasing function, by pool-adjacent-violators, linear between its steps.
    Isotonic,
}

/// A fitted q.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fitted {
    /// Σ c_k ((p − centre) / scale)^k.
    Polynomial { centre: f64, scale: f64, coefficients: Vec<f64> },
    /// Through the points (at, value), `at` ascending; constant beyond them.
    Isotonic { at: Vec<f64>, value: Vec<f64> },
}

impl Link {
    /// The q of this family with the least Σ (k − q(p))². Constant where all p are equal. O(m) or, isotonic, O(m log m).
    pub(super) fn fit(self, p: &[f64], k: &[f64]) -> Result<Fitted, LinalgError> {
        match self {
            Self::Polynomial { degree } => polynomial(p, k, degree),
            Self::Isotonic => Ok(isotonic(p, k)),
        }
    }
}

fn polynomial(p: &[f64], k: &[f64], degree: usize) -> Result<Fitted, LinalgError> {
    let m = p.len().max(1) as f64;
    let centre = p.iter().sum::<f64>() / m;
    let spread = (p.iter().map(|p| (p - centre).powi(2)).sum::<f64>() / m).sqrt();
    let (scale, terms) = if spread > 0.0 { (spread, degree + 1) } else { (1.0, 1) };
    let mut gram = Array2::<f64>::zeros((terms, terms));
    let mut moments = Array1::<f64>::zeros(terms);
    let mut powers = vec![0.0; terms];
    for (&p, &k) in p.iter().zip(k) {
        let x = (p - centre) / scale;
        let mut power = 1.0;
        for slot in &mut powers {
            *slot = power;
            power *= x;
        }
        for a in 0..terms {
            moments[a] += powers[a] * k;
            for b in 0..=a {
                gram[[a, b]] += powers[a] * powers[b];
            }
        }
    }
    for a in 0..terms {
        for b in a + 1..terms {
            gram[[a, b]] = gram[[b, a]];
        }
    }
    // standardised powers up to 6: conditioned well enough for the normal equations
    let eigen = linalg::eigh(gram.view())?;
    let cut = PINV_TOLERANCE * eigen.values.iter().fold(0.0_f64, |most, w| most.max(w.abs()));
    let mut coefficients = vec![0.0; terms];
    for (vector, &w) in eigen.vectors.columns().into_iter().zip(&eigen.values) {
        if w > cut {
            let along = vector.dot(&moments) / w;
            coefficients.iter_mut().zip(vector).for_each(|(c, v)| *c += along * v);
        }
    }
    Ok(Fitted::Polynomial { centre, scale, coefficients })
}

fn isotonic(p: &[f64], k: &[f64]) -> Fitted {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]).then(k[a].total_cmp(&k[b])));
    // pools of (sum of p, sum of k, count), their means of k ascending
    let mut pools: Vec<(f64, f64, f64)> = Vec::new();
    let mut last = f64::NAN;
    for &at in &order {
        match pools.last_mut() {
            // equal p must get one value
            Some(pool) if p[at] == last => {
                *pool = (pool.0 + p[at], pool.1 + k[at], pool.2 + 1.0);
            }
            _ => pools.push((p[at], k[at], 1.0)),
        }
        last = p[at];
        while let [.., a, b] = pools[..]
            && a.1 / a.2 >= b.1 / b.2
            && pools.len() >= 2
        {
            pools.truncate(pools.len() - 2);
            pools.push((a.0 + b.0, a.1 + b.1, a.2 + b.2));
        }
    }
    let at = pools.iter().map(|pool| pool.0 / pool.2).collect();
    let value = pools.iter().map(|pool| pool.1 / pool.2).collect();
    Fitted::Isotonic { at, value }
}

impl Fitted {
    /// q(p).
    pub(super) fn at(&self, p: f64) -> f64 {
        match self {
            Self::Polynomial { centre, scale, coefficients } => {
                let x = (p - centre) / scale;
                coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
            }
            Self::Isotonic { at, value } => {
                let above = at.partition_point(|&knot| knot < p);
                match (above, value.len()) {
                    (_, 0) => 0.0,
                    (0, _) => value[0],
                    (above, len) if above == len => value[len - 1],
                    (above, _) => {
                        let (left, right) = (at[above - 1], at[above]);
                        let part = (p - left) / (right - left);
                        value[above - 1] + part * (value[above] - value[above - 1])
                    }
                }
            }
        }
    }

    /// Bytes that tell one q from another.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let numbers: Vec<f64> = match self {
            Self::Polynomial { centre, scale, coefficients } => {
                [*centre, *scale].iter().chain(coefficients).copied().collect()
            }
            Self::Isotonic { at, value } => at.iter().chain(value).copied().collect(),
        };
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_polynomial_of_its_own_degree_is_found_again() {
        let p: Vec<f64> = (0..50).map(|i| f64::from(i) / 10.0 - 1.0).collect();
        let k: Vec<f64> = p.iter().map(|p| 0.3 - 2.0 * p + 0.7 * p * p).collect();
        let q = Link::Polynomial { degree: 2 }.fit(&p, &k).unwrap();
        // normal equations of a standardised variable lose at most a few digits
        p.iter().zip(&k).for_each(|(&p, &k)| assert!((q.at(p) - k).abs() < 1e-10));
    }

    #[test]
    fn equal_proxies_give_the_mean() {
        let q = Link::Polynomial { degree: 3 }.fit(&[2.0; 4], &[1.0, 2.0, 3.0, 6.0]).unwrap();
        assert!((q.at(2.0) - 3.0).abs() < 1e-12);
        let q = Link::Isotonic.fit(&[2.0; 4], &[1.0, 2.0, 3.0, 6.0]).unwrap();
        assert!((q.at(2.0) - 3.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn isotonic_never_falls_and_beats_every_other_monotone_step(
            points in proptest::collection::vec((0.0..1.0_f64, -1.0..1.0_f64), 1..40)
        ) {
            let (p, k): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            let q = Link::Isotonic.fit(&p, &k).unwrap();
            let mut sorted = p.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert!(sorted.windows(2).all(|w| q.at(w[0]) <= q.at(w[1]) + 1e-12));
            let Fitted::Isotonic { value, .. } = &q else { unreachable!() };
            prop_assert!(value.windows(2).all(|w| w[0] < w[1]));
            // pools keep the total: the mean residual is 0 at the pools themselves
            let mean = k.iter().sum::<f64>() / k.len() as f64;
            prop_assert!(value[0] <= mean + 1e-12 && mean <= value[value.len() - 1] + 1e-12);
        }
    }
}
