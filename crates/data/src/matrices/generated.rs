//! Matrices to test methods on.

use landmark_core::linalg::product;
use landmark_core::stream::Rng;
use ndarray::Array2;
use rand::Rng as _;

use landmark_core::normal::standard_normal;

/// Independent N(0, 1): the rows of table 3 of the matrix-sketching paper.
pub fn gaussian(rows: usize, cols: usize, rng: &mut Rng) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, cols), || standard_normal(rng))
}

/// ZZᵀ with Z n × n of independent N(0, 1): the PSD matrix of SMS-Nyström, Figure 3 (there n = 1,000). Exactly
/// symmetric. 2n³ flops.
pub fn psd_gaussian(n: usize, rng: &mut Rng) -> Array2<f64> {
    gram(&Array2::from_shape_simple_fn((n, n), || standard_normal(rng)))
}

/// ZZᵀ with Z n × n of independent uniform numbers in [0, 1), as the authors' program draws them: nearly of rank one,
/// so that Nyström's error at s = 0.1 n is 0.013 in place of 0.854.
pub fn psd_uniform(n: usize, rng: &mut Rng) -> Array2<f64> {
    gram(&Array2::from_shape_simple_fn((n, n), || rng.r#gen()))
}

fn gram(z: &Array2<f64>) -> Array2<f64> {
    mirrored(product(z.view(), z.t()))
}

/// The lower triangle on both sides: a product rounds (i, j) and (j, i) apart.
fn mirrored(mut matrix: Array2<f64>) -> Array2<f64> {
    for i in 0..matrix.nrows() {
        for j in 0..i {
            matrix[[j, i]] = matrix[[i, j]];
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use landmark_core::linalg::eigvalsh;
    use landmark_core::stream::stream;

    use super::*;

    #[test]
    fn gaussian_and_uniform_are_psd_and_only_the_uniform_is_nearly_of_rank_one() {
        let rng = || stream(1, "test", "matrix", 0);
        let share_of_the_largest = |matrix: Array2<f64>| {
            assert_eq!(matrix, matrix.t());
            let values = eigvalsh(matrix.view()).unwrap();
            // ZZᵀ of 60 columns: the largest value is at most a few thousand, rounding 1e-12 of that
            assert!(values[0] > -1e-8, "{}", values[0]);
            values[values.len() - 1] / values.sum()
        };
        assert!(share_of_the_largest(psd_gaussian(60, &mut rng())) < 0.1); // about 4/60
        assert!(share_of_the_largest(psd_uniform(60, &mut rng())) > 0.7); // about 3/4
        assert_eq!(psd_gaussian(5, &mut rng()), psd_gaussian(5, &mut rng()));
    }
}
