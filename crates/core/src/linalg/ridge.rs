//! Ridge regression from rows that come one by one: w = (XᵀX + λI₀)⁻¹ Xᵀy, where I₀ leaves out the first term, the constant.
//!
//! Sums are made in the order of the rows and joined in the order of the parts. Cost: d²/2 flops a row, d³/3 a solution, d² numbers.

use ndarray::{Array1, Array2, s};

use super::{Cholesky, NotPositiveDefinite};

/// XᵀX and Xᵀy.
#[derive(Debug, Clone)]
pub struct RidgeRegression {
    gram: Array2<f64>,
    right: Array1<f64>,
}

impl RidgeRegression {
    /// Without rows yet, for this number of terms.
    pub fn new(terms: usize) -> Self {
        Self { gram: Array2::zeros((terms, terms)), right: Array1::zeros(terms) }
    }

    pub fn add(&mut self, terms: &[f64], target: f64) {
        for (a, &term) in terms.iter().enumerate() {
            self.right[a] += term * target;
            terms[..=a].iter().enumerate().for_each(|(b, other)| self.gram[[a, b]] += term * other);
        }
    }

    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self { gram: self.gram + other.gram, right: self.right + other.right }
    }

    /// The regression on the first terms alone.
    #[must_use]
    pub fn leading(&self, terms: usize) -> Self {
        Self { gram: self.gram.slice(s![..terms, ..terms]).to_owned(), right: self.right.slice(s![..terms]).to_owned() }
    }

    /// Σ x² of a term.
    pub fn squares(&self, term: usize) -> f64 {
        self.gram[[term, term]]
    }

    /// The regression on terms divided by `scales`.
    #[must_use]
    pub fn scaled(mut self, scales: &[f64]) -> Self {
        for (a, scale) in scales.iter().enumerate() {
            self.right[a] /= scale;
            (0..=a).for_each(|b| self.gram[[a, b]] /= scale * scales[b]);
        }
        self
    }

    /// w with λ = `ridge`; a pivot must exceed `tolerance` times its diagonal entry.
    ///
    /// # Errors
    /// Terms that the rows do not determine, or a number that is not finite.
    pub fn solve(&self, ridge: f64, tolerance: f64) -> Result<Vec<f64>, NotPositiveDefinite> {
        let mut normal = self.gram.clone();
        normal.diag_mut().iter_mut().skip(1).for_each(|entry| *entry += ridge);
        Cholesky::with_tolerance(normal.view(), tolerance)?.solution(self.right.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// y = 2 − 3x, x on a line.
    fn line(rows: impl Iterator<Item = usize>) -> RidgeRegression {
        let mut regression = RidgeRegression::new(3);
        for x in rows.map(|row| row as f64 / 4.0) {
            regression.add(&[1.0, x, x * x], 2.0 - 3.0 * x);
        }
        regression
    }

    #[test]
    fn a_line_is_recovered_from_parts_and_from_scaled_terms() {
        for regression in [line(0..9), line(0..4).join(line(4..9))] {
            for (scales, slope) in [([1.0; 3], -3.0), ([1.0, 2.0, 5.0], -6.0)] {
                let found = regression.clone().scaled(&scales).solve(0.0, 1e-13).unwrap();
                // rounding times a condition number below 1e4
                let near = |(found, wanted): (&f64, f64)| (found - wanted).abs() < 1e-11;
                assert!(found.iter().zip([2.0, slope, 0.0]).all(near), "{found:?}");
            }
            let leading = regression.leading(2).solve(0.0, 1e-13).unwrap();
            assert!((leading[1] + 3.0).abs() < 1e-12, "{leading:?}");
        }
    }

    #[test]
    fn terms_that_rows_do_not_determine_are_an_error() {
        assert!(line(0..2).solve(0.0, 1e-13).is_err());
        assert!(RidgeRegression::new(1).solve(0.0, 1e-13).is_err());
    }
}
