//! Anchors: landmarks of the vectors of what is added to a core, itself a cheap oracle such as q(P).

use super::{Approximate, ApproximateError, ShiftRidgeParams};
use crate::approximation::{Embedding, Known};
use crate::landmarks::Landmarks;
use crate::oracle::Oracle;
use crate::stream::stream;

/// As many as are taken at a rank unless said otherwise; n at most.
pub(super) fn usual_anchors(rank: usize) -> usize {
    (4 * rank).clamp(256, 1024)
}

/// Vectors by shift_ridge rather than Nyström: a q with a negative coefficient makes q(P) indefinite.
pub(super) fn embedding_of(addend: &dyn Oracle, anchors: &[usize]) -> Result<Embedding, ApproximateError> {
    let landmarks = Landmarks::from_orders(addend.len(), anchors.to_vec(), Vec::new());
    let mut rng = stream(0, "proxy", "embedding", 0);
    let method = ShiftRidgeParams::default().check()?.with_free_entries();
    method.fit(addend, &landmarks, anchors.len(), Known::NOTHING, &mut rng)?.into_embedding()
}
