//! Skeleton (CUR): K̃ = K[:,S1] (K[S2,S1])⁺ K[S2,:] with independent sets of equal size.
//!
//! Goreinov, Tyrtyshnikov & Zamarashkin 1997; the SMS-Nyström paper, §3. K[S2,S1] is square and often nearly singular, which
//! makes this far worse than SiCUR on indefinite matrices. Not symmetric.
//!
//! Cost: n·(s1 + s2) entries less the overlap of the sets; an SVD of s × s and 2ns² flops; 16ns bytes.

use super::cur::TwoSets;
use super::{Approximate, ApproximateError, ColumnReader, column_evaluations, largest_rank};
use crate::approximation::Approximation;
use crate::entries::EntryPlan;
use crate::landmarks::Landmarks;
use crate::stream::Rng;

#[derive(Debug, Clone, Copy, Default)]
pub struct Skeleton;

impl Approximate for Skeleton {
    fn id(&self) -> &'static str {
        "skeleton"
    }

    fn independent_needed(&self, rank: usize) -> usize {
        rank
    }

    fn entries(&self, _: usize, landmarks: &Landmarks, rank: usize) -> EntryPlan {
        EntryPlan::columns(&TwoSets::independent(landmarks, rank).union)
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, _: &mut Rng) -> Result<Approximation, ApproximateError> {
        let (landmarks, rank) = (columns.landmarks(), columns.rank());
        TwoSets::independent(landmarks, rank).skeleton(columns, rank)
    }

    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        largest_rank(n, columns, |rank| column_evaluations(n, (2 * rank).min(n as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::conformance!(skeleton, Skeleton);
}
