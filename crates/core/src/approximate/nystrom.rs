//! Classic Nyström: K̃ = C W⁺ Cᵀ with C = K[:,S], W = K[S,S].
//!
//! Williams & Seeger 2001; the baseline of the SMS-Nyström paper, §2.1. Exact where rank K = rank W; on an indefinite matrix
//! W has eigenvalues near zero and the error explodes, which is why the other methods exist.
//!
//! Cost: n·s entries; ≈ 9s³ + 2ns² flops; 8ns bytes.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::core_weights::{CoreWeights, condition, count_negative, pseudo_inverse};
use super::purchase::{Map, Purchase, require_symmetric, with_known};
use super::{Approximate, ApproximateError, FitReport, check_rank};
use crate::approximation::{Approximation, Known};
use crate::entries::Plan;
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::oracle::{Oracle, OracleShape};
use crate::stream::Rng;

/// Nyström has no parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NystromParams {}

/// The checked method.
#[derive(Debug, Clone, Copy)]
pub struct Nystrom {
    _checked: (),
}

impl NystromParams {
    /// The method; nothing can be wrong.
    ///
    /// # Errors
    /// None.
    pub fn check(self) -> Result<Nystrom, ApproximateError> {
        Ok(Nystrom { _checked: () })
    }
}

impl Approximate for Nystrom {
    fn id(&self) -> &'static str {
        "nystrom"
    }

    fn plan(&self, shape: OracleShape, landmarks: &Landmarks, rank: usize) -> Result<Plan, ApproximateError> {
        require_symmetric(self.id(), shape.symmetry)?;
        check_rank(self.id(), landmarks, rank, shape.len, rank)?;
        Ok(Plan::columns(&landmarks.order()[..rank]))
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
        let columns = &landmarks.order()[..rank];
        let mut purchase = Purchase::new(oracle, columns);
        let eigen = linalg::eigh(purchase.corner()?.view())?;
        let core = CoreWeights::new(&eigen.vectors, &pseudo_inverse(&eigen.values), None);
        let mut report = FitReport {
            method: self.id().to_owned(),
            rank,
            negative_eigenvalues: Some(count_negative(&eigen.values)),
            condition: condition(&eigen.values),
            dropped: rank - core.rank(),
            ..FitReport::default()
        };
        let ([vectors], bought) = purchase.finish([Map::Product(core.projector.view())], known.landmarks)?;
        report.seconds = start.elapsed().as_secs_f64();
        let approximation = Approximation::new(core.into_factors(vectors), columns.to_vec(), report);
        with_known(approximation, oracle, known, bought)
    }

    fn rank_for_columns(&self, n: usize, columns: usize) -> usize {
        columns.clamp(1, n.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::conformance!(nystrom, NystromParams::default().check().unwrap());
}
