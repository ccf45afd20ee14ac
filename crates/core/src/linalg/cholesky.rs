//! Cholesky factorization A = LLᵀ, n³/3 flops; large matrices by blocks of columns, whose products run at the speed of a matrix product.
//!
//! This is the one solver of normal equations and kernels. Square roots keep the factor of a matrix of any scale within range. An input or a
//! result that is not finite is an error, never a zero.

use ndarray::{Array2, ArrayView2, Axis, aview1, s};

use super::{add_product, product_into};

/// Rows from which the factor is made by blocks; a smaller matrix stays in the cache.
const BLOCKED_FROM: usize = 768;

const BLOCK_COLUMNS: usize = 64;

/// A pivot below this fraction of its diagonal entry leaves no digit of it: the matrix counts as not positive definite.
const SINGULAR: f64 = 1e-13;

/// Reason why a system has no Cholesky solution.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "cannot solve a {size} × {size} system by Cholesky: pivot {pivot} is {value:.3e} (expected above {least:.3e}); the matrix is {}",
    if self.is_finite() { format!("not positive definite, its condition at least {:.1e}", self.condition) } else { "not finite".to_owned() }
)]
pub struct NotPositiveDefinite {
    pub size: usize,
    /// Row at which the factorization ended, from 0.
    pub pivot: usize,
    /// The pivot; NaN or infinite where the matrix or a solution holds such a number.
    pub value: f64,
    /// The smallest pivot that would have been accepted.
    pub least: f64,
    /// Lower bound of the condition number: the largest pivot over this one; infinite where this one is not above 0.
    pub condition: f64,
}

impl NotPositiveDefinite {
    /// False where numbers that are not finite are the reason.
    pub fn is_finite(&self) -> bool {
        self.value.is_finite()
    }
}

/// The factor L of a symmetric positive definite matrix.
#[derive(Debug, Clone)]
pub struct Cholesky {
    /// Lower triangular; what is above the diagonal is not read.
    lower: Array2<f64>,
}

impl Cholesky {
    /// Factors a symmetric n × n matrix, of which only the lower triangle is read.
    ///
    /// # Errors
    /// A matrix that is not positive definite, or not finite.
    pub fn of(matrix: ArrayView2<'_, f64>) -> Result<Self, NotPositiveDefinite> {
        Self::with_tolerance(matrix, SINGULAR)
    }

    /// The same where a pivot must exceed `tolerance` times its diagonal entry.
    pub fn with_tolerance(matrix: ArrayView2<'_, f64>, tolerance: f64) -> Result<Self, NotPositiveDefinite> {
        Self::by_blocks(matrix, tolerance, if matrix.nrows() < BLOCKED_FROM { matrix.nrows() } else { BLOCK_COLUMNS })
    }

    fn by_blocks(matrix: ArrayView2<'_, f64>, tolerance: f64, block: usize) -> Result<Self, NotPositiveDefinite> {
        assert!(matrix.is_square(), "the Cholesky factor of a {} × {} matrix", matrix.nrows(), matrix.ncols());
        let n = matrix.nrows();
        let mut lower = matrix.as_standard_layout().into_owned();
        let mut largest = 0.0_f64;
        for start in (0..n).step_by(block.max(1)) {
            let end = (start + block).min(n);
            if start > 0 {
                let (done, panel) = lower.slice_mut(s![start.., ..end]).split_at(Axis(1), start);
                add_product(done.view(), done.slice(s![..end - start, ..]).t(), -1.0, panel);
            }
            let numbers = lower.as_slice_mut().expect("row by row");
            for i in start..end {
                let (above, own) = numbers.split_at_mut(i * n);
                for (j, row) in (start..i).zip(above.chunks_exact(n).skip(start)) {
                    let known = aview1(&own[start..j]).dot(&aview1(&row[start..j]));
                    own[j] = (own[j] - known) / row[j];
                }
                let row = aview1(&own[start..i]);
                let (rest, least) = (own[i] - row.dot(&row), tolerance * matrix[[i, i]].abs());
                if !(rest > least && rest.is_finite()) {
                    let condition = if rest > 0.0 { largest.max(rest) / rest } else { f64::INFINITY };
                    return Err(NotPositiveDefinite { size: n, pivot: i, value: rest, least, condition });
                }
                largest = largest.max(rest);
                own[i] = rest.sqrt();
            }
            if end < n {
                let inverse = inverse_of_lower(lower.slice(s![start..end, start..end]));
                let below = lower.slice(s![end.., start..end]).to_owned();
                product_into(below.view(), inverse.t(), 1.0, lower.slice_mut(s![end.., start..end]));
            }
        }
        Ok(Self { lower })
    }

    /// A⁻¹ z in the place of each row z, by blocks: the factor is read once for all rows.
    pub fn solve_rows(&self, rows: &mut Array2<f64>) {
        let n = self.lower.nrows();
        assert_eq!(rows.ncols(), n, "right sides of a system that does not fit");
        let inverse = |start, end| inverse_of_lower(self.lower.slice(s![start..end, start..end]));
        let blocks = (0..n).step_by(BLOCK_COLUMNS).map(|start| (start, n.min(start + BLOCK_COLUMNS)));
        for (start, end) in blocks.clone() {
            let (done, mut rest) = rows.view_mut().split_at(Axis(1), start);
            let mut own = rest.slice_mut(s![.., ..end - start]);
            add_product(done.view(), self.lower.slice(s![start..end, ..start]).t(), -1.0, own.view_mut());
            product_into(own.to_owned().view(), inverse(start, end).t(), 1.0, own);
        }
        for (start, end) in blocks.rev() {
            let (mut head, done) = rows.view_mut().split_at(Axis(1), end);
            let mut own = head.slice_mut(s![.., start..]);
            add_product(done.view(), self.lower.slice(s![end.., start..end]), -1.0, own.view_mut());
            product_into(own.to_owned().view(), inverse(start, end).view(), 1.0, own);
        }
    }

    /// A⁻¹ b in the place of b.
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

    /// A⁻¹ b.
    ///
    /// # Errors
    /// A solution that is not finite.
    pub fn solution(&self, mut right: Vec<f64>) -> Result<Vec<f64>, NotPositiveDefinite> {
        self.solve(&mut right);
        match right.iter().position(|value| !value.is_finite()) {
            None => Ok(right),
            Some(pivot) => Err(NotPositiveDefinite {
                size: right.len(),
                pivot,
                value: right[pivot],
                least: 0.0,
                condition: f64::INFINITY,
            }),
        }
    }
}

/// L⁻¹, column by column; reads the lower triangle.
fn inverse_of_lower(l: ArrayView2<'_, f64>) -> Array2<f64> {
    let n = l.nrows();
    let mut inverse = Array2::zeros((n, n));
    for k in 0..n {
        inverse[[k, k]] = 1.0 / l[[k, k]];
        for i in k + 1..n {
            let sum: f64 = (k..i).map(|j| l[[i, j]] * inverse[[j, k]]).sum();
            inverse[[i, k]] = -sum / l[[i, i]];
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_factor_of_a_matrix_does_not_depend_on_its_layout() {
        let matrix = array![[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]];
        let by_columns = matrix.t().to_owned();
        assert!(!by_columns.is_standard_layout());
        assert_eq!(Cholesky::of(by_columns.view()).unwrap().lower, Cholesky::of(matrix.view()).unwrap().lower);
    }

    #[test]
    fn an_error_names_the_pivot_and_the_condition() {
        let error = Cholesky::of(array![[4.0, 2.0], [2.0, 1.0]].view()).unwrap_err();
        assert_eq!((error.size, error.pivot, error.value, error.condition), (2, 1, 0.0, f64::INFINITY));
        let near = Cholesky::with_tolerance(array![[1.0, 1.0], [1.0, 1.0 + 1e-9]].view(), 1e-8).unwrap_err();
        assert!(near.is_finite() && near.condition > 0.9e9 && near.condition < 1.1e9, "{near}");
        assert!(near.to_string().contains("pivot 1 is 1.000e-9"), "{near}");
        assert_eq!(Cholesky::of(array![[1.0, 2.0], [2.0, 1.0]].view()).unwrap_err().value, -3.0);
    }

    #[test]
    fn numbers_that_are_not_finite_are_an_error_and_never_a_solution() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!Cholesky::of(array![[bad]].view()).unwrap_err().is_finite() || bad == f64::NEG_INFINITY, "{bad}");
            assert!(Cholesky::of(array![[1.0, 0.0], [bad, 1.0]].view()).is_err(), "{bad}");
        }
        let factor = Cholesky::of(array![[1e-300, 0.0], [0.0, 1.0]].view()).unwrap();
        let error = factor.solution(vec![1e300, 1.0]).unwrap_err();
        assert!(!error.is_finite() && error.pivot == 0 && error.to_string().contains("not finite"), "{error}");
    }

    #[test]
    fn a_factor_by_blocks_is_that_of_one_piece_and_solves_for_several_right_sides() {
        for n in [1, 7, 64, 65, 200] {
            let noise = |i: usize, j: usize| ((i * 37 + j * 101 + 13) % 97) as f64 / 97.0 - 0.5;
            let rows = Array2::from_shape_fn((n, n), |(i, j)| noise(i, j));
            let matrix = rows.dot(&rows.t()) + Array2::<f64>::eye(n);
            let whole = Cholesky::of(matrix.view()).unwrap();
            let blocks = Cholesky::by_blocks(matrix.view(), SINGULAR, 16).unwrap();
            for i in 0..n {
                for j in 0..=i {
                    // sums of up to 200 products of numbers below 20, of a matrix with condition below 100
                    assert!((whole.lower[[i, j]] - blocks.lower[[i, j]]).abs() < 1e-12, "n = {n}: {i}, {j}");
                }
            }
            let right = Array2::from_shape_fn((3, n), |(k, j)| noise(j, k));
            let mut solved = right.clone();
            whole.solve_rows(&mut solved);
            assert!((solved.dot(&matrix) - &right).iter().all(|difference| difference.abs() < 1e-11), "n = {n}");
            let mut indefinite = matrix.clone();
            indefinite[[n - 1, n - 1]] = -1.0;
            assert_eq!(Cholesky::by_blocks(indefinite.view(), SINGULAR, 16).unwrap_err().pivot, n - 1);
        }
    }

    proptest! {
        #[test]
        fn the_solution_solves_the_system(values in prop::collection::vec(-1.0_f64..1.0, 36), right in prop::collection::vec(-5.0_f64..5.0, 6)) {
            let square = Array2::from_shape_vec((6, 6), values).unwrap();
            let matrix = square.dot(&square.t()) + Array2::<f64>::eye(6) * 0.1;
            let solution = Cholesky::of(matrix.view()).unwrap().solution(right.clone()).unwrap();
            let back = matrix.dot(&Array1::from(solution));
            // a condition number below 400
            prop_assert!(back.iter().zip(&right).all(|(back, right)| (back - right).abs() < 1e-10));
        }
    }
}
