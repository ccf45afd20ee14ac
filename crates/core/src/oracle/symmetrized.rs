//! Both orders of an asymmetric score as one symmetric score.
//!
//! `K[i, j] = (f(i, j) + f(j, i)) / 2` (or the larger, or the smaller), as paper 000/001 does for cross-encoders and
//! coreference. Each off-diagonal pair costs two evaluations, the diagonal one.

use serde::{Deserialize, Serialize};

use super::fallible::gathered;
use super::{Attempt, Fallible, Identity, Oracle, OracleError, OracleShape, Pair, Symmetry, ask_pairs};

/// Rule by which the two orders become one score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Symmetrization {
    /// `(f(i, j) + f(j, i)) / 2`
    #[default]
    Mean,
    Max,
    Min,
}

impl Symmetrization {
    pub(super) fn combine(self, forward: f64, backward: f64) -> f64 {
        match self {
            Self::Mean => 0.5 * forward + 0.5 * backward,
            Self::Max => forward.max(backward),
            Self::Min => forward.min(backward),
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Max => "max",
            Self::Min => "min",
        }
    }
}

/// A symmetric oracle over an asymmetric one. A symmetric inner oracle passes through untouched, at its own price.
#[derive(Debug, Clone)]
pub struct Symmetrized<O> {
    inner: O,
    mode: Symmetrization,
}

impl<O: Oracle> Symmetrized<O> {
    pub fn new(inner: O, mode: Symmetrization) -> Self {
        Self { inner, mode }
    }

    pub fn inner(&self) -> &O {
        &self.inner
    }

    fn is_symmetric_already(&self) -> bool {
        self.inner.symmetry() == Symmetry::Symmetric
    }
}

impl<O: Oracle> Oracle for Symmetrized<O> {
    fn shape(&self) -> OracleShape {
        let shape = self.inner.shape();
        if shape.symmetry == Symmetry::Symmetric {
            return shape;
        }
        OracleShape {
            symmetry: Symmetry::Symmetric,
            evaluations_per_pair: 2 * shape.evaluations_per_pair,
            is_checked: true,
            ..shape
        }
    }

    fn identity(&self) -> Identity {
        self.identity_over(self.inner.identity())
    }

    fn fallible(&self) -> Option<&dyn Fallible> {
        self.inner.fallible().map(|_| self as &dyn Fallible)
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        if self.is_symmetric_already() {
            return self.inner.evaluate(pairs, out);
        }
        let (both, _) = both_orders(pairs);
        let mut scores = vec![0.0; both.len()];
        ask_pairs(&self.inner, &both, &mut scores)?;
        self.combine_pairs(pairs, scores, out);
        Ok(())
    }
}

impl<O: Oracle> Fallible for Symmetrized<O> {
    fn identity_of_scores(&self) -> Identity {
        let inner = self.inner.fallible().map_or_else(|| self.inner.identity(), Fallible::identity_of_scores);
        self.identity_over(inner)
    }

    fn stand_in(&self) -> Option<f64> {
        self.inner.fallible()?.stand_in()
    }

    fn attempt(&self, pairs: &[Pair], out: &mut [f64]) -> Attempt {
        let Some(inner) = self.inner.fallible() else {
            return Attempt { failed: Vec::new(), error: self.evaluate(pairs, out).err() };
        };
        if self.is_symmetric_already() {
            return inner.attempt(pairs, out);
        }
        let (both, places) = both_orders(pairs);
        let mut scores = vec![f64::NAN; both.len()];
        let attempt = inner.attempt(&both, &mut scores);
        self.combine_pairs(pairs, scores, out);
        gathered(attempt, |place| places[place])
    }
}

/// Both orders of each pair, one after the other, and the place of the pair that each is of.
fn both_orders(pairs: &[Pair]) -> (Vec<Pair>, Vec<usize>) {
    let (mut both, mut places) = (Vec::with_capacity(2 * pairs.len()), Vec::with_capacity(2 * pairs.len()));
    for (place, &(i, j)) in pairs.iter().enumerate() {
        both.push((i, j));
        places.push(place);
        if i != j {
            both.push((j, i));
            places.push(place);
        }
    }
    (both, places)
}

impl<O: Oracle> Symmetrized<O> {
    fn identity_over(&self, inner: Identity) -> Identity {
        if self.is_symmetric_already() {
            return inner;
        }
        let mode = self.mode.id();
        Identity::of(&[("kind", b"symmetrized"), ("mode", mode.as_bytes()), ("inner", inner.as_bytes())])
    }

    /// The scores of pairs from those of both orders; NaN where one of them is missing.
    fn combine_pairs(&self, pairs: &[Pair], both: Vec<f64>, out: &mut [f64]) {
        let mut scores = both.into_iter();
        for (&(i, j), score) in pairs.iter().zip(out) {
            let forward = scores.next().unwrap_or(f64::NAN);
            *score = match i == j {
                true => forward,
                false => match scores.next().unwrap_or(f64::NAN) {
                    // the larger of a number and NaN would be the number
                    backward if forward.is_nan() || backward.is_nan() => f64::NAN,
                    backward => self.mode.combine(forward, backward),
                },
            };
        }
    }
}
