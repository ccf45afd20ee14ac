//! A matrix that is already there: for studies, tests and a user's own `.npy`.

use ndarray::{Array2, ArrayViewMut2, Axis};
use rayon::prelude::*;

use super::{Identity, Oracle, OracleError, Pair, Symmetrization, Symmetry, check_indices, check_pairs};

/// `K[i, j]` and `K[j, i]` closer than this fraction of max|K| differ by rounding only (a few hundred f64 ulps: what a
/// matrix product leaves).
const ROUNDING: f64 = 1e-13;
/// The same of two entries of a matrix in single precision: what the last bit is worth.
const LAST_BIT: f64 = 1.0 / 8_388_608.0;

/// Scores looked up by one task: enough to be worth handing to another thread.
const CELLS_PER_TASK: usize = 1 << 16;

/// Treatment of a matrix whose two triangles differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AsymmetryPolicy {
    /// An error that names the first (i, j). Differences of rounding size are averaged away; in a matrix of single precision these are of its last bit.
    #[default]
    Reject,
    /// Average the two triangles.
    Mean,
    /// The larger of the two scores of a pair.
    Max,
    /// The smaller of the two scores of a pair.
    Min,
    /// Keep both orders: an asymmetric oracle, unless `K = Kᵀ` bit for bit.
    Keep,
}

/// An n × n matrix as an oracle. Costs 8n² bytes.
#[derive(Debug, Clone)]
pub struct Precomputed {
    matrix: Array2<f64>,
    symmetry: Symmetry,
    identity: Identity,
}

impl Precomputed {
    /// Checks and wraps a matrix. O(n²).
    ///
    /// # Errors
    /// [`OracleError::NotSquare`]; [`OracleError::NotFinite`] for the first NaN or infinity;
    /// [`OracleError::NotSymmetric`] where the policy is to reject.
    ///
    /// ```
    /// use landmark_core::oracle::{AsymmetryPolicy, Precomputed};
    /// let skewed = ndarray::array![[1.0, 0.5], [0.4, 1.0]];
    /// let error = Precomputed::new(skewed.clone(), AsymmetryPolicy::Reject).unwrap_err();
    /// assert!(error.to_string().contains("(i = 0, j = 1) is 0.5"));
    /// let mean = Precomputed::new(skewed, AsymmetryPolicy::Mean).unwrap();
    /// assert_eq!(mean.matrix()[[1, 0]], 0.45);
    /// ```
    pub fn new(mut matrix: Array2<f64>, policy: AsymmetryPolicy) -> Result<Self, OracleError> {
        let (rows, cols) = matrix.dim();
        if rows != cols {
            return Err(OracleError::NotSquare { rows, cols });
        }
        if let Some(((i, j), &value)) = matrix.indexed_iter().find(|(_, value)| !value.is_finite()) {
            return Err(OracleError::NotFinite { i, j, value });
        }
        match policy {
            AsymmetryPolicy::Reject => {
                refuse_asymmetry(&matrix)?;
                combine_triangles(&mut matrix, Symmetrization::Mean);
            }
            AsymmetryPolicy::Mean => combine_triangles(&mut matrix, Symmetrization::Mean),
            AsymmetryPolicy::Max => combine_triangles(&mut matrix, Symmetrization::Max),
            AsymmetryPolicy::Min => combine_triangles(&mut matrix, Symmetrization::Min),
            AsymmetryPolicy::Keep => {}
        }
        let symmetry = if matrix == matrix.t() { Symmetry::Symmetric } else { Symmetry::Asymmetric };
        let values = Identity::of_values(matrix.view());
        let identity = Identity::of(&[("kind", b"precomputed"), ("values", values.as_bytes())]);
        Ok(Self { matrix, symmetry, identity })
    }

    /// The matrix itself, n × n.
    pub fn matrix(&self) -> &Array2<f64> {
        &self.matrix
    }
}

fn refuse_asymmetry(matrix: &Array2<f64>) -> Result<(), OracleError> {
    let tolerance = ROUNDING * matrix.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let is_single = matrix.iter().all(|&value| f64::from(value as f32) == value);
    for i in 0..matrix.nrows() {
        for j in i + 1..matrix.ncols() {
            let (forward, backward) = (matrix[[i, j]], matrix[[j, i]]);
            let last_bit = if is_single { LAST_BIT * forward.abs().max(backward.abs()) } else { 0.0 };
            if (forward - backward).abs() > tolerance.max(last_bit) {
                return Err(OracleError::NotSymmetric { i, j, forward, backward });
            }
        }
    }
    Ok(())
}

fn combine_triangles(matrix: &mut Array2<f64>, mode: Symmetrization) {
    for i in 0..matrix.nrows() {
        for j in i + 1..matrix.ncols() {
            let both = mode.combine(matrix[[i, j]], matrix[[j, i]]);
            matrix[[i, j]] = both;
            matrix[[j, i]] = both;
        }
    }
}

impl Oracle for Precomputed {
    fn len(&self) -> usize {
        self.matrix.nrows()
    }

    fn symmetry(&self) -> Symmetry {
        self.symmetry
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn is_checked(&self) -> bool {
        true
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        for (&pair, score) in pairs.iter().zip(out) {
            *score = self.matrix[pair];
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        check_indices(self.len(), rows, cols)?;
        let rows_a_task = (CELLS_PER_TASK / cols.len().max(1)).max(1);
        out.axis_chunks_iter_mut(Axis(0), rows_a_task).into_par_iter().zip(rows.par_chunks(rows_a_task)).for_each(
            |(mut out, rows)| {
                for (&i, mut scores) in rows.iter().zip(out.rows_mut()) {
                    let row = self.matrix.row(i);
                    cols.iter().zip(&mut scores).for_each(|(&j, score)| *score = row[j]);
                }
            },
        );
        Ok(())
    }
}
