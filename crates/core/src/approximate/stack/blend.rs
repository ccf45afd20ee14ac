//! A polynomial of several proxies as a matrix that is read lazily; and low ranks side by side.

use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayViewMut2, Zip};

use super::columns::{Part, Polynomials, horner};
use crate::approximate::ApproximateError;
use crate::approximate::anchors::embedding_of;
use crate::approximation::{AdditiveTerm, Embedding, General, NewScores};
use crate::linalg;
use crate::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, ask_block, ask_pairs, block_of};

/// The low ranks next to each other, as one product.
pub(super) fn blend(parts: &[Part]) -> General {
    let next_to = |of: fn(&Part) -> &Array2<f64>| {
        let all: Vec<_> = parts.iter().map(|part| of(part).view()).collect();
        linalg::hstack(&all)
    };
    let (left, right) = (next_to(|part| &part.0), next_to(|part| &part.1));
    let empty = Array2::zeros((0, left.ncols()));
    General { left, right, left_projector: empty.clone(), right_projector: empty }
}

#[derive(Clone)]
pub(super) struct Blend {
    proxies: Vec<Arc<dyn Oracle>>,
    len: usize,
    polynomials: Polynomials,
    anchors: Vec<usize>,
}

impl Blend {
    pub(super) fn new(
        proxies: Vec<Arc<dyn Oracle>>,
        len: usize,
        polynomials: Polynomials,
        anchors: Vec<usize>,
    ) -> Self {
        Self { proxies, len, polynomials, anchors }
    }

    /// Its columns at some items, n × s.
    pub(super) fn columns(&self, items: &[usize]) -> Result<Array2<f64>, OracleError> {
        let all: Vec<usize> = (0..self.len).collect();
        block_of(self, &all, items)
    }
}

impl Oracle for Blend {
    fn shape(&self) -> OracleShape {
        OracleShape::symmetric(self.len)
    }

    fn identity(&self) -> Identity {
        let numbers = self.polynomials.numbers();
        let identities: Vec<Identity> = self.proxies.iter().map(|proxy| proxy.identity()).collect();
        let mut parts: Vec<(&str, &[u8])> = vec![("kind", b"blend"), ("polynomials", &numbers)];
        parts.extend(identities.iter().map(|identity| ("proxy", identity.as_bytes().as_slice())));
        Identity::of(&parts)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let mut proxies = Vec::with_capacity(self.proxies.len());
        for proxy in &self.proxies {
            let mut scores = vec![0.0; pairs.len()];
            ask_pairs(&**proxy, pairs, &mut scores)?;
            proxies.push(scores);
        }
        for (k, out) in out.iter_mut().enumerate() {
            *out = self.polynomials.at(proxies.iter().map(|scores| scores[k]));
        }
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        out.fill(self.polynomials.constant);
        for (proxy, powers) in self.proxies.iter().zip(&self.polynomials.powers) {
            let mut scores = Array2::zeros(out.dim());
            ask_block(&**proxy, rows, cols, scores.view_mut())?;
            Zip::from(&mut out).and(&scores).par_for_each(|out, &p| *out += horner(powers, p));
        }
        Ok(())
    }
}

impl AdditiveTerm for Blend {
    /// As of a proxy's q; a constant is a vector of its own.
    fn embedding(&self) -> Result<Embedding, ApproximateError> {
        if self.proxies.is_empty() {
            let constant = self.polynomials.constant;
            let vectors = Array2::from_elem((self.len, 1), constant.abs().sqrt());
            let signature = Array1::from_elem(1, if constant < 0.0 { -1.0 } else { 1.0 });
            return Ok(Embedding { vectors, signature, projector: None, with_addend: None });
        }
        embedding_of(self, &self.anchors)
    }

    fn anchors(&self) -> &[usize] {
        &self.anchors
    }

    fn link(&self, new: &NewScores<'_, '_>) -> Array2<f64> {
        self.polynomials.block((new.similarities.nrows(), new.items.len()), new.proxies)
    }
}
