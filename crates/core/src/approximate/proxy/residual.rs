//! K − q(P): what is left for a method to learn.

use ndarray::{Array2, ArrayViewMut2, Zip};

use super::link::FittedLink;
use crate::oracle::{Identity, Oracle, OracleError, Pair, Remembered, Symmetry};

/// Reads both sides from memory, so no entry of the oracle is requested twice and no score of the proxy computed twice.
pub(super) struct Residual<'a> {
    pub(super) oracle: &'a Remembered<&'a dyn Oracle>,
    pub(super) proxy: &'a Remembered<&'a dyn Oracle>,
    pub(super) link: &'a FittedLink,
}

impl Oracle for Residual<'_> {
    fn len(&self) -> usize {
        self.oracle.len()
    }

    fn symmetry(&self) -> Symmetry {
        Symmetry::Symmetric
    }

    fn identity(&self) -> Identity {
        let numbers: Vec<u8> = self.link.numbers().iter().flat_map(|number| number.to_le_bytes()).collect();
        let (oracle, proxy) = (self.oracle.identity(), self.proxy.identity());
        Identity::of(&[
            ("kind", b"residual"),
            ("oracle", oracle.as_bytes()),
            ("proxy", proxy.as_bytes()),
            ("link", &numbers),
        ])
    }

    /// Known where both are. Where only the oracle's is, its entries are still read without a call.
    fn known_diagonal(&self) -> Option<f64> {
        Some(self.oracle.known_diagonal()? - self.link.at(self.proxy.known_diagonal()?))
    }

    fn evaluations_per_pair(&self) -> u64 {
        self.oracle.evaluations_per_pair()
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        self.oracle.evaluate(pairs, out)?;
        let mut proxy = vec![0.0; pairs.len()];
        self.proxy.evaluate(pairs, &mut proxy)?;
        out.iter_mut().zip(proxy).for_each(|(score, proxy)| *score -= self.link.at(proxy));
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        self.oracle.block(rows, cols, out.view_mut())?;
        let mut proxy = Array2::zeros(out.dim());
        self.proxy.block(rows, cols, proxy.view_mut())?;
        Zip::from(&mut out).and(&proxy).par_for_each(|score, &proxy| *score -= self.link.at(proxy));
        Ok(())
    }
}
