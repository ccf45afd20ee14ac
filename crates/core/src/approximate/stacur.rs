//! StaCUR, stable CUR: K̃ = (n/s) · C (CᵀC)⁺ K[S1,S2] K[S2,:] with C = K[:,S1].
//!
//! The linear-time CUR of Drineas, Kannan & Mahoney 2006 as the SMS-Nyström paper, §3, uses it; S2 = S1 (`same: true`, half
//! the entries) or an independent set of the same size. Stable in the sense that no nearly singular sample is inverted,
//! but the n/s estimate is crude: 0.5–1.2 relative error on indefinite matrices. Not symmetric.
//!
//! Cost: n·s or 2n·s entries; 4ns² flops; 16ns bytes.

use std::time::Instant;

use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use super::cur::Columns;
use super::purchase::{Map, Purchase, require_symmetric, with_known};
use super::skeleton::two_sets;
use super::{Approximate, ApproximateError, FitReport, check_rank, column_evaluations, largest_rank};
use crate::approximation::{Approximation, Factors, Known};
use crate::entries::Plan;
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::oracle::{Oracle, OracleShape};
use crate::stream::Rng;

const ID: &str = "stacur";

/// Rows multiplied at a time where a factor is replaced by its product.
const ROWS_AT_A_TIME: usize = 4096;

/// What a configuration can say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StaCurParams {
    /// Rows at the same landmarks as the columns (StaCUR(s)) or at independent ones (StaCUR(d)).
    pub same: bool,
}

impl Default for StaCurParams {
    fn default() -> Self {
        Self { same: true }
    }
}

/// The checked method.
#[derive(Debug, Clone, Copy)]
pub struct StaCur(StaCurParams);

impl StaCurParams {
    /// The method; nothing can be wrong.
    ///
    /// # Errors
    /// None.
    pub fn check(self) -> Result<StaCur, ApproximateError> {
        Ok(StaCur(self))
    }
}

impl StaCur {
    fn columns(&self, landmarks: &Landmarks, rank: usize, len: usize) -> Result<Columns, ApproximateError> {
        if !self.0.same {
            return two_sets(ID, landmarks, rank, len);
        }
        check_rank(ID, landmarks, rank, len, rank)?;
        let set = &landmarks.order()[..rank];
        Ok(Columns::new(set, set))
    }
}

impl Approximate for StaCur {
    fn id(&self) -> &'static str {
        ID
    }

    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<Plan, ApproximateError> {
        require_symmetric(ID, shape.symmetry)?;
        Ok(Plan::columns(&self.columns(landmarks, rank, shape.len)?.union))
    }

    fn fit(
        &self,
        oracle: &dyn Oracle,
        landmarks: &Landmarks,
        rank: usize,
        known: Known,
        _rng: &mut Rng,
    ) -> Result<Approximation, ApproximateError> {
        let start = Instant::now();
        require_symmetric(ID, oracle.symmetry())?;
        let columns = self.columns(landmarks, rank, oracle.len())?;
        let mut purchase = Purchase::new(oracle, &columns.union);
        let corner = purchase.corner()?;
        let block = corner.select(Axis(0), &columns.first).select(Axis(1), &columns.second);
        let maps = [Map::Columns(&columns.first), Map::Columns(&columns.second)];
        let ([left, mut right], bought) = purchase.finish(maps, known.landmarks)?;

        let gram = linalg::gram(left.view());
        // rounding of a Gram matrix: what NumPy's matrix_rank cuts at
        let inverse = linalg::symmetric_pinv(gram.view(), gram.nrows() as f64 * f64::EPSILON)?;
        let scale = oracle.len() as f64 / rank as f64;
        let middle = linalg::product(inverse.inverse.view(), block.view()) * scale;
        multiply_in_place(&mut right, middle.t());
        let report = FitReport {
            method: ID.to_owned(),
            rank,
            condition: Some(inverse.condition.sqrt()),
            dropped: inverse.dropped,
            seconds: start.elapsed().as_secs_f64(),
            ..FitReport::default()
        };
        let projector = columns.right_projector(middle.view());
        let factors = Factors::General(columns.factors(left, right, projector));
        with_known(Approximation::new(factors, columns.union, report), oracle, known, bought)
    }

    /// For independent sets without overlap, the dearest case.
    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        let sets = if self.0.same { 1 } else { 2 };
        largest_rank(n, columns, |rank| column_evaluations(n, (sets * rank).min(n as u64)))
    }
}

/// `matrix` ← `matrix` · `factor` (square), without a second n × s matrix.
fn multiply_in_place(matrix: &mut Array2<f64>, factor: ArrayView2<'_, f64>) {
    for mut rows in matrix.axis_chunks_iter_mut(Axis(0), ROWS_AT_A_TIME) {
        let product = linalg::product(rows.view(), factor);
        rows.assign(&product);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::conformance!(same, StaCurParams { same: true }.check().unwrap());
    crate::conformance!(different, StaCurParams { same: false }.check().unwrap());
}
