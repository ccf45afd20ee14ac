//! A polynomial of several proxies as a matrix that is read lazily, and low ranks side by side.

use std::fmt;
use std::sync::Arc;

use ndarray::{Array1, Array2, ArrayViewMut2, Axis, Zip, concatenate};

use super::columns::{Columns, Part, regress};
use crate::approximate::{Approximate, ApproximateError, ShiftRidgeParams};
use crate::approximation::{Addend, Embedding, General, Known, NewScores};
use crate::landmarks::Landmarks;
use crate::oracle::{Identity, Oracle, OracleError, Pair, Symmetry, ask_block, ask_pairs, block_of};
use crate::stream::stream;

/// c + Σ_k Σ_d c_kd p_k^d.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Polynomials {
    constant: f64,
    /// By proxy, by power from 0, whose coefficient is 0.
    powers: Vec<Vec<f64>>,
}

impl Polynomials {
    pub(super) fn constant(constant: f64) -> Self {
        Self { constant, powers: Vec::new() }
    }

    /// The first `proxies` of the columns: the main one to the degree, p + p² of the others. 0 without a proxy.
    pub(super) fn fit(columns: &Columns, proxies: usize, degree: usize) -> Result<Self, ApproximateError> {
        if proxies == 0 {
            return Ok(Self::constant(0.0));
        }
        let main = (1..=degree).map(|power| (0, power));
        let others = (1..proxies).flat_map(|proxy| [(proxy, 1), (proxy, 2)]);
        let terms: Vec<(usize, usize)> = main.chain(others).collect();
        let linear = regress(columns, &terms)?;
        let mut sum = Self::constant(linear.constant);
        for (&(proxy, power), &weight) in terms.iter().zip(&linear.weights) {
            let mut coefficients = vec![0.0; power + 1];
            coefficients[power] = weight;
            sum.add_powers(proxy, &coefficients);
        }
        Ok(sum)
    }

    /// Adds `weight` times another.
    pub(super) fn add(&mut self, weight: f64, other: &Self) {
        self.constant += weight * other.constant;
        for (proxy, powers) in other.powers.iter().enumerate() {
            self.add_powers(proxy, &powers.iter().map(|c| weight * c).collect::<Vec<_>>());
        }
    }

    /// Adds Σ_d c_d p^d of a proxy.
    pub(super) fn add_powers(&mut self, proxy: usize, coefficients: &[f64]) {
        if self.powers.len() <= proxy {
            self.powers.resize(proxy + 1, Vec::new());
        }
        let own = &mut self.powers[proxy];
        if own.len() < coefficients.len() {
            own.resize(coefficients.len(), 0.0);
        }
        own.iter_mut().zip(coefficients).for_each(|(own, c)| *own += c);
    }

    /// At the proxies' scores of one pair.
    pub(super) fn at(&self, proxies: impl Iterator<Item = f64>) -> f64 {
        let terms = self.powers.iter().zip(proxies).map(|(powers, p)| horner(powers, p));
        self.constant + terms.sum::<f64>()
    }

    /// At blocks of the proxies' scores, one block of this shape a proxy.
    pub(super) fn block(&self, shape: (usize, usize), proxies: &[Array2<f64>]) -> Array2<f64> {
        let mut sum = Array2::from_elem(shape, self.constant);
        for (powers, scores) in self.powers.iter().zip(proxies) {
            Zip::from(&mut sum).and(scores).for_each(|sum, &p| *sum += horner(powers, p));
        }
        sum
    }

    fn numbers(&self) -> Vec<u8> {
        let lengths = self.powers.iter().map(|powers| powers.len() as f64);
        let all = std::iter::once(self.constant).chain(lengths).chain(self.powers.iter().flatten().copied());
        all.flat_map(f64::to_le_bytes).collect()
    }
}

fn horner(powers: &[f64], p: f64) -> f64 {
    powers.iter().rev().fold(0.0, |value, c| value * p + c)
}

/// The low ranks beside each other, as one product.
pub(super) fn blend(parts: &[Part]) -> General {
    let beside = |of: fn(&Part) -> &Array2<f64>| {
        let all: Vec<_> = parts.iter().map(|part| of(part).view()).collect();
        concatenate(Axis(1), &all).expect("all have a row an item")
    };
    let (left, right) = (beside(|part| &part.0), beside(|part| &part.1));
    let empty = Array2::zeros((0, left.ncols()));
    General { left, right, left_projector: empty.clone(), right_projector: empty }
}

/// Landmarks of the vectors of a blend: 4 · rank between 256 and 1024, of the nested order first.
pub(super) fn anchors(landmarks: &Landmarks, rank: usize) -> Vec<usize> {
    let wanted = (4 * rank).clamp(256, 1024).min(landmarks.len());
    let mut is_taken = vec![false; landmarks.len()];
    let mut anchors: Vec<usize> = landmarks.order().iter().copied().take(wanted).collect();
    anchors.iter().for_each(|&i| is_taken[i] = true);
    let others = (0..landmarks.len()).filter(|&i| !is_taken[i]);
    anchors.extend(others.take(wanted - anchors.len()));
    anchors
}

/// The polynomial over the items.
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

impl fmt::Debug for Blend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blend")
            .field("polynomials", &self.polynomials)
            .field("anchors", &self.anchors.len())
            .finish_non_exhaustive()
    }
}

impl Oracle for Blend {
    fn len(&self) -> usize {
        self.len
    }

    fn symmetry(&self) -> Symmetry {
        Symmetry::Symmetric
    }

    fn identity(&self) -> Identity {
        let numbers = self.polynomials.numbers();
        let identities: Vec<Identity> = self.proxies.iter().map(|proxy| proxy.identity()).collect();
        let mut parts: Vec<(&str, &[u8])> = vec![("kind", b"blend"), ("polynomials", &numbers)];
        parts.extend(identities.iter().map(|identity| ("proxy", identity.as_bytes().as_slice())));
        Identity::of(&parts)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        out.fill(self.polynomials.constant);
        for (proxy, powers) in self.proxies.iter().zip(&self.polynomials.powers) {
            let mut scores = vec![0.0; pairs.len()];
            ask_pairs(&**proxy, pairs, &mut scores)?;
            out.iter_mut().zip(scores).for_each(|(out, p)| *out += horner(powers, p));
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

impl Addend for Blend {
    fn len(&self) -> usize {
        self.len
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

    /// shift_ridge, as of a proxy's q; a constant is a vector of its own.
    fn embedding(&self) -> Result<Embedding, ApproximateError> {
        if self.proxies.is_empty() {
            let constant = self.polynomials.constant;
            let vectors = Array2::from_elem((self.len, 1), constant.abs().sqrt());
            let signature = Array1::from_elem(1, if constant < 0.0 { -1.0 } else { 1.0 });
            return Ok(Embedding { vectors, signature, projector: None, clipped: false, with_addend: None });
        }
        let landmarks = Landmarks::from_orders(self.len, self.anchors.clone(), Vec::new());
        let mut rng = stream(0, "proxy", "embedding", 0);
        let method = ShiftRidgeParams::default().check()?;
        method.fit(self, &landmarks, self.anchors.len(), Known::NOTHING, &mut rng)?.into_embedding()
    }

    fn anchors(&self) -> &[usize] {
        &self.anchors
    }

    fn link(&self, new: &NewScores<'_, '_>) -> Array2<f64> {
        self.polynomials.block((new.similarities.nrows(), new.items.len()), new.proxies)
    }
}
