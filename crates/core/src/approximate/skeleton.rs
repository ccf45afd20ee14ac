//! Skeleton (CUR): K̃ = K[:,S1] (K[S2,S1])⁺ K[S2,:] with independent sets of equal size.
//!
//! Goreinov, Tyrtyshnikov & Zamarashkin 1997; the SMS-Nyström paper, §3. K[S2,S1] is square and often nearly singular, which
//! makes this far worse than SiCUR on indefinite matrices. Not symmetric.
//!
//! Cost: n·(s1 + s2) entries less the overlap of the sets; an SVD of s × s and 2ns² flops; 16ns bytes.

use std::time::Instant;

use ndarray::Axis;
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

const ID: &str = "skeleton";

/// Skeleton has no parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkeletonParams {}

/// The checked method.
#[derive(Debug, Clone, Copy)]
pub struct Skeleton {
    _checked: (),
}

impl SkeletonParams {
    /// The method; nothing can be wrong.
    ///
    /// # Errors
    /// None.
    pub fn check(self) -> Result<Skeleton, ApproximateError> {
        Ok(Skeleton { _checked: () })
    }
}

impl Approximate for Skeleton {
    fn id(&self) -> &'static str {
        ID
    }

    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<Plan, ApproximateError> {
        require_symmetric(ID, shape.symmetry)?;
        Ok(Plan::columns(&two_sets(ID, landmarks, rank, shape.len)?.union))
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
        let columns = two_sets(ID, landmarks, rank, oracle.len())?;
        let mut purchase = Purchase::new(oracle, &columns.union);
        let corner = purchase.corner()?;
        let block = corner.select(Axis(0), &columns.second).select(Axis(1), &columns.first);
        let middle = linalg::pinv(block.view(), PINV_TOLERANCE)?;
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

    /// For sets without overlap, the dearest case.
    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        largest_rank(n, columns, |rank| column_evaluations(n, (2 * rank).min(n as u64)))
    }
}

/// S1 from the nested order, S2 from the independent one.
pub(super) fn two_sets(
    method: &'static str,
    landmarks: &Landmarks,
    rank: usize,
    len: usize,
) -> Result<Columns, ApproximateError> {
    check_rank(method, landmarks, rank, len, rank)?;
    let given = landmarks.independent().len();
    if given < rank {
        return Err(ApproximateError::TooFewLandmarks { method, rank, needed: rank, given });
    }
    Ok(Columns::new(&landmarks.order()[..rank], &landmarks.independent()[..rank]))
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::conformance!(skeleton, SkeletonParams::default().check().unwrap());
}
