//! StaCUR, stable CUR: K̃ = (n/s) · C (CᵀC)⁺ K[S1,S2] K[S2,:] with C = K[:,S1].
//!
//! The linear-time CUR of Drineas, Kannan & Mahoney 2006 as the SMS-Nyström paper, §3, uses it; S2 = S1 (`same: true`, half
//! the entries) or an independent set of the same size. Stable in the sense that no nearly singular sample is inverted,
//! but the n/s estimate is crude: 0.5–1.2 relative error on indefinite matrices. Not symmetric.
//!
//! Cost: n·s or 2n·s entries; 4ns² flops; 16ns bytes.

use ndarray::{Array2, ArrayView2, Axis};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::column_reader::Map;
use super::cur::TwoSets;
use super::{Approximate, ApproximateError, ColumnReader, FitReport, column_evaluations, largest_rank};
use crate::approximation::Approximation;
use crate::balance::balancing_of;
use crate::entries::EntryPlan;
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::stream::Rng;

/// Rows multiplied at a time where a factor is replaced by its product.
const ROWS_AT_A_TIME: usize = 4096;

/// StaCUR, of which no variant can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StaCur {
    /// Rows at the same landmarks as the columns (StaCUR(s)) or at independent ones (StaCUR(d)).
    pub same: bool,
}

impl Default for StaCur {
    fn default() -> Self {
        Self { same: true }
    }
}

impl StaCur {
    fn sets(&self, landmarks: &Landmarks, rank: usize) -> TwoSets {
        let set = &landmarks.order()[..rank];
        if self.same { TwoSets::new(set, set) } else { TwoSets::independent(landmarks, rank) }
    }
}

impl Approximate for StaCur {
    fn id(&self) -> &'static str {
        "stacur"
    }

    fn independent_needed(&self, rank: usize) -> usize {
        if self.same { 0 } else { rank }
    }

    fn entries(&self, _: usize, landmarks: &Landmarks, rank: usize) -> EntryPlan {
        EntryPlan::columns(&self.sets(landmarks, rank).union)
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, _: &mut Rng) -> Result<Approximation, ApproximateError> {
        let (landmarks, rank) = (columns.landmarks(), columns.rank());
        let sets = self.sets(landmarks, rank);
        let block = columns.corner()?.select(Axis(0), &sets.first).select(Axis(1), &sets.second);
        let [left, mut right] = columns.finish([Map::Columns(&sets.first), Map::Columns(&sets.second)])?;

        // (LᵀL)⁺ W in units of a power of two whose squares are within range
        let unit = balancing_of(&[left.view()]);
        let gram = if unit == 1.0 { linalg::gram(left.view()) } else { linalg::gram((&left * unit).view()) };
        // rounding of a Gram matrix: what NumPy's matrix_rank cuts at
        let inverse = linalg::symmetric_pinv(gram.view(), gram.nrows() as f64 * f64::EPSILON)?;
        let scale = left.nrows() as f64 / rank as f64;
        let middle = linalg::product(inverse.inverse.view(), (block * unit).view()) * scale * unit;
        multiply_in_place(&mut right, middle.t());
        let (condition, dropped) = (Some(inverse.condition.sqrt()), inverse.dropped);
        let report = FitReport { rank, condition, dropped, ..FitReport::default() };
        let projector = sets.right_projector(middle.view());
        Ok(sets.approximation(left, right, projector, report))
    }

    /// For independent sets without overlap, the most expensive case.
    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        let sets = if self.same { 1 } else { 2 };
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

    crate::conformance!(same, StaCur { same: true });
    crate::conformance!(different, StaCur { same: false });
}
