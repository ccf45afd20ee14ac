//! Classic Nyström: K̃ = C W⁺ Cᵀ with C = K[:,S], W = K[S,S].
//!
//! Williams & Seeger 2001; the baseline of the SMS-Nyström paper, §2.1. Exact where rank K = rank W; on an indefinite matrix
//! W has eigenvalues near zero and the error explodes, which is why the other methods exist.
//!
//! Cost: n·s entries; ≈ 9s³ + 2(n − s)s² flops; 8ns bytes. No product for the rows of S: W V|w|^−½ = V w|w|^−½.

use super::column_reader::Map;
use super::core_weights::{CoreWeights, condition, count_negative, pseudo_inverse};
use super::{Approximate, ApproximateError, ColumnReader, FitReport};
use crate::approximation::Approximation;
use crate::linalg;
use crate::stream::Rng;

/// Classic Nyström.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nystrom;

impl Approximate for Nystrom {
    fn id(&self) -> &'static str {
        "nystrom"
    }

    fn factor(&self, columns: &mut ColumnReader<'_>, _: &mut Rng) -> Result<Approximation, ApproximateError> {
        let rank = columns.rank();
        let eigen = linalg::eigh(columns.corner()?.view())?;
        let core = CoreWeights::new(&eigen.vectors, &pseudo_inverse(&eigen.values));
        let report = FitReport {
            rank,
            negative_eigenvalues: Some(count_negative(&eigen.values)),
            condition: condition(&eigen.values),
            dropped: rank - core.rank(),
            ..FitReport::default()
        };
        let corner = core.corner(&eigen.values);
        let [vectors] = columns.finish([Map::Spectral { projector: core.projector.view(), corner: corner.view() }])?;
        Ok(Approximation::new(core.into_factors(vectors), columns.columns().to_vec(), report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::conformance!(nystrom, Nystrom);
}
