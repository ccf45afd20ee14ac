//! One order a pair of an asymmetric score, by a coin: twice the pairs for the calls that both orders take.
//!
//! ```text
//! K[i, j] = f(i, j) or f(j, i), as the coin of (seed, {i, j}) falls
//! ```
//! The matrix to approximate is (f(i, j) + f(j, i)) / 2, and the coin makes the difference noise of mean 0, whose part aᵢ − aⱼ a fit removes
//! ([`ByOneOrder`](crate::approximate::ByOneOrder)). [`MeanOfOrders`] is that matrix if both orders are stored. One call a pair.

use ndarray::ArrayViewMut2;

use super::fallible::gathered;
use super::{
    Attempt, Fallible, Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, ask_block, ask_pairs, block_of,
    check_indices,
};

/// A coin for every unordered pair of items, fair and the same whenever it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coin {
    seed: u64,
    is_turned: bool,
}

impl Coin {
    pub fn new(seed: u64) -> Self {
        Self { seed, is_turned: false }
    }

    /// Every coin on its other side.
    #[must_use]
    pub fn turned(self) -> Self {
        Self { is_turned: !self.is_turned, ..self }
    }

    /// The order in which the pair {i, j} is asked for.
    pub fn order(self, i: usize, j: usize) -> Pair {
        let (low, high) = (i.min(j), i.max(j));
        let is_up = mix(mix(mix(self.seed) ^ low as u64) ^ high as u64) & 1 == 1;
        if is_up == self.is_turned { (high, low) } else { (low, high) }
    }

    /// σᵢⱼ: 1 where the pair is asked for as (i, j), −1 where it is as (j, i); 0 on the diagonal, which has no order.
    pub fn sign(self, i: usize, j: usize) -> f64 {
        match self.order(i, j) {
            _ if i == j => 0.0,
            (first, _) if first == i => 1.0,
            _ => -1.0,
        }
    }
}

/// One step of splitmix64 (Steele, Lea & Flood 2014): every bit of the input moves every bit of the output.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A symmetric oracle over an asymmetric one, which it asks for one order of each pair. A symmetric inner oracle passes through untouched.
///
/// A self-similarity has no order: it is asked of the first side of the coin, and the turned side answers 0 without a call.
#[derive(Debug, Clone)]
pub struct OneOrder<O> {
    inner: O,
    coin: Coin,
}

impl<O: Oracle> OneOrder<O> {
    /// Wraps an oracle; the side of the coin is nothing to a symmetric one.
    pub fn new(inner: O, coin: Coin) -> Self {
        let is_turned = coin.is_turned && inner.symmetry() != Symmetry::Symmetric;
        Self { inner, coin: Coin { is_turned, ..coin } }
    }
}

impl<O: Oracle> Oracle for OneOrder<O> {
    fn shape(&self) -> OracleShape {
        let shape = self.inner.shape();
        let known_diagonal = if self.coin.is_turned { Some(0.0) } else { shape.known_diagonal };
        OracleShape { symmetry: Symmetry::Symmetric, known_diagonal, is_checked: true, ..shape }
    }

    fn identity(&self) -> Identity {
        self.identity_over(self.inner.identity())
    }

    fn fallible(&self) -> Option<&dyn Fallible> {
        self.inner.fallible().map(|_| self as &dyn Fallible)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        let is_asked = |&&(i, j): &&Pair| i != j || !self.coin.is_turned;
        let ordered: Vec<Pair> = pairs.iter().filter(is_asked).map(|&(i, j)| self.coin.order(i, j)).collect();
        if ordered.len() == pairs.len() {
            return ask_pairs(&self.inner, &ordered, out);
        }
        let mut scores = vec![0.0; ordered.len()];
        ask_pairs(&self.inner, &ordered, &mut scores)?;
        let mut scores = scores.into_iter();
        for (pair, out) in pairs.iter().zip(out) {
            *out = if is_asked(&pair) { scores.next().unwrap_or(f64::NAN) } else { 0.0 };
        }
        Ok(())
    }
}

impl<O: Oracle> Fallible for OneOrder<O> {
    fn identity_of_scores(&self) -> Identity {
        self.identity_over(self.inner.fallible().map_or_else(|| self.inner.identity(), Fallible::identity_of_scores))
    }

    fn stand_in(&self) -> Option<f64> {
        self.inner.fallible()?.stand_in()
    }

    fn attempt(&self, pairs: &[Pair], out: &mut [f64]) -> Attempt {
        let Some(inner) = self.inner.fallible() else {
            return Attempt { failed: Vec::new(), error: self.evaluate(pairs, out).err() };
        };
        let is_asked = |place: &usize| pairs[*place].0 != pairs[*place].1 || !self.coin.is_turned;
        let places: Vec<usize> = (0..pairs.len()).filter(is_asked).collect();
        let ordered: Vec<Pair> = places.iter().map(|&place| self.coin.order(pairs[place].0, pairs[place].1)).collect();
        let mut scores = vec![f64::NAN; ordered.len()];
        let attempt = inner.attempt(&ordered, &mut scores);
        out.fill(0.0);
        places.iter().zip(scores).for_each(|(&place, score)| out[place] = score);
        gathered(attempt, |place| places[place])
    }
}

impl<O: Oracle> OneOrder<O> {
    fn identity_over(&self, inner: Identity) -> Identity {
        if self.inner.symmetry() == Symmetry::Symmetric {
            return inner;
        }
        let Coin { seed, is_turned } = self.coin;
        Identity::of(&[
            ("kind", b"one order"),
            ("seed", &seed.to_le_bytes()),
            ("turned", &[u8::from(is_turned)]),
            ("inner", inner.as_bytes()),
        ])
    }
}

/// (f(i, j) + f(j, i)) / 2 from the two sides of a coin; self-similarities are those of the first.
#[derive(Debug, Clone)]
pub struct MeanOfOrders<A, B> {
    one: A,
    other: B,
}

impl<A: Oracle, B: Oracle> MeanOfOrders<A, B> {
    /// The mean of both sides: an oracle by a coin, and by the coin turned.
    pub fn new(one: A, other: B) -> Self {
        Self { one, other }
    }
}

impl<A: Oracle, B: Oracle> Oracle for MeanOfOrders<A, B> {
    fn shape(&self) -> OracleShape {
        let (one, other) = (self.one.shape(), self.other.shape());
        let evaluations_per_pair = one.evaluations_per_pair + other.evaluations_per_pair;
        OracleShape { symmetry: Symmetry::Symmetric, evaluations_per_pair, is_checked: true, ..one }
    }

    fn identity(&self) -> Identity {
        let (one, other) = (self.one.identity(), self.other.identity());
        Identity::of(&[("kind", b"mean of orders"), ("one", one.as_bytes()), ("other", other.as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        ask_pairs(&self.one, pairs, out)?;
        let mut other = vec![0.0; pairs.len()];
        ask_pairs(&self.other, pairs, &mut other)?;
        let off_diagonal = pairs.iter().zip(out).zip(other).filter(|(((i, j), _), _)| i != j);
        off_diagonal.for_each(|((_, score), other)| *score = 0.5 * *score + 0.5 * other);
        Ok(())
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: ArrayViewMut2<'_, f64>) -> Result<(), OracleError> {
        check_indices(self.len(), rows, cols)?;
        ask_block(&self.one, rows, cols, out.view_mut())?;
        let other = block_of(&self.other, rows, cols)?;
        let off_diagonal = out.indexed_iter_mut().zip(&other).filter(|(((a, b), _), _)| rows[*a] != cols[*b]);
        off_diagonal.for_each(|((_, score), other)| *score = 0.5 * *score + 0.5 * other);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
