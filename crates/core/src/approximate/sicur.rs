//! SiCUR, simple CUR: K̃ = K[:,S1] (K[S2,S1])⁺ K[S2,:] with nested sets S1 ⊂ S2, |S2| = ratio·|S1|.
//!
//! Ray, Monath, McCallum & Musco, §3: the tall K[S2,S1] is well conditioned where the square W of Nyström is not. Not
//! symmetric, though K is: symmetrize before clustering or a linear classifier.
//!
//! Cost: n·s2 entries; an SVD of s2 × s1 and 2ns1s2 flops; 16ns1 bytes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cur::TwoSets;
use super::{Approximate, ApproximateError, ColumnReader, column_evaluations, largest_rank};
use crate::approximation::Approximation;
use crate::parameter::BadParameter;
use crate::stream::Rng;

const ID: &str = "sicur";

/// Raw parameters of SiCUR.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
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

#[derive(Debug, Clone, Copy)]
pub struct SiCur(SiCurParams);

impl SiCurParams {
    /// The method, if the parameters make one.
    pub fn check(self) -> Result<SiCur, ApproximateError> {
        if self.ratio.is_finite() && self.ratio >= 1.0 {
            return Ok(SiCur(self));
        }
        Err(BadParameter::new("ratio", self.ratio, "a number ≥ 1").of(ID).into())
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

    fn factor(&self, columns: &mut ColumnReader<'_>, _: &mut Rng) -> Result<Approximation, ApproximateError> {
        let rank = columns.rank();
        let wider = columns.columns();
        TwoSets::new(&wider[..rank], wider).skeleton(columns, rank)
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
