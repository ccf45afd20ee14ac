//! Kernels of vectors as an oracle, by the definitions of scikit-learn's `pairwise_kernels`.
//!
//! ```text
//! rbf          exp(−γ ‖x − y‖²)        positive definite
//! polynomial   (γ⟨x, y⟩ + c)^p         positive definite where c ≥ 0
//! sigmoid      tanh(γ⟨x, y⟩ + c)       indefinite, as a rule
//! ```
//! O(d) an entry. A block is a matrix product and one pass over it, strip by strip so that a strip stays in cache. Squared distances are
//! ‖x‖² + ‖y‖² − 2⟨x, y⟩, as there: nearly equal vectors far from the origin lose digits. Memory: one copy of the vectors, 8nd bytes.

use ndarray::{Array2, ArrayView1, ArrayViewMut2, Axis, CowArray, Ix2};
use rayon::prelude::*;

use super::{DistinctPairs, EmbeddingProxy, Identity, Oracle, OracleError, OracleShape, Pair, check_indices};
use crate::linalg;
use crate::parameter::BadParameter;

/// Cells of a strip: 256 KB.
const CELLS_PER_STRIP: usize = 1 << 15;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VectorFunction {
    /// exp(−γ ‖x − y‖²).
    Rbf {
        /// γ > 0.
        gamma: f64,
    },
    /// (γ⟨x, y⟩ + c)^p.
    Polynomial {
        /// γ > 0.
        gamma: f64,
        /// c.
        coef0: f64,
        /// p ≥ 1.
        degree: i32,
    },
    /// tanh(γ⟨x, y⟩ + c).
    Sigmoid {
        /// γ > 0.
        gamma: f64,
        /// c.
        coef0: f64,
    },
}

impl VectorFunction {
    fn check(&self) -> Result<(), OracleError> {
        let (Self::Rbf { gamma } | Self::Polynomial { gamma, .. } | Self::Sigmoid { gamma, .. }) = *self;
        if !(gamma.is_finite() && gamma > 0.0) {
            return Err(BadParameter::new("gamma", gamma, "a finite number above 0").into());
        }
        if let Self::Polynomial { coef0, .. } | Self::Sigmoid { coef0, .. } = *self
            && !coef0.is_finite()
        {
            return Err(BadParameter::new("coef0", coef0, "a finite number").into());
        }
        match *self {
            Self::Polynomial { degree, .. } if degree < 1 => {
                Err(BadParameter::new("degree", degree, "at least 1").into())
            }
            _ => Ok(()),
        }
    }

    fn parts(&self) -> (&'static str, [f64; 3]) {
        match *self {
            Self::Rbf { gamma } => ("rbf", [gamma, 0.0, 0.0]),
            Self::Polynomial { gamma, coef0, degree } => ("polynomial", [gamma, coef0, f64::from(degree)]),
            Self::Sigmoid { gamma, coef0 } => ("sigmoid", [gamma, coef0, 0.0]),
        }
    }

    /// Turns inner products of one vector with others into scores; `square` and `squares` are their squared norms.
    fn apply(&self, square: f64, squares: &[f64], products: &mut [f64]) {
        match *self {
            Self::Rbf { gamma } => {
                for (cell, other) in products.iter_mut().zip(squares) {
                    *cell = (-gamma * (square + other - 2.0 * *cell).max(0.0)).exp();
                }
            }
            Self::Polynomial { gamma, coef0, degree } => {
                products.iter_mut().for_each(|cell| *cell = (gamma * *cell + coef0).powi(degree));
            }
            Self::Sigmoid { gamma, coef0 } => {
                products.iter_mut().for_each(|cell| *cell = (gamma * *cell + coef0).tanh());
            }
        }
    }
}

/// A kernel between the rows of an n × d array.
#[derive(Debug, Clone)]
pub struct VectorKernel {
    products: EmbeddingProxy,
    /// ‖x‖² of each row.
    squares: Vec<f64>,
    function: VectorFunction,
    identity: Identity,
}

impl VectorKernel {
    /// A function of the rows of an n × d array.
    ///
    /// # Errors
    /// A parameter out of range, a row too long to be squared, and [`OracleError::NotFinite`] for the first component that is NaN or infinite
    /// (i: item, j: component).
    pub fn new(vectors: Array2<f64>, function: VectorFunction) -> Result<Self, OracleError> {
        function.check()?;
        let products = EmbeddingProxy::dot(vectors)?;
        let (name, numbers) = function.parts();
        let numbers = numbers.map(f64::to_le_bytes).concat();
        let identity = Identity::of(&[
            ("kind", b"vector_kernel"),
            ("function", name.as_bytes()),
            ("numbers", &numbers),
            ("vectors", products.identity().as_bytes()),
        ]);
        let squares: Vec<f64> = products.vectors().rows().into_iter().map(|row| row.dot(&row)).collect();
        if let Some(i) = squares.iter().position(|square| !square.is_finite()) {
            let value = format!("too long to be squared in row {i}");
            return Err(BadParameter::new("vectors", value, "shorter than 1e154: divide all by one number").into());
        }
        Ok(Self { products, squares, function, identity })
    }
}

impl Oracle for VectorKernel {
    fn shape(&self) -> OracleShape {
        let known_diagonal = matches!(self.function, VectorFunction::Rbf { .. }).then_some(1.0);
        OracleShape { known_diagonal, ..OracleShape::symmetric(self.products.len()) }
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn features(&self) -> Option<CowArray<'_, f64, Ix2>> {
        self.products.features()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.products.evaluate(pairs, out)?;
        for (&(i, j), score) in pairs.iter().zip(out) {
            self.function.apply(self.squares[i], &self.squares[j..=j], std::slice::from_mut(score));
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        check_indices(self.len(), rows, cols)?;
        let right = self.products.vectors_of(cols);
        let squares: Vec<f64> = cols.iter().map(|&j| self.squares[j]).collect();
        let height = (CELLS_PER_STRIP / cols.len().max(1)).max(1);
        let strips = out.axis_chunks_iter_mut(Axis(0), height).into_par_iter();
        strips.zip(rows.par_chunks(height)).for_each(|(mut strip, rows)| {
            let left = self.products.vectors_of(rows);
            linalg::product_into(left.view(), right.t(), 1.0, strip.view_mut());
            for (&i, mut row) in rows.iter().zip(strip.rows_mut()) {
                match row.as_slice_mut() {
                    Some(row) => self.function.apply(self.squares[i], &squares, row),
                    None => {
                        let mut scores = row.to_vec();
                        self.function.apply(self.squares[i], &squares, &mut scores);
                        row.assign(&ArrayView1::from(&scores));
                    }
                }
            }
        });
        // both orders of a pair and the diagonal come out equal to the last bit
        DistinctPairs::new(self.shape(), rows, cols).complete(out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use proptest::prelude::*;

    use super::super::block_of;
    use super::*;

    #[test]
    fn a_row_too_long_to_be_squared_is_named() {
        let rows = array![[1.0], [1e200], [2e200]];
        let error = VectorKernel::new(rows, VectorFunction::Rbf { gamma: 1.0 }).unwrap_err().to_string();
        assert!(error.contains("too long to be squared in row 1"), "{error}");
    }

    proptest! {
        #[test]
        fn a_block_is_the_definition_on_its_pairs_and_the_same_both_ways(
            rows in proptest::collection::vec(0_usize..90, 1..60), cols in proptest::collection::vec(0_usize..90, 1..60), of in 0..3,
        ) {
            let vectors = Array2::from_shape_fn((90, 7), |(i, k)| ((13 * i + 29 * k) % 31) as f64 / 15.0 - 1.0);
            let function = match of {
                0 => VectorFunction::Rbf { gamma: 0.3 },
                1 => VectorFunction::Polynomial { gamma: 0.2, coef0: 1.0, degree: 3 },
                _ => VectorFunction::Sigmoid { gamma: 0.1, coef0: -0.5 },
            };
            let kernel = VectorKernel::new(vectors.clone(), function).unwrap();
            let block = block_of(&kernel, &rows, &cols).unwrap();
            for ((a, b), &score) in block.indexed_iter() {
                let (x, y) = (vectors.row(rows[a]), vectors.row(cols[b]));
                let wanted = match function {
                    VectorFunction::Rbf { gamma } => (-gamma * (&x - &y).mapv(|x| x * x).sum()).exp(),
                    VectorFunction::Polynomial { gamma, coef0, degree } => (gamma * x.dot(&y) + coef0).powi(degree),
                    VectorFunction::Sigmoid { gamma, coef0 } => (gamma * x.dot(&y) + coef0).tanh(),
                };
                let mut pair = [0.0];
                kernel.evaluate(&[(rows[a], cols[b])], &mut pair).unwrap();
                // numbers below 14, of sums of 7 products
                prop_assert!((score - wanted).abs() < 1e-12 && (pair[0] - wanted).abs() < 1e-12, "{score} {} {wanted}", pair[0]);
            }
            prop_assert_eq!(block_of(&kernel, &cols, &rows).unwrap().reversed_axes(), block);
        }
    }

    #[test]
    fn what_no_kernel_can_be_made_of_is_named() {
        let refused = |function| VectorKernel::new(array![[1.0], [2.0]], function).unwrap_err().to_string();
        assert!(
            refused(VectorFunction::Rbf { gamma: 0.0 }).contains("`gamma` is 0, but must be a finite number above 0")
        );
        assert!(refused(VectorFunction::Sigmoid { gamma: 1.0, coef0: f64::NAN }).contains("`coef0`"));
        assert!(refused(VectorFunction::Polynomial { gamma: 1.0, coef0: 1.0, degree: 0 }).contains("`degree` is 0"));
        let error = VectorKernel::new(array![[1.0], [f64::NAN]], VectorFunction::Rbf { gamma: 1.0 }).unwrap_err();
        assert!(matches!(error, OracleError::NotFinite { i: 1, j: 0, .. }), "{error}");
    }

    #[test]
    fn each_parameter_moves_the_identity() {
        let of = |function| VectorKernel::new(array![[1.0], [2.0]], function).unwrap().identity();
        let identities = [
            of(VectorFunction::Rbf { gamma: 1.0 }),
            of(VectorFunction::Rbf { gamma: 2.0 }),
            of(VectorFunction::Sigmoid { gamma: 1.0, coef0: 0.0 }),
            of(VectorFunction::Polynomial { gamma: 1.0, coef0: 0.0, degree: 2 }),
            of(VectorFunction::Polynomial { gamma: 1.0, coef0: 0.0, degree: 3 }),
        ];
        let distinct: std::collections::HashSet<_> = identities.iter().collect();
        assert_eq!(distinct.len(), identities.len());
    }
}
