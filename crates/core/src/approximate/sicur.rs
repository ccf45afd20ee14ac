//! SiCUR, simple CUR: K̃ = K[:,S1] (K[S2,S1])⁺ K[S2,:] with nested sets S1 ⊂ S2, |S2| = ratio·|S1|.
//!
//! Ray, Monath, McCallum & Musco, §3: the tall K[S2,S1] is well conditioned where the square W of Nyström is not. Not
//! symmetric, though K is: symmetrise before clustering or a linear classifier.
//!
//! Cost: n·s2 entries; an SVD of s2 × s1 and 2ns1s2 flops; 16ns1 bytes.

use std::sync::Arc;
use std::time::Instant;

use ndarray::s;
use serde::{Deserialize, Serialize};

use super::cur::Columns;
use super::purchase::{Map, Purchase, require_symmetric, with_known};
use super::{Approximate, ApproximateError, FitReport, check_rank, column_evaluations, largest_rank};
use crate::approximation::{Approximation, Factors, Known};
use crate::entries::Plan;
use crate::landmarks::Landmarks;
use crate::linalg::{self, PINV_TOLERANCE};
use crate::oracle::{Oracle, OracleShape};
use crate::stream::Rng;

const ID: &str = "sicur";

/// What a configuration can say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SiCurParams {
    /// |S2| / |S1| ≥ 1; the paper takes 2.
    pub ratio: f64,
}

impl Default for SiCurParams {
    fn default() -> Self {
        Self { ratio: 2.0 }
    }
}

/// The checked method.
#[derive(Debug, Clone, Copy)]
pub struct SiCur(SiCurParams);

impl SiCurParams {
    /// The method, if the parameters make one.
    ///
    /// # Errors
    /// [`ApproximateError::Parameter`].
    pub fn check(self) -> Result<SiCur, ApproximateError> {
        if self.ratio.is_finite() && self.ratio >= 1.0 {
            return Ok(SiCur(self));
        }
        let value = self.ratio.to_string();
        Err(ApproximateError::Parameter { method: ID, parameter: "ratio", value, wanted: "a number ≥ 1" })
    }
}

impl Approximate for SiCur {
    fn id(&self) -> &'static str {
        ID
    }

    fn second_set(&self) -> Option<f64> {
        Some(self.0.ratio)
    }

    fn with_second_set(&self, ratio: f64) -> Result<Option<Arc<dyn Approximate>>, ApproximateError> {
        Ok(Some(Arc::new(SiCurParams { ratio }.check()?)))
    }

    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<Plan, ApproximateError> {
        require_symmetric(ID, shape.symmetry)?;
        let wider = self.landmarks_needed(shape.len, rank);
        check_rank(ID, landmarks, rank, shape.len, wider)?;
        Ok(Plan::columns(&landmarks.order()[..wider]))
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
        self.plan(OracleShape::of(oracle), landmarks, rank)?;
        let wider = &landmarks.order()[..self.landmarks_needed(oracle.len(), rank)];
        let columns = Columns::new(&wider[..rank], wider);
        let mut purchase = Purchase::new(oracle, wider);
        let middle = linalg::pinv(purchase.corner()?.slice(s![.., ..rank]), PINV_TOLERANCE)?;
        let projector = columns.right_projector(middle.inverse.view());
        let maps = [Map::Columns(&columns.first), Map::Product(projector.view())];
        let ([left, right], bought) = purchase.finish(maps, known.landmarks)?;
        let report = FitReport {
            method: ID.to_owned(),
            rank,
            condition: Some(middle.condition),
            dropped: middle.dropped,
            seconds: start.elapsed().as_secs_f64(),
            ..FitReport::default()
        };
        let factors = Factors::General(columns.factors(left, right, projector));
        with_known(Approximation::new(factors, columns.union, report), oracle, known, bought)
    }

    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        largest_rank(n, columns, |rank| {
            let wider = usize::try_from(rank).map_or(n, |rank| self.landmarks_needed(n, rank));
            column_evaluations(n, wider as u64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::conformance!(sicur, SiCurParams::default().check().unwrap());
    crate::conformance!(thrice, SiCurParams { ratio: 3.0 }.check().unwrap());

    #[test]
    fn a_ratio_below_one_is_refused_by_name() {
        let refused = SiCurParams { ratio: 0.9 }.check().unwrap_err().to_string();
        assert_eq!(refused, "`sicur`: `ratio` is 0.9, but must be a number ≥ 1");
    }

    #[test]
    fn half_the_columns_are_the_rank() {
        assert_eq!(SiCurParams::default().check().unwrap().rank_for_columns(3000, 700), 350);
    }
}
