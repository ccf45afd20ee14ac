//! The quadratic part of m: products of the first prediction V₁, computed pair by pair.

use ndarray::{Array1, Array2, ArrayViewMut2, Axis};

use super::columns::Part;
use super::polynomials::Polynomials;
use crate::linalg;
use crate::oracle::Pair;

/// θ₁ V₁² + Σ_k θ_k V₁ p_k + θ_a (a_i + a_j) V₁ + θ_d |a_i − a_j|.
#[derive(Clone)]
pub(super) struct Products {
    first: Prediction,
    effects: Array1<f64>,
    weights: Vec<f64>,
}

/// V₁: a polynomial of the proxies and a low rank.
#[derive(Clone)]
pub(super) struct Prediction {
    pub(super) polynomials: Polynomials,
    pub(super) low_rank: Part,
}

/// Number of features with so many proxies.
pub(super) fn width(proxies: usize) -> usize {
    proxies + 3
}

/// V₁², V₁ of each proxy times V₁, the sum of both effects times V₁, and how far they are apart.
pub(super) fn features(
    first: f64,
    proxies: impl Iterator<Item = f64>,
    effects: (f64, f64),
) -> impl Iterator<Item = f64> {
    let (one, other) = effects;
    std::iter::once(first * first)
        .chain(proxies.map(move |p| first * p))
        .chain([(one + other) * first, (one - other).abs()])
}

impl Products {
    pub(super) fn new(first: Prediction, effects: Array1<f64>, weights: Vec<f64>) -> Self {
        Self { first, effects, weights }
    }

    fn at(&self, (i, j): Pair, first: f64, proxies: impl Iterator<Item = f64>) -> f64 {
        let features = features(first, proxies, (self.effects[i], self.effects[j]));
        self.weights.iter().zip(features).map(|(weight, feature)| weight * feature).sum()
    }

    /// Adds them at pairs, the scores of each proxy given.
    pub(super) fn add_pairs(&self, pairs: &[Pair], proxies: &[Vec<f64>], out: &mut [f64]) {
        let (left, right) = &self.first.low_rank;
        for (k, (&(i, j), out)) in pairs.iter().zip(out).enumerate() {
            let own = || proxies.iter().map(|scores| scores[k]);
            let first = self.first.polynomials.at(own()) + left.row(i).dot(&right.row(j));
            *out += self.at((i, j), first, own());
        }
    }

    /// Adds them to a block, the block of each proxy given.
    pub(super) fn add_block(
        &self,
        rows: &[usize],
        cols: &[usize],
        proxies: &[Array2<f64>],
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        let (left, right) = &self.first.low_rank;
        let mut first = self.first.polynomials.block((rows.len(), cols.len()), proxies);
        linalg::add_product(left.select(Axis(0), rows).view(), right.select(Axis(0), cols).t(), 1.0, first.view_mut());
        for (a, &i) in rows.iter().enumerate() {
            for (b, &j) in cols.iter().enumerate() {
                out[[a, b]] += self.at((i, j), first[[a, b]], proxies.iter().map(|p| p[[a, b]]));
            }
        }
    }

    /// All that distinguishes them from others, as bytes.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u8> {
        let (left, _) = &self.first.low_rank;
        self.weights.iter().chain(&self.effects).chain(left).copied().flat_map(f64::to_le_bytes)
    }
}
