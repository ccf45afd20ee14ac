//! q(P): the proxies as seen through the link, evaluated where they are read.

use std::fmt;
use std::sync::Arc;

use ndarray::{Array2, ArrayViewMut2};

use super::fitted::Fitted;
use crate::approximate::ApproximateError;
use crate::approximate::anchors::embedding_of;
use crate::approximation::{AdditiveTerm, Embedding, NewScores};
use crate::oracle::{Identity, Oracle, OracleError, OracleShape, Pair};

const PAIRS_AT_A_TIME: usize = 1 << 16;

/// q(P) as a matrix: an oracle that costs nothing, and what is added to a core.
#[derive(Clone)]
pub(super) struct Linked {
    pub(super) proxies: Vec<Arc<dyn Oracle>>,
    pub(super) fitted: Fitted,
    pub(super) landmarks: Vec<usize>,
    pub(super) anchors: Vec<usize>,
}

impl fmt::Debug for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let proxies: Vec<Identity> = self.proxies.iter().map(|proxy| proxy.identity()).collect();
        f.debug_struct("Linked")
            .field("proxies", &proxies)
            .field("fitted", &self.fitted)
            .field("anchors", &self.anchors.len())
            .finish_non_exhaustive()
    }
}

impl Oracle for Linked {
    fn shape(&self) -> OracleShape {
        OracleShape {
            known_diagonal: self.fitted.known_diagonal(&self.proxies()),
            ..OracleShape::symmetric(self.proxies[0].len())
        }
    }

    fn identity(&self) -> Identity {
        let (numbers, used) = (self.fitted.bytes(), self.fitted.used(&self.proxies()));
        let identities: Vec<Identity> = used.iter().map(|proxy| proxy.identity()).collect();
        let mut parts: Vec<(&str, &[u8])> = vec![("kind", b"linked"), ("link", &numbers)];
        parts.extend(identities.iter().map(|identity| ("proxy", &identity.as_bytes()[..])));
        Identity::of(&parts)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let proxies = self.proxies();
        for (pairs, out) in pairs.chunks(PAIRS_AT_A_TIME).zip(out.chunks_mut(PAIRS_AT_A_TIME)) {
            self.fitted.evaluate(&proxies, pairs, out)?;
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.fitted.block(&self.proxies(), rows, cols, out)
    }
}

impl Linked {
    fn proxies(&self) -> Vec<&dyn Oracle> {
        self.proxies.iter().map(|proxy| &**proxy).collect()
    }
}

impl AdditiveTerm for Linked {
    fn embedding(&self) -> Result<Embedding, ApproximateError> {
        embedding_of(self, &self.anchors)
    }

    fn anchors(&self) -> &[usize] {
        &self.anchors
    }

    fn link(&self, new: &NewScores<'_, '_>) -> Array2<f64> {
        self.fitted.of_new(&self.landmarks, new)
    }
}
