//! Cholesky factorisation of small systems: A = LLᵀ, one thread, n³/3 flops.

use ndarray::{Array2, ArrayView2, s};

/// A pivot below this fraction of its diagonal entry leaves no digit of it: the matrix counts as not positive definite.
const SINGULAR: f64 = 1e-13;

/// The factor L of a symmetric positive definite matrix.
#[derive(Debug, Clone)]
pub struct Cholesky {
    /// Lower triangular; what is above the diagonal is not read.
    lower: Array2<f64>,
}

impl Cholesky {
    /// Factors a symmetric n × n matrix, of which only the lower triangle is read; `None` where it is not positive definite.
    ///
    /// # Panics
    /// When the matrix is not square.
    pub fn of(matrix: ArrayView2<'_, f64>) -> Option<Self> {
        assert!(matrix.is_square(), "the Cholesky factor of a {} × {} matrix", matrix.nrows(), matrix.ncols());
        let mut lower = matrix.to_owned();
        for i in 0..lower.nrows() {
            for j in 0..=i {
                let rest = lower[[i, j]] - lower.slice(s![i, ..j]).dot(&lower.slice(s![j, ..j]));
                if i != j {
                    lower[[i, j]] = rest / lower[[j, j]];
                } else if rest > SINGULAR * matrix[[i, i]].abs() {
                    lower[[i, i]] = rest.sqrt();
                } else {
                    return None;
                }
            }
        }
        Some(Self { lower })
    }

    /// A⁻¹ b in the place of b.
    ///
    /// # Panics
    /// When b is not as long as the matrix.
    pub fn solve(&self, right: &mut [f64]) {
        let n = self.lower.nrows();
        assert_eq!(right.len(), n, "the right side of a system that does not fit");
        for i in 0..n {
            let known: f64 = self.lower.slice(s![i, ..i]).iter().zip(&right[..i]).map(|(l, x)| l * x).sum();
            right[i] = (right[i] - known) / self.lower[[i, i]];
        }
        for i in (0..n).rev() {
            right[i] /= self.lower[[i, i]];
            let (solved, x) = (self.lower.slice(s![i, ..i]), right[i]);
            right[..i].iter_mut().zip(solved).for_each(|(right, l)| *right -= l * x);
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        assert!(Cholesky::of(array![[1.0, 2.0], [2.0, 1.0]].view()).is_none());
        assert!(Cholesky::of(array![[1.0, 1.0], [1.0, 1.0]].view()).is_none());
        assert!(Cholesky::of(array![[f64::NAN]].view()).is_none());
    }

    proptest! {
        #[test]
        fn the_solution_solves_the_system(values in prop::collection::vec(-1.0_f64..1.0, 36), right in prop::collection::vec(-5.0_f64..5.0, 6)) {
            let square = Array2::from_shape_vec((6, 6), values).unwrap();
            let matrix = square.dot(&square.t()) + Array2::<f64>::eye(6) * 0.1;
            let mut solution = right.clone();
            Cholesky::of(matrix.view()).unwrap().solve(&mut solution);
            let back = matrix.dot(&Array1::from(solution));
            // a condition number below 400
            prop_assert!(back.iter().zip(&right).all(|(back, right)| (back - right).abs() < 1e-10));
        }
    }
}
