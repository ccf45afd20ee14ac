//! A matrix that is already there: for studies, tests and a user's own `.npy`.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;

use super::{Identity, Oracle, OracleError, OracleShape, Pair, Symmetrization, Symmetry, check_indices, check_pairs};

/// `K[i, j]` and `K[j, i]` closer than this fraction of max|K| differ by rounding only (a few hundred f64 ulps: what a
/// matrix product leaves).
const ROUNDING: f64 = 1e-13;
/// The same of numbers in single precision: eight of its ulps.
const SINGLE_ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

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

/// Largest difference of the two scores of a pair that is rounding: relative to the largest entry, and wider if all entries are numbers of
/// single precision, in binary or written with as many digits. O(n²).
pub fn symmetry_tolerance(matrix: &Array2<f64>) -> f64 {
    let largest = matrix.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let is_single = |value: &f64| {
        let single = *value as f32;
        f64::from(single) == *value || single.to_string().parse() == Ok(*value)
    };
    // whole numbers are exact, whatever they were kept in
    let has_fractions = matrix.iter().any(|value| value.fract() != 0.0);
    largest * if has_fractions && matrix.iter().all(is_single) { SINGLE_ROUNDING } else { ROUNDING }
}

fn refuse_asymmetry(matrix: &Array2<f64>) -> Result<(), OracleError> {
    let tolerance = symmetry_tolerance(matrix);
    for i in 0..matrix.nrows() {
        for j in i + 1..matrix.ncols() {
            let (forward, backward) = (matrix[[i, j]], matrix[[j, i]]);
            if (forward - backward).abs() > tolerance {
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
    fn shape(&self) -> OracleShape {
        OracleShape { is_checked: true, ..OracleShape::new(self.matrix.nrows(), self.symmetry) }
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        for (&pair, score) in pairs.iter().zip(out) {
            *score = self.matrix[pair];
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        check_indices(self.len(), rows, cols)?;
        select_block(self.matrix.view(), rows, cols, out);
        Ok(())
    }
}

/// Entries of a matrix at some rows and columns, into `out` of that shape, on all cores.
///
/// # Panics
/// A row or column that the matrix does not have, or an `out` of another shape.
pub fn select_block(matrix: ArrayView2<'_, f64>, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) {
    assert_eq!(out.dim(), (rows.len(), cols.len()), "a block of another shape");
    let rows_a_task = (CELLS_PER_TASK / cols.len().max(1)).max(1);
    out.axis_chunks_iter_mut(Axis(0), rows_a_task).into_par_iter().zip(rows.par_chunks(rows_a_task)).for_each(
        |(mut out, rows)| {
            for (&i, mut scores) in rows.iter().zip(out.rows_mut()) {
                let row = matrix.row(i);
                cols.iter().zip(&mut scores).for_each(|(&j, score)| *score = row[j]);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn halves_that_differ_in_the_last_bits_of_single_precision_are_symmetric() {
        let (low, high) = (0.7_f32, f32::from_bits(0.7_f32.to_bits() + 2));
        let binary = array![[1.0, f64::from(low)], [f64::from(high), 1.0]];
        let written = binary.mapv(|value| (value as f32).to_string().parse::<f64>().unwrap());
        assert_ne!(written, binary, "a text has fewer digits");
        for matrix in [binary, written] {
            let mean = (matrix[[0, 1]] + matrix[[1, 0]]) / 2.0;
            let oracle = Precomputed::new(matrix, AsymmetryPolicy::Reject).unwrap();
            assert_eq!((oracle.symmetry(), oracle.matrix()[[0, 1]]), (Symmetry::Symmetric, mean));
        }
        // in double precision that is no rounding, nor is a difference of one in whole numbers
        for matrix in [array![[1.0, 0.7], [0.7000001192, 1.0 / 3.0]], array![[1e8, 16.0], [17.0, 1e8]]] {
            assert!(Precomputed::new(matrix, AsymmetryPolicy::Reject).is_err());
        }
    }
}
