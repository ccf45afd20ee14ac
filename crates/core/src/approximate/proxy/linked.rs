//! q(P): the proxy as seen through the link, evaluated where it is read.

use std::fmt;
use std::sync::Arc;

use ndarray::{ArrayViewMut2, Zip};

use super::link::FittedLink;
use crate::approximate::{Approximate, ApproximateError, ShiftRidgeParams};
use crate::approximation::{Addend, Embedding, Known};
use crate::landmarks::Landmarks;
use crate::oracle::{Identity, Oracle, OracleError, Pair, Symmetry, ask_block, ask_pairs};
use crate::stream::stream;

/// Pairs of the proxy asked at a time.
const PAIRS_AT_A_TIME: usize = 1 << 16;

/// q(P) as a matrix: an oracle that costs nothing, and what is added to a core.
#[derive(Clone)]
pub(super) struct Linked {
    pub(super) proxy: Arc<dyn Oracle>,
    pub(super) link: FittedLink,
    /// Landmarks of its own embedding.
    pub(super) anchors: Vec<usize>,
}

impl fmt::Debug for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linked")
            .field("proxy", &Oracle::identity(&*self.proxy))
            .field("link", &self.link)
            .field("anchors", &self.anchors.len())
            .finish()
    }
}

impl Oracle for Linked {
    fn len(&self) -> usize {
        self.proxy.len()
    }

    fn symmetry(&self) -> Symmetry {
        self.proxy.symmetry()
    }

    fn identity(&self) -> Identity {
        let numbers: Vec<u8> = self.link.numbers().iter().flat_map(|number| number.to_le_bytes()).collect();
        Identity::of(&[("kind", b"linked"), ("link", &numbers), ("proxy", self.proxy.identity().as_bytes())])
    }

    fn known_diagonal(&self) -> Option<f64> {
        self.proxy.known_diagonal().map(|score| self.link.at(score))
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        for (pairs, out) in pairs.chunks(PAIRS_AT_A_TIME).zip(out.chunks_mut(PAIRS_AT_A_TIME)) {
            ask_pairs(&*self.proxy, pairs, out)?;
            out.iter_mut().for_each(|score| *score = self.link.at(*score));
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        ask_block(&*self.proxy, rows, cols, out.view_mut())?;
        self.apply(out);
        Ok(())
    }
}

impl Linked {
    /// Proxy scores → q of them, in parallel.
    fn apply(&self, scores: ArrayViewMut2<'_, f64>) {
        Zip::from(scores).par_for_each(|score| *score = self.link.at(*score));
    }
}

impl Addend for Linked {
    fn len(&self) -> usize {
        self.proxy.len()
    }

    fn identity(&self) -> Identity {
        Oracle::identity(self)
    }

    fn pairs(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.evaluate(pairs, out)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        Oracle::block(self, rows, cols, out)
    }

    /// shift_ridge rather than Nyström: a q with a negative coefficient makes q(P) indefinite.
    fn embedding(&self) -> Result<Embedding, ApproximateError> {
        let landmarks = Landmarks::from_orders(self.proxy.len(), self.anchors.clone(), Vec::new());
        let mut rng = stream(0, "proxy", "embedding", 0);
        let method = ShiftRidgeParams::default().check()?;
        method.fit(self, &landmarks, self.anchors.len(), Known::NOTHING, &mut rng)?.into_embedding()
    }

    fn anchors(&self) -> &[usize] {
        &self.anchors
    }

    fn link(&self, scores: ArrayViewMut2<'_, f64>) {
        self.apply(scores);
    }
}
