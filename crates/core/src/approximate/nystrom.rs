//! Classic Nyström: K̃ = C W⁺ Cᵀ with C = K[:,S], W = K[S,S].
//!
//! Williams & Seeger 2001; the baseline of the SMS-Nyström paper, §2.1. Exact where rank K = rank W; on an indefinite matrix
//! W has eigenvalues near zero and the error explodes, which is why the other methods exist.
//!
//! Cost: n·s entries; ≈ 9s³ + 2(n − s)s² flops; 8ns bytes. No product for the rows of S: W V|w|^−½ = V w|w|^−½.
//!
//! Where the time goes, compared with NumPy's steps on OpenBLAS in the same run (`scripts/bench-peers factor`; n = 3,000, s = 700, one thread of
//! an AMD EPYC with AVX-512): the columns take a tenth and .9 of NumPy's time, the eigendecomposition nearly a half and 1.2 to 1.3 of it (LAPACK's
//! divide and conquer is what faer's is slower than), the product of all n rows .9. Without the landmarks' rows, s/n of that product, the whole
//! takes what NumPy takes: .99 and 1.01 of its time in two runs. What is left apart from the three, a sixth on either side, is fresh memory
//! and copies.

use super::column_reader::Map;
use super::core_weights::{CoreWeights, condition, count_negative, pseudo_inverse};
use super::{Approximate, ApproximateError, ColumnReader, FitReport};
use crate::approximation::Approximation;
use crate::landmarks::Landmarks;
use crate::linalg;
use crate::stream::Rng;

/// Classic Nyström.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nystrom;

impl Approximate for Nystrom {
    fn id(&self) -> &'static str {
        "nystrom"
    }

    fn factor(
        &self,
        columns: &mut ColumnReader<'_>,
        _: &Landmarks,
        rank: usize,
        _: &mut Rng,
    ) -> Result<Approximation, ApproximateError> {
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
