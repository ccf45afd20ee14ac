//! Anchors: landmarks of the vectors of what is added to a core, itself a cheap oracle such as q(P).

use rand::seq::SliceRandom as _;

use super::{Approximate, ApproximateError, ShiftRidgeParams};
use crate::approximation::{Embedding, Known};
use crate::landmarks::Landmarks;
use crate::oracle::Oracle;
use crate::stream::{Rng, stream};

/// Number that is taken at a rank unless another is given; n at most.
pub(super) fn usual_anchors(rank: usize) -> usize {
    (4 * rank).clamp(256, 1024)
}

/// `wanted` items: the nested order of the landmarks first, then those that it leaves out; shuffled by `rng`, ascending without one.
pub(super) fn choose_anchors(landmarks: &Landmarks, wanted: usize, rng: Option<&mut Rng>) -> Vec<usize> {
    let mut anchors: Vec<usize> = landmarks.order().iter().copied().take(wanted).collect();
    if anchors.len() < wanted {
        let mut is_taken = vec![false; landmarks.len()];
        anchors.iter().for_each(|&i| is_taken[i] = true);
        let mut others: Vec<usize> = (0..landmarks.len()).filter(|&i| !is_taken[i]).collect();
        if let Some(rng) = rng {
            others.shuffle(rng);
        }
        anchors.extend(others.into_iter().take(wanted - anchors.len()));
    }
    anchors
}

/// Vectors by shift_ridge rather than Nyström: a q with a negative coefficient makes q(P) indefinite.
pub(super) fn embedding_of(addend: &dyn Oracle, anchors: &[usize]) -> Result<Embedding, ApproximateError> {
    let landmarks = Landmarks::from_orders(addend.len(), anchors.to_vec(), Vec::new());
    let mut rng = stream(0, "proxy", "embedding", 0);
    let method = ShiftRidgeParams::default().check()?.with_free_entries();
    method.fit(addend, &landmarks, anchors.len(), Known::NOTHING, &mut rng)?.into_embedding()
}
