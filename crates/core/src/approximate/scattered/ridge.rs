//! Ridge regression on standardized features, from rows that come in chunks.
//!
//! ```text
//! y ≈ ȳ + z·w,  z = (x − mean) / deviation,  w = (ZᵀZ/N + λI)⁻¹ Zᵀ(y − ȳ)/N,  λ = 1e-4 · mean eigenvalue of ZᵀZ/N
//! ```
//! A feature that does not vary is left out. Moments of chunks are joined as Chan, Golub & LeVeque (1983) do, so that no digits are
//! lost to a large mean. Cost: O(N d²) flops, O(d²) memory.

use ndarray::{Array1, Array2, ArrayView2, Axis, s};

use crate::linalg::{self, LinalgError};

/// λ, as a part of the mean eigenvalue.
const RIDGE: f64 = 1e-4;

/// An eigenvalue of correlations below this carries no information: 8 of the 16 digits are gone.
const UNDETERMINED: f64 = 1e-8;

/// A deviation below this part of the mean's size is rounding.
const CONSTANT: f64 = 1e-12;

/// Means and centered products of features and target, which stands last.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    count: f64,
    means: Array1<f64>,
    products: Array2<f64>,
}

/// y as a linear function of the features as they are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Linear {
    pub(crate) constant: f64,
    pub(crate) weights: Vec<f64>,
}

impl Linear {
    pub(crate) fn at(&self, features: &[f64]) -> f64 {
        self.constant + features.iter().zip(&self.weights).map(|(x, w)| x * w).sum::<f64>()
    }
}

impl Moments {
    /// Of rows × (features and target).
    pub(crate) fn of(rows: ArrayView2<'_, f64>) -> Self {
        let count = rows.nrows() as f64;
        let means = rows.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(rows.ncols()));
        let centered = &rows - &means;
        Self { count, means, products: linalg::gram(centered.view()) }
    }

    /// The same with every row counted `weight` times.
    pub(crate) fn weighted(self, weight: f64) -> Self {
        Self { count: weight * self.count, products: weight * self.products, ..self }
    }

    pub(crate) fn join(mut self, other: Self) -> Self {
        let count = self.count + other.count;
        if other.count == 0.0 || count == 0.0 {
            return self;
        }
        let apart = &other.means - &self.means;
        let weight = self.count * other.count / count;
        self.products += &other.products;
        for (a, mut row) in self.products.rows_mut().into_iter().enumerate() {
            row.scaled_add(weight * apart[a], &apart);
        }
        self.means.scaled_add(other.count / count, &apart);
        self.count = count;
        self
    }

    pub(crate) fn regress(&self) -> Result<Linear, LinalgError> {
        self.solve(RIDGE)
    }

    /// Least squares: directions that the rows do not determine are left out.
    pub(crate) fn least_squares(&self) -> Result<Linear, LinalgError> {
        self.solve(0.0)
    }

    fn solve(&self, ridge: f64) -> Result<Linear, LinalgError> {
        let d = self.means.len() - 1;
        let count = self.count.max(1.0);
        let deviation = |k: usize| {
            let deviation = (self.products[[k, k]] / count).max(0.0).sqrt();
            if deviation > CONSTANT * self.means[k].abs().max(1.0) { deviation } else { 0.0 }
        };
        let deviations: Vec<f64> = (0..d).map(deviation).collect();
        let used: Vec<usize> = (0..d).filter(|&k| deviations[k] > 0.0).collect();
        if used.is_empty() {
            return Ok(Linear { constant: self.means[d], weights: vec![0.0; d] });
        }
        let scaled = |a: usize, b: usize| {
            self.products[[used[a], used[b]]] / (count * deviations[used[a]] * deviations[used[b]])
        };
        let eigen = linalg::eigh(Array2::from_shape_fn((used.len(), used.len()), |(a, b)| scaled(a, b)).view())?;
        // the diagonal of a correlation matrix is 1, so its mean eigenvalue is
        let right: Array1<f64> = used.iter().map(|&k| self.products[[k, d]] / (count * deviations[k])).collect();
        let inverse = eigen.values.mapv(|w| if w + ridge > UNDETERMINED { 1.0 / (w.max(0.0) + ridge) } else { 0.0 });
        let inner = eigen.vectors.t().dot(&right) * inverse;
        let solution = eigen.vectors.dot(&inner);
        let mut weights = vec![0.0; d];
        used.iter().zip(&solution).for_each(|(&k, w)| weights[k] = w / deviations[k]);
        let means = self.means.slice(s![..d]);
        let constant = self.means[d] - means.iter().zip(&weights).map(|(mean, w)| mean * w).sum::<f64>();
        Ok(Linear { constant, weights })
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_line_is_found_whatever_the_cut_and_a_constant_is_left_out() {
        let rows = Array2::from_shape_fn((50, 3), |(k, column)| match column {
            0 => 1e3 + (k as f64).sin(),
            1 => 7.0,
            _ => 3.0 * (1e3 + (k as f64).sin()) - 2.0,
        });
        let whole = Moments::of(rows.view()).regress().unwrap();
        let parts = [0..7, 7..8, 8..50].map(|part| Moments::of(rows.slice(s![part, ..])));
        let joined = parts.into_iter().reduce(Moments::join).unwrap().regress().unwrap();
        assert_eq!((whole.weights[1], joined.weights[1]), (0.0, 0.0));
        // the ridge takes one part in ten thousand off the slope
        assert!((whole.weights[0] - 3.0 / (1.0 + RIDGE)).abs() < 1e-9, "{whole:?}");
        assert!((whole.weights[0] - joined.weights[0]).abs() < 1e-9);
        assert!((whole.constant - joined.constant).abs() < 1e-6);
    }

    #[test]
    fn a_weight_counts_rows_as_often() {
        let rows = Array2::from_shape_fn((9, 3), |(row, k)| ((row * 7 + k * k * 5) as f64).sin());
        let (first, rest) = (rows.slice(s![..4, ..]), rows.slice(s![4.., ..]));
        let weighted = Moments::of(first).join(Moments::of(rest).weighted(3.0)).regress().unwrap();
        let often = Moments::of(ndarray::concatenate![Axis(0), first, rest, rest, rest].view()).regress().unwrap();
        assert!((weighted.constant - often.constant).abs() < 1e-12);
        assert!(weighted.weights.iter().zip(&often.weights).all(|(a, b)| (a - b).abs() < 1e-12));
        let none = Moments::of(first).join(Moments::of(rest).weighted(0.0)).regress().unwrap();
        assert_eq!(none, Moments::of(first).regress().unwrap());
    }
}
