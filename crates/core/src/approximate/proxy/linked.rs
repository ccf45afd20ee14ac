//! q(P), the proxies as seen through the link, evaluated where they are read; and K − q(P).

use std::sync::Arc;

use ndarray::{Array2, ArrayViewMut2, Zip};

use super::fitted::Fitted;
use crate::approximate::ApproximateError;
use crate::approximate::anchors::embedding_of;
use crate::approximation::{AdditiveTerm, Embedding, NewScores};
use crate::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Remembered, Symmetry};

const PAIRS_AT_A_TIME: usize = 1 << 16;

/// q(P) as a matrix: an oracle that costs nothing, and what is added to a core.
#[derive(Clone)]
pub(super) struct Linked {
    pub(super) proxies: Vec<Arc<dyn Oracle>>,
    pub(super) fitted: Fitted,
    pub(super) landmarks: Vec<usize>,
    pub(super) anchors: Vec<usize>,
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

/// K − q(P), what is left for a method to learn. Reads both sides from memory, so no entry of the oracle is requested twice and no score of a proxy computed twice.
pub(super) struct Residual<'a> {
    pub(super) oracle: &'a Remembered<&'a dyn Oracle>,
    pub(super) proxies: &'a [&'a dyn Oracle],
    pub(super) fitted: &'a Fitted,
}

impl Oracle for Residual<'_> {
    fn shape(&self) -> OracleShape {
        let shape = self.oracle.shape();
        // known if both are; if only that of the oracle is, its entries are still read without a call
        let known_diagonal =
            shape.known_diagonal.and_then(|known| Some(known - self.fitted.known_diagonal(self.proxies)?));
        OracleShape { symmetry: Symmetry::Symmetric, known_diagonal, is_checked: false, ..shape }
    }

    fn identity(&self) -> Identity {
        let (numbers, oracle) = (self.fitted.bytes(), self.oracle.identity());
        let proxies: Vec<Identity> = self.fitted.used(self.proxies).iter().map(|proxy| proxy.identity()).collect();
        let mut parts: Vec<(&str, &[u8])> = vec![("kind", b"residual"), ("oracle", oracle.as_bytes())];
        parts.extend(proxies.iter().map(|identity| ("proxy", &identity.as_bytes()[..])));
        parts.push(("link", &numbers));
        Identity::of(&parts)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.oracle.evaluate(pairs, out)?;
        let mut linked = vec![0.0; pairs.len()];
        self.fitted.evaluate(self.proxies, pairs, &mut linked)?;
        out.iter_mut().zip(linked).for_each(|(score, linked)| *score -= linked);
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.oracle.block(rows, cols, out.view_mut())?;
        let mut linked = Array2::zeros(out.dim());
        self.fitted.block(self.proxies, rows, cols, linked.view_mut())?;
        Zip::from(&mut out).and(&linked).par_for_each(|score, &linked| *score -= linked);
        Ok(())
    }
}
