//! Kernels that need every item's self-similarity: evaluated once, when they are made.

use landmark_core::oracle::{Identity, Oracle, OracleError, OracleShape, Pair, check_finite, check_pairs};

use super::{BoxedOracle, CombineError, parameter, self_similarities};

/// k(x, y) / √(k(x, x) k(y, y)): the cosine in the kernel's own space. 0 with an item whose self-similarity is 0.
pub struct Normalized {
    inner: BoxedOracle,
    /// 1/√k(x, x), 0 for k(x, x) = 0.
    scale: Vec<f64>,
    known_diagonal: Option<f64>,
}

impl Normalized {
    /// Evaluates the n self-similarities.
    ///
    /// # Errors
    /// A self-similarity below 0, or whatever the kernel answers.
    pub fn new(inner: BoxedOracle) -> Result<Self, CombineError> {
        let own = self_similarities(&inner)?;
        let known_diagonal = own.iter().all(|&value| value > 0.0).then_some(1.0);
        let scale = own.into_iter().map(|value| if value > 0.0 { value.sqrt().recip() } else { 0.0 }).collect();
        Ok(Self { inner, scale, known_diagonal })
    }
}

impl Oracle for Normalized {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: self.known_diagonal, is_checked: false, ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        Identity::of(&[("kind", b"normalised"), ("inner", self.inner.identity().as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        self.inner.evaluate(pairs, out)?;
        check_finite(pairs, out)?;
        for (&(i, j), score) in pairs.iter().zip(out) {
            *score = match self.known_diagonal {
                Some(known) if i == j => known,
                _ => *score * (self.scale[i] * self.scale[j]),
            };
        }
        Ok(())
    }
}

/// exp(−γ ‖φ(x) − φ(y)‖²) in the kernel's own space.
pub struct Rbf {
    inner: BoxedOracle,
    gamma: f64,
    own: Vec<f64>,
}

impl Rbf {
    /// With γ > 0; evaluates the n self-similarities.
    ///
    /// # Errors
    /// A γ that is not above 0 and finite; otherwise as [`Normalized::new`].
    pub fn new(inner: BoxedOracle, gamma: f64) -> Result<Self, CombineError> {
        parameter("gamma", gamma, gamma > 0.0 && gamma.is_finite(), "a finite number above 0")?;
        let own = self_similarities(&inner)?;
        Ok(Self { inner, gamma, own })
    }
}

impl Oracle for Rbf {
    fn shape(&self) -> OracleShape {
        OracleShape { known_diagonal: Some(1.0), is_checked: false, ..self.inner.shape() }
    }

    fn identity(&self) -> Identity {
        let gamma = self.gamma.to_le_bytes();
        Identity::of(&[("kind", b"rbf"), ("gamma", &gamma), ("inner", self.inner.identity().as_bytes())])
    }

    fn evaluate(&self, pairs: &[Pair], out: &mut [f64]) -> Result<(), OracleError> {
        check_pairs(self.len(), pairs, out.len())?;
        self.inner.evaluate(pairs, out)?;
        check_finite(pairs, out)?;
        for (&(i, j), score) in pairs.iter().zip(out) {
            // a squared distance; rounding may take that of near twins below 0
            let squared = (self.own[i] + self.own[j] - 2.0 * *score).max(0.0);
            *score = if i == j { 1.0 } else { (-self.gamma * squared).exp() };
        }
        Ok(())
    }
}
