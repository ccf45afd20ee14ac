//! K itself: the reference that every approximation is measured against, and the only method that takes an asymmetric
//! score.
//!
//! Cost: n² entries (n(n+1)/2 evaluations of a symmetric oracle); no flops; 8n² bytes.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::purchase::{buy_block, with_known};
use super::{Approximate, ApproximateError, FitReport};
use crate::approximation::{Approximation, Factors, Known};
use crate::entries::Plan;
use crate::landmarks::Landmarks;
use crate::oracle::{Oracle, OracleShape};
use crate::stream::Rng;

const ID: &str = "exact";

/// There is nothing to choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExactParams {}

/// The checked method.
#[derive(Debug, Clone, Copy)]
pub struct Exact {
    _checked: (),
}

impl ExactParams {
    /// The method; nothing can be wrong.
    ///
    /// # Errors
    /// None.
    pub fn check(self) -> Result<Exact, ApproximateError> {
        Ok(Exact { _checked: () })
    }
}

impl Approximate for Exact {
    fn id(&self) -> &'static str {
        ID
    }

    fn landmarks_needed(&self, _: usize, _: usize) -> usize {
        0
    }

    /// All of K, whatever the rank.
    fn plan(&self, shape: OracleShape, _landmarks: &Landmarks, rank: usize) -> Result<Plan, ApproximateError> {
        if rank == 0 || rank > shape.len {
            return Err(ApproximateError::Rank { rank, len: shape.len });
        }
        let all: Vec<usize> = (0..shape.len).collect();
        Ok(Plan::columns(&all))
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
        let all: Vec<usize> = (0..oracle.len()).collect();
        let matrix = buy_block(oracle, &all, &all)?;
        let seconds = start.elapsed().as_secs_f64();
        let report = FitReport { method: ID.to_owned(), rank: oracle.len(), seconds, ..FitReport::default() };
        with_known(Approximation::new(Factors::Dense(matrix), all, report), oracle, known, None)
    }

    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        columns.clamp(1, n.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::conformance!(exact, ExactParams::default().check().unwrap());
}
