//! K itself: the reference that every approximation is measured against, and the only method that takes an asymmetric
//! score.
//!
//! Cost: n² entries (n(n+1)/2 evaluations of a symmetric oracle); no flops; 8n² bytes.

use super::{Approximate, ApproximateError, ColumnReader, FitReport, check_rank};
use crate::approximation::{Approximation, Factors};
use crate::entries::EntryPlan;
use crate::landmarks::Landmarks;
use crate::oracle::{OracleShape, block_of};
use crate::stream::Rng;

#[derive(Debug, Clone, Copy, Default)]
pub struct Exact;

impl Approximate for Exact {
    fn id(&self) -> &'static str {
        "exact"
    }

    fn landmarks_needed(&self, _: usize, _: usize) -> usize {
        0
    }

    fn check_fit(&self, shape: OracleShape, _: &Landmarks, rank: usize) -> Result<(), ApproximateError> {
        check_rank(rank, shape.len)
    }

    /// All of K, whatever the rank.
    fn entries(&self, n: usize, _: &Landmarks, _: usize) -> EntryPlan {
        EntryPlan::all(n)
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, _: &mut Rng) -> Result<Approximation, ApproximateError> {
        let all = columns.columns();
        let matrix = block_of(columns.oracle(), all, all)?;
        let report = FitReport { rank: all.len(), ..FitReport::default() };
        Ok(Approximation::new(Factors::Dense(matrix), all.to_vec(), report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::conformance!(exact, Exact);
}
