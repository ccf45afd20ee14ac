//! K − q(P): what is left for a method to learn.

use ndarray::{Array2, ArrayViewMut2, Zip};

use super::fitted::Fitted;
use crate::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, Remembered, Symmetry};

/// Reads both sides from memory, so no entry of the oracle is requested twice and no score of a proxy computed twice.
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
